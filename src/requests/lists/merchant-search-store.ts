import type { Scope, Tx } from '../../db/connection.ts';
import { dayMs } from '../../lib/durations.ts';
import { isAddress, isUuid } from '../../lib/ids.ts';
import { parseReceiptNumber, receiptNumber } from '../../lib/text/receipt-number.ts';

/** The search term for a merchant's requests, and the chains where its transactions may be. */
export type MerchantRequestSearch = { text: string; chainIds: number[] };

/** How many requests of a day are compared with a receipt number. */
const mostOfDay = 20_000;
/** A partial text is searched in this many of the period's newest requests, so shorter periods reach further back. */
const mostRead = 20_000;
const mostFound = 500;

/**
 * The condition that a merchant's requests `r` match a search: by id, by receipt number, by a transaction that paid or
 * refunded, or by payer. Any other text is matched against the customer's name and e-mail, and the note.
 *
 * @param ids what `selectNumbered` found
 * @param period by which the list is filtered
 */
export function searchCondition(
  tx: Tx,
  scope: Scope,
  accountId: string,
  { text, chainIds }: MerchantRequestSearch,
  ids: string[] | null,
  { since, until }: { since: Date | null; until: Date | null },
) {
  if (ids) return tx`and r.id = any(${ids}::uuid[])`;
  const word = text.trim().toLowerCase();
  // The last part of a pay page's address is the id of its request.
  const id = word.slice(word.lastIndexOf('/') + 1);
  if (isUuid(id)) return tx`and r.id = ${id}`;
  const own = tx`partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}`;
  const meant = tx`select coalesce(request_id, candidate_request_id) from transfers where ${own}`;
  if (/^0x[0-9a-f]{64}$/.test(word)) {
    const isHash = tx`chain_id = any(${chainIds}::bigint[]) and tx_hash = ${word}`;
    return tx`and r.id in (${meant} and ${isHash} union ${meant} and (chain_id, tx_hash, ordinal) in (
      select chain_id, tx_hash, ordinal from returns
      where ${own} and chain_id = any(${chainIds}::bigint[]) and return_tx_hash = ${word}))`;
  }
  if (isAddress(word)) {
    return tx`and r.id in (${meant} and from_address = ${word} order by block_time desc limit ${mostFound})`;
  }
  const part = `%${text
    .trim()
    .toLowerCase()
    .replace(/[\\%_]/g, '\\$&')}%`;
  return tx`
    and r.id = any(array(select n.id from (
        select id, customer_name, customer_email, memo from requests
        where ${own} ${since ? tx`and created_at >= ${since}` : tx``} ${until ? tx`and created_at < ${until}` : tx``}
        order by created_at desc limit ${mostRead}) n
      where lower(n.customer_name) like ${part} or lower(n.customer_email) like ${part} or lower(n.memo) like ${part}))`;
}

/**
 * The ids that a receipt number stands for; null where the search is not one. The number is a hash, so it is compared
 * with the requests of its day. A paid request is dated by its payment.
 */
export async function selectNumbered(
  tx: Tx,
  scope: Scope,
  accountId: string,
  { text }: MerchantRequestSearch,
): Promise<string[] | null> {
  const receipt = parseReceiptNumber(text);
  if (!receipt) return null;
  const { number, day } = receipt;
  const next = new Date(day.getTime() + dayMs);
  const own = tx`partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}`;
  const rows = await tx<{ id: string; at: Date }[]>`
    (select id, proof_verified_at as at from requests
      where ${own} and proof_status = 'verified' and proof_verified_at >= ${day} and proof_verified_at < ${next}
      limit ${mostOfDay})
    union all
    (select id, created_at from requests
      where ${own} and proof_status <> 'verified' and created_at >= ${day} and created_at < ${next} limit ${mostOfDay})`;
  return rows.filter(({ id, at }) => receiptNumber(id, at) === number).map(({ id }) => id);
}
