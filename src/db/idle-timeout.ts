import type { Sql, Tx } from './connection.ts';

/**
 * How long a transaction that others wait for may idle between two statements, in milliseconds, as the server expects
 * it.
 */
const idleTimeoutMs = '2000';

/**
 * A column for the statement that takes such a lock, or for the one before it. The server ends the transaction if it
 * idles longer.
 */
export const setIdleTimeout = (sql: Sql | Tx) =>
  sql`set_config('idle_in_transaction_session_timeout', ${idleTimeoutMs}, true)`;
