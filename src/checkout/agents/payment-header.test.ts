import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxHeaderLength, readPaymentHeader } from './payment-header.ts';

const payment = {
  x402Version: 2,
  resource: { url: 'https://pay.example.com/1', description: 'Zahlung für „Brot“', mimeType: 'application/json' },
  accepted: {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: '13586957',
    asset: `0x${'ab'.repeat(20)}`,
    payTo: `0x${'cd'.repeat(20)}`,
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  },
  payload: {
    signature: `0x${'1a'.repeat(65)}`,
    authorization: {
      from: `0x${'ef'.repeat(20)}`,
      to: `0x${'cd'.repeat(20)}`,
      value: '13586957',
      validAfter: '0',
      validBefore: '1772366700',
      nonce: `0x${'f0'.repeat(32)}`,
    },
  },
  extensions: { anything: { info: {} } },
};
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
const faultOf = (header: string) => {
  const read = readPaymentHeader(header);
  return read.kind === 'fault' ? read.code : read.kind;
};

test('an x402 payment header as clients send it → read with all its fields', () => {
  const read = readPaymentHeader(encode(payment));
  assert.deepEqual(read, { kind: 'payment', payment });
});

test('an x402 payment header that is not base64 of one JSON object, or is longer than 8 KiB → refused', () => {
  for (const header of [
    '',
    ' ',
    '{}',
    'a b',
    `${encode(payment)}, ${encode(payment)}`,
    encode('[]'),
    encode('null'),
    encode('{"x402Version":2'),
    encode('{"x402Version":2,"x402Version":2}'),
    encode({ ...payment, extensions: { long: 'x'.repeat(maxHeaderLength) } }),
    Buffer.from([0xff, 0xfe, 0x7b, 0x7d]).toString('base64'),
  ]) {
    assert.equal(faultOf(header), 'invalid_payload', header.slice(0, 100));
  }
});

test('a payment header of another version of x402 → distinguished from a malformed one', () => {
  const { accepted, ...rest } = payment;
  assert.equal(faultOf(encode({ ...rest, x402Version: 1, scheme: 'exact', network: 'base' })), 'invalid_x402_version');
  assert.equal(faultOf(encode({ ...payment, x402Version: '2' })), 'invalid_x402_version');
  assert.equal(faultOf(encode({})), 'invalid_x402_version');
});

test('a payment header with any part of the wrong type or form → refused', () => {
  const { accepted, payload } = payment;
  const { authorization } = payload;
  const broken = [
    { ...payment, accepted: undefined },
    { ...payment, payload: undefined },
    { ...payment, resource: 'https://pay.example.com/1' },
    { ...payment, accepted: { ...accepted, amount: 13586957 } },
    { ...payment, accepted: { ...accepted, amount: '0x10' } },
    { ...payment, accepted: { ...accepted, maxTimeoutSeconds: 0 } },
    { ...payment, accepted: { ...accepted, extra: { name: 1 } } },
    { ...payment, payload: { ...payload, signature: '0x123' } },
    { ...payment, payload: { ...payload, signature: 27 } },
    ...(
      [
        { from: 'ada.eth' },
        { to: `0x${'cd'.repeat(19)}` },
        { value: '-1' },
        { value: '1.5' },
        { value: '01' },
        { value: '1'.repeat(79) },
        { validAfter: null },
        { validBefore: 1772366700 },
        { nonce: '0x01' },
        { nonce: undefined },
      ] as object[]
    ).map((change) => ({ ...payment, payload: { ...payload, authorization: { ...authorization, ...change } } })),
  ];
  for (const one of broken) assert.equal(faultOf(encode(one)), 'invalid_payload', JSON.stringify(one));
});

test('an authorization with a field of the wrong form → the sentence says the form in words, not as a pattern', () => {
  const said = (field: object) => {
    const authorization = { ...payment.payload.authorization, ...field };
    const read = readPaymentHeader(encode({ ...payment, payload: { ...payment.payload, authorization } }));
    return read.kind === 'fault' ? read.what : read.kind;
  };
  const start = 'The payment is malformed: payload.authorization';
  assert.equal(said({ from: 'ada.eth' }), `${start}.from must be 0x and 40 hexadecimal digits.`);
  assert.equal(said({ nonce: '7' }), `${start}.nonce must be 0x and 64 hexadecimal digits.`);
  for (const value of ['0x10', '010', '1.5'])
    assert.equal(said({ value }), `${start}.value must be a whole number in decimal digits, without leading zeros.`);
});
