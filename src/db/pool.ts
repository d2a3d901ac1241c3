import { outsideTrails } from '../lib/trail.ts';
import { type Address, connectionOptions } from './connection-options.ts';
import { Listener, type Subscriber } from './listen.ts';
import { PoolConnections } from './pool-connections.ts';
import { runAlone, runStatement } from './run-statement.ts';
import { runTransaction } from './run-transaction.ts';
import { type Fragment, type Sendable, type Statement, type Tag, tagOf } from './sql.ts';
import type { SlowStatement } from './traced-statement.ts';
import type { Transaction } from './transaction.ts';

/**
 * How long statements wait, in seconds: for a free connection of the pool, for a new connection, and for the answer.
 * After that they fail as unreachable. A connection that did not answer is closed, which frees its place in the pool.
 * `lock`: for each lock, as long as for the answer by default. After that they fail with a conflict. Behind a pooler each
 * transaction sets this limit for itself, and each statement outside of one gets a transaction, because all share the
 * sessions.
 */
export type Waits = { queue: number; connect: number; answer: number; lock?: number };

/** Called with each statement before it is sent; for tests and measurements. */
export type Observer = (connection: number, statement: Sendable) => void;

/** How a transaction opens. */
export type Opening = {
  /**
   * Statements that clear the session of what earlier work left in it. They are sent after each transaction, or
   * together with the next `begin` if the session has not been cleared. If they fail, the connection is closed, because
   * its session may be in any state.
   */
  clear: string;
  /** As `clear`, for a session in which only a `select` ran, which cannot prepare a statement or listen. */
  clearOfSelect: string;
  /** The first statement of the transaction, for a cleared session only. The work does not wait for its answer. */
  enter: Fragment;
  /** Whether the work changes nothing, so that its value need not wait for the commit. */
  onlyReads: boolean;
};

/**
 * When a statement last failed because a disk of the server was full, by `performance.now()`; -Infinity before. Pools
 * of one server share it.
 */
export type DiskState = { fullAtMs: number };

/** What watches the statements of a pool. */
export type Watching = {
  observer: Observer | null;
  /** Called for each statement that took a second or longer. */
  onSlow: ((slow: SlowStatement) => void) | null;
  /** When the server last answered a statement, by `performance.now()`; -Infinity before its first answer. */
  answeredAtMs: number;
  disk: DiskState;
};

/** A pool of connections. */
export type Pool = Tag &
  Watching & {
    /** Runs work in a transaction. Without `opening`, the transaction has begun before the work starts. */
    begin<T>(work: (tx: Transaction) => Promise<T>, opening?: Opening): Promise<T>;
    /**
     * Runs a reading statement in a transaction of its own. In a cleared session, one message contains `enter`, the
     * statement and `clearOfSelect`; the caller does not wait for the latter. Unless the statement was a successful
     * `select`, the session is then also cleared as after a transaction.
     */
    alone<T>(ask: (sql: Tag) => Statement<T>, opening: Opening): Promise<T>;
    /** Replaces all connections, each once its work has ended. */
    renew(): void;
    /** @returns a function that stops listening */
    listen(channel: string, subscriber: Subscriber): () => void;
    /** The user that it logs in as. */
    readonly user: string;
    end(): Promise<void>;
  };

export type PoolOptions = Address & {
  connections: number;
  /** How many statements stay prepared on each connection; unlimited by default. */
  maxPrepared?: number;
  /**
   * Set if `url` leads to a pooler that gives each transaction another session, which other clients use in between. No
   * settings or prepared statements are then left in a session. The value is the address of the server itself, which
   * sends the notifications.
   */
  sessionUrl?: string | null;
  disk?: DiskState;
  /** The `listen` of another pool of the same server, to share its connection for notifications. */
  listen?: Pool['listen'] | undefined;
};

export const newDiskState = (): DiskState => ({ fullAtMs: Number.NEGATIVE_INFINITY });

const endMs = 5_000;

/** Opens a pool. Connections are opened when needed. */
export function openPool(options: PoolOptions): Pool {
  const { sessionUrl, settings, url, waits } = options;
  // A pooler refuses settings at the start of a session, so the logins have them as defaults.
  const config = sessionUrl
    ? { ...connectionOptions({ url, waits }), application_name: 'quittance' }
    : connectionOptions(options);
  const listening = sessionUrl ? connectionOptions({ url: sessionUrl, waits, settings }) : config;
  const listener = new Listener(listening, 1000 * waits.answer);
  const pool: Pool = Object.assign(
    tagOf((statement) => runStatement(connections, statement)),
    {
      begin: async <T>(work: (tx: Transaction) => Promise<T>, opening?: Opening) =>
        runTransaction(connections, await connections.acquire(), work, opening),
      alone: <T>(ask: (sql: Tag) => Statement<T>, opening: Opening) => runAlone(connections, ask, opening),
      listen:
        options.listen ?? ((...asked: Parameters<Pool['listen']>) => outsideTrails(() => listener.listen(...asked))),
      renew: () => {
        listener.renew();
        connections.renew();
      },
      end: async () => {
        await Promise.all([listener.end(endMs), connections.end(endMs)]);
      },
      observer: null,
      onSlow: null,
      answeredAtMs: Number.NEGATIVE_INFINITY,
      disk: options.disk ?? newDiskState(),
      user: String(config.user ?? ''),
    },
  );
  const connections = new PoolConnections(config, options, pool);
  return pool;
}
