import type { Hex } from '../../chain/rpc.ts';
import type { SignedAuthorization } from '../../payments/authorized/authorization.ts';
import type { Payment, Requirements } from './contract.ts';

/** Why a payment is refused before a chain is queried, in the codes of x402. */
export type PaymentFault =
  | 'unsupported_scheme'
  | 'invalid_network'
  | 'invalid_payment_requirements'
  | 'invalid_exact_evm_payload_recipient_mismatch'
  | 'invalid_exact_evm_payload_authorization_value_mismatch'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_valid_before';

export type Judged =
  | { kind: 'valid'; requirements: Requirements; signed: SignedAuthorization }
  | { kind: 'fault'; code: PaymentFault };

/** An authorization must stay valid for at least this long, so that it can be mined before it expires. */
const minSeconds = 10;

const lower = (text: string) => text.toLowerCase() as Hex;

/** Converts the authorization of a payment to our own types: addresses, nonce and signature in lower case. */
export function toAuthorization({ payload: { authorization, signature } }: Payment): SignedAuthorization {
  return {
    from: lower(authorization.from),
    to: lower(authorization.to),
    valueMicro: BigInt(authorization.value),
    validAfter: BigInt(authorization.validAfter),
    validBefore: BigInt(authorization.validBefore),
    nonce: lower(authorization.nonce),
    signature: lower(signature),
  };
}

/**
 * Compares a payment with what is due now. It must be signed for exactly the amount due, to the request's wallet, and
 * end no later than the request. The time that the client was given (`maxTimeoutSeconds`) is not compared: it shrinks
 * every second, and only the end that was signed matters.
 *
 * @param offers all ways to pay the request now
 */
export function judgePayment(
  payment: Payment,
  offers: readonly Requirements[],
  { url, now, endsAt }: { url: string; now: Date; endsAt: Date },
): Judged {
  const fault = (code: PaymentFault): Judged => ({ kind: 'fault', code });
  const { accepted, resource } = payment;
  if (accepted.scheme !== 'exact') return fault('unsupported_scheme');
  const there = offers.filter(({ network }) => network === accepted.network);
  if (there.length === 0) return fault('invalid_network');
  const requirements = there.find((one) => isSame(one, accepted));
  if (!requirements || (resource && resource.url !== url)) return fault('invalid_payment_requirements');
  const signed = toAuthorization(payment);
  const { from, to, valueMicro, validAfter, validBefore } = signed;
  // A transfer from the payee's wallet to itself pays nothing.
  if (to !== requirements.payTo || from === to) return fault('invalid_exact_evm_payload_recipient_mismatch');
  if (valueMicro !== BigInt(requirements.amount))
    return fault('invalid_exact_evm_payload_authorization_value_mismatch');
  const nowSeconds = now.getTime() / 1000;
  if (Number(validAfter) > nowSeconds) return fault('invalid_exact_evm_payload_authorization_valid_after');
  if (Number(validBefore) < nowSeconds + minSeconds || Number(validBefore) > endsAt.getTime() / 1000) {
    return fault('invalid_exact_evm_payload_authorization_valid_before');
  }
  return { kind: 'valid', requirements, signed };
}

/** Compares addresses in lower case. A name or version that the client leaves out counts as ours. */
function isSame(offer: Requirements, accepted: Payment['accepted']): boolean {
  const { name = offer.extra.name, version = offer.extra.version, assetTransferMethod } = accepted.extra ?? {};
  return (
    accepted.asset.toLowerCase() === offer.asset &&
    accepted.payTo.toLowerCase() === offer.payTo &&
    accepted.amount === offer.amount &&
    name === offer.extra.name &&
    version === offer.extra.version &&
    (assetTransferMethod ?? 'eip3009') === 'eip3009'
  );
}

/**
 * The longest time that a payment may be valid. It also ends with the request, less a margin for a client's clock that
 * is ahead.
 */
const maxValidSeconds = 5 * 60;
const clockSkewSeconds = 5;
/** With less time than this left, no payment is requested. */
const minValidSeconds = 55;

/** How many seconds an authorization may be valid from now; null if too little time is left. */
export function timeoutSeconds(now: Date, endsAt: Date): number | null {
  const left = Math.floor((endsAt.getTime() - now.getTime()) / 1000) - clockSkewSeconds;
  return left < minValidSeconds ? null : Math.min(left, maxValidSeconds);
}

const maxDescriptionLength = 200;

/** Who is paid, how much and for what, in one line. */
export function describe({ payee, fiat, memo }: { payee: string; fiat: string; memo: string | null }): string {
  const what = memo?.replace(/\s+/g, ' ').trim();
  const text = `Payment of ${fiat} to ${payee}${what ? ` for: ${what}` : ''}`;
  const letters = [...text];
  return letters.length <= maxDescriptionLength ? text : `${letters.slice(0, maxDescriptionLength - 1).join('')}…`;
}
