import type { Database, Scope, Sql, Tx } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';
import type { Fragment, Statement, Tag } from '../db/sql.ts';
import type { Collection } from './collection-form.ts';
import type { NewPlan, PlanChange } from './form.ts';
import type { Course, Day, Period } from './rules.ts';

/** A row of `plans`. Money is a decimal string; `metadata` is the JSON text as given, keys in order. */
export type PlanRow = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  account_id: string;
  /** Null if the customer's data was erased; then it has ended. */
  name: string | null;
  fiat_int: string;
  fiat_code: string;
  customer_name: string | null;
  customer_email: string | null;
  customer_phone: string | null;
  language: string;
  metadata: string;
  /** How its charges are paid: each by its link, or by charging the wallet that has agreed. */
  collect: Collection['collect'];
  /** The maximum per charge, in minor units of its currency; null if it was never automatic. */
  cap_fiat_int: string | null;
  reserve_percent: number;
  after_past_due: Collection['afterPastDue'];
  period: Period;
  every: number;
  first_on: Day;
  max_charges: number | null;
  state: 'active' | 'paused' | 'ended';
  charges: number;
  slot: number;
  next_on: Day | null;
  due_at: Date | null;
  failure: string | null;
  failures: number;
  failed_at: Date | null;
  created_at: Date;
  ended_at: Date | null;
  /** When the customer stopped the mails; null while each new request is mailed. */
  mails_stopped_at: Date | null;
  /** The key of its requests' ids and references; null if it has made none since it has one. */
  charge_key: string | null;
};

/** The state of a plan, in one word. `failing`: active, but the due charge could not be made. */
export type PlanDisplayStatus = 'active' | 'failing' | 'paused' | 'ended';
export const planDisplayStatuses: PlanDisplayStatus[] = ['active', 'failing', 'paused', 'ended'];

/** The columns of a plan `p`. Days as text: a date has no time zone. */
export const planColumns = (sql: Tag) => sql`p.*, p.first_on::text as first_on, p.next_on::text as next_on`;
const inScope = (sql: Tag, { partnerId, testMode }: Scope) =>
  sql`p.partner_id = ${partnerId} and p.test_mode = ${testMode}`;

export function courseOf(row: PlanRow): Course {
  const { first_on: firstOn, every, period, max_charges: maxCharges, charges, slot } = row;
  return { firstOn, every, period, maxCharges, charges, slot };
}

export type StoredPlan = NewPlan & {
  id: string;
  accountId: string;
  formKey: string;
  chargeKey: string;
  fiatCode: string;
  language: string;
  dueAt: Date;
  createdAt: Date;
};

export async function insertPlan(tx: Tx, scope: Scope, plan: StoredPlan): Promise<PlanRow> {
  const [row] = await tx<PlanRow[]>`
    insert into plans as p (partner_id, test_mode, id, account_id, form_key, name, fiat_int, fiat_code, customer_name,
      customer_email, customer_phone, language, metadata, period, every, first_on, max_charges, next_on, due_at, created_at,
      collect, cap_fiat_int, reserve_percent, after_past_due, charge_key)
    values (${scope.partnerId}, ${scope.testMode}, ${plan.id}, ${plan.accountId}, ${plan.formKey}, ${plan.name},
      ${plan.fiatInt}, ${plan.fiatCode}, ${plan.customerName}, ${plan.customerEmail}, ${plan.customerPhone},
      ${plan.language}, ${plan.metadata}, ${plan.period}, ${plan.every}, ${plan.firstOn}, ${plan.maxCharges},
      ${plan.firstOn}, ${plan.dueAt}, ${plan.createdAt}, ${plan.collect}, ${plan.capFiatInt}, ${plan.reservePercent},
      ${plan.afterPastDue}, ${plan.chargeKey})
    returning ${planColumns(tx)}`;
  if (!row) throw new Error('a plan was not stored');
  return row;
}

/** Until the transaction ends, nobody else can start a plan of this merchant, so the maximum is exact. */
export async function lockNewPlans(tx: Tx, accountId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`plans ${accountId}`}, 0))`;
}

/** The customers' e-mail addresses of plans that have not ended, and of ended ones that were made since a time. */
export async function selectPlanEmails(
  tx: Tx,
  scope: Scope,
  { accountId, since, max }: { accountId: string; since: Date; max: number },
): Promise<(string | null)[]> {
  const plans = tx`select p.customer_email from plans p where ${inScope(tx, scope)} and p.account_id = ${accountId}`;
  const rows = await tx<{ customer_email: string | null }[]>`
    (${plans} and p.state <> 'ended' limit ${max}) union all
    (${plans} and p.state = 'ended' and p.created_at > ${since} limit ${max})`;
  return rows.map(({ customer_email }) => customer_email);
}

/** The plan that an earlier submission of the same form created; null when there is none. */
export async function selectPlanOfForm(
  tx: Tx,
  scope: Scope,
  accountId: string,
  formKey: string,
): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`
    select ${planColumns(tx)} from plans p
    where ${inScope(tx, scope)} and p.account_id = ${accountId} and p.form_key = ${formKey}`;
  return row ?? null;
}

export async function selectPlan(tx: Tx, scope: Scope, accountId: string, id: string): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`
    select ${planColumns(tx)} from plans p where ${inScope(tx, scope)} and p.account_id = ${accountId} and p.id = ${id}`;
  return row ?? null;
}

/** The plan that a request is a charge of; null for others. */
export async function selectPlanOfRequest(tx: Tx, scope: Scope, requestId: string): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`
    select ${planColumns(tx)} from plan_charges c
      join plans p on (p.partner_id, p.test_mode, p.id) = (c.partner_id, c.test_mode, c.plan_id)
    where c.partner_id = ${scope.partnerId} and c.test_mode = ${scope.testMode} and c.request_id = ${requestId}`;
  return row ?? null;
}

/** Locked until the transaction ends, so that no charge is made meanwhile. */
export async function lockPlan(tx: Tx, scope: Scope, accountId: string, id: string): Promise<PlanRow | null> {
  const [row] = await tx<PlanRow[]>`
    select ${planColumns(tx)} from plans p
    where ${inScope(tx, scope)} and p.account_id = ${accountId} and p.id = ${id} for update`;
  return row ?? null;
}

export type PlanFilter = {
  displayStatus: PlanDisplayStatus | null;
  /** The plan before it in the list. */
  after: { at: Date; id: string } | null;
  limit: number;
};

/** Further conditions for the plans of a list's page, each with the `and` before it. */
export function onListPage(sql: Tag, displayStatus: PlanFilter['displayStatus'], after: PlanFilter['after']): Fragment {
  const state = displayStatus === 'failing' ? 'active' : displayStatus;
  return sql`
    ${state ? sql`and p.state = ${state}` : sql``}
    ${state === 'active' ? sql`and (p.failure is not null) = ${displayStatus === 'failing'}` : sql``}
    ${after ? sql`and p.created_at <= ${after.at} and (p.created_at, p.id) < (${after.at}, ${after.id})` : sql``}`;
}

/** Plans of a merchant, the newest first. */
export function selectPlans(
  sql: Tag,
  scope: Scope,
  accountId: string,
  { displayStatus, after, limit }: PlanFilter,
): Statement<PlanRow[]> {
  return sql<PlanRow[]>`
    select ${planColumns(sql)} from plans p
    where ${inScope(sql, scope)} and p.account_id = ${accountId} ${onListPage(sql, displayStatus, after)}
    order by p.created_at desc, p.id desc limit ${limit}`;
}

/** Pauses an active plan and clears its failure. Does nothing to a plan in another state. */
export async function updatePaused(tx: Tx, scope: Scope, id: string): Promise<void> {
  await tx`
    update plans p set state = 'paused', due_at = null, failure = null, failures = 0, failed_at = null
    where ${inScope(tx, scope)} and p.id = ${id} and p.state = 'active'`;
}

/** Resumes a paused plan at a slot. Does nothing to a plan in another state. */
export async function updateResumed(
  tx: Tx,
  scope: Scope,
  id: string,
  next: { slot: number; nextOn: Day; dueAt: Date },
): Promise<void> {
  await tx`
    update plans p set state = 'active', slot = ${next.slot}, next_on = ${next.nextOn}, due_at = ${next.dueAt}
    where ${inScope(tx, scope)} and p.id = ${id} and p.state = 'paused'`;
}

/**
 * Changes the amount of a plan's charges and how they are paid. A plan that fails because of its currency is due again
 * at once.
 */
export async function updateTerms(
  tx: Tx,
  scope: Scope,
  id: string,
  change: PlanChange & { fiatCode: string },
  now: Date,
): Promise<void> {
  await tx`
    update plans p set fiat_int = ${change.fiatInt}, fiat_code = ${change.fiatCode}, collect = ${change.collect},
      cap_fiat_int = ${change.capFiatInt}, reserve_percent = ${change.reservePercent},
      after_past_due = ${change.afterPastDue},
      due_at = case when p.failure = 'currency_mismatch' then ${now} else p.due_at end
    where ${inScope(tx, scope)} and p.id = ${id} and p.state <> 'ended'`;
}

/** The columns that change when a plan ends. */
export const endedColumns = (tx: Sql | Tx, now: Date) => tx`
  state = 'ended', ended_at = coalesce(p.ended_at, ${now}), next_on = null, due_at = null, failure = null, failures = 0,
  failed_at = null`;

/** Ends a plan, unless it has already ended. */
export async function updateEnded(tx: Tx, scope: Scope, id: string, now: Date): Promise<void> {
  await tx`
    update plans p set ${endedColumns(tx, now)} where ${inScope(tx, scope)} and p.id = ${id} and p.state <> 'ended'`;
}

/** Permanently stops the mails of a plan; false if they were already stopped, or it has ended. */
export async function updateMailsStopped(tx: Tx, scope: Scope, id: string, now: Date): Promise<boolean> {
  const { count } = await tx`
    update plans p set mails_stopped_at = ${now}
    where ${inScope(tx, scope)} and p.id = ${id} and p.mails_stopped_at is null and p.state <> 'ended'`;
  return count === 1;
}

/** A plan that is due. */
export type DuePlan = { partner_id: string; test_mode: boolean; id: string };

/**
 * The loop's lookup over all partners: due plans, a limited number per partner and mode, longest due first. Everyone's
 * first comes before anyone's second, so one partner with thousands delays nobody.
 */
export function selectDue(db: Database, now: Date, limits: { ofOne: number; all: number }): Promise<DuePlan[]> {
  return db.sql<DuePlan[]>`
    select due.partner_id, due.test_mode, due.id
    from partners w cross join (values (false), (true)) mode (test)
      cross join lateral (
        select p.partner_id, p.test_mode, p.id, row_number() over (order by p.due_at) as turn from plans p
        where p.partner_id = w.id and p.test_mode = mode.test and p.due_at <= ${now}
        order by p.due_at limit ${limits.ofOne}) due
    order by due.turn, random() limit ${limits.all}`;
}

/** A plan with the names that its customer knows. */
export type NamedPlan = PlanRow & { merchant_name: string | null; partner_name: string };

const namedPlan = (tx: Tx, scope: Scope, id: string) => tx`
  select ${planColumns(tx)}, ${shownName(tx)} as merchant_name, w.name as partner_name
  from plans p
    join merchants m on (m.partner_id, m.test_mode, m.id) = (p.partner_id, p.test_mode, p.account_id)
    join partners w on w.id = p.partner_id
  where ${inScope(tx, scope)} and p.id = ${id}`;

/** Locked until the transaction ends, before any charge of the plan. */
export async function lockNamedPlan(tx: Tx, scope: Scope, id: string): Promise<NamedPlan> {
  const [row] = await tx<NamedPlan[]>`${namedPlan(tx, scope, id)} for update of p`;
  if (!row) throw new Error(`there is no plan ${id}`); // plans are never deleted
  return row;
}

/** A due plan, locked until the transaction ends; null when somebody else has locked it, or it is no longer due. */
export async function lockDue(tx: Tx, scope: Scope, id: string, now: Date): Promise<NamedPlan | null> {
  const [row] = await tx<NamedPlan[]>`
    ${namedPlan(tx, scope, id)} and p.due_at <= ${now} for update of p skip locked`;
  return row ?? null;
}

/**
 * Counts a charge and moves on to the next one, or ends the plan if there is none.
 *
 * @param chargeKey for the charges after this one, if it has no key yet
 */
export async function updateCharged(
  tx: Tx,
  scope: Scope,
  { id, charges }: PlanRow,
  next: { slot: number; nextOn: Day; dueAt: Date } | null,
  { now, chargeKey }: { now: Date; chargeKey: string },
): Promise<void> {
  const course = next
    ? tx`slot = ${next.slot}, next_on = ${next.nextOn}, due_at = ${next.dueAt}, failure = null, failures = 0,
        failed_at = null`
    : endedColumns(tx, now);
  const { count } = await tx`
    update plans p set charges = p.charges + 1, charge_key = coalesce(p.charge_key, ${chargeKey}::uuid), ${course}
    where ${inScope(tx, scope)} and p.id = ${id} and p.state = 'active' and p.charges = ${charges}`;
  if (count !== 1) throw new Error(`plan ${id} changed while it was locked`);
}

export async function insertCharge(
  tx: Tx,
  scope: Scope,
  charge: { planId: string; number: number; dueOn: Day; requestId: string; madeAt: Date },
): Promise<void> {
  await tx`
    insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
    values (${scope.partnerId}, ${scope.testMode}, ${charge.planId}, ${charge.number}, ${charge.dueOn},
      ${charge.requestId}, ${charge.madeAt})`;
}

/** Stores why a charge could not be made and when to retry it, unless the plan has moved on. */
export async function updateChargeFailed(
  tx: Tx,
  scope: Scope,
  { id, charges }: { id: string; charges: number },
  failure: string,
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<void> {
  await tx`
    update plans p set failure = ${failure}, failures = p.failures + 1, failed_at = coalesce(p.failed_at, ${now}),
      due_at = ${dueAt}
    where ${inScope(tx, scope)} and p.id = ${id} and p.state = 'active' and p.charges = ${charges}`;
}
