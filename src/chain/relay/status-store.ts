import type { Sql } from '../../db/connection.ts';
import type { Account } from './account-store.ts';

/** The sum spent and reserved since midnight (UTC), in wei, of each of these chains. */
export async function selectSpentToday(sql: Sql, chainIds: readonly number[]): Promise<Map<number, bigint>> {
  const rows = await sql<{ chain_id: string; wei: string }[]>`
    select chain_id, sum(wei) as wei from relay_spending
    where chain_id = any(${[...chainIds]}::bigint[]) and day = (now() at time zone 'utc')::date group by chain_id`;
  return new Map(rows.map(({ chain_id, wei }) => [Number(chain_id), BigInt(wei)]));
}

/** A call that is not mined for this long is stuck. */
const stuckAfter = '10 minutes';

/** The calls of an account that are not mined. */
export async function selectPending(
  sql: Sql,
  { chainId, address }: Account,
): Promise<{ pending: number; stuck: number; trouble: string | null }> {
  const [row] = await sql<{ pending: number; stuck: number; trouble: string | null }[]>`
    select count(*)::int as pending,
      count(*) filter (where allotted_at < now() - ${stuckAfter}::interval)::int as stuck,
      (array_agg(trouble order by nonce))[1] as trouble
    from relay_transactions
    where chain_id = ${chainId} and from_address = ${address} and state in ('allotted', 'sent')`;
  return row ?? { pending: 0, stuck: 0, trouble: null };
}
