import type { Scope, Sql, Tx } from '../../db/connection.ts';
import type { RelayPurpose } from './store.ts';

/** A partner's spending on one chain today (UTC, by the database's clock). */
type Budget = { scope: Scope; chainId: number; budgetWei: bigint };

/**
 * What calls of a purpose may use of what a partner has: its budget of the day, its places in the queue. Authorizations
 * are handed in by strangers, who may use up half: the rest is kept for charges and revocations. Charges leave a tenth,
 * so that one merchant's many do not keep the customers of others from revoking.
 */
export function shareOf(purpose: RelayPurpose, whole: bigint): bigint {
  if (purpose === 'revoke') return whole;
  return purpose === 'charge' ? whole - whole / 10n : whole / 2n;
}

/**
 * Counts what a call may cost at most, and holds the partner's row until the transaction ends.
 *
 * @returns false when the day's budget has no room for it; then nothing is counted
 */
export async function reserve(tx: Tx, { scope, chainId, budgetWei }: Budget, wei: bigint): Promise<boolean> {
  if (wei > budgetWei) return false;
  const rows = await tx`
    insert into relay_spending as spent (partner_id, test_mode, chain_id, day, wei)
    values (${scope.partnerId}, ${scope.testMode}, ${chainId}, (now() at time zone 'utc')::date, ${wei})
    on conflict (partner_id, test_mode, chain_id, day) do update set wei = spent.wei + excluded.wei
      where spent.wei + excluded.wei <= ${budgetWei}
    returning wei`;
  return rows.length === 1;
}

/** What is left of a partner's budget on a chain today, in wei. */
export async function budgetLeft(sql: Sql | Tx, { scope, chainId, budgetWei }: Budget): Promise<bigint> {
  const [row] = await sql<{ wei: string }[]>`
    select wei from relay_spending
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${chainId}
      and day = (now() at time zone 'utc')::date`;
  const left = budgetWei - BigInt(row?.wei ?? 0);
  return left > 0n ? left : 0n;
}

/** Sets what calls cost that the transaction has locked, and counts the difference on the days of their taking on. */
export async function updateFees(tx: Tx, calls: readonly { id: string; feeWei: bigint }[]): Promise<void> {
  if (calls.length === 0) return;
  const ids = calls.map(({ id }) => id);
  // Every transaction locks the rows of several partners in the same order.
  await tx`
    select from relay_spending s
    where (s.partner_id, s.test_mode, s.chain_id, s.day) in (
      select r.partner_id, r.test_mode, r.chain_id, r.day from relay_transactions r where r.id = any(${ids}::uuid[]))
    order by s.partner_id, s.test_mode, s.chain_id, s.day for update`;
  await tx`
    with told as (
      select * from unnest(${ids}::uuid[], ${calls.map(({ feeWei }) => feeWei)}::numeric[]) as k (id, fee_wei)),
    more as (
      select r.partner_id, r.test_mode, r.chain_id, r.day, sum(told.fee_wei - r.fee_wei) as wei
      from relay_transactions r join told using (id) group by r.partner_id, r.test_mode, r.chain_id, r.day),
    changed as (update relay_transactions r set fee_wei = told.fee_wei from told where r.id = told.id)
    update relay_spending s set wei = greatest(0, s.wei + more.wei) from more
    where s.partner_id = more.partner_id and s.test_mode = more.test_mode and s.chain_id = more.chain_id
      and s.day = more.day`;
}
