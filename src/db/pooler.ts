import { StartFault } from '../lib/start-fault.ts';
import { type Access, type Sql, sqlState, usualWaits } from './connection.ts';
import { openPool } from './pool.ts';
import { loginDefaults } from './session-settings.ts';

/** duplicate_prepared_statement: another client has prepared a statement with this name in the same session. */
const duplicateStatement = '42P05';
const rounds = 3;

/**
 * Whether an address leads to a pooler that shares sessions between transactions: two open connections then get the
 * same session. Sends nothing that such a pooler refuses.
 */
export async function sharesSessions(url: string): Promise<boolean> {
  const [one, other] = [0, 1].map(() => openPool({ url, connections: 1, waits: usualWaits, sessionUrl: url })) as [
    Sql,
    Sql,
  ];
  const sessionOf = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;
  try {
    const first = await sessionOf(one);
    for (let round = 0; round < rounds; round++) {
      if ((await sessionOf(other)) === first || (await sessionOf(one)) !== first) return true;
    }
    return false;
  } finally {
    await Promise.all([one.end(), other.end()]);
  }
}

/** What PgBouncer says to `begin` in statement mode. It has no SQLSTATE of its own for this. */
const ofPooler = /statement pooling mode/;

/** Whether an error shows that a pooler shares sessions although it is not configured here. */
export const isOfSharedSession = (error: unknown): boolean => sqlState(error) === duplicateStatement;

export const sharedSessions =
  'DATABASE_URL leads to a pooler in transaction mode. Set DATABASE_POOL_MODE=transaction, and DATABASE_OWNER_URL to the database server itself; or put the pooler into session mode.';

/** @throws StartFault if migrations would share their session with other clients */
export async function refuseSharedOwner(ownerUrl: string, hasOwnSetting: boolean): Promise<void> {
  if (!(await sharesSessions(ownerUrl))) return;
  throw new StartFault(
    hasOwnSetting
      ? 'DATABASE_OWNER_URL leads to a pooler in transaction mode. Point it at the database server itself: migrations need a session of their own.'
      : sharedSessions,
  );
}

/**
 * Checks that the service's sessions are set up correctly. Behind a pooler in transaction mode, the settings of our
 * sessions must be the logins' defaults. Otherwise nobody else may share the sessions.
 *
 * @throws StartFault with instructions
 */
export async function checkSessions({ service, session }: Access, sql: Sql): Promise<void> {
  if (session === null) {
    if (await sharesSessions(service)) throw new StartFault(sharedSessions);
    return;
  }
  await sql
    .begin((tx) => tx`select`)
    .catch((error) => {
      if (!ofPooler.test((error as Error).message)) throw error;
      throw new StartFault(
        'DATABASE_URL leads to a pooler in statement mode, which allows no transactions: set pool_mode = transaction there.',
        { cause: error },
      );
    });
  const wanted = new Map(Object.entries(loginDefaults.service).map(([name, value]) => [name, String(value)]));
  wanted.delete('application_name'); // the pooler sets it
  const rows = await sql<{ name: string; setting: string }[]>`
    select lower(name) as name, setting from pg_settings where lower(name) = any(${[...wanted.keys()]}::text[])`;
  const others = rows.filter(({ name, setting }) => wanted.get(name) !== setting);
  if (others.length === 0) return;
  const found = others.map(({ name, setting }) => `${name} = ${setting}`).join(', ');
  throw new StartFault(
    `Sessions of ${sql.user} behind the pooler have settings other than the service’s (${found}). Sessions from before the logins had their defaults are still open: run RECONNECT on the pooler’s console. If that does not help, an administrator of the database server runs the last statements of \`bin/quittance logins --owner <owner>\`.`,
  );
}
