import type { Static } from 'typebox';
import { type FieldFault, refuse, refuseMerchant } from '../errors.ts';
import { minuteMs } from '../lib/durations.ts';
import { currencyExponent, toUsdcMicro } from '../lib/money.ts';
import { firstVisible } from '../lib/text/visible.ts';
import type { CreateRequest } from './contract.ts';

/** A create call whose fields keep their rules. */
export type CreateFields = Static<typeof CreateRequest>;

/** What the gate read about the merchant of a create, in either mode; null when it is not the partner's. */
export type MerchantFacts = {
  test_mode: boolean;
  onboarded: boolean;
  disabled: boolean;
  currency: string;
  wallet: string | null;
  /** Where the wallet can be paid; null: on any chain. */
  wallet_chain_ids: number[] | null;
} | null;

export type PartnerTerms = {
  testMode: boolean;
  /** The chains of the mode that are offered. */
  chainIds: number[];
  allowedExpiryMinutes: number[];
  defaultExpiryMinutes: number;
};

/** The largest amount of a request, in minor units of its currency. */
export const maxFiatInt = 2_147_483_647;
/** The longest texts of a request, in Unicode code points. */
export const textLimits = { memo: 500, customer_name: 200, customer_email: 254, customer_phone: 50 } as const;
/** How many keys metadata may have, and how long a key and a value may be, in Unicode code points. */
export const metadataLimits = { keys: 20, key: 40, value: 500 } as const;

const idempotencyPattern = /^[A-Za-z0-9_-]{32,64}$/;
/** Always allowed in `invoice` mode, and its default: seven days. */
export const invoiceExpiryMinutes = 10_080;

/** True for 32 to 64 characters of base64url, which includes hex. */
export function isIdempotencyKey(value: unknown): value is string {
  return typeof value === 'string' && idempotencyPattern.test(value);
}

/**
 * Says of an amount like 12.50 what to send: minor units.
 *
 * @param faults of the contract, which know no currency
 * @param currency the merchant's, or the one that the body names; null when neither is known
 */
export function explainAmount(faults: FieldFault[], amount: unknown, currency: string | null): FieldFault[] {
  const exponent = currency && currencyExponent(currency);
  const [, whole = '', part = ''] = /^(\d{1,9})\.(\d{1,4})$/.exec(String(amount)) ?? [];
  const isExact = whole !== '' && typeof exponent === 'number' && part.length <= exponent;
  const quotes = typeof amount === 'string' ? ', without quotes' : '';
  const rule = `must be an integer in the minor units of the currency${quotes}`;
  const example = isExact
    ? `${Number(whole + part.padEnd(exponent, '0'))} for ${currency} ${whole}.${part.padEnd(exponent, '0')}`
    : 'cents for EUR, whole yen for JPY';
  const explain = (fault: FieldFault) =>
    fault.field === 'fiat_amount_int' && fault.message === 'must be an integer'
      ? { ...fault, message: `${rule}: ${example}` }
      : fault;
  return faults.map(explain);
}

/** Whether nobody has paid or cancelled a request, and its expiry is not stored: `isWaiting` of expiry.ts, of a row. */
export const isWaiting = (row: { status: string; proof_status: string }): boolean =>
  (row.status === 'requested' || row.status === 'opened') && row.proof_status === 'none';

/** A request's status at a moment. Expiry applies at once, stored or not. */
export function effectiveStatus<S extends string>(
  row: { status: S; proof_status: string; expires_at: Date },
  now: Date,
): S | 'expired' {
  return isWaiting(row) && row.expires_at <= now ? 'expired' : row.status;
}

/** When a request was really created. Durations count from here, not from its place in the order. */
export function madeAt(row: { created_at: Date; made_at: Date | null }): Date {
  return row.made_at ?? row.created_at;
}

/** Refuses an invoice without a customer name that shows anything. */
export function requireCustomerName(fields: CreateFields): void {
  if (fields.payment_mode === 'invoice' && firstVisible(fields.customer_name) === null)
    throw refuse('customer_name_required');
}

const unpayableText =
  'The wallet of this merchant cannot be paid on any network that is offered; the merchant can change it in its dashboard.';

/**
 * Decides whether a request may be created for a merchant, checking in the order that clients rely on.
 *
 * @returns the merchant's wallet and currency, and the request's lifetime in minutes
 * @throws Refusal not_found, merchant_mode_mismatch, merchant_onboarding_incomplete, merchant_disabled,
 * currency_mismatch, expiry_not_allowed
 */
export function judgeCreate(
  fields: CreateFields,
  merchant: MerchantFacts,
  partner: PartnerTerms,
): { wallet: string; currency: string; expiryMinutes: number } {
  if (!merchant) throw refuseMerchant();
  if (merchant.test_mode !== partner.testMode) throw refuse('merchant_mode_mismatch');
  if (!merchant.onboarded || merchant.wallet === null) throw refuse('merchant_onboarding_incomplete');
  // Nobody could pay it. Its onboarding is complete, so it has no `onboarding_url` to be sent to.
  const { wallet_chain_ids: checkedOn } = merchant;
  if (checkedOn && !partner.chainIds.some((id) => checkedOn.includes(id)))
    throw refuse('merchant_onboarding_incomplete', {}, unpayableText);
  if (merchant.disabled) throw refuse('merchant_disabled');
  if (fields.fiat_currency_code !== undefined && fields.fiat_currency_code !== merchant.currency) {
    const instead = 'give fiat_amount_int in it, and this fiat_currency_code or none';
    const sentence = `The currency of this merchant is ${merchant.currency}: ${instead}.`;
    throw refuse('currency_mismatch', { expected_fiat_code: merchant.currency }, sentence);
  }
  const { wallet, currency } = merchant;
  return { wallet, currency, expiryMinutes: judgeExpiry(fields, partner) };
}

function judgeExpiry(fields: CreateFields, partner: PartnerTerms): number {
  const invoice = fields.payment_mode === 'invoice';
  const allowed = new Set(partner.allowedExpiryMinutes);
  if (invoice) allowed.add(invoiceExpiryMinutes);
  const wanted = fields.expiry_minutes ?? (invoice ? invoiceExpiryMinutes : partner.defaultExpiryMinutes);
  if (!allowed.has(wanted)) {
    const minutes = [...allowed].sort((a, b) => a - b);
    const sentence = `expiry_minutes must be one of the values allowed for this partner: ${minutes.join(', ')}.`;
    throw refuse('expiry_not_allowed', { allowed_expiry_minutes: minutes }, sentence);
  }
  return wanted;
}

/**
 * The amount in micro units before the surcharge that makes it unique.
 *
 * @throws Refusal rate_unavailable without a usable rate
 */
export function quoteMicro(fiatInt: number, currency: string, rate: string | null): { rate: string; micro: bigint } {
  const exponent = currencyExponent(currency);
  if (rate === null || exponent === null) {
    const sentence = `No current exchange rate is available for ${currency}; try again in a minute.`;
    throw refuse('rate_unavailable', {}, sentence);
  }
  return { rate, micro: toUsdcMicro(BigInt(fiatInt), exponent, rate) };
}

/** The JSON text of metadata with its keys in the order written. */
export function metadataText(metadata: Record<string, string> | undefined, keys: string[] | undefined): string {
  if (!metadata) return '{}';
  const pairs = (keys ?? Object.keys(metadata)).map((key) => `${JSON.stringify(key)}:${JSON.stringify(metadata[key])}`);
  return `{${pairs.join(',')}}`;
}

/** A stored request as far as a create gave it. */
export type GivenFields = {
  fiat_int: string;
  fiat_code: string;
  memo: string | null;
  payment_mode: string;
  customer_name: string | null;
  customer_email: string | null;
  customer_phone: string | null;
  /** JSON text. */
  metadata: string;
  created_at: Date;
  made_at: Date | null;
  expires_at: Date;
};

/** The fields of the contract that a repeated create can give another value. */
type Compared = Exclude<keyof CreateFields, 'account_id' | 'idempotency_key'>;

/**
 * The fields of a repeated create whose values differ from the request it refers to, in the order of the contract.
 * Fields with a default count only if they were given.
 *
 * @param body valid or not
 */
export function differingFields(row: GivenFields, body: Record<string, unknown>): string[] {
  const minutes = (row.expires_at.getTime() - madeAt(row).getTime()) / minuteMs;
  const fields: Record<Compared, [stored: unknown, left: unknown]> = {
    fiat_amount_int: [Number(row.fiat_int), undefined],
    fiat_currency_code: [row.fiat_code, row.fiat_code],
    memo: [row.memo, null],
    metadata: [row.metadata, null],
    payment_mode: [row.payment_mode, 'pos'],
    customer_name: [row.customer_name, null],
    customer_email: [row.customer_email, null],
    customer_phone: [row.customer_phone, null],
    expiry_minutes: [minutes, minutes],
  };
  return Object.entries(fields)
    .filter(([name, [stored, left]]) => {
      const sent = body[name] ?? null;
      if (name === 'metadata') return sorted(sent ?? {}) !== sorted(JSON.parse(String(stored)));
      return (sent ?? left) !== stored;
    })
    .map(([name]) => name);
}

/** Objects of strings as text that is equal for equal pairs. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
