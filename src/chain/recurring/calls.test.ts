import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeErrorResult, type Hex, parseAbi } from 'viem';
import { readRevert, referenceWord } from './calls.ts';
import { recurringAbi } from './contract.ts';

const tokens = parseAbi([
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error EnforcedPause()',
]);
const address: Hex = `0x${'12'.repeat(20)}`;
const text = (reason: string) => encodeErrorResult({ abi: tokens, errorName: 'Error', args: [reason] });
const word: Hex = `0x${'34'.repeat(32)}`;
const ours = (errorName: 'NotStarted' | 'Ended' | 'MandateRevoked' | 'ReferenceUsed', arg: bigint | Hex) =>
  encodeErrorResult({ abi: recurringAbi, errorName, args: [arg] } as Parameters<typeof encodeErrorResult>[0]);
const kinds: [what: string, data: Hex, kind: string][] = [
  ['Circle’s balance', text('ERC20: transfer amount exceeds balance'), 'balance'],
  ['Circle’s allowance', text('ERC20: transfer amount exceeds allowance'), 'allowance'],
  ['Circle’s pause', text('Pausable: paused'), 'paused'],
  ['Circle’s block list', text('Blacklistable: account is blacklisted'), 'blacklisted'],
  ['any other text', text('no'), 'unknown'],
  [
    'ERC-6093’s balance',
    encodeErrorResult({ abi: tokens, errorName: 'ERC20InsufficientBalance', args: [address, 1n, 2n] }),
    'balance',
  ],
  [
    'ERC-6093’s allowance',
    encodeErrorResult({ abi: tokens, errorName: 'ERC20InsufficientAllowance', args: [address, 1n, 2n] }),
    'allowance',
  ],
  ['OpenZeppelin’s pause', encodeErrorResult({ abi: tokens, errorName: 'EnforcedPause' }), 'paused'],
  ['a panic', encodeErrorResult({ abi: tokens, errorName: 'Panic', args: [17n] }), 'unknown'],
  [
    'a token that answers no',
    encodeErrorResult({ abi: recurringAbi, errorName: 'SafeERC20FailedOperation', args: [address] }),
    'unknown',
  ],
  ['a mandate that has not started', ours('NotStarted', 1_800_000_000n), 'not_started'],
  ['a mandate that has ended', ours('Ended', 1_800_000_000n), 'ended'],
  ['a mandate that was revoked', ours('MandateRevoked', word), 'revoked'],
  ['a reference that was charged', ours('ReferenceUsed', word), 'reference_used'],
  [
    'an amount above the cap',
    encodeErrorResult({ abi: recurringAbi, errorName: 'AmountOutOfRange', args: [2n, 1n] }),
    'amount',
  ],
  [
    'another’s signature',
    encodeErrorResult({ abi: recurringAbi, errorName: 'InvalidSignature', args: [address] }),
    'signature',
  ],
  ['another executor', encodeErrorResult({ abi: recurringAbi, errorName: 'NotExecutor', args: [address] }), 'executor'],
  ['a stranger', encodeErrorResult({ abi: recurringAbi, errorName: 'NotParty', args: [address] }), 'party'],
  ['nothing', '0x', 'unknown'],
  ['a selector alone', '0x08c379a0', 'unknown'],
  ['a text that is cut off', text('ERC20: transfer amount exceeds balance').slice(0, 140) as Hex, 'unknown'],
];
for (const [what, data, kind] of kinds) {
  test(`a revert with ${what} → ${kind}`, () => {
    assert.equal(readRevert(data).kind, kind);
  });
}

test('too soon → the second from which on it is allowed', () => {
  const data = encodeErrorResult({ abi: recurringAbi, errorName: 'TooSoon', args: [1_800_000_000n] });
  assert.deepEqual(readRevert(data), { kind: 'too_soon', allowedAt: 1_800_000_000 });
});

test('a request’s reference → its 16 bytes and 16 zeros; any other length is an error', () => {
  assert.equal(referenceWord(Buffer.alloc(16, 0xab)), `0x${'ab'.repeat(16)}${'00'.repeat(16)}`);
  for (const length of [0, 15, 17, 32]) assert.throws(() => referenceWord(Buffer.alloc(length)));
});
