import type { Scope, Sql, Tx } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { nilUuid } from '../lib/ids.ts';

/** The customer of a request, as far as known; locked, so that the data is not erased before the transaction ends. */
export async function lockCustomer(
  tx: Tx,
  scope: Scope,
  id: string,
): Promise<{ email: string | null; phone: string | null } | null> {
  const [row] = await tx<{ email: string | null; phone: string | null }[]>`
    select customer_email as email, customer_phone as phone from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} for share`;
  return row ?? null;
}

/** How a customer is identified: by an e-mail address, the digits of a phone number, or the id of a request. */
export type CustomerKey = { by: 'email' | 'phone' | 'request'; value: string };

/** A customer's requests, of all partners and modes, that contain personal data. Operators only. */
export type CustomerRequest = { partner_id: string; test_mode: boolean; id: string; created_at: Date };

/**
 * Whether a column holds this address, ignoring case. The database lowers both sides, but its locale may know fewer
 * capitals than JavaScript. So the address is also compared as JavaScript writes it in small letters, and in capitals.
 */
export const isEmail = (sql: Sql | Tx, column: Fragment, email: string): Fragment => sql`
  ${column} is not null and lower(${column}) in (
    lower(${email}::text), lower(${email.toLowerCase()}::text), lower(${email.toUpperCase()}::text))`;

/** `beside`: ids that count, too. With an empty list, the planner would read some partial index to its end. */
const isCustomer = (sql: Sql | Tx, { by, value }: CustomerKey, beside: string[]) => {
  const isBeside = sql`id = any(${[nilUuid, ...beside]}::uuid[])`;
  if (by === 'request') return sql`(id = ${value} or ${isBeside})`;
  const isOwn =
    by === 'email'
      ? isEmail(sql, sql`customer_email`, value)
      : sql`regexp_replace(customer_phone, '\\D', '', 'g') = ${value} and customer_phone is not null`;
  return sql`((${isOwn}) or ${isBeside})`;
};

/** Whether a request contains personal data. `of`: the prefix of its columns, such as `r.` */
export const isPersonalRequest = (sql: Sql | Tx, of = sql``): Fragment => sql`
  num_nonnulls(${of}customer_name, ${of}customer_email, ${of}customer_phone, ${of}memo, ${of}customer_language) > 0`;

/**
 * A customer's requests, in the order of partner, mode and id.
 *
 * @param beside ids of other requests known to be of the same customer: the charges of their plans
 */
export function findOfCustomer(
  sql: Sql | Tx,
  key: CustomerKey,
  beside: string[],
  limit: number,
): Promise<CustomerRequest[]> {
  return sql<CustomerRequest[]>`
    select partner_id, test_mode, id, created_at from requests
    where ${isCustomer(sql, key, beside)} and ${isPersonalRequest(sql)} order by partner_id, test_mode, id limit ${limit}`;
}

/** Removes what identifies the customer; returns the ids of the requests that contained something. */
export async function eraseFromRequests(tx: Tx | Sql, scope: Scope, ids: string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    update requests set customer_name = null, customer_email = null, customer_phone = null, memo = null,
      customer_language = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = any(${ids}::uuid[])
      and ${isPersonalRequest(tx)}
    returning id`;
  return rows.map(({ id }) => id);
}

/** The ids of requests created in a period, oldest first; `after` and `before` are both excluded. */
export function findMadeBetween(
  tx: Tx,
  scope: Scope,
  range: { after: Date | null; before: Date },
  limit: number,
): Promise<{ id: string; created_at: Date }[]> {
  return tx<{ id: string; created_at: Date }[]>`
    select id, created_at from requests
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and created_at < ${range.before}
      ${range.after ? tx`and created_at > ${range.after}` : tx``}
    order by created_at limit ${limit}`;
}
