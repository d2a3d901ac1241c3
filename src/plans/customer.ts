import type { Scope, Sql, Tx } from '../db/connection.ts';
import { type CustomerKey, isEmail, isPersonalRequest } from '../requests/customer.ts';
import { endOfErased } from './mandates/store.ts';
import { endedColumns } from './store.ts';

/** A plan of a customer that contains personal data, of any partner and mode. Only for operators. */
export type CustomerPlan = { partner_id: string; test_mode: boolean; id: string; created_at: Date };

const isCustomer = (sql: Sql | Tx, { by, value }: CustomerKey) =>
  by === 'email'
    ? isEmail(sql, sql`p.customer_email`, value)
    : by === 'phone'
      ? sql`regexp_replace(p.customer_phone, '\\D', '', 'g') = ${value} and p.customer_phone is not null`
      : sql`(p.partner_id, p.test_mode, p.id) in (
          select c.partner_id, c.test_mode, c.plan_id from plan_charges c
            join requests r on (r.partner_id, r.test_mode, r.id) = (c.partner_id, c.test_mode, c.request_id)
          where r.id = ${value})`;

const isPersonal = (sql: Sql | Tx) =>
  sql`num_nonnulls(p.name, p.customer_name, p.customer_email, p.customer_phone) > 0`;

/** A customer's plans, in the order of partner, mode and id. For a request: the plan that it is a charge of. */
export function findPlansOfCustomer(sql: Sql | Tx, key: CustomerKey, limit: number): Promise<CustomerPlan[]> {
  return sql<CustomerPlan[]>`
    select p.partner_id, p.test_mode, p.id, p.created_at from plans p
    where ${isCustomer(sql, key)} and ${isPersonal(sql)} order by p.partner_id, p.test_mode, p.id limit ${limit}`;
}

/** The requests of the plan that a request is a charge of, at most this many; none if it belongs to no plan. */
export async function findRequestsBeside(sql: Sql | Tx, requestId: string, limit: number): Promise<string[]> {
  const rows = await sql<{ request_id: string }[]>`
    select c.request_id from requests r
      join plan_charges own on (own.partner_id, own.test_mode, own.request_id) = (r.partner_id, r.test_mode, r.id)
      join plan_charges c
        on (c.partner_id, c.test_mode, c.plan_id) = (own.partner_id, own.test_mode, own.plan_id)
    where r.id = ${requestId} limit ${limit}`;
  return rows.map(({ request_id }) => request_id);
}

/** The requests of these plans that contain personal data, at most this many. Those of a plan may lack its address. */
export async function findChargesOfPlans(sql: Sql | Tx, plans: CustomerPlan[], limit: number): Promise<string[]> {
  const rows = await sql<{ request_id: string }[]>`
    select c.request_id from plan_charges c
      join requests r on (r.partner_id, r.test_mode, r.id) = (c.partner_id, c.test_mode, c.request_id)
    where (c.partner_id, c.test_mode, c.plan_id) in (
        select * from unnest(${plans.map((plan) => plan.partner_id)}::uuid[],
          ${plans.map((plan) => plan.test_mode)}::boolean[], ${plans.map((plan) => plan.id)}::uuid[]))
      and ${isPersonalRequest(sql, sql`r.`)}
    limit ${limit}`;
  return rows.map(({ request_id }) => request_id);
}

/** Plans of all scopes but these that ended before a time and still say who their customer was, the oldest first. */
export function findOldPlans(
  sql: Sql | Tx,
  before: Date,
  { limit, except }: { limit: number; except: Scope[] },
): Promise<CustomerPlan[]> {
  return sql<CustomerPlan[]>`
    select p.partner_id, p.test_mode, p.id, p.created_at from plans p
    where p.state = 'ended' and p.customer_name is not null and p.ended_at < ${before}
      and (p.partner_id, p.test_mode) not in (
        select * from unnest(${except.map(({ partnerId }) => partnerId)}::uuid[], ${except.map(({ testMode }) => testMode)}::boolean[]))
    order by p.ended_at limit ${limit}`;
}

/**
 * Removes what identifies the customers of these plans, and ends the plans that have not ended, with their mandates:
 * there is nobody left to charge.
 *
 * @returns those that still contained personal data, without any that another node has already erased
 */
export async function erasePlans(tx: Tx, plans: CustomerPlan[], now: Date): Promise<CustomerPlan[]> {
  const forgotten = await tx<CustomerPlan[]>`
    update plans p set name = null, customer_name = null, customer_email = null, customer_phone = null,
      ${endedColumns(tx, now)}
    where p.id = any(${plans.map(({ id }) => id)}::uuid[]) and ${isPersonal(tx)}
    returning p.partner_id, p.test_mode, p.id, p.created_at`;
  await endOfErased(
    tx,
    forgotten.map(({ id }) => id),
    now,
  );
  return forgotten;
}
