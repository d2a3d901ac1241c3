import pg from 'pg';
import { minuteMs } from '../lib/durations.ts';
import { AnswerClock } from './answer-clock.ts';
import { lostError } from './connection-errors.ts';
import { cutOff } from './listen.ts';
import type { PoolOptions, Watching } from './pool.ts';
import { sendOver } from './query.ts';
import type { Row, Rows, Sendable } from './sql.ts';
import { tracedStatement } from './traced-statement.ts';

/** A connection for one piece of work, and whether its session was cleared before. */
export type Acquired = { client: pg.PoolClient; wasCleared: boolean };

const idleMs = minuteMs;

/** Sends everything that is written until the next tick as one message. */
export function sendTogether({ connection: { stream } }: pg.PoolClient): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** The connections of a pool. They are opened when needed. */
export class PoolConnections {
  /** Whether a pooler gives each transaction another session, so that no statement stays prepared in one. */
  readonly areShared: boolean;
  /**
   * Behind such a pooler, a statement that limits how long a transaction waits for a lock; null if waits have the
   * sessions' own limit.
   */
  readonly lockLimit: string | null;
  readonly #pool: pg.Pool;
  readonly #maxPrepared: number;
  readonly #watching: Watching;
  readonly #open = new Map<pg.PoolClient, AnswerClock>();
  /** When each began to connect, by `performance.now()`. */
  readonly #madeAtMs = new WeakMap<pg.Client, number>();
  /** Connections that nothing was sent over since their session was last cleared. */
  readonly #cleared = new WeakSet<pg.PoolClient>();
  /** When the connections were last renewed, by `performance.now()`. Those that are older are not used any more. */
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  /** @param watching is told of each statement */
  constructor(config: pg.ClientConfig, options: PoolOptions, watching: Watching) {
    const madeAt = this.#madeAtMs;
    class Client extends pg.Client {
      constructor() {
        super(config);
        madeAt.set(this, performance.now());
      }
    }
    const { connections, waits, maxPrepared = Number.POSITIVE_INFINITY, sessionUrl } = options;
    this.areShared = Boolean(sessionUrl);
    this.lockLimit = sessionUrl && waits.lock ? `set local lock_timeout = ${1000 * waits.lock}` : null;
    this.#maxPrepared = maxPrepared;
    this.#watching = watching;
    this.#pool = new pg.Pool({
      Client,
      max: connections,
      idleTimeoutMillis: idleMs,
      connectionTimeoutMillis: waits.queue * 1000,
    });
    this.#pool.on('error', () => {}); // an idle connection was lost; the pool opens another one when needed
    this.#pool.on('connect', (client) => {
      this.#open.set(client, new AnswerClock(client, 1000 * waits.answer));
      client.on('error', () => {}); // the statements in progress fail with it
    });
    this.#pool.on('remove', (client) => {
      this.#open.get(client)?.end();
      this.#open.delete(client);
    });
  }

  /** Waits for a free connection. The caller must release it. */
  async acquire(): Promise<Acquired> {
    for (;;) {
      const client = await this.#pool.connect().catch(throwLost);
      if ((this.#madeAtMs.get(client) ?? 0) > this.#renewedAtMs) {
        return { client, wasCleared: this.#cleared.delete(client) };
      }
      client.release(true);
    }
  }

  /** Has every connection closed that began before now: at the next work for it, or when it has idled. */
  renew(): void {
    this.#renewedAtMs = performance.now();
  }

  /**
   * Sends a statement over an acquired connection.
   *
   * @param ahead a prepared statement that is sent before it in the same message; its answer is ignored
   */
  send(client: pg.PoolClient, given: Sendable, ahead: Sendable | null = null): Promise<Rows<Row[]>> {
    const statement = this.areShared ? { text: given.text, values: given.values } : given;
    const session = (client as unknown as { processID: number }).processID;
    if (ahead) this.#watching.observer?.(session, ahead);
    this.#watching.observer?.(session, statement);
    const clock = this.#open.get(client) as AnswerClock;
    const sending = { maxKept: this.#maxPrepared, ahead, clock, pool: this.#watching };
    return tracedStatement(statement, session, this.#watching.onSlow, () =>
      sendOver(client, statement, sending).catch(throwLost),
    );
  }

  /**
   * Notes that a connection's session was cleared.
   *
   * @returns an error if the connection must be closed: it is still in a transaction, which has a scope
   */
  noteCleared(client: pg.PoolClient): Error | undefined {
    if (client.getTransactionStatus() !== 'I') return new Error('a session was left in a transaction');
    this.#cleared.add(client);
    return undefined;
  }

  /**
   * Closes all connections once their work has ended.
   *
   * @param limitMs how long to wait for the server at most
   */
  async end(limitMs: number): Promise<void> {
    const force = setTimeout(() => {
      for (const client of this.#open.keys()) cutOff(client);
    }, limitMs);
    await this.#pool.end().finally(() => clearTimeout(force));
  }
}

function throwLost(error: unknown): never {
  throw lostError(error);
}
