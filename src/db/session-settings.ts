/** Settings of PostgreSQL, by name. */
export type Settings = Readonly<Record<string, string | number>>;

/** The server itself ends a statement after this time, unless it can no longer be reached. */
export const statementMs = 30_000;

/**
 * How the server plans. No statement of ours runs long enough for JIT to pay off. A random page costs little more than
 * a sequential one, so an index is used as soon as a table has a few pages. For tables that outgrow their plans, see
 * `statistics.ts`.
 */
export const planning = { jit: 'off', random_page_cost: '1.1' };

/** Every setting that affects an answer, so neither the server nor a login can change it. */
const common = {
  client_encoding: 'UTF8',
  datestyle: 'ISO, MDY',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  bytea_output: 'hex',
  row_security: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  lock_timeout: 0,
  application_name: 'quittance',
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: 10_000,
  ...planning,
} satisfies Settings;

/**
 * The settings of a session that no pooler shares, sent when it opens. They include those that decide what a statement
 * means.
 */
export const ownSessionSettings = {
  ...common,
  search_path: 'public',
  standard_conforming_strings: 'on',
  // If the server ended a session that waits for its next statement, that statement would fail.
  idle_session_timeout: 0,
} satisfies Settings;

/**
 * The settings of sessions that a pooler shares, stored as the defaults of each login. They stay as the previous
 * release expects them, because its nodes use the same logins.
 */
export const loginDefaults = { service: common, scoped: { ...common, search_path: 'public' } } satisfies Record<
  string,
  Settings
>;
