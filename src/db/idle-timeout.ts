import type { Sql, Tx } from './connection.ts';

/** In milliseconds, as the server takes it: a transaction that others wait for may idle this long between two statements. */
const idleTimeoutMs = '2000';

/** A column of the statement that takes such a lock, or of the one before it: the server ends the transaction if it idles longer. */
export const setIdleTimeout = (sql: Sql | Tx) =>
  sql`set_config('idle_in_transaction_session_timeout', ${idleTimeoutMs}, true)`;
