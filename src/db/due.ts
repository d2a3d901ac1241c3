import { isConflict } from './conflict.ts';
import type { Sql, Tx } from './connection.ts';
import type { Fragment } from './sql.ts';

/**
 * The time from which a queue is read, because nothing in it is due before. Null: all of it is read. The time is text
 * as the database writes it, with its microseconds.
 */
export type Since = string | null;

/** Reads all of a queue: for callers that do not know where it begins. */
export const wholeQueue = (): Since => null;

/** A query for the earliest time at which a queue has work: one row or none, null for never. */
export type Due = (sql: Sql, since: Since) => ReturnType<Sql>;

/** The rest of a condition, for rows that are due at `since` or later. */
export const dueSince = (sql: Sql, column: Fragment, since: Since): Fragment =>
  since === null ? sql`` : sql`and ${column} >= ${since}::timestamptz`;

/** Longer than a transaction that queues work takes to commit. The work's time is often when that transaction began. */
export const lateCommitMs = 5_000;
/** A poll of all queues that takes longer counts as slow: it probably reads index entries that lead to nothing. */
const slowMs = 100;
/** How long the poll of a single queue waits for a table that somebody has locked. */
const lockMs = 50;

/** In how many milliseconds a queue has work, and from when on it is to be read. */
type Polled = { wait_ms: number | null; since: Since };

/**
 * Polls several queues, each time in one statement. Usually it reads all of them. If that was slow twice in a row,
 * further polls, and the loops that ask for `since`, begin where something waited. The reason: while a snapshot is held
 * elsewhere (`pg_dump`, a forgotten transaction), the index entries of finished work cannot be removed, and a poll from
 * the beginning would read all of them. Work that became due in the past meanwhile (it was committed late, or its time
 * was set back) is found by the next poll of everything.
 *
 * If that statement meets a locked table, the queues are polled one by one until none meets one: those that need this
 * table are left out, and the others have work all the same.
 */
export class QueuePoller {
  readonly #sql: Sql;
  readonly #dues: readonly Due[];
  readonly #everywhereEveryMs: number;
  readonly #slowMs: number;
  #since: ReadonlyMap<Due, Since> = new Map();
  #everywhereAt = Number.NEGATIVE_INFINITY;
  #slowInARow = 0;
  #meetsLock = false;

  /** @param everywhereEveryMs the maximum time between polls of everything */
  constructor(sql: Sql, dues: readonly Due[], everywhereEveryMs: number, slow = slowMs) {
    this.#sql = sql;
    this.#dues = dues;
    this.#everywhereEveryMs = everywhereEveryMs;
    this.#slowMs = slow;
  }

  /** From when on a queue is read. */
  since(due: Due): Since {
    return this.#since.get(due) ?? null;
  }

  /**
   * @returns for each queue the milliseconds until work is due: 0 or less if it is due now, null if nothing waits, or
   * if a table of the queue is locked
   */
  async next(): Promise<(number | null)[]> {
    if (this.#dues.length === 0) return [];
    const startedAt = performance.now();
    const readsAll = !this.#isSlow() || startedAt - this.#everywhereAt >= this.#everywhereEveryMs;
    const rows = this.#meetsLock ? null : await unlessLocked(this.#poll(this.#sql, this.#dues, readsAll));
    if (!rows) return this.#pollEach(readsAll);
    if (readsAll) {
      this.#everywhereAt = startedAt;
      this.#slowInARow = performance.now() - startedAt > this.#slowMs ? this.#slowInARow + 1 : 0;
    }
    this.#since = new Map(this.#isSlow() ? this.#dues.map((due, place) => [due, rows[place]?.since ?? null]) : []);
    return rows.map(({ wait_ms }) => wait_ms);
  }

  /** Polls each queue by itself. Each has a transaction, because its limit for waits must not outlive it. */
  async #pollEach(readsAll: boolean): Promise<(number | null)[]> {
    const polled: (Polled | null | undefined)[] = [];
    for (const due of this.#dues) {
      const work = this.#sql.begin(async (tx) => {
        await tx`select set_config('lock_timeout', ${String(lockMs)}, true)`;
        return this.#poll(tx, [due], readsAll);
      });
      polled.push(await unlessLocked(work.then(([row]) => row)));
    }
    this.#meetsLock = polled.includes(null);
    return polled.map((row) => row?.wait_ms ?? null);
  }

  #poll(sql: Sql | Tx, dues: readonly Due[], readsAll: boolean): PromiseLike<Polled[]> {
    const times = dues
      .map((due) => sql`(${due(this.#sql, readsAll ? null : this.since(due))})`)
      .reduce((all, one) => sql`${all}, ${one}`);
    return sql<Polled[]>`
      select (extract(epoch from due - now()) * 1000)::float8 as wait_ms,
        least(due, now() - ${lateCommitMs} * interval '1 ms')::text as since
      from unnest(array[${times}]::timestamptz[]) with ordinality as queues (due, place) order by place`;
  }

  /** One slow poll says little: the first of a process opens its connection. */
  #isSlow(): boolean {
    return this.#slowInARow > 1;
  }
}

/** The result, or null if a lock was not available. */
async function unlessLocked<T>(work: PromiseLike<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isConflict(error)) return null;
    throw error;
  }
}
