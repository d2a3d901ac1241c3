import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FinalityTier } from '../config/chains.ts';
import { finalNumber, isFinal, lacksTag, usesTag } from './finality.ts';

const byDepth: FinalityTier[] = [
  { upToUsdcMicro: 1_000_000_000n, confirmations: 2 },
  { upToUsdcMicro: null, confirmations: 4 },
];
const byTag: FinalityTier[] = [
  { upToUsdcMicro: 500n, tag: 'safe' },
  { upToUsdcMicro: null, tag: 'finalized' },
];

test('finality by confirmations › the block itself is the first; a larger amount needs the stricter tier', () => {
  const heads = (latest: number) => ({ latest, safe: null, finalized: null });
  assert.equal(isFinal(10, 1_000_000_000n, byDepth, heads(10)), false);
  assert.equal(isFinal(10, 1_000_000_000n, byDepth, heads(11)), true);
  assert.equal(isFinal(10, 1_000_000_001n, byDepth, heads(12)), false);
  assert.equal(isFinal(10, 1_000_000_001n, byDepth, heads(13)), true);
  assert.equal(isFinal(10, 1n, [{ upToUsdcMicro: null, confirmations: 1 }], heads(10)), true);
});

test('finality by a tag › final up to the tagged block, never beyond what was read; a tag that is not known → nothing is final', () => {
  assert.equal(isFinal(10, 500n, byTag, { latest: 20, safe: 10, finalized: 5 }), true);
  assert.equal(isFinal(10, 501n, byTag, { latest: 20, safe: 10, finalized: 5 }), false);
  assert.equal(isFinal(10, 1n, byTag, { latest: 9, safe: 30, finalized: 30 }), false);
  assert.equal(isFinal(0, 1n, byTag, { latest: 9, safe: null, finalized: null }), false);
});

test('a tag is asked for where a tier uses it, and lacking where its block is not known', () => {
  const safeOnly: FinalityTier[] = [{ upToUsdcMicro: null, tag: 'safe' }];
  assert.deepEqual([usesTag(byTag, 'safe'), usesTag(byTag, 'finalized')], [true, true]);
  assert.deepEqual([usesTag(safeOnly, 'safe'), usesTag(safeOnly, 'finalized')], [true, false]);
  assert.deepEqual([usesTag(byDepth, 'safe'), usesTag(byDepth, 'finalized')], [false, false]);
  const heads = { latest: 20, safe: 10, finalized: null };
  assert.deepEqual([lacksTag(byTag, heads), lacksTag(safeOnly, heads), lacksTag(byDepth, heads)], [true, false, false]);
});

test('blocks up to finalNumber are final for every amount, and the next block is not final for some', () => {
  const number = fc.integer({ min: 0, max: 60 });
  const amount = fc.bigInt({ min: 1n, max: 2_000_000_000n });
  fc.assert(
    fc.property(
      fc.constantFrom(byDepth, byTag),
      number,
      number,
      number,
      amount,
      (tiers, latest, safe, finalized, micro) => {
        const heads = { latest, safe, finalized };
        const final = finalNumber(tiers, heads);
        for (let block = 0; block <= final; block++) assert.ok(isFinal(block, micro, tiers, heads));
        assert.ok([1n, 10n ** 12n].some((some) => !isFinal(final + 1, some, tiers, heads)));
      },
    ),
  );
});
