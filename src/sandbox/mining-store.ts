import type { Sql } from '../db/connection.ts';
import type { Due } from '../db/due.ts';

/** A refund whose transaction was seen, or was noted in the last ten minutes: one never seen may never be sent. */
const isOnItsWay = (sql: Sql) => sql`
  state = 'sent' and (given_micro is not null or noted_at > now() - interval '10 minutes')`;

/** Due now if something waits for blocks, on any chain. */
export const blocksDue: Due = (sql) => sql`
  select now() where exists (select from transfers where counts and final_at is null)
    or exists (select from returns where ${isOnItsWay(sql)})
    or exists (select from relay_transactions where state = 'mined')`;

/** Those of these chains on which something waits for blocks. */
export async function selectWaitingChains(sql: Sql, chainIds: number[]): Promise<number[]> {
  const rows = await sql<{ chain_id: string }[]>`
    select local.id as chain_id from unnest(${chainIds}::bigint[]) as local (id)
    where exists (select from transfers t where t.chain_id = local.id and t.counts and t.final_at is null)
      or exists (select from returns b where b.chain_id = local.id and ${isOnItsWay(sql)})
      or exists (select from relay_transactions r where r.chain_id = local.id and r.state = 'mined')`;
  return rows.map(({ chain_id }) => Number(chain_id));
}
