import type { Logger } from 'pino';
import { type ChildServer, childServersOf } from './child-servers.ts';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import {
  type Access,
  type Connections,
  connect,
  type Database,
  isUnreachable,
  openOwner,
  sqlState,
  usualWaits,
} from './db/connection.ts';
import { DatabaseClock } from './db/database-clock.ts';
import { readDatabaseId } from './db/database-id.ts';
import { type EmbeddedPostgres, embeddedUrl, startEmbedded } from './db/embedded.ts';
import { refuseEncoding } from './db/encoding.ts';
import { accessOf, asPermissionFault, ensureLogins, permissionsOf } from './db/logins.ts';
import { migrate, migrationSeconds } from './db/migrate.ts';
import { followAddress } from './db/moved-address.ts';
import { newDiskState } from './db/pool.ts';
import { checkSessions, refuseSharedOwner } from './db/pooler.ts';
import { openPools, type Pools } from './db/pools.ts';
import { readerWaits, withReader } from './db/reader.ts';
import { refuseKeyFaults } from './db/secret-keys.ts';
import { isRefused, unusableDatabase } from './db/unusable.ts';
import { makeLog } from './lib/log.ts';
import { StartFault } from './lib/start-fault.ts';
import { systemClock } from './lib/time.ts';
import type { Sandbox } from './sandbox/sandbox.ts';

/** A context whose database is connected; `close` ends everything that was started for it. */
export type Service = { ctx: Context; close(): Promise<void> };
/** A service. Its context uses the API's connections; pages and loops have their own pools. */
export type RunningService = Service & { pools: Pools; parts: ChildServer[] };

/**
 * Starts an embedded database and the sandbox's chains, if needed. As the owner, migrates the database and creates the
 * service's logins. Then connects as the service.
 *
 * @throws the reason of `stopping` if that aborts while another node migrates
 */
export async function openService(config: Config, stopping?: AbortSignal): Promise<RunningService> {
  const stops: Array<() => Promise<void>> = [];
  const close = async () => {
    const faults: unknown[] = [];
    // Stops the other parts even if one cannot be stopped.
    for (const stop of stops.reverse()) await stop().catch((error) => faults.push(error));
    if (faults.length > 0) throw faults[0];
  };
  const started = await Promise.allSettled([
    config.databaseUrl ? null : startEmbedded(config.dataDir),
    config.chains ? null : startChains(config.dataDir),
  ] as const);
  for (const part of started)
    if (part.status === 'fulfilled' && part.value) stops.push(() => (part.value as EmbeddedPostgres).stop());
  try {
    const [embedded, devChains] = started.map((part) => {
      if (part.status === 'rejected') throw part.reason;
      return part.value;
    }) as [EmbeddedPostgres | null, Awaited<ReturnType<typeof startChains>> | null];
    const url = config.databaseUrl ?? (embedded as EmbeddedPostgres).url;
    const access = accessTo(config, url);
    const ownerUrl = config.databaseOwnerUrl ?? url;
    const log = makeLog(config.logLevel);
    const prepared = await prepareAt(ownerUrl, config, log, stopping).catch((error) => {
      throw asDatabaseFault(config, error);
    });
    const disk = newDiskState();
    const pools = openPools(
      (connections, waits, listen) =>
        addReader(config, connect(access, connections, waits, { disk, listen }), connections, log),
      config.databaseReadUrl !== null,
    );
    stops.push(pools.close);
    logSlowStatements(pools, log);
    await logIn(config, access, pools.api, prepared).catch((error) => {
      throw asLoginFault(error, access);
    });
    const clock = new DatabaseClock();
    await clock.measure(pools.api.sql);
    const unfollow = new AbortController();
    void clock.follow(pools.loops.sql, log, unfollow.signal);
    // Behind a pooler, the server's connections are the pooler's. The embedded database does not move.
    if (config.databaseUrl && access.session === null)
      void followAddress(pools.all, access.service, log, unfollow.signal);
    stops.push(async () => unfollow.abort());
    const chains = config.chains ?? (devChains as NonNullable<typeof devChains>).chains;
    const sandbox = await loadSandbox(config);
    return {
      ctx: { config, db: pools.api, clock, log, chains, sandbox },
      pools,
      parts: childServersOf(config, embedded, devChains),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Connects to the standby that answers lists, if one is configured. */
function addReader(config: Config, database: Database, connections: Connections, log: Logger): Database {
  if (!config.databaseReadUrl) return database;
  const reader = connect(
    accessOf(config.databaseReadUrl, config.secretKeys),
    { ...connections, service: 1 },
    readerWaits,
  );
  return withReader(database, reader, (unused, cause) => {
    if (unused) log.warn({ reader: unused, err: cause }, 'the primary answers lists in place of the reader');
    else log.info('the reader answers lists');
  });
}

/** Logs slow statements. The line is part of the call's trail, so a line of the server's log leads to the call. */
function logSlowStatements({ all }: Pools, log: Logger): void {
  for (const pool of all.flatMap(({ pools }) => pools)) pool.onSlow = (slow) => log.warn(slow, 'a statement was slow');
}

/** Imports the sandbox's code only in a sandbox, so production never loads it. */
async function loadSandbox({ sandbox }: Pick<Config, 'sandbox'>): Promise<Sandbox | null> {
  return sandbox ? (await import('./sandbox/sandbox.ts')).sandbox : null;
}

async function startChains(dataDir: string) {
  const { startDevChains } = await import('./sandbox/chain.ts');
  return startDevChains(dataDir);
}

/** @param url the configured URL of the database, or that of the embedded one */
function accessTo({ databasePoolMode, databaseOwnerUrl, secretKeys }: Config, url: string): Access {
  return accessOf(url, secretKeys, databasePoolMode === 'transaction' ? databaseOwnerUrl : null);
}

/**
 * Migrates and creates logins, over a connection of the owner that waits as long as a migration may take.
 *
 * @returns the id of the database; null where it is not compared, or the owner may not read it
 */
async function prepareAt(
  ownerUrl: string,
  config: Config,
  log: Logger,
  stopping?: AbortSignal,
): Promise<string | null> {
  const { databaseUrl, databaseOwnerUrl, databasePoolMode, secretKeys } = config;
  if (databaseUrl) await refuseSharedOwner(ownerUrl, databaseOwnerUrl !== null);
  const owner = openOwner(ownerUrl, { ...usualWaits, answer: migrationSeconds });
  try {
    try {
      await refuseEncoding(owner);
      await migrate(owner, { stopping, log });
    } catch (error) {
      throw await asPermissionFault(owner, error);
    }
    // Before the logins of these keys exist: with them, commands could work with keys that no node has.
    await refuseKeyFaults(owner, secretKeys);
    await ensureLogins(owner, secretKeys, databasePoolMode === 'transaction');
    return databaseOwnerUrl ? await readDatabaseId(owner) : null;
  } finally {
    await owner.end();
  }
}

/**
 * Logs in once as each login, so that a missing permission is reported at start instead of by the first call.
 *
 * @param prepared the id of the database that was migrated; null if it is not known
 */
async function logIn(
  { databaseUrl }: Config,
  access: Access,
  { sql, pools }: Database,
  prepared: string | null,
): Promise<void> {
  if (databaseUrl) await checkSessions(access, sql);
  const used = prepared && (await readDatabaseId(sql));
  if (used && used !== prepared)
    throw new StartFault('DATABASE_OWNER_URL and DATABASE_URL lead to two databases. Name the same one in both.');
  for (const { name, powers } of await Promise.all(pools.map(permissionsOf))) {
    if (powers.length > 0)
      throw new StartFault(`The service logs in to the database as ${name}, which ${powers.join(' and ')}.`);
  }
}

function asLoginFault(error: unknown, { service, scoped }: Access): unknown {
  const state = sqlState(error) ?? '';
  if (state === ofPooler) return new StartFault(poolerFault('DATABASE_URL', error), { cause: error });
  if (!isRefused(error)) return error;
  const names = [service, scoped].map((url) => new URL(url.replace(/@.*/s, '@host')).username).join(' and ');
  return new StartFault(
    `The database of DATABASE_URL refused the service’s logins ${names}: ${(error as Error).message}. Allow both to log in with a password from here (pg_hba.conf, or the pooler’s user list). If a password was changed, drop role ${names.replace(' and ', ', ')}; the next start recreates them.`,
    { cause: error },
  );
}

/** The SQLSTATE with which a pooler refuses anything. */
const ofPooler = '08P01';

const poolerFault = (name: string, error: unknown): string =>
  `The pooler of ${name} refuses connections: ${(error as Error).message}. It must accept both logins of the service. Set DATABASE_POOL_MODE=transaction, and DATABASE_OWNER_URL to the database server itself.`;

function asDatabaseFault(config: Config, error: unknown): unknown {
  const state = sqlState(error);
  if (!config.databaseUrl || !(isUnreachable(error) || isRefused(error))) return error;
  const name = config.databaseOwnerUrl ? 'DATABASE_OWNER_URL' : 'DATABASE_URL';
  if (state === ofPooler) return new StartFault(poolerFault(name, error), { cause: error });
  return new StartFault(unusableDatabase(name, error), { cause: error });
}

/**
 * A context for a command beside a running service.
 *
 * @param lockS how many seconds its statements wait for a lock; 0: as long as for an answer
 * @throws Error with instructions if there is no database
 */
export async function joinService(config: Config, lockS = 0): Promise<Service> {
  const url = config.databaseUrl ?? embeddedUrl(config.dataDir);
  if (!url)
    throw new Error(`There is no database in ${config.dataDir} yet. Start the service first, or set DATABASE_URL.`);
  const db = connect(accessTo(config, url), { service: 2, scoped: 2 }, { ...usualWaits, lock: lockS });
  const own = config.chains ?? (await import('./sandbox/chain.ts')).readDevChains(config.dataDir);
  const chains = own ?? { test: [], live: [] };
  const clock = new DatabaseClock();
  // Without the database each command says so itself, and `doctor` goes on.
  await clock.measure(db.sql).catch(() => null);
  // A command serves no pages. One that uses the sandbox imports what it needs.
  const ctx = { config, db, clock, log: makeLog(config.logLevel), chains, sandbox: null };
  return { ctx, close: () => db.close() };
}

/** A context for developer commands, which use no database: a connection would be opened only when used. */
export function standAlone(config: Config): Service {
  const nowhere = 'postgres://nobody@127.0.0.1:1/none';
  const db = connect({ service: nowhere, scoped: nowhere, scopeKey: Buffer.alloc(32), session: null });
  const chains = config.chains ?? { test: [], live: [] };
  const log = makeLog('silent');
  return { ctx: { config, db, clock: systemClock, log, chains, sandbox: null }, close: () => db.close() };
}
