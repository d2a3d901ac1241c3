import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refundObstacle } from './obstacle.ts';

const [payer, wallet, nobody] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`, `0x${'00'.repeat(20)}`];
const row = { from_address: payer, to_address: wallet, reason: 'late' as const };

test('a transfer of somebody to the wallet → nothing prevents its refund, bound or not', () => {
  assert.equal(refundObstacle(row), null);
  assert.equal(refundObstacle({ ...row, reason: null }), null);
});

test('an unknown token, or the wallet to itself → no payment; a mint → no sender', () => {
  assert.equal(refundObstacle({ ...row, reason: 'wrong_token' }), 'no_payment');
  assert.equal(refundObstacle({ ...row, from_address: wallet, reason: 'self_transfer' }), 'no_payment');
  assert.equal(refundObstacle({ ...row, from_address: nobody }), 'no_sender');
  assert.equal(refundObstacle({ ...row, from_address: nobody, reason: 'wrong_token' }), 'no_payment');
});
