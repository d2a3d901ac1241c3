import { existsSync, readFileSync } from 'node:fs';
import { addressFile, dataDirOf } from '../config/address.ts';
import { insufficientPrivilege, isUnreachable, type Sql, sqlState } from '../db/connection.ts';
import { embeddedUrl } from '../db/embedded.ts';
import { compareMigrations, newerSchema } from '../db/migrate.ts';
import { isRefused, unusableDatabase } from '../db/unusable.ts';

/**
 * The environment, with the address of the service that was started on the same data folder, so that printed links lead
 * to that service, whatever its port. An address in the environment takes precedence.
 */
export function withRunningAddress(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = addressFile(dataDirOf(env));
  if (env.PORT || env.HOST || env.BASE_URL || !existsSync(file)) return env;
  return { ...JSON.parse(readFileSync(file, 'utf8')), ...env };
}

/**
 * Refuses a data folder in which no service was ever started. Call it before the configuration is read, which would
 * create a secret key there.
 *
 * @throws Error with instructions
 */
export function requireStarted(env: NodeJS.ProcessEnv): void {
  const dataDir = dataDirOf(env);
  if (env.DATABASE_URL || embeddedUrl(dataDir)) return;
  throw new Error(
    `There is no database in ${dataDir} yet. Start the service first with npm start. If it has a database of its own, run this with the settings of the service, such as DATABASE_URL.`,
  );
}

/**
 * Refuses a database that has no tables yet, or whose first migrations have not ended, and one from which a newer
 * version removed what this one uses: a node does not start there either.
 *
 * @throws Error with instructions
 */
export async function refuseSchema(sql: Sql): Promise<void> {
  const [tables] = await sql<{ name: string | null }[]>`select to_regclass('schema_migrations') as name`;
  if (!tables?.name) throw new Error('This database has no tables yet. Start the service once: it prepares them.');
  const { ahead } = await compareMigrations(sql).catch((error: unknown) => {
    // A migration grants this table together with all those that were made before.
    if (sqlState(error) === insufficientPrivilege) throw new Error(halfPrepared);
    throw error;
  });
  if (ahead.length > 0) throw new Error(newerSchema(ahead));
}

const halfPrepared =
  'The service has begun to prepare this database and has not finished. Wait until it is ready, or start it if it does not run, then run the command again.';

/** SQLSTATEs of a table, a column or a function that is not there. */
const notThere = ['42P01', '42703', '42883'];

/** Whether an error says that the database cannot be used at all, whatever the statement. */
export const isWithoutDatabase = (error: unknown): boolean => isUnreachable(error) || isRefused(error);

/** The sentence for an error: what to do where the database cannot be used, otherwise its message. */
export function reasonOf(error: unknown, isAtUrl: boolean): string {
  const { message, code } = error as NodeJS.ErrnoException;
  if (notThere.includes(sqlState(error) ?? ''))
    return `${message}. The database may lack migrations of this version: doctor names them. The service applies them when it starts.`;
  if (!isWithoutDatabase(error)) return message;
  const why = message || String(code);
  if (code === '28P01' && message.includes('quittance_s'))
    return `${why}. The service derives its logins from SECRET_KEYS and creates them when it starts: set those that the service runs with, or start it once with these. If it was just started on a new database, wait until it is ready.`;
  if (!isAtUrl)
    return `The database does not answer: ${why}. It runs while the service does: start that with npm start.`;
  return unusableDatabase('DATABASE_URL', error);
}
