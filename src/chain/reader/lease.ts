import type { Database } from '../../db/connection.ts';
import { pause } from '../../lib/time.ts';

/** The right to do what only one process may do. Whoever writes checks the fence in the same transaction. */
export type Lease = { name: string; holder: string; fence: number };

/** A holder that stops renewing loses the lease after `leaseMs`; others try every `retryMs`. */
const leaseMs = 10_000;
const renewMs = 5_000;
/** A failed renewal is retried after this time. */
const renewAgainMs = 1_000;
const retryMs = 3_000;

/** Takes a lease that is free or was not renewed in time; null when somebody holds it. */
export async function acquireLease(db: Database, name: string, holder: string): Promise<Lease | null> {
  const [row] = await db.sql<{ fence: string }[]>`
    insert into leases as held (name, holder, fence, held_until)
    values (${name}, ${holder}, 1, now() + ${`${leaseMs} ms`}::interval)
    on conflict (name) do update
      set holder = excluded.holder, fence = held.fence + 1, held_until = excluded.held_until
      where held.held_until <= now()
    returning fence`;
  return row ? { name, holder, fence: Number(row.fence) } : null;
}

/** Renews a lease; false when another process has it. */
export async function renewLease(db: Database, lease: Lease): Promise<boolean> {
  const rows = await db.sql`
    update leases set held_until = now() + ${`${leaseMs} ms`}::interval
    where name = ${lease.name} and holder = ${lease.holder} and fence = ${lease.fence} returning name`;
  return rows.length === 1;
}

/** Releases a lease, so that the next process need not wait for it to expire. */
export async function releaseLease(db: Database, lease: Lease): Promise<void> {
  await db.sql`
    update leases set held_until = now()
    where name = ${lease.name} and holder = ${lease.holder} and fence = ${lease.fence}`;
}

/**
 * Works while holding a lease, again each time it is won, until the signal aborts.
 *
 * @param work gets a signal that also aborts when the lease is lost; it must return soon after that, or once the
 * database says that it is no longer the holder
 * @param onError receives errors of the database or the work, which is then retried
 */
export async function whileLeading(
  db: Database,
  name: string,
  holder: string,
  signal: AbortSignal,
  work: (lease: Lease, signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = await acquireLease(db, name, holder);
      if (lease) await lead(db, lease, signal, work, onError);
    } catch (error) {
      onError(error);
    }
    await pause(retryMs, signal);
  }
}

async function lead(
  db: Database,
  lease: Lease,
  signal: AbortSignal,
  work: (lease: Lease, signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
): Promise<void> {
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const renewing = keepRenewing(db, lease, both, onError).finally(() => over.abort());
  try {
    await work(lease, both);
  } finally {
    over.abort();
    await renewing;
    await releaseLease(db, lease);
  }
}

/** Returns when the lease is lost, or could not be renewed during its whole term. */
async function keepRenewing(
  db: Database,
  lease: Lease,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<void> {
  let renewedAt = performance.now();
  let waitMs = renewMs;
  while (!signal.aborted && performance.now() - renewedAt < leaseMs) {
    await pause(waitMs, signal);
    if (signal.aborted) return;
    try {
      const startedAt = performance.now();
      if (!(await renewLease(db, lease))) return;
      renewedAt = startedAt;
      waitMs = renewMs;
    } catch (error) {
      onError(error);
      waitMs = renewAgainMs;
    }
  }
}
