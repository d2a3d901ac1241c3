import type { SubmitOutcome } from '../../payments/authorized/submit.ts';
import type { PaymentFault } from './rules.ts';

/** Why a payment is refused: a code of x402 if it has one, otherwise our own. */
export type RefusalCode =
  | PaymentFault
  | 'invalid_x402_version'
  | 'invalid_exact_evm_payload_signature'
  | 'invalid_exact_evm_nonce_already_used'
  | 'insufficient_funds'
  | 'invalid_transaction_state'
  | 'other_payment'
  | 'too_many_failures';

/** The refusals as sentences that say what to do. */
export const refusalTexts: Record<RefusalCode, string> = {
  unsupported_scheme: 'Only the exact scheme is accepted. Sign one of the payments in accepts.',
  invalid_network: 'The request cannot be paid on this network. Sign one of the payments in accepts.',
  invalid_payment_requirements:
    'The accepted payment requirements are not, or no longer, valid for this request. Sign one of the payments in accepts.',
  invalid_exact_evm_payload_recipient_mismatch: 'The authorization does not pay the wallet in payTo.',
  invalid_exact_evm_payload_authorization_value_mismatch: 'The authorization must be for exactly the amount due.',
  invalid_exact_evm_payload_authorization_valid_after: 'The authorization is not valid yet.',
  invalid_exact_evm_payload_authorization_valid_before:
    'The authorization expires too soon to be mined, or after the request does. See maxTimeoutSeconds.',
  invalid_x402_version: 'Only version 2 of x402 is supported. Send the payment in the PAYMENT-SIGNATURE header.',
  invalid_exact_evm_payload_signature: 'The authorization is not signed by the wallet that it names.',
  invalid_exact_evm_nonce_already_used:
    'The authorization was used or cancelled, or was sent for another request. Sign a new one.',
  insufficient_funds: 'The wallet does not hold the amount.',
  invalid_transaction_state:
    'The token contract rejected this transfer, or its transaction failed. No money was moved.',
  other_payment: 'Another payment pays this request, or is about to. This one was not sent.',
  too_many_failures:
    'Payments for this request or from this wallet have failed too often. Pay with an ordinary transfer.',
};

/** The refusal of an authorization that was not sent; null if the service cannot send it for a reason of its own. */
export function refusalOf(
  kind: Exclude<SubmitOutcome['kind'], 'sent' | 'closed' | 'other_under_way'>,
): RefusalCode | null {
  switch (kind) {
    case 'used':
    case 'taken':
      return 'invalid_exact_evm_nonce_already_used';
    case 'changed':
      return 'invalid_payment_requirements';
    case 'signature':
      return 'invalid_exact_evm_payload_signature';
    case 'balance':
      return 'insufficient_funds';
    case 'refused':
      return 'invalid_transaction_state';
    case 'too_often':
      return 'too_many_failures';
    case 'too_many_at_once':
    case 'unreachable':
    case 'not_offered':
      return null;
  }
}
