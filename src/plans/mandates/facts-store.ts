import type { Hex } from '../../chain/rpc.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { shownName } from '../../db/shown-name.ts';
import { type Quote, quoteOf } from '../../rates/quote.ts';
import { type PlanRow, planColumns } from '../store.ts';
import { uncollected } from './charged-store.ts';

/** A plan with what its customer's page needs of merchant, partner and rate. */
export type PlanFactsRow = PlanRow & {
  /** The merchant's name for customers; null if it has none. */
  merchant_name: string | null;
  merchant_email: string | null;
  merchant_language: string | null;
  partner_name: string;
  slug: string;
  accent: string | null;
  logo_hash: string | null;
  /** How many of its charges were made and are still to be collected. */
  uncollected: number;
  /** Whether it is disabled, by the partner or the operator. */
  is_off: boolean;
  /** The merchant's wallet now; null while it is not set up. */
  wallet_address: Hex | null;
  /** For a contract wallet: the chains on which its code was checked; null for any chain. */
  wallet_chain_ids: number[] | null;
  /** The rate of the plan's currency. */
  quote: Quote | null;
};

export async function selectPlanFacts(tx: Tx, scope: Scope, planId: string): Promise<PlanFactsRow | null> {
  const [row] = await tx<PlanFactsRow[]>`
    select ${planColumns(tx)}, ${uncollected(tx)} as uncollected,
      ${shownName(tx)} as merchant_name, m.email as merchant_email,
      m.language as merchant_language, w.name as partner_name, w.slug, w.accent, w.logo_hash,
      m.disabled_by_partner or m.disabled_by_operator or w.disabled_at is not null as is_off,
      case when m.onboarded_at is not null then m.wallet_address end as wallet_address,
      m.wallet_chain_ids,
      ${quoteOf(tx, tx`p.fiat_code`)} as quote
    from plans p
      join merchants m on (m.partner_id, m.test_mode, m.id) = (p.partner_id, p.test_mode, p.account_id)
      join partners w on w.id = p.partner_id
    where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode} and p.id = ${planId}`;
  return row ?? null;
}
