import type { Scope, Sql, Tx } from '../../db/connection.ts';
import type { RelayPurpose } from './store.ts';

/** A partner's spending on one chain today (UTC, by the database's clock). */
export type Budget = { scope: Scope; chainId: number; budgetWei: bigint };

/**
 * Counts the most that a call may cost, and locks the partner's row until the transaction ends.
 *
 * @returns the day's total in wei; null if the budget has no room for the call, and then nothing is counted
 */
export async function reserveBudget(
  tx: Tx,
  { scope, chainId, budgetWei }: Budget,
  wei: bigint,
): Promise<bigint | null> {
  if (wei > budgetWei) return null;
  const [row] = await tx<{ wei: string }[]>`
    insert into relay_spending as spent (partner_id, test_mode, chain_id, day, wei)
    values (${scope.partnerId}, ${scope.testMode}, ${chainId}, (now() at time zone 'utc')::date, ${wei})
    on conflict (partner_id, test_mode, chain_id, day) do update set wei = spent.wei + excluded.wei
      where spent.wei + excluded.wei <= ${budgetWei}
    returning wei`;
  return row ? BigInt(row.wei) : null;
}

/**
 * Whether a merchant's calls for a purpose would use more of the day's budget than they leave over, while another
 * merchant of the partner may need it. For charges and revocations that is one whose customers have agreed to be
 * charged, for authorizations any that takes payments. A merchant's first call of a day passes while the budget lasts.
 * The answer is exact after `reserveBudget`, which locks what is counted.
 *
 * `hasSlot` counts holders that take one slot each. This counts wei, for calls of several merchants at once.
 *
 * @param spentWei the partner's total of the day, with these calls
 * @param calls at least one, all of one purpose, not stored yet
 */
export async function crowdsOut(
  tx: Sql | Tx,
  { scope: { partnerId, testMode }, chainId, budgetWei }: Budget,
  spentWei: bigint,
  calls: readonly { accountId: string; purpose: RelayPurpose; feeWei: bigint }[],
): Promise<boolean> {
  const leftWei = budgetWei - spentWei;
  if (spentWei <= leftWei) return false;
  const of = tx`m.partner_id = ${partnerId} and m.test_mode = ${testMode}`;
  const needs = (is: 'before' | 'after') => {
    const compared = is === 'before' ? tx`<` : tx`>`;
    return calls[0]?.purpose === 'authorization'
      ? tx`select from merchants m where ${of} and m.onboarded_at is not null and m.id ${compared} more.account_id`
      : tx`select from mandates m where ${of} and m.state = 'active' and m.account_id ${compared} more.account_id`;
  };
  const rows = await tx`
    select from (
        select account_id, purpose, sum(fee_wei) as wei, count(*) as calls
        from unnest(${calls.map(({ accountId }) => accountId)}::uuid[], ${calls.map(({ purpose }) => purpose)}::text[],
          ${calls.map(({ feeWei }) => feeWei)}::numeric[]) as k (account_id, purpose, fee_wei) group by 1, 2) more
      cross join lateral (
        select coalesce(sum(t.fee_wei), 0) as wei, count(*) as calls from relay_transactions t
        where t.partner_id = ${partnerId} and t.test_mode = ${testMode} and t.chain_id = ${chainId}
          and t.account_id = more.account_id and t.purpose = more.purpose
          and t.day = (now() at time zone 'utc')::date) earlier
    where more.wei + earlier.wei > ${leftWei} and more.calls + earlier.calls > 1
      and (exists (${needs('before')}) or exists (${needs('after')}))`;
  return rows.length > 0;
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

/**
 * Sets the cost of calls that the transaction has locked, and counts the difference on the days when they were
 * enqueued.
 */
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
    with fees as (
      select * from unnest(${ids}::uuid[], ${calls.map(({ feeWei }) => feeWei)}::numeric[]) as k (id, fee_wei)),
    more as (
      select r.partner_id, r.test_mode, r.chain_id, r.day, sum(fees.fee_wei - r.fee_wei) as wei
      from relay_transactions r join fees using (id) group by r.partner_id, r.test_mode, r.chain_id, r.day),
    changed as (update relay_transactions r set fee_wei = fees.fee_wei from fees where r.id = fees.id)
    update relay_spending s set wei = greatest(0, s.wei + more.wei) from more
    where s.partner_id = more.partner_id and s.test_mode = more.test_mode and s.chain_id = more.chain_id
      and s.day = more.day`;
}
