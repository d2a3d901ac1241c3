import pg from 'pg';
import { minuteMs } from '../lib/durations.ts';
import { outsideTrails } from '../lib/trail.ts';
import { AnswerClock } from './answer-clock.ts';
import { isBroken, isReadOnly, lostError } from './broken.ts';
import { cutOff, Listener, type ListenOptions, type Subscriber } from './listen.ts';
import { isPreparedOn, sendOver } from './query.ts';
import {
  type Fragment,
  preparedAnew,
  type Row,
  type Rows,
  type Send,
  type Sendable,
  type Statement,
  sendableOf,
  type Tag,
  tagOf,
} from './sql.ts';
import { isStale, openTransaction, type Transaction } from './transaction.ts';
import { type SlowStatement, watched } from './watched.ts';

/**
 * How long statements wait, in seconds: for a free connection of the pool, for a new connection, and for the answer.
 * After that they fail as unreachable. A connection that did not answer is closed, which frees its place in the pool.
 */
export type Waits = { queue: number; connect: number; answer: number };

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
  /** The same for a session in which only a `select` ran, which cannot prepare a statement or listen. */
  clearOfSelect: string;
  /** The first statement of the transaction, for a cleared session only. The work does not wait for its answer. */
  enter: Fragment;
  /** Whether the work changes nothing, so that its value need not wait for the commit. */
  onlyReads: boolean;
};

/** A pool of connections. */
export type Pool = Tag & {
  /** Runs work in a transaction. Without `opening`, the transaction has begun before the work starts. */
  begin<T>(work: (tx: Transaction) => Promise<T>, opening?: Opening): Promise<T>;
  /**
   * Runs a reading statement in a transaction of its own. In a cleared session, one message contains `enter`, the
   * statement and `clearOfSelect`; the caller does not wait for the latter. Unless the statement was a successful
   * `select`, the session is then also cleared as after a transaction.
   */
  alone<T>(ask: (sql: Tag) => Statement<T>, opening: Opening): Promise<T>;
  /** @returns a function that stops listening */
  listen(channel: string, hearer: Subscriber): () => void;
  observer: Observer | null;
  /** Called for each statement that took a second or longer. */
  onSlow: ((slow: SlowStatement) => void) | null;
  /** When the server last answered a statement, by `performance.now()`; -Infinity before its first answer. */
  answeredAtMs: number;
  /** The user that it logs in as. */
  readonly user: string;
  end(): Promise<void>;
};

export type PoolOptions = {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  url: string;
  connections: number;
  waits: Waits;
  /** The settings of each session, named as for `set`. */
  settings?: Record<string, string | number>;
  /** How many statements stay prepared on each connection; unlimited by default. */
  maxPrepared?: number;
  /**
   * Set if `url` leads to a pooler that gives each transaction another session, which other clients use in between. No
   * settings or prepared statements are then left in a session. The value is the address of the server itself, which
   * sends the notifications.
   */
  sessionUrl?: string | null;
};

const idleMs = minuteMs;
const endMs = 5_000;

/** The options for connecting to a URL. Its parameters other than user, password and TLS become session settings. */
export function connectionOptions({ url, waits, settings }: Omit<PoolOptions, 'connections'>): ListenOptions {
  const { username, password, hostname, port, pathname, searchParams } = new URL(url);
  const { sslmode = '', user, password: secret, ...asked } = Object.fromEntries(searchParams);
  const all = { ...asked, ...settings };
  const ssl = sslmode === 'require' ? { rejectUnauthorized: false } : sslmode.startsWith('verify');
  return {
    ...(hostname && { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, '') }),
    ...(port && { port: Number(port) }),
    ...(username || user ? { user: username ? decodeURIComponent(username) : user } : {}),
    ...(password || secret ? { password: password ? decodeURIComponent(password) : secret } : {}),
    ...(pathname.length > 1 && { database: decodeURIComponent(pathname.slice(1)) }),
    ssl,
    options: Object.entries(all)
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(/([\\ ])/g, '\\$1')}`)
      .join(' '),
    keepAlive: true,
    // A transaction sends its first statements without waiting for answers. A single statement does not share its
    // connection.
    pipeline: true,
    connectionTimeoutMillis: waits.connect * 1000,
  };
}

/** For statements whose text is needed, but which are not sent through this tag. */
const unsent = tagOf(() => Promise.reject(new Error('a statement that was only to be written was sent')));

type Acquired = { client: pg.PoolClient; wasCleared: boolean };
type Work<T> = (tx: Transaction) => Promise<T>;

/** Sends everything that is written until the next tick as one message. */
function sendTogether({ connection: { stream } }: pg.PoolClient): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Opens a pool. Connections are opened when needed. */
export function openPool(options: PoolOptions): Pool {
  const { sessionUrl, settings, maxPrepared = Number.POSITIVE_INFINITY, ...address } = options;
  // A pooler refuses settings at the start of a session, so the logins have them as defaults.
  const own = sessionUrl
    ? { ...connectionOptions(address), application_name: 'quittance' }
    : connectionOptions(options);
  const begun = sessionUrl ? 'begin isolation level read committed, read write' : 'begin';
  class Client extends pg.Client {
    constructor() {
      super(own);
    }
  }
  const pool = new pg.Pool({
    Client,
    max: options.connections,
    idleTimeoutMillis: idleMs,
    connectionTimeoutMillis: options.waits.queue * 1000,
  });
  const open = new Map<pg.PoolClient, AnswerClock>();
  /** Connections that nothing was sent over since their session was last cleared. */
  const cleared = new WeakSet<pg.PoolClient>();
  const listening = sessionUrl ? connectionOptions({ ...address, url: sessionUrl, settings }) : own;
  const listener = new Listener({ ...listening, query_timeout: 1000 * options.waits.answer });
  pool.on('error', () => {}); // an idle connection was lost; the pool opens another one when needed
  pool.on('connect', (client) => {
    open.set(client, new AnswerClock(client, 1000 * options.waits.answer));
    client.on('error', () => {}); // the statements in progress fail with it
  });
  pool.on('remove', (client) => {
    open.get(client)?.end();
    open.delete(client);
  });

  const throwLost = (error: unknown): never => {
    throw lostError(error);
  };
  const acquire = async (): Promise<Acquired> => {
    const client = await pool.connect().catch(throwLost);
    return { client, wasCleared: cleared.delete(client) };
  };
  const send = (client: pg.PoolClient, given: Sendable, ahead: Sendable | null = null): Promise<Rows<Row[]>> => {
    const statement = sessionUrl ? { text: given.text, values: given.values } : given;
    const session = (client as unknown as { processID: number }).processID;
    if (ahead) result.observer?.(session, ahead);
    result.observer?.(session, statement);
    const clock = open.get(client) as AnswerClock;
    return watched(statement, session, result.onSlow, () =>
      sendOver(client, statement, { maxKept: maxPrepared, ahead, clock, pool: result }).catch(throwLost),
    );
  };

  /** @returns an error if the connection must be closed: it is still in a transaction, which has a scope */
  const noteCleared = (client: pg.PoolClient): Error | undefined => {
    if (client.getTransactionStatus() !== 'I') return new Error('a session was left in a transaction');
    cleared.add(client);
    return undefined;
  };

  const single: Send = async (statement) => {
    const { client } = await acquire();
    let broken: Error | undefined;
    try {
      return await send(client, statement).catch((error) => {
        if (!isStale(error)) throw error;
        return send(client, preparedAnew(statement));
      });
    } catch (error) {
      if (isBroken(error)) broken = error as Error;
      throw error;
    } finally {
      client.release(broken);
    }
  };

  const begin: Pool['begin'] = async (work, opening) => beginOn(await acquire(), work, opening);

  const beginOn = async <T>({ client, wasCleared }: Acquired, work: Work<T>, opening?: Opening): Promise<T> => {
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {}); // the race below reports it
    let broken: Error | undefined;
    let committed: Promise<unknown> = Promise.resolve();
    const lose = (error: Error) => {
      broken ??= lostError(error);
      lost.reject(broken);
    };
    const sendText = async (text: string) => send(client, { text, values: [] });
    client.on('error', lose);
    const scope = openTransaction((statement) => send(client, statement));
    try {
      if (opening && wasCleared) {
        sendTogether(client);
        sendText(begun).catch(lose);
      } else {
        await sendText(opening ? `${begun}; ${opening.clear}` : begun).catch((error) => {
          lose(error);
          throw error;
        });
        if (opening) sendTogether(client);
      }
      const done = opening
        ? Promise.all([scope.tx`${opening.enter}`.execute(), work(scope.tx)]).then(([, value]) => value)
        : work(scope.tx);
      const value = await Promise.race([done, lost.promise]);
      scope.check();
      scope.close();
      if (opening?.onlyReads) sendTogether(client); // so the caller gets its value before anything is sent
      const commit = sendText('commit');
      if (opening?.onlyReads) {
        committed = commit;
        return value;
      }
      // A statement that nobody awaited may have failed. The server then rolls everything back, and only the answer to
      // `commit` shows it.
      const { command } = await commit;
      if (command !== 'COMMIT') throw Object.assign(new Error('the transaction was rolled back'), { code: '25P02' });
      return value;
    } catch (error) {
      scope.close(broken);
      if (!broken) await sendText('rollback').catch(lose);
      const reason = scope.reason(error);
      if (isReadOnly(reason)) broken ??= reason as Error;
      throw reason;
    } finally {
      // The caller does not wait for this. Behind a pooler it is not needed: the next transaction has another session.
      const clearing = opening && !sessionUrl && !broken ? sendText(opening.clear) : null;
      void Promise.all([committed, clearing])
        .then(() => {
          const unclear = clearing && noteCleared(client);
          if (unclear) lose(unclear);
        }, lose)
        .finally(() => {
          client.off('error', lose);
          client.release(broken);
        });
    }
  };

  const alone = async <T>(ask: (sql: Tag) => Statement<T>, opening: Opening): Promise<T> => {
    const [enter, statement] = [sendableOf(opening.enter), sendableOf(ask(unsent))];
    const acquired = await acquire();
    const { client, wasCleared } = acquired;
    if (!wasCleared || statement.name === undefined || !isPreparedOn(client, enter))
      return beginOn(acquired, ask, opening);
    sendTogether(client);
    const sendNext = async (...next: [Sendable, Sendable?]) => send(client, ...next);
    const answer = sendNext(statement, enter);
    let broken: Error | undefined;
    let selected = false;
    // The caller does not wait for this. It resolves to the error if the session could not be cleared.
    const clear = (text: string): Promise<Error | undefined> =>
      sendNext({ text, values: [] }).then(
        () => undefined,
        (error) => error,
      );
    const clearing = clear(opening.clearOfSelect);
    const release = async () => {
      const failed = (await clearing) ?? (selected ? undefined : await clear(opening.clear));
      client.release(broken ?? failed ?? noteCleared(client));
    };
    try {
      const rows = await answer;
      selected = rows.command === 'SELECT';
      return rows as T;
    } catch (error) {
      if (isBroken(error)) broken = error as Error;
      if (!isStale(error)) throw error;
      for (const stale of [enter, statement]) preparedAnew(stale);
    } finally {
      void release();
    }
    return begin(ask, opening);
  };

  const end = async () => {
    const force = setTimeout(() => {
      for (const client of open.keys()) cutOff(client);
    }, endMs);
    await Promise.all([listener.end(endMs), pool.end()]).finally(() => clearTimeout(force));
  };
  const result: Pool = Object.assign(tagOf(single), {
    begin,
    alone,
    end,
    listen: (...asked: Parameters<Pool['listen']>) => outsideTrails(() => listener.listen(...asked)),
    observer: null,
    onSlow: null,
    answeredAtMs: Number.NEGATIVE_INFINITY,
    user: String(own.user ?? ''),
  });
  return result;
}
