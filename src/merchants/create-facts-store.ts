import type { Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { isAddress } from '../lib/ids.ts';
import { currenciesInstead, currencyKnown } from '../rates/currency-field.ts';
import { type WalletHolder, walletFacts } from './store.ts';

export type CreateMerchantFacts = {
  holder: WalletHolder | null;
  currency_known: boolean;
  currencies_instead: string | null;
};

export const walletOf = (body: Record<string, unknown>) =>
  isAddress(body.wallet_address) ? body.wallet_address.toLowerCase() : null;

/** The columns that the gate's statement reads for a create call. The body is not validated yet. */
export function merchantCreateFacts(sql: Sql, body: Record<string, unknown>): Fragment {
  const { display_currency: code } = body;
  return sql`${walletFacts(sql, walletOf(body))}, ${currencyKnown(sql, code)}, ${currenciesInstead(sql, code)}`;
}
