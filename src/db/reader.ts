import { pause } from '../lib/time.ts';
import { type Database, isUnreachable, planOnce, type Scope, type Sql, sqlState, type Tx } from './connection.ts';
import { databaseId, timelineAt } from './database-id.ts';
import type { Waits } from './pool.ts';

/** Why a reader is not used for now. */
export type Unused = 'behind' | 'unreachable' | 'no standby of this primary' | 'of another database';

/** How long a reader's answer to the work itself may take (s): as long as anywhere. */
export const readerWaits: Waits = { queue: 1, connect: 1, answer: 35 };
/** How long to wait until a reader begins. One that stalls is treated like one that cannot be reached. */
const beginMs = 1_000;
/** How long a call waits at most until the reader has replayed what the primary held when the call came. */
const replayMs = 100;
const pollMs = 5;
/** How long a reader is not used, by the reason. */
const restMs: Record<Unused, number> = {
  behind: 1_000,
  unreachable: 10_000,
  'no standby of this primary': 10_000,
  'of another database': 10_000,
};
/**
 * The SQLSTATE with which a reader cancels a statement that keeps it from replaying. A server that shuts down cancels
 * all statements.
 */
const canceledByReplay = '40001';

/** `cause` is the reader's error, if there was one. */
type OnUnused = (unused: Unused | null, cause?: unknown) => void;

/** Thrown when a reader cannot be used for a call, so that the primary answers instead. */
class ReaderUnused extends Error {
  readonly why: Unused;
  constructor(why: Unused) {
    super(`the reader is ${why}`);
    this.why = why;
  }
}

/** Where the primary's log ends, and of which database it is. */
type Position = { at: string; timeline: number; database_id: string };

/**
 * The position up to which the primary's log is on disk: every commit that was acknowledged is before it. The timeline
 * distinguishes a standby of this primary from one that has replayed what a promoted primary never received.
 */
async function positionOf({ sql }: Database): Promise<Position> {
  const [row] = await sql<Position[]>`
    select p.at::text as at, ${timelineAt(sql, sql`p.at`)} as timeline,
      ${databaseId(sql)} as database_id
    from (select pg_current_wal_flush_lsn() as at) p`;
  if (!row) throw new Error('the primary gave no position');
  return row;
}

/** The state that a reader reports, compared with a primary's position. */
type ReaderState = { same: boolean; follows: boolean; replayed: boolean };

async function readerStateOf(sql: Sql | Tx, { at, timeline, database_id: wanted }: Position): Promise<ReaderState> {
  const [row] = await sql<ReaderState[]>`
    select ${databaseId(sql)} = ${wanted} as same, pg_is_in_recovery() and timeline_id = ${timeline} as follows,
      coalesce(pg_last_wal_replay_lsn() >= ${at}::text::pg_lsn, false) as replayed from pg_control_checkpoint()`;
  if (!row) throw new Error('the reader did not identify itself');
  return row;
}

const whyUnusable = ({ same, follows }: ReaderState): Unused | null =>
  same ? (follows ? null : 'no standby of this primary') : 'of another database';

/** Waits until the reader has replayed this position. Each statement of a transaction sees what is replayed by then. */
async function waitForReplay(tx: Sql | Tx, position: Position): Promise<void> {
  const end = performance.now() + replayMs;
  for (;;) {
    const state = await readerStateOf(tx, position);
    const why = whyUnusable(state);
    if (why) throw new ReaderUnused(why);
    if (state.replayed) return;
    if (performance.now() >= end) throw new ReaderUnused('behind');
    await pause(pollMs);
  }
}

/**
 * Sends reading work to a standby, once it has replayed all that was on the primary's disk when the call came. So a
 * list shows every change that was acknowledged before, whichever server answers. A reader that is further behind than
 * `replayMs`, does not answer, or is not a standby of this primary is not used for a while, and the primary answers.
 * The primary also answers after any other error of the reader before the work begins: a server that does not know our
 * logins, or has other tables, is not ours. Work may run twice, the second time on the primary, so it must not change
 * anything.
 *
 * @param onUnused is called when the reader is no longer used, and with null when it is used again
 */
function readFrom(primary: Database, reader: Database, onUnused: OnUnused): Database['reading'] {
  let restUntil = 0;
  let unused: Unused | null = null;
  const note = (now: Unused | null, cause?: unknown) => {
    if (now) restUntil = performance.now() + restMs[now];
    if (now !== unused) onUnused(now, cause);
    unused = now;
  };
  const onReader = async <T>(position: Position, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const late = Promise.withResolvers<never>();
    const clock = setTimeout(() => late.reject(new ReaderUnused('unreachable')), beginMs);
    const answer = reader.scoped(scope, async (tx) => {
      await waitForReplay(tx, position);
      await Promise.race([late.promise, null]); // too late: the primary was asked meanwhile
      clearTimeout(clock);
      note(null);
      return work(tx);
    });
    return Promise.race([answer, late.promise]).finally(() => clearTimeout(clock));
  };
  return async (scope, work) => {
    if (performance.now() < restUntil) return primary.scoped(scope, work);
    // A demoted primary has no position, so it answers itself.
    const position = await positionOf(primary).catch(() => null);
    if (!position) return primary.scoped(scope, work);
    let begun = false;
    const beginWork = (tx: Tx) => {
      begun = true;
      return work(tx);
    };
    try {
      return await onReader(position, scope, beginWork);
    } catch (error) {
      if (error instanceof ReaderUnused) note(error.why);
      else if (!begun || isUnreachable(error) || sqlState(error) === canceledByReplay) note('unreachable', error);
      else throw error;
      return primary.scoped(scope, work);
    }
  };
}

/**
 * Why a list would not be read from a reader now; null if it would.
 *
 * @throws the reader's error if it does not answer
 */
export async function whyUnused(primary: Database, reader: Database): Promise<Unused | null> {
  const position = await positionOf(primary);
  try {
    await waitForReplay(reader.sql, position);
    return null;
  } catch (error) {
    if (error instanceof ReaderUnused) return error.why;
    throw error;
  }
}

/** A database whose reads go to a reader, which is closed with it. */
export function withReader(primary: Database, reader: Database, onUnused: OnUnused): Database {
  const reading = readFrom(primary, reader, onUnused);
  return {
    ...primary,
    reading,
    readsApart: () =>
      whyUnused(primary, reader).then(
        (why) => why === null,
        () => false,
      ),
    read: (scope, ask) =>
      reading(scope, async (tx) => {
        const [, rows] = await Promise.all([tx`select ${planOnce}`.execute(), ask(tx)]);
        return rows;
      }),
    close: async () => {
      await Promise.all([primary.close(), reader.close()]);
    },
  };
}
