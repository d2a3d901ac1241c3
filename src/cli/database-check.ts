import { isOnThisMachine } from '../config/database.ts';
import type { Context } from '../context.ts';
import { connect } from '../db/connection.ts';
import { machineAheadMs, wrongFromMs } from '../db/database-clock.ts';
import { type LockedTable, listLockedTables, listLockWaits } from '../db/lock-waits.ts';
import { accessOf, permissionsOf } from '../db/logins.ts';
import { compareMigrations, newerSchema } from '../db/migrate.ts';
import { sharedSessions, sharesSessions } from '../db/pooler.ts';
import { readerWaits, type Unused, whyUnused } from '../db/reader.ts';
import { isWritable, lacksRoom } from '../db/writable.ts';
import { pause } from '../lib/time.ts';
import type { Finding } from './finding.ts';

function migrationFinding(pending: string[], ahead: string[]): Finding {
  const check = 'migrations';
  if (ahead.length > 0) return { check, state: 'failed', advice: newerSchema(ahead) };
  if (pending.length === 0) return { check, state: 'ok', advice: '' };
  return { check, state: 'failed', advice: `Restart the service to apply ${pending.join(', ')}.` };
}

const onlyReads: Finding = {
  check: 'database',
  state: 'failed',
  advice:
    'The database accepts no changes, so every call is refused: it is a standby, or read-only. Name the primary in DATABASE_URL, or let it accept changes.',
};

/** Checks the database, its logins, its migrations and its clock. */
export async function checkDatabase(ctx: Context): Promise<Finding[]> {
  const [row] = await ctx.db.sql<{ version: string; ssl: boolean }[]>`
    select current_setting('server_version') as version, ssl from pg_stat_ssl where pid = pg_backend_pid()`;
  const { databaseUrl } = ctx.config;
  const isExposed = databaseUrl !== null && !row?.ssl && !isOnThisMachine(new URL(databaseUrl), {});
  const skewMs = Math.abs(machineAheadMs(ctx.clock));
  const { pending, ahead } = await compareMigrations(ctx.db.sql);
  const logins = await Promise.all(ctx.db.pools.map(permissionsOf));
  return [
    {
      check: `database, PostgreSQL ${row?.version}`,
      state: isExposed ? 'attention' : 'ok',
      advice: isExposed
        ? 'The database is on another machine without TLS: use sslmode=verify-full in DATABASE_URL.'
        : '',
    },
    ...((await isWritable(ctx.db.sql)) ? [] : [onlyReads]),
    ...logins.map(({ name, powers }) => ({
      check: `login ${name}`,
      state: powers.length === 0 ? ('ok' as const) : ('failed' as const),
      advice:
        powers.length === 0 ? '' : `This login ${powers.join(' and ')}: revoke that, or drop the login and restart.`,
    })),
    migrationFinding(pending, ahead),
    skewMs < wrongFromMs
      ? { check: 'clock', state: 'ok', advice: '' }
      : {
          check: 'clock',
          state: 'attention',
          advice: `This machine’s clock is ${Math.round(skewMs / 1000)} s off the database’s, which the service follows; synchronise both (NTP).`,
        },
  ];
}

/** Checks that the server has room. A node says so only after a statement has failed, and only at its metrics. */
export async function checkDisk({ db }: Context): Promise<Finding[]> {
  const advice =
    'A disk of the database server is full, so some calls and loops fail. Make room there; docs/operating.md says what fills it. No node needs a restart.';
  return (await lacksRoom(db))
    ? [{ check: 'disk of the database', state: 'failed', advice }]
    : [{ check: 'disk of the database', state: 'ok', advice: '' }];
}

/** Calls wait for each other for milliseconds only. After ten seconds, they answer 503. */
const longWaitS = 2;
/** The service's own migrations lock tables for a moment. One that is still locked after this time may stay so. */
const stillLockedMs = 1_000;

/** Checks that no session holds for long what others need, and names those that do. */
export async function checkLocks(ctx: Context): Promise<Finding[]> {
  return [...(await checkTables(ctx)), ...(await checkWaits(ctx))];
}

/** Finds tables that stay locked, whether or not anything waits for them at the moment. */
async function checkTables({ db }: Context): Promise<Finding[]> {
  const keyOf = ({ name, mode, pid }: LockedTable) => `${pid} ${mode} ${name}`;
  const before = new Set((await listLockedTables(db.sql)).map(keyOf));
  if (before.size === 0) return [];
  await pause(stillLockedMs);
  const locked = (await listLockedTables(db.sql)).filter((one) => before.has(keyOf(one)));
  return locked.map(({ name, mode, pid, login, application }): Finding => {
    const holder = `process ${pid} (login ${login}${application && `, application ${application}`})`;
    const waits = mode === 'AccessExclusiveLock' ? 'reads it or writes to it' : 'writes to it';
    const advice = `It is locked by ${holder}. Whatever ${waits} waits and then fails. See what that process does in pg_stat_activity, and end it if it should not run: select pg_terminate_backend(${pid}).`;
    return { check: `table ${name}`, state: 'attention', advice };
  });
}

/** Finds statements that wait for a table or a row. */
async function checkWaits({ db }: Context): Promise<Finding[]> {
  const waits = await listLockWaits(db.sql);
  const seconds = waits[0]?.seconds ?? 0;
  if (seconds < longWaitS) return [];
  const waiting = new Set(waits.map(({ pid }) => pid));
  const holders = new Set(waits.flatMap(({ holders }) => holders).filter((pid) => pid !== 0 && !waiting.has(pid)));
  const advice = `Statements (${waits.length}) wait for a table or rows, the first for ${Math.round(seconds)} s. Process numbers of the sessions that hold these: ${[...holders].join(', ') || 'unknown'}. See what each does in pg_stat_activity, and end what should not run: select pg_terminate_backend(<pid>).`;
  return [{ check: 'locks', state: 'attention', advice }];
}

const readerAdvice: Record<Unused, string> = {
  'of another database':
    'DATABASE_READ_URL leads to another database: no list is read there. Point it at a standby of the database of DATABASE_URL.',
  'no standby of this primary':
    'The server of DATABASE_READ_URL is not a standby of this primary at the moment, or follows an older timeline. Lists are read from the primary.',
  behind: 'The standby of DATABASE_READ_URL is behind. Lists are read from the primary meanwhile.',
  unreachable: 'The standby of DATABASE_READ_URL does not answer. Lists are read from the primary.',
};

/** Checks the standby that answers lists, if one is configured. */
export async function checkReader({ db, config }: Context): Promise<Finding[]> {
  const { databaseReadUrl, secretKeys } = config;
  if (!databaseReadUrl) return [];
  const check = 'reader of DATABASE_READ_URL';
  await db.sql`select`; // a reader is compared with the primary
  const reader = connect(accessOf(databaseReadUrl, secretKeys), { service: 1, scoped: 1 }, readerWaits);
  try {
    const unused = await whyUnused(db, reader);
    if (!unused) return [{ check, state: 'ok', advice: '' }];
    const state = unused === 'of another database' ? 'failed' : 'attention';
    return [{ check, state, advice: readerAdvice[unused] }];
  } catch (error) {
    return [{ check, state: 'attention', advice: `${readerAdvice.unreachable} It says: ${(error as Error).message}` }];
  } finally {
    await reader.close();
  }
}

/** Checks that no pooler shares sessions, unless one in transaction mode is configured. */
export async function checkPooler({ config }: Context): Promise<Finding[]> {
  const { databaseUrl, databasePoolMode, secretKeys } = config;
  if (!databaseUrl || databasePoolMode === 'transaction') return [];
  const isShared = await sharesSessions(accessOf(databaseUrl, secretKeys).service);
  return isShared ? [{ check: 'pooler', state: 'failed', advice: sharedSessions }] : [];
}
