import type { Context } from '../context.ts';
import { devChainIds } from './dev-chain.ts';
import { rehearsalPrefix } from './dev-rehearsal.ts';
import { mine } from './dev-wallet.ts';

/**
 * Mines one block on each local chain on which a payment waits for finality, and none where nothing waits or somebody
 * rehearses a reorganisation. Does nothing for chains of a file.
 *
 * @returns on how many chains a payment waits
 */
export async function mineWhileWaiting(ctx: Context): Promise<number> {
  if (!ctx.config.sandbox || ctx.config.chains) return 0;
  const ids: number[] = Object.values(devChainIds);
  const local = [...ctx.chains.test, ...ctx.chains.live].filter((chain) => ids.includes(chain.chainId));
  const rows = await ctx.db.sql<{ chain_id: string; rehearsed: boolean }[]>`
    select id as chain_id,
      exists (select from leases where name = ${rehearsalPrefix} || id and held_until > now()) as rehearsed
    from unnest(${local.map((chain) => chain.chainId)}::bigint[]) as id
    where exists (select from transfers t where t.chain_id = id and t.counts and t.final_at is null)`;
  const waiting = new Set(rows.flatMap((row) => (row.rehearsed ? [] : [Number(row.chain_id)])));
  await Promise.all(local.filter((chain) => waiting.has(chain.chainId)).map((chain) => mine(chain, 1)));
  return rows.length;
}
