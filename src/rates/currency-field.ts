import type { Sql } from '../db/connection.ts';
import type { FieldFault } from '../errors.ts';
import { currencyExponent } from '../lib/money.ts';

const formed = (code: unknown): code is string => typeof code === 'string' && /^[A-Z]{3}$/.test(code);

/** Column for the gate's statement: whether a currency that a call names has a rate. */
export function currencyKnown(sql: Sql, code: unknown) {
  const name = formed(code) ? code : '';
  return sql`
    (exists (select from rates where code = ${name}) or exists (select from rate_overrides where code = ${name}))
      as currency_known`;
}

/** Column for the gate's statement: the currencies that have a rate, if a call names one that has none; else null. */
export function currenciesInstead(sql: Sql, code: unknown) {
  const name = formed(code) ? code : '';
  return sql`
    case when ${name} <> '' and not exists (select from rates where code = ${name})
        and not exists (select from rate_overrides where code = ${name})
      then (select string_agg(code, ', ' order by code)
        from (select code from rates union select code from rate_overrides) rated)
    end as currencies_instead`;
}

/**
 * The fault of a well-formed code that is not a currency or has no rate; the contract reports a malformed one.
 *
 * @param instead what the caller can do, such as `leave it out`
 */
export function currencyFaults(field: string, code: unknown, known: boolean, instead: string): FieldFault[] {
  if (!formed(code) || (known && currencyExponent(code) !== null)) return [];
  return [{ field, message: `is not a currency for which the service has a rate; ${instead}` }];
}
