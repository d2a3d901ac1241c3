import type { Database } from '../../db/connection.ts';
import { pause } from '../../lib/time.ts';
import { insertLeases, keepLeases, type Lease, leaseMs, releaseLease } from './lease.ts';

/** What to do while holding a lease. The signal aborts when the lease is lost or the service stops. */
export type Work = (lease: Lease, signal: AbortSignal) => Promise<void>;

const renewMs = 2_000;

/** The pause after an error, and the shortest pause in general: other holders' leases may expire at any time. */
const retryMs = 250;

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
    if (!hasRows) await insertLeases(db, names, holder);
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
