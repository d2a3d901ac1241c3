import { pause } from '../lib/time.ts';
import { type Database, isUnreachable, type Scope, sqlState, type Tx } from './connection.ts';
import type { Waits } from './pool.ts';

/** Why a reader is not used for now. */
export type Unused = 'behind' | 'unreachable' | 'no standby of this primary';

/** How long a reader's answer to the work itself may take (s): as long as anywhere. */
export const readerWaits: Waits = { queue: 1, connect: 1, answer: 35 };
/** How long it waits for a reader to begin; one that stalls is left like one that cannot be reached. */
const beginMs = 1_000;
/** How long a call waits at most until the reader has replayed what the primary held when the call came. */
const replayMs = 100;
const lookMs = 5;
/** How long a reader is left alone. */
const restMs: Record<Unused, number> = { behind: 1_000, unreachable: 10_000, 'no standby of this primary': 10_000 };
/** A reader cancels what keeps it from replaying, and a server that ends cancels all. */
const canceledByReplay = '40001';

class Left extends Error {
  readonly why: Unused;
  constructor(why: Unused) {
    super(`the reader is ${why}`);
    this.why = why;
  }
}

/** Where the primary's log ends. */
type Position = { at: string; timeline: number };

/**
 * How far the primary's disk has come: whatever anybody was told is before it. The timeline tells a standby of this
 * primary from one that had replayed what a promoted primary never got.
 */
async function positionOf({ sql }: Database): Promise<Position> {
  const [row] = await sql<Position[]>`
    select p.at::text as at, ('x' || left(pg_walfile_name(p.at), 8))::bit(32)::int as timeline
    from (select pg_current_wal_flush_lsn() as at) p`;
  if (!row) throw new Error('the primary gave no position');
  return row;
}

/** Waits until the reader has replayed this position. Each statement of a transaction sees what is replayed by then. */
async function waitForReplay(tx: Tx, { at, timeline }: Position): Promise<void> {
  const end = performance.now() + replayMs;
  for (;;) {
    const [row] = await tx<{ follows: boolean; replayed: boolean }[]>`
      select pg_is_in_recovery() and timeline_id = ${timeline} as follows,
        coalesce(pg_last_wal_replay_lsn() >= ${at}::text::pg_lsn, false) as replayed from pg_control_checkpoint()`;
    if (!row?.follows) throw new Left('no standby of this primary');
    if (row.replayed) return;
    if (performance.now() >= end) throw new Left('behind');
    await pause(lookMs);
  }
}

/**
 * What only reads goes to a standby, once it has replayed all that the primary's disk held when it was asked: so a
 * list shows every change that somebody was told of before, whichever server answers. A reader that is further behind
 * than `replayMs`, does not answer, or is a standby of no or of another primary is left for a while, and the primary
 * answers. Work may run twice, the second time on the primary; it must not change anything.
 *
 * @param told is called when the reader is left, and with null when it is used again
 */
export function readFrom(
  primary: Database,
  reader: Database,
  told: (unused: Unused | null) => void,
): Database['reading'] {
  let restUntil = 0;
  let unused: Unused | null = null;
  const note = (now: Unused | null) => {
    if (now) restUntil = performance.now() + restMs[now];
    if (now !== unused) told(now);
    unused = now;
  };
  const onReader = async <T>(scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const position = await positionOf(primary);
    const late = Promise.withResolvers<never>();
    const clock = setTimeout(() => late.reject(new Left('unreachable')), beginMs);
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
    try {
      return await onReader(scope, work);
    } catch (error) {
      if (error instanceof Left) note(error.why);
      else if (isUnreachable(error) || sqlState(error) === canceledByReplay) note('unreachable');
      else throw error;
      return primary.scoped(scope, work);
    }
  };
}

/** A database whose reads go to a reader, which is closed with it. */
export function withReader(primary: Database, reader: Database, told: (unused: Unused | null) => void): Database {
  return {
    ...primary,
    reading: readFrom(primary, reader, told),
    close: async () => {
      await Promise.all([primary.close(), reader.close()]);
    },
  };
}
