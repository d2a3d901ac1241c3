import type { Tx } from '../../db/connection.ts';
import type { Statement } from '../../db/sql.ts';
import type { SearchText } from '../../lib/text/search-text.ts';

type Row = { partner_id: string; test_mode: boolean; id: string; created_at: Date };

const maxShown = 20;
/** How many of each kind are read before the newest are taken; for an e-mail address, how many merchants. */
const maxRead = 1_000;

/**
 * The newest requests of a customer with an e-mail address. The index orders them by merchant, so its first rows may
 * all be old ones of one merchant: it is stepped through from merchant to merchant, and the newest of each are read.
 */
function selectOfEmail(tx: Tx, email: string): Statement<Row[]> {
  const isOf = tx`r.customer_email is not null and lower(r.customer_email) = ${email}`;
  const merchant = tx`r.partner_id, r.test_mode, r.account_id`;
  return tx<Row[]>`
    with recursive merchants_of as (
      (select ${merchant} from requests r where ${isOf} order by ${merchant} limit 1)
      union all
      select next.* from merchants_of m cross join lateral (
        select ${merchant} from requests r
        where ${isOf} and (${merchant}) > (m.partner_id, m.test_mode, m.account_id) order by ${merchant} limit 1) next
    )
    select newest.* from (select * from merchants_of limit ${maxRead}) m cross join lateral (
      select r.partner_id, r.test_mode, r.id, r.created_at from requests r
      where ${isOf} and (${merchant}) = (m.partner_id, m.test_mode, m.account_id)
      order by r.created_at desc limit ${maxShown + 1}) newest
    order by newest.created_at desc limit ${maxShown + 1}`;
}

/** Requests of all partners by what an index over all partners answers. `isAll`: false if there are more. */
export async function selectOfAllPartners(
  tx: Tx,
  { id, ids, email, hash }: SearchText,
  chainIds: number[],
): Promise<{ rows: Row[]; isAll: boolean }> {
  const columns = tx`r.partner_id, r.test_mode, r.id, r.created_at`;
  const looks = [
    id && tx<Row[]>`select ${columns} from requests r where r.id = ${id}`,
    ids &&
      tx<Row[]>`
        select ${columns} from requests r
        where r.id between ${ids.from} and ${ids.to} and r.id::text like ${`%${ids.end}`}
        order by r.id desc limit ${maxRead}`,
    email && selectOfEmail(tx, email),
    hash &&
      tx<Row[]>`
        select ${columns} from transfers t join requests r
          on (r.partner_id, r.test_mode, r.id)
            = (t.partner_id, t.test_mode, case when t.request_id is null then t.candidate_request_id else t.request_id end)
        where t.chain_id = any(${chainIds}::bigint[]) and t.tx_hash = ${hash} limit ${maxRead}`,
  ];
  const found = (await Promise.all(looks.filter((look) => typeof look === 'object'))).flat();
  const byId = new Map(found.map((row) => [row.id, row]));
  const rows = [...byId.values()].sort((a, b) => b.created_at.getTime() - a.created_at.getTime());
  return { rows: rows.slice(0, maxShown), isAll: rows.length <= maxShown };
}
