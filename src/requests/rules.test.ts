import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs } from '../lib/durations.ts';
import {
  type CreateFields,
  effectiveStatus,
  isIdempotencyKey,
  judgeCreate,
  type MerchantFacts,
  type PartnerTerms,
} from './rules.ts';

const now = new Date('2026-03-01T12:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);

test('effectiveStatus › expired from the very moment of its expiry; never once it is attached, verified or cancelled', () => {
  const of = (status: string, proof_status: string, ms: number) =>
    effectiveStatus({ status, proof_status, expires_at: later(ms) }, now);
  assert.deepEqual([of('requested', 'none', 1), of('requested', 'none', 0)], ['requested', 'expired']);
  assert.deepEqual([of('opened', 'none', 1), of('opened', 'none', 0)], ['opened', 'expired']);
  for (const proof of ['attached', 'verified']) assert.equal(of('opened', proof, -minuteMs), 'opened');
  assert.equal(of('voided', 'none', -minuteMs), 'voided');
});

test('isIdempotencyKey › 32 to 64 characters of base64url', () => {
  const isKey = (length: number) => isIdempotencyKey('a'.repeat(length));
  assert.deepEqual([31, 32, 64, 65].map(isKey), [false, true, true, false]);
  assert.equal(isIdempotencyKey('a-_Z9'.repeat(8)), true);
  for (const sign of ['+', '/', '=', ' ', 'é']) assert.equal(isIdempotencyKey('a'.repeat(32) + sign), false, sign);
  assert.equal(isIdempotencyKey(12345678901234567890123456789012n), false);
});

const merchant: NonNullable<MerchantFacts> = {
  ...{ test_mode: true, onboarded: true, disabled: false, currency: 'EUR' },
  ...{ wallet: '0xwallet', wallet_chain_ids: null },
};
const partner: PartnerTerms = {
  ...{ testMode: true, chainIds: [1, 8453] },
  ...{ allowedExpiryMinutes: [5, 15], defaultExpiryMinutes: 15 },
};
const fields: CreateFields = { account_id: '', fiat_amount_int: 1250 };

test('judgeCreate › of several reasons to refuse, the first in the order that clients rely on', () => {
  const codeOf = (change: Partial<typeof merchant> | null, more: Partial<CreateFields> = {}) => {
    try {
      return judgeCreate({ ...fields, ...more }, change && { ...merchant, ...change }, partner).wallet;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const all = { test_mode: false, onboarded: false, disabled: true, currency: 'JPY' };
  const wrong = { fiat_currency_code: 'EUR', expiry_minutes: 60 };
  assert.deepEqual(
    [
      codeOf(null, wrong),
      codeOf(all, wrong),
      codeOf({ ...all, test_mode: true }, wrong),
      codeOf({ wallet: null, disabled: true }, wrong),
      codeOf({ wallet_chain_ids: [137], disabled: true }, wrong),
      codeOf({ disabled: true, currency: 'JPY' }, wrong),
      codeOf({ currency: 'JPY' }, wrong),
      codeOf({}, wrong),
      codeOf({ wallet_chain_ids: [137, 8453] }),
    ],
    [
      'not_found',
      'merchant_mode_mismatch',
      'merchant_onboarding_incomplete',
      'merchant_onboarding_incomplete',
      'merchant_onboarding_incomplete',
      'merchant_disabled',
      'currency_mismatch',
      'expiry_not_allowed',
      '0xwallet',
    ],
  );
});

test('judgeCreate › seven days are allowed for an invoice alone, and are its default', () => {
  const minutesOf = (more: Partial<CreateFields>) =>
    judgeCreate({ ...fields, ...more }, merchant, partner).expiryMinutes;
  assert.deepEqual([minutesOf({}), minutesOf({ payment_mode: 'invoice' })], [15, 10_080]);
  assert.equal(minutesOf({ payment_mode: 'invoice', expiry_minutes: 10_080 }), 10_080);
  assert.throws(() => minutesOf({ payment_mode: 'pos', expiry_minutes: 10_080 }), { code: 'expiry_not_allowed' });
});
