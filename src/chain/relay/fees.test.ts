import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limitsOf, type RelayerLimits } from '../../config/chains.ts';
import { agreedPrice, exceedsFeeLimit, firstOffer, priorityFee, raisedOffer } from './fees.ts';

const gwei = 10n ** 9n;
const upTo = (most: bigint) => fc.bigInt({ min: 1n, max: most });
const asked = fc.record({ baseFeeWei: upTo(2_000n * gwei), priorityFeeWei: upTo(10_000n * gwei) });
const limited = upTo(1_000n * gwei).map((maxFeeWei): RelayerLimits => ({ ...limitsOf({}), maxFeeWei: maxFeeWei + 5n }));

const limits: RelayerLimits = { ...limitsOf({}), maxFeeWei: 100n };

test('the priority fee → the middle of recent blocks, or the advice if that is more, and never nothing', () => {
  assert.equal(priorityFee([9n, 2n, 30n], []), 9n);
  assert.equal(priorityFee([10n, 9n, 100n], [5n]), 10n);
  assert.equal(priorityFee([9n, 2n, 30n], [12n]), 12n);
  assert.equal(priorityFee([9n, 2n, 30n], [12n, 1n, 90n]), 12n);
  assert.equal(priorityFee([], [12n]), 12n);
  assert.equal(priorityFee([], []), 1n);
  assert.equal(priorityFee([0n, 0n, 0n], [0n]), 1n);
});

test('the price of several endpoints → the middle of those that may be paid, so one alone neither stops nor starves a call', () => {
  const prices = (...wei: bigint[]) => wei.map((baseFeeWei) => ({ baseFeeWei, priorityFeeWei: baseFeeWei }));
  const base = (...wei: bigint[]) => agreedPrice(prices(...wei), limits).baseFeeWei;
  assert.equal(base(30n), 30n);
  assert.equal(base(30n, 100n), 30n, 'one claims more than may be paid');
  assert.equal(base(10n ** 30n, 30n, 31n), 31n);
  assert.equal(base(0n, 30n), 30n, 'one claims nothing');
  assert.equal(base(30n, 99n, 31n), 31n);
  assert.equal(base(101n, 100n), 100n, 'all claim more than may be paid');
  assert.equal(exceedsFeeLimit(agreedPrice(prices(101n, 100n), limits), limits), true);
  assert.equal(agreedPrice(prices(1n, 7n, 90n), limits).priorityFeeWei, 7n);
});

test('the first offer → twice the base fee and the priority fee', () => {
  assert.deepEqual(firstOffer({ baseFeeWei: 30n, priorityFeeWei: 7n }, limits), { maxFeeWei: 67n, priorityFeeWei: 7n });
  assert.deepEqual(firstOffer({ baseFeeWei: 30n, priorityFeeWei: 90n }, limits), {
    maxFeeWei: 80n,
    priorityFeeWei: 20n,
  });
});

test('a further offer → up to the limit, and none beyond it', () => {
  const calm = { baseFeeWei: 1n, priorityFeeWei: 1n };
  const last = { maxFeeWei: 88n, priorityFeeWei: 8n };
  assert.deepEqual(raisedOffer(last, calm, limits), { maxFeeWei: 100n, priorityFeeWei: 10n });
  assert.equal(raisedOffer({ ...last, maxFeeWei: 89n }, calm, limits), null);
});

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
