import type { Sql } from '../db/connection.ts';
import { plainArray } from '../db/plain-array.ts';
import type { Fragment } from '../db/sql.ts';
import type { Assumed } from './store.ts';

/** The most requests that one statement creates. */
export const maxGroupSize = 16;

/**
 * The table of those requests of one mode that are stored, for `passGateAsGroup`: each where everything is as assumed,
 * as `assumedRequest` does it for one.
 *
 * @param all each of another partner, in the order of their calls
 */
export function storedAsGroup(sql: Sql, all: Assumed[]): Fragment {
  const of = <T extends string | number | Buffer | null>(value: (one: Assumed) => T) => all.map(value);
  const partners = of(({ caller }) => caller.scope.partnerId);
  const testMode = all[0]?.caller.scope.testMode ?? true;
  return sql`
    select stored.* from (
      select array_agg(key.place) as places from key join counted on counted.subject = key.id
      where within and key.may and key.partner_id = (${partners}::uuid[])[key.place] and key.test_mode = ${testMode}
        and key.allowed_expiry_minutes =
          (${of(({ caller }) => plainArray(caller.allowedExpiryMinutes))}::text[])[key.place]::int[]
        and key.default_expiry_minutes = (${of(({ caller }) => caller.defaultExpiryMinutes)}::int[])[key.place]
    ) as good, store_together(good.places,
      ${testMode}, ${partners}::uuid[], ${of(({ request: r }) => r.id)}::uuid[],
      ${of(({ request: r }) => r.accountId)}::uuid[], ${of(({ request: r }) => r.idempotencyKey)}::text[],
      ${of(({ request: r }) => r.fiatInt)}::bigint[], ${of(({ request: r }) => r.fiatCode)}::text[],
      ${of(({ request: r }) => r.exactMicro.toString())}::numeric[], ${of(({ request: r }) => r.rate)}::text[],
      ${of(({ rateAt }) => rateAt)}::timestamptz[], ${of(({ request: r }) => r.rateSource)}::text[],
      ${of(({ request: r }) => r.memo)}::text[], ${of(({ request: r }) => r.paymentMode)}::text[],
      ${of(({ request: r }) => r.customerName)}::text[], ${of(({ request: r }) => r.customerEmail)}::text[],
      ${of(({ request: r }) => r.customerPhone)}::text[], ${of(({ request: r }) => r.metadata)}::json[],
      ${of(({ request: r }) => r.walletAddress)}::text[], ${of(({ paidOn }) => paidOn && plainArray(paidOn))}::text[],
      ${of(({ request: r }) => Buffer.from(r.reference))}::bytea[], ${all[0]?.chainIds ?? []}::bigint[],
      ${of(({ request: r }) => `${r.expiryMinutes} minutes`)}::interval[]) as stored`;
}
