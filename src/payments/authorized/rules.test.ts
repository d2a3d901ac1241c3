import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeErrorResult, parseAbi } from 'viem';
import { authorizationCall, authorizationTypedData } from './authorization.ts';
import { hasFailed } from './progress.ts';
import { faultOf, readTokenRefusal, validUntil } from './rules.ts';
import type { AuthorizationRow } from './store.ts';

const now = new Date('2026-03-01T12:00:00.400Z');
const nowSeconds = BigInt(Math.floor(now.getTime() / 1000));
const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
const [ada, shop] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`] as const;

test('an authorization holds for twenty minutes at most, and never longer than its request', () => {
  assert.deepEqual(validUntil(inMinutes(60), now), new Date('2026-03-01T12:20:00Z'));
  assert.deepEqual(validUntil(inMinutes(5), now), new Date('2026-03-01T12:05:00Z'));
  assert.equal(validUntil(inMinutes(0.9), now), null);
  assert.equal(validUntil(inMinutes(-5), now), null);
});

test('an authorization to another wallet, from the zero address or the wallet itself, or not valid in time → a fault', () => {
  const terms = { walletAddress: shop, expiresAt: inMinutes(15), now };
  const signed = {
    ...{ from: ada, to: shop, valueMicro: 5n, validAfter: 0n, validBefore: nowSeconds + 60n },
    nonce: `0x${'01'.repeat(32)}`,
  } as const;
  assert.equal(faultOf(signed, terms), null);
  assert.equal(faultOf({ ...signed, validBefore: nowSeconds + 901n }, terms), null, 'the second in which it ends');
  for (const change of [{ to: ada }, { from: shop }, { from: `0x${'0'.repeat(40)}` as const }]) {
    assert.equal(faultOf({ ...signed, ...change }, terms), 'recipient');
  }
  for (const change of [
    { validBefore: nowSeconds + 10n },
    { validBefore: nowSeconds + 902n },
    { validBefore: 2n ** 256n - 1n },
    { validAfter: nowSeconds + 1n },
  ]) {
    assert.equal(faultOf({ ...signed, ...change }, terms), 'times');
  }
});

test('the reason of a token’s revert is recognised by its meaning', () => {
  const abi = parseAbi(['error Error(string)', 'error ERC20InsufficientBalance(address, uint256, uint256)']);
  const said = (text: string) => encodeErrorResult({ abi, errorName: 'Error', args: [text] });
  for (const [text, kind] of [
    ['FiatTokenV2: authorization is used or canceled', 'used'],
    ['FiatTokenV2: invalid signature', 'signature'],
    ['ECRecover: invalid signature', 'signature'],
    ['ERC20: transfer amount exceeds balance', 'balance'],
    ['FiatTokenV2: authorization is expired', 'times'],
    ['FiatTokenV2: authorization is not yet valid', 'times'],
    ['Pausable: paused', 'other'],
    ['Blacklistable: account is blacklisted', 'other'],
  ] as const) {
    assert.equal(readTokenRefusal(said(text)), kind);
  }
  const short = encodeErrorResult({ abi, errorName: 'ERC20InsufficientBalance', args: [ada, 1n, 2n] });
  assert.equal(readTokenRefusal(short), 'balance');
  assert.equal(readTokenRefusal('0x'), 'other');
  assert.equal(readTokenRefusal('0x08c379a0ff'), 'other');
});

test('a key’s signature goes to the call that takes v, r and s; v from 0 is counted from 27', () => {
  const terms = {
    ...{ from: ada, to: shop, valueMicro: 5n, validAfter: 0n, validBefore: nowSeconds },
    nonce: `0x${'01'.repeat(32)}`,
  } as const;
  const [byKey, byContract] = ['0xe3ee160e', '0xcf092995'];
  const key = `0x${'11'.repeat(32)}${'22'.repeat(32)}` as const;
  assert.ok(authorizationCall({ ...terms, signature: `${key}1c` }).startsWith(byKey));
  assert.equal(
    authorizationCall({ ...terms, signature: `${key}01` }),
    authorizationCall({ ...terms, signature: `${key}1c` }),
  );
  assert.ok(authorizationCall({ ...terms, signature: `${key}1c00` }).startsWith(byContract));
  assert.ok(authorizationCall({ ...terms, signature: '0x' }).startsWith(byContract));
});

test('an authorization → signed under the token’s own domain', () => {
  const terms = {
    ...{ from: ada, to: shop, valueMicro: 5n, validAfter: 0n, validBefore: nowSeconds },
    nonce: `0x${'01'.repeat(32)}`,
  } as const;
  const domain = { name: 'Euro Coin', version: '7' };
  assert.deepEqual(authorizationTypedData({ chainId: 8453, address: shop, domain }, terms).domain, {
    ...{ name: 'Euro Coin', version: '7', chainId: 8453, verifyingContract: shop },
  });
});

test('a call that failed in its block, or is not mined in time, executes nothing any more', () => {
  const [valid_before, read_until] = [inMinutes(10), inMinutes(11)];
  const row = { relay_state: 'sent', succeeded: null, valid_before, read_until } as AuthorizationRow;
  assert.equal(hasFailed(row, now), false);
  assert.equal(hasFailed({ ...row, relay_state: 'mined', succeeded: true }, now), false);
  assert.equal(hasFailed({ ...row, relay_state: 'mined', succeeded: false }, now), true);
  assert.equal(hasFailed({ ...row, relay_state: 'reverted', succeeded: false }, now), true);
  assert.equal(hasFailed({ ...row, relay_state: 'lost' }, now), true);
  assert.equal(hasFailed(row, inMinutes(11)), false, 'its block may be read late');
  assert.equal(hasFailed(row, inMinutes(13)), true);
  assert.equal(hasFailed({ ...row, read_until: inMinutes(9) }, inMinutes(13)), false, 'its block may not be read yet');
  assert.equal(hasFailed({ ...row, relay_state: 'allotted', read_until: inMinutes(9) }, inMinutes(13)), true);
  for (const relay_state of ['mined', 'final'] as const)
    assert.equal(hasFailed({ ...row, relay_state, succeeded: true }, inMinutes(13)), false);
});
