import type { Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { isAddress } from '../lib/ids.ts';
import { currencyKnown } from '../rates/currency-field.ts';
import { type WalletHolder, walletFacts } from './store.ts';

export type CreateMerchantFacts = { holder: WalletHolder | null; currency_known: boolean };

export const walletOf = (body: Record<string, unknown>) =>
  isAddress(body.wallet_address) ? body.wallet_address.toLowerCase() : null;

/** The columns that the gate's statement reads for a create call. The body is not validated yet. */
export function merchantCreateFacts(sql: Sql, body: Record<string, unknown>): Fragment {
  return sql`${walletFacts(sql, walletOf(body))}, ${currencyKnown(sql, body.display_currency)}`;
}
