import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayMs, hourMs } from '../../lib/durations.ts';
import {
  type ChargeFacts,
  collectMinutes,
  coverage,
  isAllowed,
  isNewPermit,
  judge,
  nextAttempt,
  shortage,
  type Terms,
} from './rules.ts';

const wallet = `0x${'a1'.repeat(20)}`;
const now = new Date('2027-03-31T00:00:00.000Z');
const terms: Terms = {
  payee: wallet,
  capMicro: 12_009_999n,
  capFiatInt: 1200n,
  fiatCode: 'USD',
  startsAt: new Date('2027-01-31T00:00:00.000Z'),
  endsAt: new Date('2028-01-31T00:00:00.000Z'),
};
const price = { walletAddress: wallet, usdcMicro: 12_000_000n, fiatInt: 1200n, fiatCode: 'USD' };
const known = (change: Partial<ChargeFacts> = {}): ChargeFacts => ({
  price,
  status: 'requested',
  proofStatus: 'none',
  countedMicro: 0n,
  paymentSeen: false,
  terms,
  offered: true,
  allowed: true,
  canRelay: true,
  merchantDisabled: false,
  partnerDisabled: false,
  ...change,
});

test('A charge is tried again on days 1, 3, 5 and 7 after its first failure, and then no more', () => {
  let [at, attempts] = [now, 1];
  const days: number[] = [];
  for (let next = nextAttempt(attempts, now, at); next; next = nextAttempt(++attempts, now, at)) {
    days.push((next.getTime() - now.getTime()) / dayMs);
    at = next;
  }
  assert.deepEqual(days, [1, 3, 5, 7]);
  assert.equal(attempts, 5);
});

test('After an outage or a jump of the clock, the attempts that are left do not come all at once', () => {
  const late = new Date(now.getTime() + 30 * dayMs);
  for (const attempts of [1, 2, 3, 4]) {
    assert.equal(nextAttempt(attempts, now, late)?.getTime(), late.getTime() + 20 * hourMs);
  }
  assert.equal(nextAttempt(5, now, late), null);
});

test('A charge collects what is missing: the whole amount, or the rest after a partial payment', () => {
  assert.deepEqual(judge(known(), now), { kind: 'charge', amountMicro: 12_000_000n });
  assert.deepEqual(judge(known({ countedMicro: 5_000_000n }), now), { kind: 'charge', amountMicro: 7_000_000n });
  assert.deepEqual(judge(known({ countedMicro: 11_999_999n }), now), { kind: 'charge', amountMicro: 1n });
});

test('The request of a charge can be paid for 30 days, beyond the last attempt', () => {
  assert.equal(collectMinutes * 60_000, 30 * dayMs);
});

test('A charge that the customer did not allow fails, however much the token lets through', () => {
  assert.deepEqual(judge(known({ allowed: false }), now), { kind: 'fail', reason: 'allowance_low' });
  assert.deepEqual(judge(known({ allowed: false, canRelay: false }), now), {
    kind: 'delay',
    reason: 'relayer_unready',
    until: null,
  });
});

test('A mandate allows the charges that its customer signed for, or any number', () => {
  assert.equal(isAllowed({ allowed_charges: 12, charged: 11 }), true);
  assert.equal(isAllowed({ allowed_charges: 12, charged: 12 }), false);
  assert.equal(isAllowed({ allowed_charges: 12, charged: 13 }), false);
  assert.equal(isAllowed({ allowed_charges: null, charged: 1_000 }), true);
});

test('A permit is new as long as every charge was taken before it was signed', () => {
  const before = new Date(now.getTime() - 1);
  assert.equal(isNewPermit(null, now), true);
  assert.equal(isNewPermit(before, now), true);
  assert.equal(isNewPermit(now, now), false);
  assert.equal(isNewPermit(now, before), false);
});

test('A manual payment, or one that is on its way, holds the charge back', () => {
  assert.deepEqual(judge(known({ proofStatus: 'verified' }), now), { kind: 'paid' });
  const held = { kind: 'delay', reason: 'payment_seen', until: null };
  assert.deepEqual(judge(known({ proofStatus: 'attached' }), now), held);
  assert.deepEqual(judge(known({ paymentSeen: true }), now), held);
  assert.deepEqual(judge(known({ paymentSeen: true, status: 'expired' }), now), held);
  assert.deepEqual(judge(known({ countedMicro: 12_000_000n }), now), held);
  assert.deepEqual(judge(known({ countedMicro: 13_000_000n }), now), held);
});

test('A request that was cancelled or has expired is charged no more', () => {
  assert.deepEqual(judge(known({ status: 'voided' }), now), { kind: 'stop', reason: 'request_cancelled' });
  assert.deepEqual(judge(known({ status: 'expired' }), now), { kind: 'stop', reason: 'request_expired' });
});

test('A disabled merchant or partner, a relayer that cannot send and a mandate before its start put a charge off', () => {
  assert.deepEqual(judge(known({ merchantDisabled: true }), now), {
    kind: 'delay',
    reason: 'merchant_disabled',
    until: null,
  });
  assert.deepEqual(judge(known({ partnerDisabled: true, merchantDisabled: true }), now), {
    kind: 'delay',
    reason: 'partner_disabled',
    until: null,
  });
  assert.deepEqual(judge(known({ canRelay: false }), now), { kind: 'delay', reason: 'relayer_unready', until: null });
  const startsAt = new Date(now.getTime() + 1);
  assert.deepEqual(judge(known({ terms: { ...terms, startsAt } }), now), {
    kind: 'delay',
    reason: 'not_started',
    until: startsAt,
  });
  assert.equal(judge(known({ terms: { ...terms, startsAt: now } }), now).kind, 'charge');
});

test('A mandate that does not cover the price is not used: the customer is asked', () => {
  const asked = (change: Partial<ChargeFacts>) => {
    const verdict = judge(known(change), now);
    return verdict.kind === 'ask' ? verdict.reason : verdict;
  };
  assert.equal(asked({ terms: null }), 'no_mandate');
  assert.equal(asked({ price: { ...price, walletAddress: `0x${'b2'.repeat(20)}` } }), 'wallet_changed');
  assert.equal(asked({ price: { ...price, fiatCode: 'EUR' } }), 'currency_changed');
  assert.equal(asked({ price: { ...price, usdcMicro: 12_010_000n } }), 'above_cap');
  assert.equal(asked({ price: { ...price, fiatInt: 1201n } }), 'above_cap');
  assert.equal(asked({ terms: { ...terms, endsAt: now } }), 'expired');
  assert.equal(asked({ offered: false }), 'chain_gone');
  assert.equal(coverage(terms, { ...price, usdcMicro: terms.capMicro }, true, now), null, 'the cap itself is covered');
});

test('For any state of request and mandate, a charge is exactly what is missing, and never above the cap', () => {
  const micro = fc.bigInt({ min: 0n, max: 20_000_000n });
  fc.assert(
    fc.property(
      micro,
      micro,
      micro,
      fc.constantFrom('none', 'attached', 'verified'),
      fc.constantFrom('requested', 'opened', 'expired', 'voided'),
      (usdcMicro, countedMicro, capMicro, proofStatus, status) => {
        const verdict = judge(
          known({
            price: { ...price, usdcMicro },
            countedMicro,
            terms: { ...terms, capMicro },
            proofStatus: proofStatus as ChargeFacts['proofStatus'],
            status: status as ChargeFacts['status'],
          }),
          now,
        );
        if (verdict.kind !== 'charge') return;
        assert.equal(proofStatus, 'none');
        assert.ok(status === 'requested' || status === 'opened');
        assert.equal(verdict.amountMicro + countedMicro, usdcMicro);
        assert.ok(verdict.amountMicro > 0n && verdict.amountMicro <= capMicro);
      },
    ),
  );
});

test('A wallet lacks balance or allowance for a charge; an unused permit makes up for an allowance, and nothing for a balance', () => {
  assert.equal(shortage({ balance: 10n, allowance: 10n }, 10n, null), null);
  assert.equal(shortage({ balance: 10n, allowance: 9n }, 10n, null), 'allowance_low');
  assert.equal(shortage({ balance: 10n, allowance: 0n }, 10n, 9n), 'allowance_low');
  assert.equal(shortage({ balance: 10n, allowance: 0n }, 10n, 10n), null);
  assert.equal(shortage({ balance: 10n, allowance: 5n }, 10n, 5n), 'allowance_low', 'a permit replaces the allowance');
  assert.equal(shortage({ balance: 9n, allowance: 99n }, 10n, 99n), 'balance_low');
  assert.equal(shortage({ balance: 9n, allowance: 0n }, 10n, null), 'balance_low');
});
