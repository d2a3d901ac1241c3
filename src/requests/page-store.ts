import type { Scope, Tx } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';
import type { Statement, Tag } from '../db/sql.ts';
import type { RequestRow } from './store.ts';

/** What the pay page shows beyond the request itself. */
export type PayPageRow = RequestRow & {
  merchant_name: string | null;
  partner_name: string;
  /** The language in which the customer last read it, if a receipt will be sent. */
  customer_language: string | null;
};

/** A request with what its pay page shows; no row when the scope has no such request. `status` is as stored. */
export function selectPayPage(sql: Tag, scope: Scope, id: string): Statement<PayPageRow[]> {
  return sql<PayPageRow[]>`
    select r.*, ${shownName(sql)} as merchant_name, p.name as partner_name
    from requests r
      join merchants m on (m.partner_id, m.test_mode, m.id) = (r.partner_id, r.test_mode, r.account_id)
      join partners p on p.id = r.partner_id
    where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${id}`;
}

/** Stores the language in which a customer reads, for the receipt. */
export async function updateRequestLanguage(tx: Tx, scope: Scope, id: string, language: string): Promise<void> {
  await tx`
    update requests set customer_language = ${language}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id}
      and proof_status <> 'verified'`;
}
