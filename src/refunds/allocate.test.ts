import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allocateRefund } from './allocate.ts';

const share = (moved: bigint, ...due: bigint[]) =>
  allocateRefund(
    moved,
    due.map((usdcMicro) => ({ usdcMicro })),
  );

test('a transaction that refunds one payment → all that it moved counts for that, less or more than was due', () => {
  assert.deepEqual(share(5n, 5n), [5n]);
  assert.deepEqual(share(3n, 5n), [3n]);
  assert.deepEqual(share(9n, 5n), [9n]);
  assert.deepEqual(share(0n, 5n), [0n]);
});

test('a transaction that refunds several payments → covers them one after the other, each in full or not at all', () => {
  assert.deepEqual(share(12n, 5n, 7n), [5n, 7n]);
  assert.deepEqual(share(11n, 5n, 7n), [11n, 0n]);
  assert.deepEqual(share(5n, 5n, 5n), [5n, 0n]);
  assert.deepEqual(share(3n, 5n, 3n), [3n, 0n], 'the first takes what does not cover it');
  assert.deepEqual(share(13n, 5n, 9n, 7n), [6n, 0n, 7n]);
});

test('a transaction recorded for any payments → the shares add up to what it moved', () => {
  const micro = fc.bigInt({ min: 0n, max: 1_000n });
  fc.assert(
    fc.property(micro, fc.array(micro, { minLength: 1, maxLength: 8 }), (moved, due) => {
      assert.equal(
        share(moved, ...due).reduce((sum, one) => sum + one, 0n),
        moved,
      );
    }),
  );
});
