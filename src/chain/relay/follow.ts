import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import { finalNumber, type Heads } from '../finality.ts';
import { type Hex, RpcError } from '../rpc.ts';
import { blockerOf, queryAccount, queryNonces, relayerAddresses, signerOf } from './account.ts';
import {
  type Account,
  type AccountReport,
  type AccountState,
  claimAccount,
  insertAccount,
  type ReadHeads,
  releaseAccount,
  selectAccount,
  selectAddresses,
  selectHeads,
  updateAccount,
} from './account-store.ts';
import { updateAccountAlarms } from './alarms.ts';
import { closeGap } from './gaps.ts';
import { selectFound } from './outcome-store.ts';
import { type FindOvertaken, sendPending } from './resend.ts';
import { type FoundCall, settleFound, settleOthers } from './settle.ts';
import { type RelayRow, type StoredVariant, selectLive, selectVariants } from './store.ts';

/** How many calls of one account are checked in one pass, of each kind. */
const passSize = { first: 500, anywhere: 100 };
/** How often an account with nothing under way is checked: one that can send, and one that cannot. */
const idleMs = 2 * minuteMs;
const blockedMs = 30_000;
/** How often its balance is requested while something is under way. */
const balanceMs = 15_000;
/** How often the chain is asked where the reader has read no new block. */
const standstillMs = 10_000;
/** Between two passes while calls are under way, unless a block was read. */
export const liveMsOf = ({ pollMs }: ChainConfig): number => 4 * pollMs;

/**
 * Follows what was relayed on one chain: sends what was not sent, sends again what is late, and learns what was mined.
 * Only one process at a time handles an account; a failure of one account delays no other.
 *
 * @returns how many calls were under way
 */
export async function followRelays(ctx: Context, chain: ChainConfig, findOvertaken: FindOvertaken): Promise<number> {
  const addresses = new Set([...relayerAddresses(ctx), ...(await selectAddresses(ctx.db.sql, chain.chainId))]);
  const counts = await Promise.all([...addresses].map((address) => followAccount(ctx, chain, address, findOvertaken)));
  return counts.reduce((all, count) => all + count, 0);
}

async function followAccount(
  ctx: Context,
  chain: ChainConfig,
  address: Hex,
  findOvertaken: FindOvertaken,
): Promise<number> {
  const account = { chainId: chain.chainId, address };
  const newsMs = signerOf(ctx, address) ? liveMsOf(chain) : null;
  if (!(await claimAccount(ctx.db.sql, account, newsMs))) return 0;
  let live = 0; // after a failure the account is handled again when it is due
  let isBlocked = true;
  try {
    live = await checkAccount(ctx, chain, account, findOvertaken);
    isBlocked = live === 0 && blockerOf(await selectAccount(ctx.db.sql, account), chain) !== null;
  } catch (error) {
    if (isUnreachable(error)) throw error;
    const level = error instanceof RpcError ? 'warn' : 'error';
    ctx.log[level]({ err: error, chain_id: chain.chainId }, 'the relayer cannot follow a chain now');
  }
  await releaseAccount(ctx.db.sql, account, {
    liveMs: liveMsOf(chain),
    idleMs: isBlocked ? blockedMs : idleMs,
  });
  return live;
}

async function checkAccount(
  ctx: Context,
  chain: ChainConfig,
  key: Account,
  findOvertaken: FindOvertaken,
): Promise<number> {
  const { sql } = ctx.db;
  const heads = await selectHeads(sql, chain.chainId);
  let account = await selectAccount(sql, key);
  let report: AccountReport | null = null;
  if (!account || account.checkedMs >= balanceMs) {
    const seen = await queryAccount(chain, key.address);
    report = seen;
    if (account) await updateAccount(sql, key, seen, seen.balanceWei, heads?.hash ?? null);
    else if (seen.isComplete) await insertAccount(sql, key, seen, heads?.hash ?? null);
    account = await selectAccount(sql, key);
    if (!account) return 0; // not every endpoint has answered yet
  }
  const live = await selectLive(sql, key, passSize);
  const variants = await selectVariants(
    sql,
    live.map(({ id }) => id),
  );
  const undecided = await settleByReader(ctx, chain, live, variants, heads);
  if (undecided.length > 0 && !report && isWorthQuerying(account, heads)) {
    report = await queryNonces(chain, key.address);
    await updateAccount(sql, key, report, null, heads?.hash ?? null);
    account = (await selectAccount(sql, key)) ?? account;
  }
  const open = report
    ? await settleOthers(ctx, chain, undecided, variants, { heads, counted: report })
    : undecided.filter((row) => row.state !== 'mined' && row.passed_block === null);
  const isLate = await sendPending(ctx, chain, { open, variants, account, findOvertaken });
  if (report) {
    const first = open[0];
    const firstLive = live.length === 0 ? null : Number((first ?? live.at(-1))?.nonce);
    if (first || live.length === 0) await closeGap(ctx, chain, { address: key.address, account, report, firstLive });
    // A call that nobody signs does not wait for a block.
    await updateAccountAlarms(ctx, chain, key, account, isLate || first?.state === 'allotted' ? (first ?? null) : null);
  }
  return live.length;
}

/** The reader has read another block since the chain was last asked, or the chain has not been asked for a while. */
function isWorthQuerying({ seenHash, countedMs }: AccountState, heads: ReadHeads | null): boolean {
  return heads === null || heads.hash !== seenHash || countedMs >= standstillMs;
}

/** Uses what the reader knows, without querying the chain; returns the calls that remain. */
async function settleByReader(
  ctx: Context,
  chain: ChainConfig,
  live: readonly RelayRow[],
  variants: Map<string, StoredVariant[]>,
  heads: Heads | null,
): Promise<RelayRow[]> {
  const hashes = [...variants.values()].flat().map(({ hash }) => hash);
  const found = hashes.length > 0 ? await selectFound(ctx.db.sql, chain.chainId, hashes) : new Map();
  const final = heads === null ? -1 : finalNumber(chain.finality, heads);
  const known: FoundCall[] = [];
  for (const row of live) {
    const variant = variants.get(row.id)?.find(({ hash }) => found.has(hash));
    const transfer = variant && found.get(variant.hash);
    // The reader never makes a call final that pays nobody: its receipt decides.
    const isDecidedThere = transfer && (transfer.counts || transfer.final || transfer.blockNumber > final);
    if (variant && transfer && (isDecidedThere || row.state !== 'mined')) known.push({ row, variant, found: transfer });
  }
  await settleFound(ctx, known);
  const settled = new Set(known.map(({ row }) => row));
  return live.filter((row) => !settled.has(row));
}
