import type { Sql } from './connection.ts';

/** A session on this database that waits for a lock. `holders`: process numbers of those that hold it or wait before it. */
export type LockWait = { pid: number; seconds: number; holders: number[] };

/**
 * Sessions that wait for a lock of a table or a row, longest first. Reads only what every login may read. Leaves out
 * two kinds of waits that make nothing fail: for advisory locks, by which nodes wait for each other's migrations, and
 * for other transactions to end, as building an index does.
 */
export const listLockWaits = (sql: Sql): Promise<LockWait[]> =>
  sql<LockWait[]>`
    select w.pid, greatest(0, extract(epoch from clock_timestamp() - w.waitstart))::float8 as seconds,
      pg_blocking_pids(w.pid) as holders
    from pg_locks w
    where w.waitstart is not null and w.locktype not in ('advisory', 'virtualxid') and exists (
      select from pg_locks h join pg_database d on d.oid = h.database
      where h.pid = w.pid and d.datname = current_database())
    order by w.waitstart limit 100`;

/**
 * A table that a session holds locked, so that others wait that read it or write to it. `mode`: as `pg_locks` names it.
 */
export type LockedTable = { name: string; mode: string; pid: number; login: string; application: string };

/** The tables that other sessions hold locked. Reads only what every login may read. */
export const listLockedTables = (sql: Sql): Promise<LockedTable[]> =>
  sql<LockedTable[]>`
    select c.relname as name, l.mode, l.pid, coalesce(a.usename, '') as login, coalesce(a.application_name, '') as application
    from pg_locks l
      join pg_class c on c.oid = l.relation
      left join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.pid <> pg_backend_pid() and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and l.database = (select oid from pg_database where datname = current_database())
      and l.mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
    order by c.relname, l.pid limit 100`;
