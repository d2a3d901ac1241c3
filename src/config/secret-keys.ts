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
  const text = value || (sandbox ? sandboxSecret(dataDir, faults) : '');
  if (!text && !sandbox) {
    faults.push(
      'SECRET_KEYS is required in production: <id>:<base64 of 32 random bytes>, newest first, comma-separated',
    );
  }
  return readList(text, []).map((part, index) => {
    const [id = '', encoded = ''] = part.split(':');
    const key = Buffer.from(encoded, 'base64');
    if (!/^[a-z0-9]{1,16}$/.test(id) || key.length !== 32) {
      // The fault does not quote the id, because a misplaced value can be the secret itself.
      faults.push(`SECRET_KEYS: entry ${index + 1} must be <id of 1 to 16 a-z0-9>:<base64 of 32 bytes>`);
    }
    return { id, key };
  });
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
