import { createHmac } from 'node:crypto';
import pg from 'pg';
import { keepNewest } from '../lib/keep-newest.ts';
import {
  type DiskState,
  newDiskState,
  type Opening,
  openPool,
  type Pool,
  type PoolOptions,
  type Waits,
} from './pool.ts';
import { loginDefaults, ownSessionSettings, statementMs } from './session-settings.ts';
import { Fragment, type Statement, type Tag } from './sql.ts';
import type { Transaction } from './transaction.ts';

/**
 * A connection pool that sees the rows of all partners. Only `db/`, `auth/` and the named lookups of loops use it
 * directly.
 */
export type Sql = Pool;
/** A transaction inside one scope: row-level security shows it the rows of one partner and mode. */
export type Tx = Transaction;

declare const scopeBrand: unique symbol;
/** One partner in one mode. Made only by `auth/`. */
export type Scope = { readonly partnerId: string; readonly testMode: boolean; readonly [scopeBrand]: true };

/**
 * Two logins, neither of which owns anything. One sees the rows of all partners. The other sees only the scope that
 * each of its transactions has proved, and cannot leave it.
 */
export type Database = {
  sql: Sql;
  /** Runs work in a transaction that sees all rows: for work outside of any scope, or across several. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs work in a transaction of one scope. The scope is entered in the same round trip as the first statement. */
  scoped<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Like `scoped`, for lists, exports and searches, which change nothing. The caller does not wait for the commit, a
   * standby may answer (see `reader.ts`), and the work may be run again on the primary.
   */
  reading<T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Like `reading`, for a single statement. It is sent as one message, without `begin` and `commit`. Two statements are
   * two transactions.
   */
  read<T>(scope: Scope, ask: (sql: Tag) => Statement<T>): Promise<T>;
  /** Like `read`, but on the primary: for single rows, which take less time than asking how far a standby is. */
  readPrimary<T>(scope: Scope, ask: (sql: Tag) => Statement<T>): Promise<T>;
  /** Both pools, for observers of statements. */
  pools: readonly Sql[];
  disk: DiskState;
  /** Whether a list would be read from a standby now; absent without one. */
  readsApart?(): Promise<boolean>;
  /** The proof of a scope for the database, in hex. */
  prove(scope: Scope): string;
  close(): Promise<void>;
};

/**
 * How the service connects: `postgres://user:password@host:port/database` of each login, and the key that proves
 * scopes. Behind a pooler in transaction mode, `session` is the service login's address at the server itself.
 */
export type Access = { service: string; scoped: string; scopeKey: Uint8Array; session: string | null };
/** The maximum number of connections of each login. */
export type Connections = { service: number; scoped: number };
/** What the connections share with others to the same server; by default nothing. */
export type Shared = Pick<PoolOptions, 'disk' | 'listen'>;

/**
 * SQLSTATE classes that mean "the database cannot be reached", not "the statement is wrong". A read-only server (25006)
 * is no longer the primary. A server that has run out of disk space (53100), memory (53200), connections (53300) or
 * other resources (53000) can run the same statement later. It also ends transactions that idle for too long (25P03),
 * as when this process was suspended. A process or machine that may open no more files, or has no port or memory left
 * for a connection, opens none.
 */
const unreachable =
  /^(08|25006|25P0[34]|57P|53[0123]00|CONNECT|ECONN|EPIPE|ENOTFOUND|EAI_|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS|ENOMEM)/;

/** Codes of Node and OpenSSL for a server whose certificate is not accepted, as once it has expired. */
const untrusted = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO)/;

/** Whether an error says that no connection was opened because of the server's certificate, or of TLS itself. */
export function isUntrusted(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && untrusted.test(code);
}

/** Whether an error says that the database could not be reached, is shutting down, or lacks resources. */
export function isUnreachable(error: unknown): boolean {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  // A pooler uses the first for any reason why it cannot reach its server. With the second, PostgreSQL 15 ends a
  // session that it cannot open, such as when the disk is full.
  if (code === '08P01' || code === 'XX000') return severity === 'FATAL';
  return (typeof code === 'string' && unreachable.test(code)) || isUntrusted(error);
}

/** The SQLSTATE of a database error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** The SQLSTATE of what the login may not do. */
export const insufficientPrivilege = '42501';

export const usualWaits: Waits = { queue: 10, connect: 5, answer: statementMs / 1000 + 5 };

/** One connection as the owner of the tables: for migrations, and for creating the logins. */
export function openOwner(url: string, waits: Waits = usualWaits): Sql {
  return openPool({ url, connections: 1, waits, settings: ownSessionSettings });
}

/** Also closes cursors: one that outlives its transaction (`with hold`) would keep the rows of its scope. */
const beginInOwn = 'select public.begin_scoped(); close all';

/**
 * For a session that others use in between: `begin_scoped` resets it to the login's defaults. They are then set again,
 * because a login may change its own defaults.
 */
const beginInShared = [
  beginInOwn,
  ...Object.entries(loginDefaults.scoped).map(([name, value]) => `set local ${name} = '${value}'`),
].join('; ');

/**
 * Like `begin_scoped`, but without its check of the prepared statements, which takes three quarters of its time. A
 * `select` cannot prepare a statement or listen.
 */
const clearOfSelect = 'set role none; reset all; select pg_catalog.pg_advisory_unlock_all()';

/**
 * Makes the server plan a list's statement once for all values. Otherwise it plans each of the first five executions
 * for its values, and for some lists every execution. That takes longer than reading the list.
 */
export const planOnce = new Fragment((draft) => {
  draft.add(`set_config('plan_cache_mode', 'force_generic_plan', true)`);
});

/**
 * How many statements stay prepared on a connection. `begin_scoped` checks each one, which takes 0.15 ms for a hundred,
 * and a single list with all its filters has about a hundred texts.
 */
const maxPrepared = 100;

/** How many proofs are cached. Computing one takes 0.05 ms. */
const maxProofs = 10_000;

/** The text whose HMAC proves a scope. The database builds the same text. */
const scopeText = ({ partnerId, testMode }: Scope) => `${partnerId.toLowerCase()} ${testMode}`;

/**
 * Opens both pools. On two cores with durable commits, eight connections were fastest: fewer leave the disk idle, and
 * more only wait for each other.
 */
export function connect(
  access: Access,
  connections: Connections = { service: 8, scoped: 8 },
  waits: Waits = usualWaits,
  { disk = newDiskState(), listen }: Shared = {},
): Database {
  const { service, scoped, scopeKey, session: sessionUrl } = access;
  const settings = { ...ownSessionSettings, lock_timeout: 1000 * (waits.lock ?? 0) };
  const common = { waits, sessionUrl, settings, disk };
  const sql = openPool({ ...common, url: service, connections: connections.service, listen });
  const scopedPool = openPool({ ...common, url: scoped, connections: connections.scoped, maxPrepared });
  const proofs = new Map<string, string>();
  const prove = (scope: Scope) => {
    const text = scopeText(scope);
    const known = proofs.get(text);
    if (known) return known;
    const proof = createHmac('sha256', scopeKey).update(text).digest('hex');
    keepNewest(proofs, text, proof, maxProofs);
    return proof;
  };
  const enter = (scope: Scope): Fragment =>
    scopedPool`enter_scope(${scope.partnerId}, ${scope.testMode}, ${prove(scope)})`;
  const opening: Omit<Opening, 'enter' | 'onlyReads'> = {
    // Sent as text, and answered before the next proof is sent: an earlier transaction could have planted a prepared
    // statement.
    clear: sessionUrl ? beginInShared : beginInOwn,
    clearOfSelect,
  };
  const begin = <T>(scope: Scope, work: (tx: Tx) => Promise<T>, onlyReads: boolean) =>
    scopedPool.begin(work, { ...opening, enter: scopedPool`select ${enter(scope)}`, onlyReads });
  const read: Database['read'] = (scope, ask) =>
    scopedPool.alone(ask, { ...opening, enter: scopedPool`select ${enter(scope)}, ${planOnce}`, onlyReads: true });
  return {
    sql,
    pools: [sql, scopedPool],
    disk,
    prove,
    transaction: (work) => sql.begin(work),
    scoped: (scope, work) => begin(scope, work, false),
    reading: (scope, work) => begin(scope, work, true),
    read,
    readPrimary: read,
    close: async () => {
      await Promise.all([sql.end(), scopedPool.end()]);
    },
  };
}
