import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { StartFault } from '../lib/start-fault.ts';
import { pause } from '../lib/time.ts';
import { type Sql, sqlState } from './connection.ts';
import { giveToOwner, isHalfRestored } from './owner-policies.ts';

const ownFolder = join(import.meta.dirname, '../../migrations');
/** The key of the advisory lock that lets only one process change the schema at a time: an arbitrary constant. */
export const migrationLock = 7_188_254;
/** The limit for one migration, and for waiting for another node's. */
export const migrationSeconds = 3_600;
const turnPauseMs = 100;

/**
 * While a migration waits for a table's lock, every later statement on the table waits too. So it gives up soon and
 * tries again.
 */
const lockMs = 2_000;
const lockAttempts = 60;
const lockPauseMs = 1_000;
const lockNotAvailable = '55P03';

/** The first line of a migration whose statements run outside of a transaction, as `create index concurrently` must. */
const withoutTransaction = '-- Without a transaction.';
/** The name of a migration that removes something that older versions use. */
const contracts = /^\d{4}_contract_/;

/** The numbered migrations of a version, in order. */
async function listMigrations(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
}

async function listApplied(sql: Sql): Promise<Set<string>> {
  const [table] = await sql`select to_regclass('schema_migrations') as name`;
  if (!table?.name) return new Set();
  return new Set((await sql<{ name: string }[]>`select name from schema_migrations`).map((row) => row.name));
}

/**
 * How the database differs from what this version needs.
 *
 * @returns in `pending` the migrations that have not been applied; in `ahead` those of a newer version that removed
 * what this one uses
 */
export async function compareMigrations(sql: Sql, folder = ownFolder): Promise<{ pending: string[]; ahead: string[] }> {
  const [known, applied] = [await listMigrations(folder), await listApplied(sql)];
  return {
    pending: known.filter((name) => !applied.has(name)),
    ahead: [...applied].filter((name) => contracts.test(name) && !known.includes(name)),
  };
}

type Migrating = {
  /** The migrations of this version. */
  folder?: string;
  /** Ends the wait for another node that migrates. A migration that has begun here is finished. */
  stopping?: AbortSignal | undefined;
  /** How often a migration waits for a table's lock. */
  attempts?: number;
  /** Told what the start does and waits for. It can take an hour, in which nothing else is logged or answered. */
  log?: Pick<Logger, 'info'> | undefined;
};

/**
 * Migrates the database to this version, each migration in its own transaction unless it says otherwise. Before that,
 * it does the last step of a restore that was killed.
 *
 * @param sql one connection, which is not shared by a pooler
 * @returns the names of the migrations that ran here
 * @throws StartFault if a newer version has removed what this one uses, or if a table is held for too long
 * @throws the reason of `stopping`
 */
export async function migrate(
  sql: Sql,
  { folder = ownFolder, stopping, attempts = lockAttempts, log }: Migrating = {},
): Promise<string[]> {
  const work = async () => {
    if (await isHalfRestored(sql)) await giveToOwner(sql);
    await sql`create table if not exists schema_migrations (name text primary key, applied_at timestamptz default now())`;
    const { pending, ahead } = await compareMigrations(sql, folder);
    if (ahead.length > 0) throw new StartFault(newerSchema(ahead));
    if (pending.length > 0) log?.info({ migrations: pending.length, last: pending.at(-1) }, 'migrating the database');
    for (const name of pending) await apply(sql, join(folder, name), attempts);
    if (pending.length > 0) log?.info('the database is migrated');
    return pending;
  };
  return inTurn(sql, stopping, work, () => log?.info('waiting for another node, which prepares the database'));
}

/**
 * Runs work that changes the schema while no other process does.
 *
 * @param sql one connection, which is not shared by a pooler
 * @param stopping ends the wait for the others
 * @param onWait is called once if there is another
 * @throws StartFault if another process takes longer than a migration may
 * @throws the reason of `stopping`
 */
export async function inTurn<T>(
  sql: Sql,
  stopping: AbortSignal | undefined,
  work: () => Promise<T>,
  onWait: () => void = () => {},
): Promise<T> {
  await takeTurn(sql, stopping, onWait);
  try {
    return await work();
  } finally {
    await sql`select pg_advisory_unlock(${migrationLock})`.catch(() => {}); // a lost connection has lost its lock
  }
}

/** @param ahead the migrations that this version does not know */
export const newerSchema = (ahead: string[]): string =>
  `The database was migrated by a newer version, which removed what this one uses (${ahead.join(', ')}). Start the newer version.`;

/**
 * Takes the lock, so that two nodes never migrate at once; the second one then finds everything done. It polls instead
 * of waiting in a statement, because an index that is built concurrently waits for every older statement to end.
 */
async function takeTurn(sql: Sql, stopping: AbortSignal | undefined, onWait: () => void): Promise<void> {
  const deadline = performance.now() + migrationSeconds * 1000;
  for (let isFirst = true; performance.now() < deadline; isFirst = false) {
    const [row] = await sql<{ mine: boolean }[]>`select pg_try_advisory_lock(${migrationLock}) as mine`;
    if (row?.mine) return;
    if (isFirst) onWait();
    await pause(turnPauseMs, stopping);
    stopping?.throwIfAborted();
  }
  throw new StartFault(`Another node has been migrating for ${migrationSeconds / 60} minutes. Start again later.`);
}

const heldFault = (name: string): string =>
  `The migration ${name} needs a table that something else has held all the time, such as a backup or a long transaction. Start again when that has ended.`;

async function apply(sql: Sql, file: string, attempts: number): Promise<void> {
  const [name, text] = [basename(file), await readFile(file, 'utf8')];
  for (let attempt = 1; ; attempt++) {
    try {
      return text.startsWith(withoutTransaction) ? await runSingly(sql, name, text) : await runWhole(sql, name, text);
    } catch (error) {
      if (sqlState(error) !== lockNotAvailable) throw error;
      if (attempt === attempts) throw new StartFault(heldFault(name), { cause: error });
      await pause(lockPauseMs);
    }
  }
}

function runWhole(sql: Sql, name: string, text: string): Promise<void> {
  return sql.begin(async (tx) => {
    // The limit is longer than for ordinary statements, because migrations scan large tables.
    await tx.unsafe(`set local statement_timeout = ${migrationSeconds * 1000}; set local lock_timeout = ${lockMs}`);
    await tx`insert into schema_migrations (name) values (${name})`;
    await tx.unsafe(text);
  });
}

/**
 * Runs a migration statement by statement. After a crash in the middle, all its statements are repeated.
 *
 * @param text its statements end with a semicolon at the end of a line
 */
async function runSingly(sql: Sql, name: string, text: string): Promise<void> {
  await sql.unsafe(`set statement_timeout = ${migrationSeconds * 1000}`);
  try {
    for (const statement of text.split(/;\s*$/m)) if (statement.trim()) await sql.unsafe(statement);
    await sql`insert into schema_migrations (name) values (${name})`;
  } finally {
    await sql.unsafe('reset statement_timeout');
  }
}
