import { existsSync, readFileSync } from 'node:fs';
import { addressFile, dataDirOf } from '../config/address.ts';

/**
 * The environment, with the address of the service that was started on the same data folder: what a command prints
 * leads to that service, whatever its port. An address in the environment wins.
 */
export function withRunningAddress(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = addressFile(dataDirOf(env));
  if (env.PORT || env.HOST || env.BASE_URL || !existsSync(file)) return env;
  return { ...JSON.parse(readFileSync(file, 'utf8')), ...env };
}
