const referenceBytes = 16;
/** Counters below this fit the last four bytes. */
const counterLimit = 2 ** 32;

/**
 * The nonce of an EIP-3009 authorization that pays a request: its reference, then a counter. So whoever submits it, the
 * token's log names the request.
 *
 * @param reference 16 bytes
 * @param counter whole, from 0 and below 2^32: a request that is paid in parts has an authorization for each
 * @returns 32 bytes
 */
export function authorizationNonce(reference: Uint8Array, counter: number): Buffer<ArrayBuffer> {
  if (reference.length !== referenceBytes) throw new RangeError('a reference has 16 bytes');
  const nonce = Buffer.alloc(32);
  nonce.set(reference);
  nonce.writeUInt32BE(counter, nonce.length - 4);
  return nonce;
}

/** The content of a nonce; null if `authorizationNonce` cannot have made it. */
export function readAuthorizationNonce(nonce: Uint8Array): { reference: Buffer; counter: number } | null {
  if (nonce.length !== 32) return null;
  const bytes = Buffer.from(nonce);
  const counter = bytes.readBigUInt64BE(24);
  if (bytes.readBigUInt64BE(16) !== 0n || counter >= BigInt(counterLimit)) return null;
  return { reference: bytes.subarray(0, referenceBytes), counter: Number(counter) };
}
