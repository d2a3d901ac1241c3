import { randomBytes } from 'node:crypto';
import { matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';

const saltBytes = 16;
const timeBytes = 6;
const headBytes = saltBytes + timeBytes;
const macBytes = 32;

/** A keyed hash over the head of a proof, in hex, and over what it is a proof of. */
type MacOf = (secret: SecretKey, head: string) => Buffer;

/** A proof that we made, of which nothing is stored: random bytes, until when it is valid, and a keyed hash of both. */
export function makeExpiringToken(secrets: SecretKey[], untilMs: number, macOf: MacOf): Buffer<ArrayBuffer> {
  const head = Buffer.alloc(headBytes);
  randomBytes(saltBytes).copy(head);
  head.writeUIntBE(untilMs, saltBytes, timeBytes);
  return Buffer.concat([head, macOf(newest(secrets), head.toString('hex'))]);
}

/**
 * Reads a proof that was made with any of the secret keys.
 *
 * @returns its head in hex, which no other proof has, and until when it is valid, which the caller must compare; null
 * for bytes that are no proof of this
 */
export function readExpiringToken(
  secrets: SecretKey[],
  proof: Buffer,
  macOf: MacOf,
): { head: string; until: Date } | null {
  if (proof.length !== headBytes + macBytes) return null;
  const head = proof.toString('hex', 0, headBytes);
  const mac = proof.subarray(headBytes);
  if (!matchesAnyKey(secrets, (secret) => macOf(secret, head), mac)) return null;
  return { head, until: new Date(proof.readUIntBE(saltBytes, timeBytes)) };
}
