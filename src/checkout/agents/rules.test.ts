import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payment, Requirements } from './contract.ts';
import { describe, judgePayment, timeoutSeconds } from './rules.ts';

const now = new Date('2026-03-01T12:00:00Z');
const nowSeconds = now.getTime() / 1000;
const endsAt = new Date(now.getTime() + 10 * 60_000);
const url = 'https://pay.example.com/9d3f6d2e-8a41-4f1c-a1c5-6f2f0f6f7b10';
const [usdc, wallet, payer] = [`0x${'aB'.repeat(20)}`, `0x${'Cd'.repeat(20)}`, `0x${'Ef'.repeat(20)}`];
const lower = (text: string) => text.toLowerCase() as `0x${string}`;

const offer: Requirements = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '13586957',
  asset: lower(usdc),
  payTo: lower(wallet),
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
};
const offers = [offer, { ...offer, network: 'eip155:10' as const, asset: `0x${'12'.repeat(20)}` as const }];

type Change = {
  accepted?: Partial<Payment['accepted']>;
  authorization?: Partial<Payment['payload']['authorization']>;
  resource?: Payment['resource'];
};
function payment({ accepted, authorization, resource }: Change = {}): Payment {
  return {
    x402Version: 2,
    resource: resource === undefined ? { url } : resource,
    accepted: { ...offer, asset: usdc, payTo: wallet, ...accepted },
    payload: {
      signature: `0x${'1A'.repeat(65)}`,
      authorization: {
        from: payer,
        to: wallet,
        value: offer.amount,
        validAfter: '0',
        validBefore: String(nowSeconds + 300),
        nonce: `0x${'F0'.repeat(32)}`,
        ...authorization,
      },
    },
  };
}
const judge = (change?: Change) => judgePayment(payment(change), offers, { url, now, endsAt });
const codeOf = (change: Change) => {
  const judged = judge(change);
  return judged.kind === 'fault' ? judged.code : judged.kind;
};

test('a payment of exactly what is due, to the wallet, in time → valid in any casing', () => {
  const judged = judge();
  assert.equal(judged.kind, 'valid');
  if (judged.kind !== 'valid') return;
  assert.equal(judged.requirements, offer);
  assert.deepEqual(judged.signed, {
    from: lower(payer),
    to: lower(wallet),
    valueMicro: 13_586_957n,
    validAfter: 0n,
    validBefore: BigInt(nowSeconds + 300),
    nonce: `0x${'f0'.repeat(32)}`,
    signature: `0x${'1a'.repeat(65)}`,
  });
});

test('an x402 payment leaves out fields of the offer → they have the values that were offered', () => {
  for (const change of [
    { resource: null },
    { accepted: { extra: null } },
    { accepted: { extra: {} } },
    { accepted: { extra: { assetTransferMethod: 'eip3009' } } },
    { accepted: { maxTimeoutSeconds: 299 } },
  ] as Change[]) {
    assert.equal(codeOf(change), 'valid', JSON.stringify(change));
  }
});

test('a payment that accepted something else than is offered now → refused', () => {
  const mismatch = 'invalid_payment_requirements';
  for (const [change, code] of [
    [{ accepted: { scheme: 'upto' } }, 'unsupported_scheme'],
    [{ accepted: { network: 'eip155:1' } }, 'invalid_network'],
    [{ accepted: { network: 'base' } }, 'invalid_network'],
    [{ accepted: { network: 'eip155:10' } }, mismatch],
    [{ accepted: { asset: `0x${'12'.repeat(20)}` } }, mismatch],
    [{ accepted: { payTo: payer } }, mismatch],
    [{ accepted: { amount: '13586956' } }, mismatch],
    [{ accepted: { amount: '13586958' } }, mismatch],
    [{ accepted: { extra: { name: 'USDC', version: '2' } } }, mismatch],
    [{ accepted: { extra: { name: 'USD Coin', version: '1' } } }, mismatch],
    [{ accepted: { extra: { assetTransferMethod: 'permit2' } } }, mismatch],
    [{ resource: { url: `${url}0` } }, mismatch],
  ] as [Change, string][]) {
    assert.equal(codeOf(change), code, JSON.stringify(change));
  }
});

test('an authorization of another sum, to another wallet, or from the merchant’s own → refused', () => {
  const [recipient, value] = [
    'invalid_exact_evm_payload_recipient_mismatch',
    'invalid_exact_evm_payload_authorization_value_mismatch',
  ];
  for (const [authorization, code] of [
    [{ to: payer }, recipient],
    [{ from: wallet }, recipient],
    [{ value: '13586956' }, value],
    [{ value: '13586958' }, value],
    [{ value: '9'.repeat(78) }, value],
  ] as [Change['authorization'], string][]) {
    assert.equal(codeOf({ authorization }), code, JSON.stringify(authorization));
  }
});

test('an authorization that is not valid yet, too short to be mined, or longer than the request can be paid → refused', () => {
  const [after, before] = [
    'invalid_exact_evm_payload_authorization_valid_after',
    'invalid_exact_evm_payload_authorization_valid_before',
  ];
  const end = endsAt.getTime() / 1000;
  for (const [authorization, code] of [
    [{ validAfter: String(nowSeconds) }, 'valid'],
    [{ validAfter: String(nowSeconds + 1) }, after],
    [{ validAfter: '9'.repeat(78) }, after],
    [{ validBefore: String(nowSeconds + 10) }, 'valid'],
    [{ validBefore: String(nowSeconds + 9) }, before],
    [{ validBefore: '0' }, before],
    [{ validBefore: String(end) }, 'valid'],
    [{ validBefore: String(end + 1) }, before],
    [{ validBefore: '9'.repeat(78) }, before],
  ] as [Change['authorization'], string][]) {
    assert.equal(codeOf({ authorization }), code, JSON.stringify(authorization));
  }
});

test('the longest validity of an authorization › shrinks with the time left; too little left → null', () => {
  const inSeconds = (seconds: number) => timeoutSeconds(now, new Date(now.getTime() + seconds * 1000));
  assert.equal(inSeconds(3600), 300);
  assert.equal(inSeconds(305), 300);
  assert.equal(inSeconds(304.9), 299);
  assert.equal(inSeconds(60), 55);
  assert.equal(inSeconds(59.9), null);
  assert.equal(inSeconds(-10), null);
});

test('the description in an x402 offer › says who is paid, how much and what for, in a line of at most 200 letters', () => {
  const base = { payee: 'Ada’s Bakery', fiat: '€12.50' };
  assert.equal(describe({ ...base, memo: null }), 'Payment of €12.50 to Ada’s Bakery');
  assert.equal(
    describe({ ...base, memo: ' Two loaves\n and  a cake ' }),
    'Payment of €12.50 to Ada’s Bakery for: Two loaves and a cake',
  );
  const long = describe({ ...base, memo: '🥖'.repeat(500) });
  assert.equal([...long].length, 200);
  assert.ok(long.endsWith('🥖…'));
});
