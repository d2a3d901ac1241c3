import { randomBytes } from 'node:crypto';
import { matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';

const saltBytes = 16;
const timeBytes = 6;
const headBytes = saltBytes + timeBytes;
const macBytes = 32;

/** A keyed hash over the head of a token, in hex, and over what the token is for. */
type MacOf = (secret: SecretKey, head: string) => Buffer;

/** A token of which nothing is stored: random bytes, the time at which it expires, and a keyed hash of both. */
export function makeExpiringToken(secrets: SecretKey[], untilMs: number, macOf: MacOf): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(headBytes);
  randomBytes(saltBytes).copy(head);
  head.writeUIntBE(untilMs, saltBytes, timeBytes);
  return Buffer.concat([head, macOf(newest(secrets), head.toString('hex'))]);
}

/**
 * Reads a token that was made with any of the secret keys.
 *
 * @returns its head in hex, which no other token has, and its expiry, which the caller must compare; null for bytes
 * that are no token for this purpose
 */
export function readExpiringToken(
  secrets: SecretKey[],
  token: Buffer,
  macOf: MacOf,
): { head: string; until: Date } | null {
  if (token.length !== headBytes + macBytes) return null;
  const head = token.toString('hex', 0, headBytes);
  const mac = token.subarray(headBytes);
  if (!matchesAnyKey(secrets, (secret) => macOf(secret, head), mac)) return null;
  return { head, until: new Date(token.readUIntBE(saltBytes, timeBytes)) };
}
