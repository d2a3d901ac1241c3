import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { zeroAddress } from 'viem';
import { type Mandate, mandateHash } from '../../chain/recurring/mandate.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { TokenConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { keyedHash, newest, type SecretKey } from '../../lib/encrypt.ts';
import { isAddress } from '../../lib/ids.ts';
import { currencyExponent } from '../../lib/money.ts';
import { usableRate } from '../../rates/quote.ts';
import { courseOf } from '../store.ts';
import type { AutomaticChain } from './chains.ts';
import type { PlanFactsRow } from './facts-store.ts';
import { capMicro, offerMs, shortestIntervalSeconds, validity } from './terms.ts';

/** The terms that a customer would agree to on one chain and token, whoever the payer is. */
export type OfferedTerms = AutomaticChain & {
  token: TokenConfig;
  payee: Hex;
  /** The most that one charge can take, at today's rate. */
  capMicro: bigint;
  minIntervalSeconds: number;
  startsAt: Date;
  endsAt: Date;
};

/** Terms for one payer, as the wallet signs them. */
export type Offer = {
  place: AutomaticChain & { token: TokenConfig };
  mandate: Mandate;
  hash: Hex;
  /** How many charges the allowance is for; null: without limit. */
  charges: number | null;
};

/** The part of an offer that must travel through the browser; the service knows the rest. */
type Carried = { chainId: number; token: string; payer: string; cap: string; start: number; end: number } & {
  expires: number;
  random: string;
  charges: number | null;
};

const chargesLimit = 1000;

/** The terms that a plan's customer would agree to now; null if there is nothing to agree to, or no fresh rate. */
export function termsNow(
  facts: PlanFactsRow,
  place: AutomaticChain,
  token: TokenConfig,
  now: Date,
): OfferedTerms | null {
  const { wallet_address: payee, cap_fiat_int: cap, next_on: nextOn, fiat_code: code } = facts;
  const rate = usableRate(facts.quote, now);
  if (facts.collect !== 'automatic' || facts.is_off || !payee || !cap || !nextOn || !rate) return null;
  const limits = { fiatInt: BigInt(cap), exponent: currencyExponent(code) ?? 2, reservePercent: facts.reserve_percent };
  return {
    ...place,
    token,
    payee,
    capMicro: capMicro(limits, rate),
    minIntervalSeconds: shortestIntervalSeconds(courseOf(facts)),
    ...validity({ ...courseOf(facts), nextOn }, now),
  };
}

/**
 * Makes an offer for one payer.
 *
 * @param charges how many the allowance is to be for; null: without limit
 * @returns the offer, and the text with which the browser returns it
 */
export function makeOffer(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  facts: PlanFactsRow,
  terms: OfferedTerms,
  { payer, charges }: { payer: Hex; charges: number | null },
): { offer: Offer; text: string } {
  const carried: Carried = {
    chainId: terms.chain.chainId,
    token: terms.token.address,
    payer,
    cap: terms.capMicro.toString(),
    start: terms.startsAt.getTime() / 1000,
    end: terms.endsAt.getTime() / 1000,
    expires: clock.now().getTime() + offerMs,
    random: randomBytes(16).toString('hex'),
    charges,
  };
  const text = Buffer.from(JSON.stringify(carried)).toString('base64url');
  const offer = rebuild(newest(config.secretKeys), facts, carried, terms);
  return { offer, text: `${text}.${offer.mandate.salt.slice(34)}` };
}

/**
 * Opens an offer that comes back from a browser. The mandate is built again from what the service knows now. So an
 * offer is invalid if it was changed on the way, is older than half an hour, belongs to another plan, or was made
 * before the plan's terms or the merchant's wallet changed.
 *
 * @param chains where automatic charges are configured now
 */
export function openOffer(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  facts: PlanFactsRow,
  chains: AutomaticChain[],
  text: string,
): Offer | null {
  const [body = '', mac = ''] = text.split('.');
  const carried = readCarried(body);
  if (!carried || !/^[0-9a-f]{32}$/.test(mac) || carried.expires <= clock.now().getTime()) return null;
  const place = chains.find(({ chain }) => chain.chainId === carried.chainId);
  const token = place?.chain.tokens.find(({ address }) => address === carried.token);
  const payee = facts.wallet_address;
  if (!place || !token || !payee || facts.collect !== 'automatic' || facts.is_off || facts.state === 'ended')
    return null;
  for (const secret of config.secretKeys) {
    const offer = rebuild(secret, facts, carried, {
      ...place,
      token,
      payee,
      minIntervalSeconds: shortestIntervalSeconds(courseOf(facts)),
    });
    const own = Buffer.from(offer.mandate.salt.slice(34), 'hex');
    if (timingSafeEqual(own, Buffer.from(mac, 'hex'))) return offer;
  }
  return null;
}

/** The mandate's reference to its plan on the chain, which tells nobody which plan it is. */
const planRef = (secret: SecretKey, planId: string): Hex =>
  `0x${keyedHash(secret, 'plan-terms', `plan ${planId}`).toString('hex')}`;

/**
 * The salt is random and contains a keyed hash over all that was offered, so nothing is stored until somebody signs.
 */
function rebuild(
  secret: SecretKey,
  facts: PlanFactsRow,
  carried: Carried,
  known: Pick<OfferedTerms, 'chain' | 'contract' | 'executor' | 'token' | 'payee' | 'minIntervalSeconds'>,
): Offer {
  const { chain, contract, executor, token, payee, minIntervalSeconds } = known;
  const terms = {
    payer: carried.payer as Hex,
    payee,
    token: token.address,
    executor,
    maxAmount: BigInt(carried.cap),
    minIntervalSeconds,
    startsAt: carried.start,
    endsAt: carried.end,
    plan: planRef(secret, facts.id),
  };
  const sealed = [
    ...[facts.partner_id, facts.test_mode, facts.id, facts.fiat_int, facts.fiat_code, facts.cap_fiat_int],
    ...[facts.reserve_percent, facts.after_past_due, facts.max_charges, contract, JSON.stringify(carried)],
    ...Object.values(terms).map(String),
  ];
  const mac = keyedHash(secret, 'plan-terms', createHash('sha256').update(JSON.stringify(sealed)).digest('hex'));
  const mandate: Mandate = { ...terms, salt: `0x${carried.random}${mac.toString('hex', 0, 16)}` };
  const hash = mandateHash(mandate, chain.chainId, contract);
  return { place: { chain, contract, executor, token }, mandate, hash, charges: carried.charges };
}

function readCarried(body: string): Carried | null {
  let read: Partial<Carried>;
  try {
    read = JSON.parse(Buffer.from(body.slice(0, 2_000), 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  const { chainId, token, payer, cap, start, end, expires, random, charges } = read ?? {};
  const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  const isGood =
    isWhole(chainId) &&
    typeof token === 'string' &&
    isPayer(payer) &&
    typeof cap === 'string' &&
    /^[1-9]\d{0,29}$/.test(cap) &&
    isWhole(start) &&
    isWhole(end) &&
    isWhole(expires) &&
    typeof random === 'string' &&
    /^[0-9a-f]{32}$/.test(random) &&
    (charges === null || isCount(charges));
  return isGood ? { chainId, token, payer, cap, start, end, expires, random, charges } : null;
}

/** An address that can sign, in lower case. */
export const isPayer = (value: unknown): value is Hex =>
  isAddress(value) && value === value.toLowerCase() && value !== zeroAddress;

/** How many charges an allowance may be for. */
export const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= chargesLimit;
