import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limitsOf, type RelayerLimits } from '../../config/chains.ts';
import { exceedsFeeLimit, firstOffer, raisedOffer } from './fees.ts';

const gwei = 10n ** 9n;
const upTo = (most: bigint) => fc.bigInt({ min: 1n, max: most });
const asked = fc.record({ baseFeeWei: upTo(2_000n * gwei), priorityFeeWei: upTo(10_000n * gwei) });
const limited = upTo(1_000n * gwei).map((maxFeeWei): RelayerLimits => ({ ...limitsOf({}), maxFeeWei: maxFeeWei + 5n }));

test('the first offer → never above the limit, and at most a fifth of that beyond the base fee', () => {
  fc.assert(
    fc.property(asked, limited, (now, limits) => {
      fc.pre(!exceedsFeeLimit(now, limits));
      const offer = firstOffer(now, limits);
      assert.ok(offer.maxFeeWei <= limits.maxFeeWei);
      assert.ok(offer.maxFeeWei > now.baseFeeWei, 'it can be mined');
      assert.ok(offer.priorityFeeWei <= limits.maxFeeWei / 5n);
      assert.ok(offer.priorityFeeWei <= offer.maxFeeWei);
    }),
  );
});

test('each further offer → both fees an eighth higher at least, never above the limit; they end', () => {
  fc.assert(
    fc.property(asked, fc.array(asked, { minLength: 400, maxLength: 400 }), limited, (now, later, limits) => {
      fc.pre(!exceedsFeeLimit(now, limits));
      let last = firstOffer(now, limits);
      for (const next of later) {
        const offer = raisedOffer(last, next, limits);
        if (!offer) return;
        assert.ok(offer.maxFeeWei <= limits.maxFeeWei && offer.priorityFeeWei <= offer.maxFeeWei);
        assert.ok(8n * offer.maxFeeWei >= 9n * last.maxFeeWei && 8n * offer.priorityFeeWei >= 9n * last.priorityFeeWei);
        last = offer;
      }
      assert.fail('400 offers, and room for more');
    }),
    { numRuns: 50 },
  );
});
