import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Due } from '../../db/due.ts';
import { type Hex, RpcError } from '../rpc.ts';
import { askAccount, relayerAddresses } from './account.ts';
import { dispatch } from './dispatch.ts';
import { claimAccount, releaseAccount, selectAddresses, selectLive, upsertAccount } from './follow-store.ts';
import { settleMined } from './settle.ts';

/** Calls of one account that are looked at in one pass, by nonce; the others come once these are decided. */
const passSize = 500;
/** Calls that are under way at once: nodes keep only so many of one sender. */
const inFlight = 128;
/** So long whoever took on a call has to dispatch it, before the loop does. */
const patienceMs = 5_000;
/** How often an account is looked at of which nothing is under way. */
const idleMs = 60_000;

/** An account of a chain that is to be looked at. */
export const relayDue =
  ({ chainId }: ChainConfig): Due =>
  (sql) =>
    sql`select min(look_at) from relay_accounts where chain_id = ${chainId}`;

/**
 * Follows what was relayed on one chain: sends what was not sent, and learns what was mined. Each account is looked at
 * by one process at a time; what fails for one delays no other.
 *
 * @returns how many calls are under way
 */
export async function followRelays(ctx: Context, chain: ChainConfig): Promise<number> {
  const addresses = new Set([...relayerAddresses(ctx), ...(await selectAddresses(ctx.db.sql, chain.chainId))]);
  const counts = await Promise.all([...addresses].map((address) => followAccount(ctx, chain, address)));
  return counts.reduce((all, count) => all + count, 0);
}

async function followAccount(ctx: Context, chain: ChainConfig, address: Hex): Promise<number> {
  const account = { chainId: chain.chainId, address };
  if (!(await claimAccount(ctx.db.sql, account))) return 0;
  let live = 0;
  try {
    live = await pass(ctx, chain, address);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    ctx.log.warn({ err: error, chain_id: chain.chainId }, 'the relayer cannot follow a chain now');
    live = 1;
  }
  await releaseAccount(ctx.db.sql, account, live > 0 ? chain.pollMs : idleMs);
  return live;
}

async function pass(ctx: Context, chain: ChainConfig, address: Hex): Promise<number> {
  const account = { chainId: chain.chainId, address };
  const seen = await askAccount(chain, address);
  await upsertAccount(ctx.db.sql, account, seen);
  const live = await selectLive(ctx.db.sql, account, passSize);
  const isUsed = ({ nonce }: { nonce: string }) => Number(nonce) < seen.chainNonce;
  const settled = await settleMined(ctx, chain, live.filter(isUsed));
  const open = live.filter((row) => !isUsed(row)).slice(0, inFlight);
  for (const row of open) {
    const waitedMs = Date.now() - row.allotted_at.getTime();
    if (!row.reached && waitedMs > patienceMs) await dispatch(ctx, row.id);
  }
  return live.length - settled;
}
