import type { WalletFault } from '../auth/siwe.ts';
import { walletTexts } from '../texts/wallets.ts';
import { wordsOf } from '../ui/language.ts';

/** Why onboarding, a sign-in or a wallet change was refused, with the HTTP status of the page that says so. */
export const refusalStatus = {
  link_unknown: 404,
  link_expired: 410,
  link_replaced: 410,
  link_used: 410,
  email_code_needed: 403,
  email_code_wrong: 403,
  email_code_expired: 403,
  email_code_exhausted: 429,
  email_code_just_sent: 429,
  email_code_too_often: 429,
  details_invalid: 400,
  wallet_malformed: 400,
  wallet_differs: 409,
  wallet_taken: 409,
  wallet_same: 409,
  changed_too_often: 429,
  wallet_unknown: 403,
  chain_unknown: 400,
  terms_not_accepted: 400,
  too_many_attempts: 429,
  change_over: 410,
  merchant_unknown: 404,
  not_onboarded: 409,
  recovery_expired: 410,
  recovery_signed: 409,
  message_changed: 400,
  message_used: 409,
  signature_invalid: 403,
  wallet_not_deployed: 400,
  chain_unreachable: 503,
} as const satisfies Record<string, number> & Record<WalletFault, number>;

export type RefusalReason = keyof typeof refusalStatus;
export type DetailFault = 'tooLong' | 'notACountry' | 'notAnEmail' | 'notACurrency';

/** An expected failure, thrown so that an open transaction rolls back. Pages show a text for its reason. */
export class MerchantRefusal extends Error {
  readonly reason: RefusalReason;
  /** Faults of single fields of the details, by field name. */
  readonly faults: Record<string, DetailFault>;
  constructor(reason: RefusalReason, faults: Record<string, DetailFault> = {}) {
    const { title, rest } = walletTexts(wordsOf('en')).refusals[reason];
    super(`${title}. ${rest}`);
    this.reason = reason;
    this.faults = faults;
  }
}

/** Returns a refusal for the page to show. Refusals of a link end the visit, so they are rethrown like other errors. */
export function refusalToShow(error: unknown): MerchantRefusal {
  if (error instanceof MerchantRefusal && !error.reason.startsWith('link_')) return error;
  throw error;
}

/** Refusals after which the same message can still be signed. */
export const signAgain: RefusalReason[] = [
  'signature_invalid',
  'terms_not_accepted',
  'chain_unreachable',
  'wallet_not_deployed',
];
