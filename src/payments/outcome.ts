import type { Applied } from './apply.ts';
import type { Reason } from './rules.ts';

/** The outcome of a transaction that a customer submitted or signed for. */
export type Outcome =
  /** Not 0x and 64 hex digits. */
  | { kind: 'malformed' }
  /** No chain of the request's mode knows it. */
  | { kind: 'not_found' }
  /** The chain could not be queried in time. */
  | { kind: 'unavailable' }
  | { kind: 'pending_in_mempool' }
  | { kind: 'failed' }
  /** It pays the wallet, but with another token or coin. */
  | { kind: 'wrong_token' }
  | { kind: 'wrong_recipient' }
  /** On a chain where the request's wallet cannot be paid. */
  | { kind: 'wrong_network' }
  | { kind: 'before_request' }
  /** Mined and valid; the watcher has not reached its block yet. */
  | { kind: 'seen' }
  | { kind: 'counted'; proofStatus: 'attached' | 'verified' }
  /** Applied to this request, which needs more. */
  | { kind: 'underpaid'; missingMicro: bigint }
  /** Applied to another request. */
  | { kind: 'already_used' }
  /** The merchant has refunded it, or is about to. */
  | { kind: 'given_back' }
  /** The request was paid by another transfer. */
  | { kind: 'already_paid' }
  /** Many partial payments came before it, and it does not complete the sum. */
  | { kind: 'too_many_parts' }
  | { kind: 'late' }
  | { kind: 'voided' }
  /** It may be for this request. Only its sender can say so: see `claimTypedData`. */
  | { kind: 'needs_signature'; chainId: number; txHash: string; ordinal: number; from: string; usdcMicro: bigint }
  /** It may be for this request, but nobody can prove it: the money was minted here, so it has no sender. */
  | { kind: 'minted'; usdcMicro: bigint }
  /** Not signed by the transfer's sender. */
  | { kind: 'bad_signature' };

/** The outcome of a transfer that a request does not take. */
export function rejectedOutcome(reason: Reason): Outcome {
  switch (reason) {
    case 'before_request':
    case 'late':
    case 'voided':
    case 'already_paid':
    case 'too_many_parts':
    case 'wrong_token':
    case 'wrong_recipient':
    case 'wrong_network':
      return { kind: reason };
    case 'released':
      return { kind: 'given_back' };
    case 'no_match':
    case 'ambiguous':
    case 'conflict':
    case 'self_transfer':
      return { kind: 'wrong_recipient' };
  }
}

/** The outcome of applying a transfer. */
export function appliedOutcome(applied: Applied): Outcome {
  if (applied.kind === 'rejected') return rejectedOutcome(applied.reason);
  if (applied.kind === 'gone') return { kind: 'already_used' };
  if (applied.kind === 'insufficient' || applied.proofStatus === 'none') {
    return { kind: 'underpaid', missingMicro: applied.missingMicro };
  }
  return { kind: 'counted', proofStatus: applied.proofStatus };
}
