import type { Database } from '../../db/connection.ts';
import { pause } from '../../lib/time.ts';

/** The right to do what only one process may do. Whoever writes checks the fence in the same transaction. */
export type Lease = { name: string; holder: string; fence: number };

/** What to do while holding a lease. The signal aborts when the lease is lost or the service stops. */
export type Work = (lease: Lease, signal: AbortSignal) => Promise<void>;

/** A holder that stops renewing loses the lease after this time. */
const leaseMs = 4_000;
const renewMs = 2_000;
/** The pause after an error, and the shortest pause in general: other holders' leases may expire at any time. */
const retryMs = 250;

const interval = (ms: number) => `${ms} ms`;

/** Takes a lease that is free or was not renewed in time; null when somebody holds it. */
export async function acquireLease(
  db: Database,
  name: string,
  holder: string,
  termMs = leaseMs,
): Promise<Lease | null> {
  const [row] = await db.sql<{ fence: string }[]>`
    insert into leases as held (name, holder, fence, held_until)
    values (${name}, ${holder}, 1, now() + ${interval(termMs)}::interval)
    on conflict (name) do update
      set holder = excluded.holder, fence = held.fence + 1, held_until = excluded.held_until
      where held.held_until <= now()
    returning fence`;
  return row ? { name, holder, fence: Number(row.fence) } : null;
}

/** Releases a lease, so that the next process need not wait for it to expire. */
export async function releaseLease(db: Database, lease: Lease): Promise<void> {
  await db.sql`
    update leases set held_until = now()
    where name = ${lease.name} and holder = ${lease.holder} and fence = ${lease.fence}`;
}

/** `fence`: null if somebody else has the lease, which lasts `leftMs` unless it is renewed. */
type LeaseState = { name: string; fence: string | null; leftMs: number };

/**
 * In one statement, renews the leases that this holder has, and takes wanted leases that have expired. A row that
 * another process is changing counts as that process's. Nobody waits here, so there are no deadlocks.
 */
async function keepLeases(db: Database, holder: string, held: string[], wanted: string[]): Promise<LeaseState[]> {
  return db.sql<LeaseState[]>`
    with open as (
      select name from leases
      where (name = any(${held}::text[]) and holder = ${holder})
        or (name = any(${wanted}::text[]) and held_until <= now())
      for update skip locked
    ), kept as (
      update leases l
      set holder = ${holder}, fence = l.fence + (l.name = any(${wanted}::text[]))::int,
        held_until = now() + ${interval(leaseMs)}::interval
      from open where l.name = open.name returning l.name, l.fence
    )
    select l.name, k.fence, extract(epoch from l.held_until - now())::float8 * 1000 as "leftMs"
    from leases l left join kept k on k.name = l.name where l.name = any(${[...held, ...wanted]}::text[])`;
}

type HeldLease = { lease: Lease; renewedAt: number; over: AbortController; hasEnded: boolean; work: Promise<void> };

/**
 * Does each kind of work while this holder has the lease of its name, and again each time that it gets the lease, until
 * the signal aborts. When a holder dies, others take over within `leaseMs` and a moment.
 *
 * @param works by the names of their leases; each must return soon after its signal aborts, or once the database says
 * that it is no longer the holder
 * @param onError receives errors of the database or of the work named, which is then retried
 */
export async function whileLeading(
  db: Database,
  works: ReadonlyMap<string, Work>,
  holder: string,
  signal: AbortSignal,
  onError: (error: unknown, name?: string) => void,
): Promise<void> {
  const names = [...works.keys()].sort();
  const heldLeases = new Map<string, HeldLease>();
  let hasRows = false;
  const begin = (lease: Lease, work: Work, renewedAt: number) => {
    const over = new AbortController();
    const post: HeldLease = { lease, renewedAt, over, hasEnded: false, work: Promise.resolve() };
    heldLeases.set(lease.name, post);
    post.work = work(lease, AbortSignal.any([signal, over.signal]))
      .catch((error) => onError(error, lease.name))
      .finally(() => {
        post.hasEnded = true;
      });
  };
  /** Leases are released only here and never during a renewal, which would take them back. */
  const releaseEnded = async () => {
    for (const { lease, hasEnded } of heldLeases.values()) {
      if (!hasEnded) continue;
      await releaseLease(db, lease);
      heldLeases.delete(lease.name);
    }
  };
  const renewAndTake = async (): Promise<number> => {
    if (!hasRows) await insertRows(db, names, holder);
    hasRows = true;
    await releaseEnded();
    const startedAt = performance.now();
    const held = names.filter((name) => heldLeases.get(name)?.over.signal.aborted === false);
    const wanted = names.filter((name) => !heldLeases.has(name));
    let waitMs = renewMs;
    for (const { name, fence, leftMs } of await keepLeases(db, holder, held, wanted)) {
      const post = heldLeases.get(name);
      if (fence === null) {
        post?.over.abort();
        waitMs = Math.min(waitMs, leftMs);
      } else if (post) post.renewedAt = startedAt;
      else begin({ name, holder, fence: Number(fence) }, works.get(name) as Work, startedAt);
    }
    return Math.max(waitMs, retryMs);
  };
  while (!signal.aborted) {
    const waitMs = await renewAndTake().catch((error) => {
      onError(error);
      return retryMs;
    });
    for (const { over, renewedAt } of heldLeases.values()) if (performance.now() - renewedAt >= leaseMs) over.abort();
    await pause(waitMs, signal);
  }
  await Promise.all([...heldLeases.values()].map(({ work }) => work));
  await releaseEnded().catch(onError);
}

async function insertRows(db: Database, names: string[], holder: string): Promise<void> {
  await db.sql`
    insert into leases (name, holder, fence, held_until)
    select name, ${holder}, 0, now() from unnest(${names}::text[]) as wanted (name)
    where not exists (select from leases l where l.name = wanted.name) on conflict do nothing`;
}
