import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Cryptographically random base62 characters. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(62)]).join('');
}

/** The CRC-32 of a text in six base62 characters, so that a typing error is detected without a query. */
export function checksum62(text: string): string {
  let rest = crc32(text);
  let out = '';
  for (let i = 0; i < 6; i++) {
    out = alphabet[rest % 62] + out;
    rest = Math.floor(rest / 62);
  }
  return out;
}
