import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { authorizationNonce, readAuthorizationNonce } from './authorization-nonce.ts';

const references = fc.uint8Array({ minLength: 16, maxLength: 16 });
const counters = fc.integer({ min: 0, max: 2 ** 32 - 1 });

test('an authorization’s nonce → gives back the reference and the counter that it was made of', () => {
  fc.assert(
    fc.property(references, counters, (reference, counter) => {
      const nonce = authorizationNonce(reference, counter);
      assert.equal(nonce.length, 32);
      assert.deepEqual(readAuthorizationNonce(nonce), { reference: Buffer.from(reference), counter });
    }),
  );
  const ones = authorizationNonce(Buffer.alloc(16, 0x11), 258);
  assert.equal(ones.toString('hex'), `${'11'.repeat(16)}${'00'.repeat(14)}0102`);
});

test('a nonce of another length, or whose counter is not below 2^32, names nothing', () => {
  const nonce = authorizationNonce(Buffer.alloc(16, 0x11), 7);
  assert.equal(readAuthorizationNonce(nonce.subarray(1)), null);
  for (const at of [16, 23, 24, 27]) {
    const other = Buffer.from(nonce);
    other[at] = 1;
    assert.equal(readAuthorizationNonce(other), null);
  }
});

test('a counter or a reference that does not fit → RangeError', () => {
  const reference = Buffer.alloc(16);
  for (const counter of [-1, 2 ** 32]) assert.throws(() => authorizationNonce(reference, counter), RangeError);
  assert.throws(() => authorizationNonce(reference.subarray(1), 0), RangeError);
});
