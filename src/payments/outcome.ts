import { formatMicro } from '../lib/money.ts';
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

/** An outcome in a sentence or two for the customer. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'malformed':
      return 'This is not a transaction hash: 0x followed by 64 hexadecimal digits.';
    case 'not_found':
      return 'We cannot find this transaction on any accepted network yet. Check the hash and the network it was sent on.';
    case 'unavailable':
      return 'The network cannot be reached right now. Nothing is lost; please try again in a minute.';
    case 'pending_in_mempool':
      return 'The transaction was sent and is waiting to be confirmed. There is nothing left to do.';
    case 'failed':
      return 'This transaction failed on the network, so no money moved. Please send it again.';
    case 'wrong_token':
      return 'This transaction reached the right address, but with another token. Please ask the merchant about it.';
    case 'wrong_recipient':
      return 'This transaction does not pay the address of this request.';
    case 'wrong_network':
      return 'This transaction reached the address on a network where the merchant cannot receive payments. Please ask them about it.';
    case 'before_request':
      return 'This transaction is older than the request, so it cannot be the payment for it.';
    case 'seen':
      return 'The transaction is on the network. It will appear here in a moment.';
    case 'counted':
      return outcome.proofStatus === 'verified'
        ? 'This payment is complete.'
        : 'This payment was seen and is being confirmed.';
    case 'underpaid':
      return `This payment counts, but ${formatMicro(outcome.missingMicro)} USDC is still missing.`;
    case 'already_used':
      return 'This transaction has already paid another request.';
    case 'given_back':
      return 'The merchant is refunding this payment, so it no longer counts. Please ask them about it.';
    case 'already_paid':
      return 'Another transaction has already paid this request. The merchant can see this one too; please ask them about it.';
    case 'too_many_parts':
      return 'This request received too many small payments. The merchant can see this one too; please ask them about it.';
    case 'late':
      return 'This transaction arrived more than 30 minutes after the request expired. The merchant can see it; please ask them about it.';
    case 'voided':
      return 'The request was cancelled before this payment was seen. The merchant can see it; please ask them about it.';
    case 'needs_signature':
      return 'The payment arrived, but nothing links it to this request. Sign with the wallet that sent it, or ask the merchant.';
    case 'minted':
      return 'The money came directly from a bridge or an issuer, so no wallet can confirm that it is for this request. The merchant can see it; please ask them about it.';
    case 'bad_signature':
      return 'This signature is not from the wallet that sent the money.';
  }
}
