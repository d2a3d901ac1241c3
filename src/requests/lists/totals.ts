type Paid = { fiat_code: string; fiat_int: string; payments: number };

/** What was paid in a currency, in its minor units, and the rows that it is the sum of. */
export type CurrencyTotal<R extends Paid> = { code: string; fiatInt: bigint; payments: number; rows: R[] };

/** The amounts paid in each currency, the one with the most payments first. */
export function totalsByCurrency<R extends Paid>(rows: readonly R[]): CurrencyTotal<R>[] {
  const totals = [...Map.groupBy(rows, ({ fiat_code }) => fiat_code)].map(([code, own]) => ({
    code,
    fiatInt: own.reduce((sum, { fiat_int }) => sum + BigInt(fiat_int), 0n),
    payments: own.reduce((sum, { payments }) => sum + payments, 0),
    rows: own,
  }));
  return totals.sort((a, b) => b.payments - a.payments || (a.code < b.code ? -1 : 1));
}
