import type { Scope, Sql, Tx } from '../../db/connection.ts';
import { type Quote, quoteOf } from '../../rates/quote.ts';
import { charged, chargedAt } from '../mandates/read.ts';
import type { UsableMandate } from './charge-facts-store.ts';

/** A plan whose next date comes soon, with its mandate and the permit of that mandate's payer. */
export type UpcomingRow = {
  partner_id: string;
  test_mode: boolean;
  plan_id: string;
  fiat_int: string;
  fiat_code: string;
  next_on: string;
  plan_due_at: Date;
  quote: Quote | null;
  permit_micro: string | null;
  permit_deadline: string | null;
  permit_signed_at: Date | null;
  /** Whether a charge of the plan has failed and is tried again, so that its customer already knows. */
  retried: boolean;
} & Pick<UsableMandate, 'payer' | 'token_address' | 'contract_address' | 'allowed_charges' | 'charged' | 'charged_at'>;

/** Where a pass continues: after a plan. */
export type After = { dueAt: Date; planId: string };

type Limits = { now: Date; before: Date; after: After | null; withoutRate: ReadonlySet<string>; limit: number };

/**
 * Plans that will be charged on a chain before a time and were not checked for that date, the next first.
 *
 * @param limits `withoutRate`: currencies whose plans are left out
 */
export function selectUpcoming(
  sql: Sql,
  chainId: number,
  { now, before, after, withoutRate, limit }: Limits,
): Promise<UpcomingRow[]> {
  return sql<UpcomingRow[]>`
    select p.partner_id, p.test_mode, p.id as plan_id, p.fiat_int, p.fiat_code, p.next_on::text as next_on,
      p.due_at as plan_due_at, ${quoteOf(sql, sql`p.fiat_code`)} as quote, a.payer, a.token_address, a.contract_address,
      a.allowed_charges, ${charged(sql)} as charged, ${chargedAt(sql)} as charged_at,
      s.value as permit_micro, s.deadline as permit_deadline, s.signed_at as permit_signed_at,
      exists (select from collections o
        where (o.partner_id, o.test_mode, o.plan_id) = (p.partner_id, p.test_mode, p.id)
          and o.state = 'waiting' and o.attempts > 0) as retried
    from plans p
      join mandates a on (a.partner_id, a.test_mode, a.plan_id) = (p.partner_id, p.test_mode, p.id) and a.state = 'active'
      left join permits s on (s.chain_id, s.token_address, s.payer, s.contract_address)
        = (a.chain_id, a.token_address, a.payer, a.contract_address)
    where p.collect = 'automatic' and p.state = 'active' and p.foreseen_on is distinct from p.next_on
      and p.due_at > ${now} and p.due_at <= ${before} and a.chain_id = ${chainId}
      and p.fiat_code <> all(${[...withoutRate]}::text[])
      ${after ? sql`and (p.due_at, p.id) > (${after.dueAt}, ${after.planId})` : sql``}
    order by p.due_at, p.id limit ${limit}`;
}

/** Stores that a plan's date was checked; false if somebody was faster, or the plan has moved on. */
export async function updateUpcomingChecked(tx: Tx, scope: Scope, planId: string, day: string): Promise<boolean> {
  const { count } = await tx`
    update plans p set foreseen_on = p.next_on
    where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode} and p.id = ${planId}
      and p.next_on = ${day}::date and p.state = 'active' and p.foreseen_on is distinct from p.next_on`;
  return count === 1;
}
