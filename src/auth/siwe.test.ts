import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testConfig } from '../../test/support/app.ts';
import { type AskedWallet, makeWalletMessage, readWalletMessage, type WalletRequest } from './siwe.ts';

let offsetMs = 0;
const ctx = { config: testConfig(), clock: { now: () => new Date(Date.parse('2026-11-27T12:00:00Z') + offsetMs) } };
const request: WalletRequest = { path: '/onboard', statement: 'I receive payments at this wallet.' };
const wallet: AskedWallet = { address: `0x${'ab'.repeat(20)}`, chainId: 137, host: null };
const made = makeWalletMessage(ctx, request, wallet);
const read = (message: string, asked = request) => readWalletMessage(ctx, asked, { message, host: null });

test('a wallet’s message, with the line breaks of a form → the wallet, the chain and the nonce that it names', () => {
  for (const message of [made, made.replaceAll('\n', '\r\n')]) {
    const signed = read(message);
    assert.ok(typeof signed === 'object');
    assert.deepEqual([signed.address, signed.chainId, signed.nonce.length], [wallet.address, 137, 56]);
  }
});

test('a message with another purpose, or with any part changed or unreadable → refused, and never an error', () => {
  assert.equal(read(made, { ...request, statement: 'I object.' }), 'message_changed');
  assert.equal(read(made, { ...request, path: '/veto' }), 'message_changed');
  const nonce = /Nonce: (.*)/.exec(made)?.[1] ?? '';
  const changes: [RegExp, string][] = [
    [/0x[0-9a-fA-F]{40}/, `0x${'zz'.repeat(20)}`],
    [/0x[0-9a-fA-F]{40}/, `0x${'cd'.repeat(20)}`],
    [/Chain ID: 137/, 'Chain ID: 0'],
    [/Chain ID: 137/, 'Chain ID: 1'],
    [/Chain ID: 137/, `Chain ID: ${'9'.repeat(30)}`],
    [/Chain ID: 137/, `Chain ID: ${'9'.repeat(400)}`],
    [/Expiration Time: .*/, 'Expiration Time: 2026-99-99T12:15:00.000Z'],
    [/Expiration Time: .*/, 'Expiration Time: 2026-11-27T12:16:00.000Z'],
    [/\nExpiration Time: .*/, ''],
    [/Nonce: .*/, 'Nonce: 12345678'],
    [/Nonce: .{2}/, 'Nonce: zz'],
    [/Nonce: .*/, `Nonce: ${'0'.repeat(56)}`],
    [/\nNonce: .*/, ''],
    // The same bytes, so it would be another nonce with a valid proof.
    [/Nonce: .*/, `Nonce: ${nonce.slice(0, 24)}${nonce.slice(24).toUpperCase()}`],
    [/Nonce: .*/, `Nonce: ${nonce}0`],
    [/URI: .*/, 'URI: no address'],
    [/Version: 1/, 'Version: 2'],
    [/$/, '\nResources:\n- https://example.com'],
  ];
  for (const [from, to] of changes) {
    const changed = made.replace(from, to);
    assert.notEqual(changed, made, String(from));
    assert.equal(read(changed), 'message_changed', to);
  }
  assert.equal(read(''), 'message_changed');
  assert.equal(read(made.padEnd(3_000, ' ')), 'message_changed');
});

test('a message of which the 15 minutes are over → used', () => {
  offsetMs = 15 * 60_000;
  assert.equal(read(made), 'message_used');
  offsetMs -= 1;
  assert.equal(typeof read(made), 'object');
  offsetMs = 0;
});
