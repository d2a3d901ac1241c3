import { existsSync, readFileSync } from 'node:fs';
import { addressFile, dataDirOf } from '../config/address.ts';
import { isUnreachable, sqlState } from '../db/connection.ts';
import { embeddedUrl } from '../db/embedded.ts';

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
    `There is no database in ${dataDir} yet. Start the service first with npm start, or set DATABASE_URL.`,
  );
}

/** SQLSTATEs of a server that refuses the login, or that does not have the database. */
const refused = ['28000', '28P01', '3D000'];

/** Whether an error says that the database cannot be used at all, whatever the statement. */
export const isWithoutDatabase = (error: unknown): boolean =>
  isUnreachable(error) || refused.includes(sqlState(error) ?? '');

/** The sentence for an error: what to do where the database cannot be used, otherwise its message. */
export function reasonOf(error: unknown, isAtUrl: boolean): string {
  const { message, code } = error as NodeJS.ErrnoException;
  if (!isWithoutDatabase(error)) return message;
  const why = message || String(code);
  if (code === '28P01' && message.includes('quittance_s'))
    return `${why}. The service derives its logins from SECRET_KEYS and creates them when it starts: set those that the service runs with, or start it once with these.`;
  if (!isAtUrl)
    return `The database does not answer: ${why}. It runs while the service does: start that with npm start.`;
  const advice = refused.includes(String(code))
    ? 'Check its name, and that the service was started with this address.'
    : 'Check that the server runs, that it can be reached from here and that it has free connections, then run the command again.';
  return `The database of DATABASE_URL cannot be used: ${why}. ${advice}`;
}
