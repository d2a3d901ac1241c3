import { join, resolve } from 'node:path';
import { replaceFile } from '../lib/files.ts';

/** The folder for the files of a service: an embedded database, local chains, and its address. */
export function dataDirOf(env: NodeJS.ProcessEnv): string {
  return resolve(env.DATA_DIR || join(import.meta.dirname, '../../.data'));
}

/** The file in which a started service stores its address, as settings of the environment. */
export const addressFile = (dataDir: string): string => join(dataDir, 'address.json');

type Address = { dataDir: string; host: string; port: number; baseUrl: string; payUrl: string; sandbox: boolean };

/** Stores the address of a service for commands that run beside it. */
export function keepAddress({ dataDir, host, port, baseUrl, payUrl, sandbox }: Address): void {
  const settings = { HOST: host, PORT: String(port), BASE_URL: baseUrl, PAY_URL: payUrl };
  const text = JSON.stringify({ ...settings, ...(sandbox && { SANDBOX: 'on' }) }, null, 2);
  replaceFile(addressFile(dataDir), `${text}\n`);
}
