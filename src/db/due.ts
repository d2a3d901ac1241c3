import type { Sql } from './connection.ts';
import type { Fragment } from './sql.ts';

/**
 * From when on a queue is read: what waits in it is not due before. Null: all of it is read. The time is as the
 * database wrote it, with its microseconds.
 */
export type Since = string | null;

/** Reads all of a queue, as everything does that knows nothing about it. */
export const wholeQueue = (): Since => null;

/** A query for the earliest time at which a queue has work: one row or none, null for never. */
export type Due = (sql: Sql, since: Since) => ReturnType<Sql>;

/** The rest of a condition, for rows that are due at `since` or later. */
export const dueSince = (sql: Sql, column: Fragment, since: Since): Fragment =>
  since === null ? sql`` : sql`and ${column} >= ${since}::timestamptz`;

/** Longer than what queues work takes to commit: its time is often when its transaction began. */
const lateCommitMs = 5_000;
/** A look at all queues that takes longer reads what it need not. */
const slowMs = 100;

/**
 * Looks at several queues, in one statement each time. Usually it reads all of them. If that was slow twice in a row,
 * the next looks, and the loops that ask for `since`, begin where something waited. While a snapshot is held elsewhere
 * (`pg_dump`, a forgotten transaction), the index entries of all that was done since cannot be removed: so none of them
 * is read. What became due in the past meanwhile (it was committed late, or its time was set back) is found by the next
 * look at everything.
 */
export class QueuePoller {
  readonly #sql: Sql;
  readonly #dues: readonly Due[];
  readonly #everywhereEveryMs: number;
  readonly #slowMs: number;
  #since: ReadonlyMap<Due, Since> = new Map();
  #everywhereAt = Number.NEGATIVE_INFINITY;
  #slowInARow = 0;

  /** @param everywhereEveryMs the maximum time between looks at everything */
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

  /** @returns for each queue the milliseconds until work is due: 0 or less if it is due now, null if nothing waits */
  async next(): Promise<(number | null)[]> {
    if (this.#dues.length === 0) return [];
    const startedAt = performance.now();
    const readsAll = !this.#isSlow() || startedAt - this.#everywhereAt >= this.#everywhereEveryMs;
    const sql = this.#sql;
    const times = this.#dues
      .map((due) => sql`(${due(sql, readsAll ? null : this.since(due))})`)
      .reduce((all, one) => sql`${all}, ${one}`);
    const rows = await sql<{ wait_ms: number | null; since: string }[]>`
      select (extract(epoch from due - now()) * 1000)::float8 as wait_ms,
        least(due, now() - ${lateCommitMs} * interval '1 ms')::text as since
      from unnest(array[${times}]::timestamptz[]) with ordinality as queues (due, place) order by place`;
    if (readsAll) {
      this.#everywhereAt = startedAt;
      this.#slowInARow = performance.now() - startedAt > this.#slowMs ? this.#slowInARow + 1 : 0;
    }
    this.#since = new Map(this.#isSlow() ? this.#dues.map((due, place) => [due, rows[place]?.since ?? null]) : []);
    return rows.map(({ wait_ms }) => wait_ms);
  }

  /** One slow look says little: the first of a process opens its connection. */
  #isSlow(): boolean {
    return this.#slowInARow > 1;
  }
}
