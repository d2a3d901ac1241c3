import type { Hex } from '../../chain/rpc.ts';
import type { SignedAuthorization } from '../../payments/authorized/authorization.ts';
import type { Payment, Requirements } from './contract.ts';

/** Why a payment is refused before a chain is asked, in the codes of x402. */
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

/** An authorization must stay valid for so long, or it could expire before it is mined. */
export const leastSeconds = 10;

const lower = (text: string) => text.toLowerCase() as Hex;

/** The authorization of a payment in our own types: addresses, nonce and signature in lower case. */
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
 * Compares a payment with what is asked for now. Exactly what is due must be signed, to the request's wallet, and for
 * no longer than the request can be paid. How long the client was allowed (`maxTimeoutSeconds`) is not compared: it
 * shrinks with every second, and what counts is until when it signed.
 *
 * @param offers every way to pay the request at this moment
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
  // Money that a wallet sends to itself pays nothing.
  if (to !== requirements.payTo || from === to) return fault('invalid_exact_evm_payload_recipient_mismatch');
  if (valueMicro !== BigInt(requirements.amount))
    return fault('invalid_exact_evm_payload_authorization_value_mismatch');
  const nowSeconds = now.getTime() / 1000;
  if (Number(validAfter) > nowSeconds) return fault('invalid_exact_evm_payload_authorization_valid_after');
  if (Number(validBefore) < nowSeconds + leastSeconds || Number(validBefore) > endsAt.getTime() / 1000) {
    return fault('invalid_exact_evm_payload_authorization_valid_before');
  }
  return { kind: 'valid', requirements, signed };
}

/** Addresses are compared in lower case. A name or version that the client leaves out is what we said. */
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

/** For how long a payment may be signed; the rest is the request's own end, less what a client's clock may be ahead. */
const longestSeconds = 5 * 60;
const clockSeconds = 5;
/** Nothing is asked for that would end sooner. */
const worthSeconds = 55;

/** For how many seconds an authorization may be valid from now on; null when too little time is left. */
export function timeoutSeconds(now: Date, endsAt: Date): number | null {
  const left = Math.floor((endsAt.getTime() - now.getTime()) / 1000) - clockSeconds;
  return left < worthSeconds ? null : Math.min(left, longestSeconds);
}

const longestDescription = 200;

/** Who is paid, how much and what for, in one line. */
export function describe({ payee, fiat, memo }: { payee: string; fiat: string; memo: string | null }): string {
  const what = memo?.replace(/\s+/g, ' ').trim();
  const text = `Payment of ${fiat} to ${payee}${what ? ` for: ${what}` : ''}`;
  const letters = [...text];
  return letters.length <= longestDescription ? text : `${letters.slice(0, longestDescription - 1).join('')}…`;
}
