import type { Sql } from '../db/connection.ts';
import { plainArray } from '../db/plain-array.ts';
import type { Fragment } from '../db/sql.ts';
import type { Assumed } from './store.ts';

/** So many creates are stored in one statement at most. */
export const mostTogether = 8;

/**
 * The table of those requests of one mode that are stored, for `passTogether`: each where everything is as assumed, as
 * `assumedRequest` does it for one.
 *
 * @param all each of another partner, in the order of their calls
 */
export function storedTogether(sql: Sql, all: Assumed[]): Fragment {
  const of = <T extends string | number | Buffer | null>(value: (one: Assumed) => T) => all.map(value);
  const partners = of(({ caller }) => caller.scope.partnerId);
  const testMode = all[0]?.caller.scope.testMode ?? true;
  return sql`
    select stored.* from store_together(
      (select array_agg(key.place) from key join counted on counted.subject = key.id
        join unnest(${partners}::uuid[], ${of(({ caller }) => plainArray(caller.allowedExpiryMinutes))}::text[],
          ${of(({ caller }) => caller.defaultExpiryMinutes)}::int[])
          with ordinality as assumed(partner, allowed, usual, place) on assumed.place = key.place
        where within and key.may and key.partner_id = assumed.partner and key.test_mode = ${testMode}
          and key.allowed_expiry_minutes = assumed.allowed::int[] and key.default_expiry_minutes = assumed.usual),
      ${testMode}, ${partners}, ${of(({ request: r }) => r.id)}, ${of(({ request: r }) => r.accountId)},
      ${of(({ request: r }) => r.idempotencyKey)}, ${of(({ request: r }) => r.fiatInt)},
      ${of(({ request: r }) => r.fiatCode)}, ${of(({ request: r }) => r.exactMicro.toString())},
      ${of(({ request: r }) => r.rate)}, ${of(({ rateAt }) => rateAt)}, ${of(({ request: r }) => r.rateSource)},
      ${of(({ request: r }) => r.memo)}, ${of(({ request: r }) => r.paymentMode)},
      ${of(({ request: r }) => r.customerName)}, ${of(({ request: r }) => r.customerEmail)},
      ${of(({ request: r }) => r.customerPhone)}, ${of(({ request: r }) => r.metadata)},
      ${of(({ request: r }) => r.walletAddress)}, ${of(({ paidOn }) => paidOn && plainArray(paidOn))},
      ${of(({ request: r }) => Buffer.from(r.reference))}, ${all[0]?.chainIds ?? []},
      ${of(({ request: r }) => `${r.expiryMinutes} minutes`)}) as stored`;
}
