import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UnmatchedProgress } from '../payments/proof/progress.ts';
import type { SubmittedTransaction } from '../payments/submitted/follow.ts';
import { type PaymentFacts, payable, payState } from './state.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 12, minutes));

const transfer = (usdcMicro: bigint, minutes: number, reason: 'late' | 'voided'): UnmatchedProgress => ({
  ...{ chainId: 31337, txHash: '0x00', ordinal: 0, tokenAddress: '0x', fromAddress: '0x00' },
  ...{ usdcMicro, blockTime: at(minutes), confirmations: 9, neededConfirmations: 2, final: true, reason },
});

function known(status: 'opened' | 'voided' | 'expired', ...unmatched: UnmatchedProgress[]): PaymentFacts {
  return {
    row: {
      ...{ status, proof_status: 'none', proof_note: null, expires_at: at(15), usdc_micro: '12000000' },
      voided_at: status === 'voided' ? at(10) : null,
    },
    status,
    progress: {
      ...{ proofStatus: 'none', dueMicro: 12_000_000n, receivedMicro: 0n, undoubtedMicro: 0n },
      ...{ asked: { micro: 12_000_000n, isRest: false, isReserved: true }, missingMicro: 12_000_000n },
      ...{ overpaidMicro: 0n, transfers: [], surpluses: [], unmatched, near: [] },
    },
    ...{ submitted: [], authorizations: [], misdirected: [], now: at(60) },
  };
}

test('a partial payment before the cancellation → shown with the amount that arrived, not as late money', () => {
  const before = known('voided', transfer(5_000_000n, 3, 'voided'), transfer(1_000_000n, 5, 'voided'));
  assert.deepEqual(payState(before), { kind: 'voided', paidMicro: 6_000_000n });
  assert.deepEqual(payState(known('voided')), { kind: 'voided', paidMicro: 0n });
  const both = known('voided', transfer(7_000_000n, 11, 'voided'), transfer(5_000_000n, 3, 'voided'));
  assert.deepEqual(payState(both), { kind: 'too_late', micro: 7_000_000n, voided: true });
});

test('dust that names an ended request after its real payment → the page shows the payment', () => {
  const dusted = known('expired', transfer(1n, 59, 'late'), transfer(12_000_000n, 50, 'late'));
  assert.deepEqual(payState(dusted), { kind: 'too_late', micro: 12_000_000n, voided: false });
});

const now = at(10);
const earlier = (ms: number) => new Date(now.getTime() - ms);
const submitted = (usdcMicro: bigint | null, agoMs = 0): SubmittedTransaction => ({
  ...{ chainId: 31337, txHash: '0x01', fromAddress: '0x00', state: 'seen', replacedBy: null, usdcMicro },
  ...{ firstSeenAt: earlier(agoMs), reportedAt: earlier(agoMs) },
});
/** What the page offers to pay while these transactions are under way. */
function offered(status: 'opened' | 'expired', transactions: SubmittedTransaction[], paidMicro = 0n) {
  const facts = known(status);
  const asked = { micro: 12_000_000n - paidMicro, isRest: paidMicro > 0n, isReserved: true };
  const progress = { ...facts.progress, asked, receivedMicro: paidMicro, undoubtedMicro: paidMicro };
  return payable(payState({ ...facts, progress, submitted: transactions, now }));
}

test('a transaction under way that pays what is missing → nothing else to pay for two minutes, then all ways again', () => {
  assert.equal(offered('opened', [submitted(12_000_000n)]), 'no');
  assert.equal(offered('opened', [submitted(12_000_000n, 119_999)]), 'no');
  assert.equal(offered('opened', [submitted(12_000_000n, 120_000)]), 'whole');
  assert.equal(offered('opened', [submitted(1n), submitted(12_000_000n)]), 'no', 'whichever is the newest');
  assert.equal(offered('opened', [submitted(7_000_000n)], 5_000_000n), 'no');
});

test('a transaction under way that pays less, or nobody knows how much → all ways to pay stay', () => {
  assert.equal(offered('opened', [submitted(11_999_999n)]), 'whole');
  assert.equal(offered('opened', [submitted(null)]), 'whole');
  assert.equal(offered('opened', [submitted(6_999_999n)], 5_000_000n), 'rest');
});

test('a transaction under way after the expiry → nothing to pay, however little it moves', () => {
  assert.equal(offered('expired', [submitted(1n)]), 'no');
});
