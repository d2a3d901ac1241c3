import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UnmatchedProgress } from '../payments/proof/progress.ts';
import { type PaymentFacts, payState } from './state.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 12, minutes));

const transfer = (usdcMicro: bigint, minutes: number, reason: 'late' | 'voided'): UnmatchedProgress => ({
  ...{ chainId: 31337, txHash: '0x00', ordinal: 0, tokenAddress: '0x', fromAddress: '0x00' },
  ...{ usdcMicro, blockTime: at(minutes), confirmations: 9, neededConfirmations: 2, final: true, reason },
});

function known(status: 'voided' | 'expired', ...unmatched: UnmatchedProgress[]): PaymentFacts {
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
