import type { Sql, Tx } from './connection.ts';

/**
 * How long a transaction whose lock others wait for may idle between two statements, in milliseconds. A string, because
 * `set_config` takes text.
 */
const idleTimeoutMs = '2000';

/**
 * A column for the statement that takes such a lock, or for an earlier one. If the transaction idles longer, the server
 * ends it.
 */
export const setIdleTimeout = (sql: Sql | Tx) =>
  sql`set_config('idle_in_transaction_session_timeout', ${idleTimeoutMs}, true)`;
