import { existsSync, readFileSync } from 'node:fs';
import { addressFile, dataDirOf } from '../config/address.ts';
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
