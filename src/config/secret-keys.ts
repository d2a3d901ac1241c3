import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretKey } from '../lib/encrypt.ts';
import { createFile } from '../lib/files.ts';
import { readList } from './networks.ts';

/**
 * Reads `SECRET_KEYS`: `id:base64 of 32 bytes`, comma-separated. A sandbox without the setting generates a key and
 * keeps it in its data folder.
 */
export function readSecretKeys(
  value: string | undefined,
  sandbox: boolean,
  dataDir: string,
  faults: string[],
): SecretKey[] {
  const given = readList(value, []);
  if (given.length === 0 && !sandbox) {
    faults.push(
      'SECRET_KEYS is required in production: <id>:<base64 of 32 random bytes>, newest first, comma-separated',
    );
  }
  const entries = given.length > 0 || !sandbox ? given : readList(sandboxSecret(dataDir, faults), []);
  const keys = entries.map((entry, index) => {
    const [id = '', encoded = '', ...more] = entry.split(':');
    const key = Buffer.from(encoded, 'base64');
    if (!/^[a-z0-9]{1,16}$/.test(id) || key.length !== 32 || more.length > 0) {
      // The fault does not quote the id, because a misplaced value can be the secret itself.
      faults.push(`SECRET_KEYS: entry ${index + 1} must be <id of 1 to 16 a-z0-9>:<base64 of 32 bytes>`);
    }
    return { id, key };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    faults.push('SECRET_KEYS has an id twice: each key needs an id of its own, which tells what it encrypted');
  return keys;
}

function sandboxSecret(dataDir: string, faults: string[]): string {
  const file = join(dataDir, 'secret-keys');
  try {
    mkdirSync(dataDir, { recursive: true });
    if (!existsSync(file)) createFile(file, `sandbox:${randomBytes(32).toString('base64')}`, 0o600);
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    faults.push(`DATA_DIR ${dataDir} cannot be used: ${(error as Error).message}`);
    return '';
  }
}
