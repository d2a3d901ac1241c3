import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bloomHas, bloomOf } from './bloom.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => `0x${Buffer.from(all).toString('hex')}`);
const log = fc.record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }) });

test('the filter of logs has every address and topic in them', () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 20 }), (logs) => {
      const bloom = bloomOf(logs);
      assert.ok(logs.every(({ address, topics }) => bloomHas(bloom, [address, ...topics])));
    }),
  );
});

test('a bloom filter › an empty one has nothing, a full one everything; a value that was not put in is seldom found', () => {
  assert.equal(bloomHas(bloomOf([]), [`0x${'11'.repeat(20)}`]), false);
  assert.equal(bloomHas(`0x${'ff'.repeat(256)}`, [`0x${'11'.repeat(20)}`]), true);
  const bloom = bloomOf(Array.from({ length: 20 }, (_, i) => ({ address: address(i), topics: [] })));
  const chance = Array.from({ length: 200 }, (_, i) => bloomHas(bloom, [address(1000 + i)])).filter(Boolean).length;
  assert.ok(chance < 5);
});

function address(i: number): string {
  return `0x${i.toString(16).padStart(40, '0')}`;
}
