import type { Scope, Tx } from '../../db/connection.ts';
import type { Fragment } from '../../db/sql.ts';
import { dayMs } from '../../lib/durations.ts';
import { containsPattern } from '../../lib/text/like-pattern.ts';
import { receiptCode } from '../../lib/text/receipt-number.ts';
import type { SearchText } from '../../lib/text/search-text.ts';
import { fiatMeant, usdcMeant } from '../../lib/text/typed-amounts.ts';

/** Where to search: in a scope, or only for one merchant in it. */
export type Place = { scope: Scope; accountId: string | null; chainIds: number[] };

/** A look-up finds at most this many, the newest. */
export const maxFound = 500;
/**
 * The index of idempotency keys begins with the merchant, so a key is looked up for at most this many merchants, the
 * newest.
 */
const maxMerchants = 2_000;

/**
 * The requests that are named by what was typed: by an id, its beginning, a receipt number, a transaction that paid or
 * refunded, a payer, an idempotency key, a whole e-mail address or a whole value of the metadata. Each by an index. An
 * address that thousands share, a key in a scope with thousands of merchants, and an odd spelling of a value can be
 * missed: `selectScanned` finds them.
 *
 * @returns `isAll`: false if a look-up found as many as it may
 */
export async function selectNamed(
  tx: Tx,
  place: Place,
  search: SearchText,
): Promise<{ ids: string[]; isAll: boolean }> {
  const { accountId: account } = place;
  const { text, id, ids, email } = search;
  const own = ownOf(tx, place);
  const looks = [
    tx<FoundId[]>`select find_by_value(${text}, ${account}, ${maxFound}) as id`,
    tx<FoundId[]>`${byKey(tx, place, text)}`,
    id && tx<FoundId[]>`select id from requests where ${own} and id = ${id}`,
    ids &&
      tx<FoundId[]>`
        select id from requests where ${own} and id between ${ids.from} and ${ids.to} and id::text like ${`%${ids.end}`}
        order by id desc limit ${maxFound}`,
    email && tx<FoundId[]>`select find_by_email_in_scope(${email}, ${account}, ${maxFound}) as id`,
    search.hash && tx<FoundId[]>`${byTransaction(tx, place, search.hash)}`,
    search.address && tx<FoundId[]>`${byPayer(tx, place, search.address)}`,
    search.receipt && tx<FoundId[]>`${byReceipt(tx, place, search.receipt)}`,
  ];
  const found = await Promise.all(looks.filter((look) => typeof look === 'object'));
  return {
    ids: [...new Set(found.flat().flatMap((row) => row.id ?? []))],
    isAll: found.every((rows) => rows.length < maxFound),
  };
}

/** `null`: money that is probably meant for no request. */
type FoundId = { id: string | null };

const ownOf = (tx: Tx, { scope, accountId }: Place) => tx`
  partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
  ${accountId === null ? tx`` : tx`and account_id = ${accountId}`}`;

function byKey(tx: Tx, { scope, accountId }: Place, key: string): Fragment {
  const { partnerId, testMode } = scope;
  // One scan for all: a join would check the scope again for each merchant.
  const accounts =
    accountId === null
      ? tx`array(select id from merchants where partner_id = ${partnerId} and test_mode = ${testMode}
          order by created_at desc limit ${maxMerchants})`
      : tx`${[accountId]}::uuid[]`;
  return tx`
    select id from requests where partner_id = ${partnerId} and test_mode = ${testMode}
      and account_id = any(${accounts}) and idempotency_key = ${key} limit ${maxFound}`;
}

function byTransaction(tx: Tx, place: Place, hash: string): Fragment {
  const own = ownOf(tx, place);
  const meant = tx`select coalesce(request_id, candidate_request_id) as id from transfers where ${own}`;
  const onChains = tx`chain_id = any(${place.chainIds}::bigint[])`;
  return tx`
    (${meant} and ${onChains} and tx_hash = ${hash} limit ${maxFound}) union all
    (${meant} and (chain_id, tx_hash, ordinal) in (
      select chain_id, tx_hash, ordinal from returns where ${own} and ${onChains} and return_tx_hash = ${hash})
    limit ${maxFound})`;
}

function byPayer(tx: Tx, place: Place, address: string): Fragment {
  return tx`
    select coalesce(request_id, candidate_request_id) as id from transfers
    where ${ownOf(tx, place)} and from_address = ${address} order by block_time desc limit ${maxFound}`;
}

/** The number is a hash, so it is compared with the requests of its day. A paid request is dated by its payment. */
function byReceipt(tx: Tx, place: Place, { number, day }: { number: string; day: Date }): Fragment {
  const own = ownOf(tx, place);
  const next = new Date(day.getTime() + dayMs);
  const digits = receiptCode(number).map((digit, i) => tx`and get_byte(digest.hash, ${i}) & 31 = ${digit}`);
  return tx`
    select r.id from (
      select id from requests
        where ${own} and proof_status = 'verified' and proof_verified_at >= ${day} and proof_verified_at < ${next}
      union all
      select id from requests
        where ${own} and proof_status <> 'verified' and created_at >= ${day} and created_at < ${next}) r
      cross join lateral (select sha256(convert_to('receipt number of ' || r.id::text, 'UTF8')) as hash offset 0) digest
    where true ${digits.reduce((all, digit) => tx`${all} ${digit}`, tx``)} limit ${maxFound}`;
}

/** What was read of a list: how many requests, the time of the oldest, and the ids that match, newest first. */
export type Scanned = { read: number; oldest: Date | null; ids: string[] };

/**
 * Looks through a part of a list for a part of a name, e-mail address or memo, an amount, a key or a metadata value.
 *
 * @param page requests, newest first, as many as are to be read
 * @param maxMs the server cancels what takes longer (SQLSTATE 57014)
 */
export async function selectScanned(tx: Tx, page: Fragment, search: SearchText, maxMs: number): Promise<Scanned> {
  await tx`select set_config('statement_timeout', ${String(maxMs)}, true)`;
  const [looked] = await tx<Scanned[]>`
    select count(*)::int as read, min(created_at) as oldest,
      coalesce(array_agg(id order by created_at desc) filter (where matches), '{}') as ids
    from (select r.id, r.created_at, (${matches(tx, search)}) as matches from (${page}) r) r`;
  return looked ?? { read: 0, oldest: null, ids: [] };
}

/** The condition that a request `r` contains the text, or has an amount that the text may mean. */
function matches(tx: Tx, { text, amounts }: SearchText): Fragment {
  const part = containsPattern(text);
  const words = tx`lower(concat_ws(chr(10), r.customer_name, r.customer_email, r.memo)) like lower(${part})`;
  const value = containsPattern(JSON.stringify(text).slice(1, -1));
  // The text of the metadata is checked first, because parsing it is slow.
  const metadata = tx`r.metadata::text <> '{}' and lower(r.metadata::text) like lower(${value})
    and exists (select from json_each_text(r.metadata) e where lower(e.value) = lower(${text}))`;
  const fiat = amounts ? fiatMeant(amounts) : [];
  const usdc = amounts ? usdcMeant(amounts) : [];
  return [
    tx`r.idempotency_key = ${text}`,
    metadata,
    ...fiat.map(({ minor, codes }) => tx`r.fiat_int = ${minor}::bigint and r.fiat_code = any(${codes}::text[])`),
    ...usdc.map(({ from, to }) => tx`r.usdc_micro between ${from}::numeric and ${to}::numeric`),
  ].reduce((all: Fragment, one) => tx`${all} or (${one})`, words);
}
