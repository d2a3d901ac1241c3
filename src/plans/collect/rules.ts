import type { Holdings } from '../../chain/holdings.ts';
import { dayMs, hourMs } from '../../lib/durations.ts';

/**
 * The state of a charge under a mandate. `waiting`: it is tried when due. `sent`: a transaction is under way, and only
 * the chain decides. All others are final: `charged` under the mandate; `paid` in another way; `asked`: the customer
 * was asked to pay by link, and to agree again if that helps; `past_due`: all attempts failed; `stopped`: nothing is
 * collected any more.
 */
const collectionStates = ['waiting', 'sent', 'charged', 'paid', 'asked', 'past_due', 'stopped'] as const;
export type CollectionState = (typeof collectionStates)[number];

/** Reasons that the customer can fix. Such a failed attempt counts, and the customer is told. */
const failures = ['balance_low', 'allowance_low', 'wallet_refused', 'reverted'] as const;
export type Failure = (typeof failures)[number];

/** Reasons that others or time will fix. The charge is postponed, and the attempt does not count. */
const delays = [
  'token_paused',
  'payee_refused',
  'chain_unreachable',
  'relayer_unready',
  'too_soon',
  'not_started',
  'merchant_disabled',
  'partner_disabled',
  'payment_seen',
] as const;
export type Delay = (typeof delays)[number];

/** Why the mandate does not cover a charge: the customer is asked to pay instead. */
const uncovered = [
  'no_mandate',
  'revoked',
  'expired',
  'above_cap',
  'wallet_changed',
  'currency_changed',
  'chain_gone',
] as const;
export type Uncovered = (typeof uncovered)[number];

/** Why nothing more is collected. */
const stopReasons = ['plan_paused', 'plan_ended', 'request_cancelled', 'request_expired'] as const;
export type StopReason = (typeof stopReasons)[number];

export type CollectionReason = Failure | Delay | Uncovered | StopReason;

/** The days after its first failure on which a charge is tried again. */
const retryDays = [1, 3, 5, 7];
/** The minimum time between two attempts, even if the service was down on the days between. */
const minGapMs = 20 * hourMs;
/** How long the request of a charge can be paid: long enough for all retries and delays. */
export const collectMinutes = 43_200;
/** The most gas that a charge may use: the payer may be a contract that burns all it gets. */
export const maxGas = 1_000_000n;

/**
 * When a failed charge is tried again.
 *
 * @param attempts how often it has failed, this time included
 * @param since the time of its first failure
 * @returns null after the last attempt
 */
export function nextAttempt(attempts: number, since: Date, now: Date): Date | null {
  const days = retryDays[attempts - 1];
  if (days === undefined) return null;
  return new Date(Math.max(since.getTime() + days * dayMs, now.getTime() + minGapMs));
}

/** The terms of a mandate that limit a charge. */
export type Terms = {
  payee: string;
  capMicro: bigint;
  /** The amount that the cap was computed from, in minor units of `fiatCode`. */
  capFiatInt: bigint;
  fiatCode: string;
  startsAt: Date;
  endsAt: Date;
};

/** The price of a charge. */
export type Price = { walletAddress: string; usdcMicro: bigint; fiatInt: bigint; fiatCode: string };

/**
 * Whether a mandate covers a price, apart from any other obstacle.
 *
 * @param offered the mandate's token, contract and executor are still in use, and the wallet can be paid there
 */
export function coverage(terms: Terms | null, price: Price, offered: boolean, now: Date): Uncovered | null {
  if (!terms) return 'no_mandate';
  if (terms.payee !== price.walletAddress) return 'wallet_changed';
  if (terms.fiatCode !== price.fiatCode) return 'currency_changed';
  if (price.usdcMicro > terms.capMicro || price.fiatInt > terms.capFiatInt) return 'above_cap';
  if (now >= terms.endsAt) return 'expired';
  return offered ? null : 'chain_gone';
}

/** Whether a mandate allows one more charge than were taken under it. */
export const isAllowed = (mandate: { allowed_charges: number | null; charged: number }): boolean =>
  mandate.allowed_charges === null || mandate.charged < mandate.allowed_charges;

/** Whether no charge that was taken under a mandate can have used a permit. */
export const isNewPermit = (chargedAt: Date | null, signedAt: Date): boolean =>
  chargedAt === null || chargedAt < signedAt;

/** Everything that is known of a charge before the chain is queried. */
export type ChargeFacts = {
  price: Price;
  status: 'requested' | 'opened' | 'expired' | 'voided';
  proofStatus: 'none' | 'attached' | 'verified';
  /** The sum of the payments that count for the request. */
  countedMicro: bigint;
  /** Whether a manual payment was reported or read that is not matched yet. */
  paymentSeen: boolean;
  terms: Terms | null;
  offered: boolean;
  /** Whether the customer allows one more charge. */
  allowed: boolean;
  canRelay: boolean;
  merchantDisabled: boolean;
  partnerDisabled: boolean;
};

export type Verdict =
  | { kind: 'charge'; amountMicro: bigint }
  | { kind: 'paid' }
  | { kind: 'stop'; reason: StopReason }
  | { kind: 'ask'; reason: Uncovered }
  | { kind: 'delay'; reason: Delay; until: Date | null }
  | { kind: 'fail'; reason: Failure };

/** Decides about a due charge by what the service has stored. The chain decides after that. */
export function judge(known: ChargeFacts, now: Date): Verdict {
  const { price, terms } = known;
  if (known.proofStatus === 'verified') return { kind: 'paid' };
  if (known.status === 'voided') return { kind: 'stop', reason: 'request_cancelled' };
  // A manual payment comes before all else: a customer must not pay twice.
  if (known.proofStatus === 'attached' || known.paymentSeen) return delayed('payment_seen');
  if (known.status === 'expired') return { kind: 'stop', reason: 'request_expired' };
  const amountMicro = price.usdcMicro - known.countedMicro;
  if (amountMicro <= 0n) return delayed('payment_seen');
  if (known.partnerDisabled) return delayed('partner_disabled');
  if (known.merchantDisabled) return delayed('merchant_disabled');
  const gap = coverage(terms, price, known.offered, now);
  if (gap) return { kind: 'ask', reason: gap };
  if (terms && now < terms.startsAt) return { kind: 'delay', reason: 'not_started', until: terms.startsAt };
  if (!known.canRelay) return delayed('relayer_unready');
  // The token would let it through while the allowance for the wallet's other plans lasts.
  if (!known.allowed) return { kind: 'fail', reason: 'allowance_low' };
  return { kind: 'charge', amountMicro };
}

const delayed = (reason: Delay): Verdict => ({ kind: 'delay', reason, until: null });

/**
 * What a wallet lacks for a charge; null if nothing.
 *
 * @param permitMicro the allowance of an unused permit, in micro units; null without one
 */
export function shortage(
  { balance, allowance }: Holdings,
  amountMicro: bigint,
  permitMicro: bigint | null,
): 'balance_low' | 'allowance_low' | null {
  if (balance < amountMicro) return 'balance_low';
  return allowance >= amountMicro || (permitMicro ?? 0n) >= amountMicro ? null : 'allowance_low';
}
