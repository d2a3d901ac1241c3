import type { Sql, Tx } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { producerSkewMs } from '../lib/durations.ts';

/** Some transfers `t` of the scope of a request `r` that were read and are not matched yet. */
const pending = (sql: Sql | Tx, which: Fragment) => sql`
  exists (select from transfers t
    where t.partner_id = r.partner_id and t.test_mode = r.test_mode and t.judged_at is null and ${which})`;

/** Some rows `o` of a table that belong to a request `r`, with a transfer `t` that was read and is not matched yet. */
const pendingOf = (sql: Sql | Tx, from: Fragment, which: Fragment) => sql`
  exists (select from ${from} join transfers t on t.partner_id = o.partner_id and t.test_mode = o.test_mode
    where o.partner_id = r.partner_id and o.test_mode = r.test_mode and o.request_id = r.id and t.judged_at is null
      and t.to_address = r.wallet_address and ${which})`;

/**
 * Whether a column has a value, written as a range. If most transfers share one value, the planner takes every value to
 * be that common, and expects to find it soon without an index.
 */
const equals = (sql: Sql | Tx, column: Fragment, to: Fragment) => sql`${column} between ${to} and ${to}`;

/**
 * Whether a transfer `t` may be late enough to pay a request `r` by its amount. One that was mined earlier never pays
 * it, however long it waits to be matched, such as while CHAINS_FILE lacks its chain.
 */
const isLateEnough = (sql: Sql | Tx) => sql`
  t.block_time >= date_trunc('second', coalesce(r.made_at, r.created_at)) - ${producerSkewMs} * interval '1 ms'`;

/** The highest bytes that can follow the reference in a nonce. */
const highestRest = Buffer.alloc(16, 0xff);

/**
 * Whether a transfer that may pay a request `r` was read and is not matched yet. It has the request's amount or that of
 * a rest and is late enough for it, it names the request, or somebody signed or decided that it is for the request.
 * Each condition has an index of its own: anybody can send a wallet any number of transfers.
 */
export const isArriving = (sql: Sql | Tx) => {
  const reference = sql`r.reference`;
  const toWallet = (which: Fragment) => pending(sql, sql`t.to_address = r.wallet_address and ${which}`);
  return sql`(
    ${toWallet(sql`${equals(sql, sql`t.value`, sql`r.usdc_micro`)} and ${isLateEnough(sql)}`)}
    or ${toWallet(equals(sql, sql`t.calldata_reference`, reference))}
    or ${toWallet(equals(sql, sql`t.charged_reference`, reference))}
    or ${toWallet(sql`t.authorization_nonce between ${reference} and ${reference} || ${highestRest}::bytea`)}
    or ${pendingOf(
      sql,
      sql`reserved_rests o`,
      sql`${equals(sql, sql`t.value`, sql`o.usdc_micro`)} and ${isLateEnough(sql)}`,
    )}
    or ${pendingOf(
      sql,
      sql`authorizations o`,
      sql`(t.chain_id, t.token_address, t.from_address, t.authorization_nonce)
        = (o.chain_id, o.token_address, o.authorizer, o.nonce)`,
    )}
    or ${pendingOf(
      sql,
      sql`kept_bindings o`,
      sql`(t.chain_id, t.tx_hash, t.ordinal) = (o.chain_id, o.tx_hash, o.ordinal)`,
    )})`;
};
