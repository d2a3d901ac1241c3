import type { Sql, Tx } from './connection.ts';

/** What a transaction that holds what others wait for may pause between two statements before the server ends it. */
const stalledMs = '2000';

/** A column for the statement that takes such a thing, or the one before it: from then on the transaction must not stall. */
export const endWhenStalled = (sql: Sql | Tx) =>
  sql`set_config('idle_in_transaction_session_timeout', ${stalledMs}, true)`;
