import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bloomHas, bloomHasOnce, bloomOf, isSaturated } from './bloom.ts';

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

/** A filter in which just these bits are set. */
function filterOf(bits: number[]): string {
  const value = bits.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
  return `0x${value.toString(16).padStart(512, '0')}`;
}

/** Its keccak256 begins with bd2b 01af cd27: the bits 1323, 431 and 1319. */
const known = '0x0f572e5295c57f15886f9b263e2f6d2d6c7b5ec6';

test('a value sets the bits that the Yellow Paper says', () => {
  assert.equal(bloomOf([{ address: known, topics: [] }]), filterOf([1323, 431, 1319]));
  assert.equal(bloomHas(filterOf([1323, 431, 1319]), [known]), true);
  assert.equal(bloomHasOnce(filterOf([1323, 431, 1319]), known), true);
});

test('a filter that lacks one bit of a value, or one of several values, does not have it', () => {
  for (const bits of [
    [1323, 431],
    [1323, 1319],
    [431, 1319],
  ]) {
    assert.equal(bloomHas(filterOf(bits), [known]), false);
    assert.equal(bloomHasOnce(filterOf(bits), known), false);
  }
  const other = `0x${'11'.repeat(20)}`;
  for (const values of [
    [known, other],
    [other, known],
  ]) {
    assert.equal(bloomHas(filterOf([1323, 431, 1319]), values), false);
  }
});

test('a filter is useless once more than nine tenths of its bits are set', () => {
  const first = (count: number) => filterOf(Array.from({ length: count }, (_, bit) => bit));
  assert.equal(isSaturated(first(1843)), false);
  assert.equal(isSaturated(first(1844)), true);
  assert.equal(isSaturated(first(2048)), true);
  assert.equal(isSaturated(first(0)), false);
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
