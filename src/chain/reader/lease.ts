import type { Database } from '../../db/connection.ts';

/** The right to do what only one process may do. Whoever writes checks the fence in the same transaction. */
export type Lease = { name: string; holder: string; fence: number };

/** A holder that stops renewing loses the lease after this time. */
export const leaseMs = 4_000;
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
export type LeaseState = { name: string; fence: string | null; leftMs: number };

/**
 * In one statement, renews the leases that this holder has, and takes wanted leases that have expired. A row that
 * another process is changing counts as that process's. Nobody waits here, so there are no deadlocks.
 */
export async function keepLeases(
  db: Database,
  holder: string,
  held: string[],
  wanted: string[],
): Promise<LeaseState[]> {
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

/** Inserts the rows of leases that nobody has ever held, as expired. */
export async function insertLeases(db: Database, names: string[], holder: string): Promise<void> {
  await db.sql`
    insert into leases (name, holder, fence, held_until)
    select name, ${holder}, 0, now() from unnest(${names}::text[]) as wanted (name)
    where not exists (select from leases l where l.name = wanted.name) on conflict do nothing`;
}

/** Since when processes have wanted a lease; null if that is not longer than this. */
export async function selectWantedFor({ sql }: Database, name: string, longerMs: number): Promise<Date | null> {
  const [row] = await sql<{ wanted_at: Date }[]>`
    select wanted_at from leases where name = ${name} and wanted_at < now() - ${interval(longerMs)}::interval`;
  return row?.wanted_at ?? null;
}

type LeaderRow = { name: string; holder: string; fence: string; alive: boolean; updated_at: Date | null };

/** Who holds each of these leases of chains, and when the chain was last read. */
export async function selectLeaders({ sql }: Database, names: string[]): Promise<LeaderRow[]> {
  return sql<LeaderRow[]>`
    select l.name, l.holder, l.fence, l.held_until > now() as alive, c.updated_at
    from leases l left join chain_cursors c on l.name = 'chain-' || c.chain_id
    where l.name = any(${names}::text[])`;
}
