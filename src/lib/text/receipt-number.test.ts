import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { parseReceiptNumber, receiptNumber } from './receipt-number.ts';

const id = '5f0c1a52-9a41-4d0e-8c57-2f6f6f1f9a10';
const paidAt = new Date('2026-11-21T23:59:59.999Z');

test('receiptNumber › is for ever the same for a request and its day in UTC, whatever the case of the id', () => {
  const number = receiptNumber(id, paidAt);
  assert.equal(number, 'Q-20261121-A8BEPY60C6');
  assert.equal(receiptNumber(id.toUpperCase(), new Date('2026-11-21T00:00:00Z')), number);
  assert.match(receiptNumber(id, new Date('2026-11-22T00:00:00Z')), /^Q-20261122-/);
});

test('receiptNumber › has no letter that is misread, and nothing of the id', () => {
  for (let i = 0; i < 1000; i++) {
    const random = randomUUID();
    const number = receiptNumber(random, paidAt);
    assert.match(number, /^Q-20261121-[0-9A-HJKMNP-TV-Z]{10}$/);
    assert.ok(!random.replaceAll('-', '').includes(number.slice(-10).toLowerCase()));
  }
});

test('receiptNumber › 100,000 requests of one day have 100,000 numbers', () => {
  const numbers = new Set<string>();
  for (let i = 0; i < 100_000; i++) numbers.add(receiptNumber(randomUUID(), paidAt));
  assert.equal(numbers.size, 100_000);
});

test('parseReceiptNumber › reads a number as it was heard, and nothing else', () => {
  const number = receiptNumber(id, paidAt);
  const day = new Date('2026-11-21T00:00:00Z');
  for (const text of [number, ` ${number.toLowerCase()} `, number.replaceAll('-', '')]) {
    assert.deepEqual(parseReceiptNumber(text), { number, day }, text);
  }
  assert.equal(parseReceiptNumber('q20261121oil0123456')?.number, 'Q-20261121-0110123456');
  const days = ['Q-20261321-A8BEPY60C6', 'Q-20260230-A8BEPY60C6', 'Q-00000101-A8BEPY60C6'];
  for (const text of ['', 'Q-20261121', ...days, `${number}7`, `x${number}`]) {
    assert.equal(parseReceiptNumber(text), null, text);
  }
});
