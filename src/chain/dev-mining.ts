import type { Context } from '../context.ts';
import { devChainIds } from './dev-chain.ts';
import { rehearsalPrefix } from './dev-rehearsal.ts';
import { mine } from './dev-wallet.ts';

/**
 * Mines one block on each local chain on which a payment waits for finality, and none where nothing waits or somebody
 * rehearses a reorganisation. Called each second in the sandbox; does nothing for chains of a file.
 */
export async function mineWhileWaiting(ctx: Context): Promise<void> {
  if (!ctx.config.sandbox || ctx.config.chains) return;
  const ids: number[] = Object.values(devChainIds);
  const local = [...ctx.chains.test, ...ctx.chains.live].filter((chain) => ids.includes(chain.chainId));
  const rows = await ctx.db.sql<{ chain_id: string }[]>`
    select id as chain_id from unnest(${local.map((chain) => chain.chainId)}::bigint[]) as id
    where exists (select from transfers t where t.chain_id = id and t.counts and t.final_at is null)
      and not exists (select from leases where name = ${rehearsalPrefix} || id and held_until > now())`;
  const waiting = new Set(rows.map((row) => Number(row.chain_id)));
  await Promise.all(local.filter((chain) => waiting.has(chain.chainId)).map((chain) => mine(chain, 1)));
}
