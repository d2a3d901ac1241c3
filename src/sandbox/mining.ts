import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import type { Due } from '../db/due.ts';
import { devChainIds } from './chain.ts';
import { whileRehearsing } from './rehearsal.ts';
import { mine } from './wallet.ts';

/** A refund whose transaction was seen, or was noted in the last ten minutes: one never seen may never be sent. */
const isOnItsWay = (sql: Sql) => sql`
  state = 'sent' and (given_micro is not null or noted_at > now() - interval '10 minutes')`;

/** Due now if something waits for blocks, on any chain. */
export const blocksDue: Due = (sql) => sql`
  select now() where exists (select from transfers where counts and final_at is null)
    or exists (select from returns where ${isOnItsWay(sql)})
    or exists (select from relay_transactions where state = 'mined')`;

/**
 * Mines one block on each local chain where a payment, a refund or a relayed call waits for finality and no rehearsal
 * runs. Does nothing if chains are configured by a file.
 *
 * @returns the number of chains on which something waits
 */
export async function mineWhileWaiting(ctx: Context): Promise<number> {
  if (!ctx.config.sandbox || ctx.config.chains) return 0;
  const ids: number[] = Object.values(devChainIds);
  const local = allChains(ctx.chains).filter((chain) => ids.includes(chain.chainId));
  const rows = await ctx.db.sql<{ chain_id: string }[]>`
    select local.id as chain_id from unnest(${local.map((chain) => chain.chainId)}::bigint[]) as local (id)
    where exists (select from transfers t where t.chain_id = local.id and t.counts and t.final_at is null)
      or exists (select from returns b where b.chain_id = local.id and ${isOnItsWay(ctx.db.sql)})
      or exists (select from relay_transactions r where r.chain_id = local.id and r.state = 'mined')`;
  const waiting = new Set(rows.map((row) => Number(row.chain_id)));
  const due = local.filter((chain) => waiting.has(chain.chainId));
  await Promise.all(due.map((chain) => whileRehearsing(ctx.db, chain, () => mine(chain, 1), 0)));
  return rows.length;
}
