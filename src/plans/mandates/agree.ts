import { randomUUID } from 'node:crypto';
import { audit, theService } from '../../audit/write.ts';
import { offeredTokens } from '../../chain/offered.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { Context } from '../../context.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { nestedIn } from '../../db/nested.ts';
import { dayMs } from '../../lib/durations.ts';
import { lockPlan, type PlanRow } from '../store.ts';
import {
  type AllowanceFault,
  type AllowanceOrder,
  type AllowanceStep,
  allowanceStep,
  checkAllowance,
  neededMicro,
  type SubmittedPermit,
  savePermit,
} from './allowance.ts';
import { lockPayer } from './allowance-store.ts';
import { mayQueryChain } from './chain-queries.ts';
import { type AutomaticChain, automaticChains, withContract } from './chains.ts';
import type { PlanFactsRow } from './facts.ts';
import { queueAgreedMail } from './mails.ts';
import { isCount, isPayer, makeOffer, type Offer, type OfferedTerms, openOffer, termsNow } from './offer.ts';
import { termsAsShown } from './shown-terms.ts';
import { readMandateSignature, type SignedFault, signatureFault } from './signature.ts';
import { countAgreed, insertMandate, type MandateRow, type NewMandate, selectByHash, updateReplaced } from './store.ts';

/**
 * Why nothing was agreed. `stale`: the terms are too old or have changed; `payer`: the address cannot pay; `none`:
 * nothing can be agreed to now; `too_often`: the plan was agreed to too often within a day.
 */
export type AgreeFault = 'stale' | 'payer' | 'none' | 'too_often' | SignedFault | AllowanceFault;

/** Each agreement ends the one before, which costs the relayer a fee and sends the customer a mail. */
const maxAgreedInDay = 10;

/** A plan that the holder of a link acts on. */
export type CustomersPlan = { scope: Scope; facts: PlanFactsRow };

const chainsOf = (ctx: Context, facts: PlanFactsRow): AutomaticChain[] => {
  const found = automaticChains(ctx, facts.test_mode, facts.wallet_chain_ids);
  return 'chains' in found ? found.chains : [];
};

/** The terms that a plan's customer can agree to now on one network, with one token; null if there are none. */
export async function termsOn(
  ctx: Context,
  facts: PlanFactsRow,
  { chainId, token: address }: { chainId: number; token: string },
): Promise<OfferedTerms | null> {
  const [place] = await withContract(chainsOf(ctx, facts).filter(({ chain }) => chain.chainId === chainId));
  const token = place && offeredTokens(place.chain).find((one) => one.address === address);
  return place && token ? termsNow(facts, place, token, ctx.clock.now()) : null;
}

/**
 * Offers a plan's terms to a payer, to be signed within half an hour. Nothing is stored.
 *
 * @param wanted as the browser sent it; `charges` is how many the allowance should cover, null: without limit; `shown`
 *   is the text of `shownTerms` of the page
 */
export async function offerTo(
  ctx: Context,
  { facts }: CustomersPlan,
  wanted: { payer: string; chainId: number; token: string; charges: number | null; shown: string },
): Promise<{ offer: Offer; text: string } | { fault: AgreeFault }> {
  const { payer, charges, shown } = wanted;
  const terms = await termsOn(ctx, facts, wanted);
  if (!terms) return { fault: 'none' };
  if (!isPayer(payer) || [terms.payee, terms.token.address, terms.contract].includes(payer)) return { fault: 'payer' };
  const agreeable = termsAsShown(facts, terms, shown, ctx.clock.now());
  if (!agreeable || (charges !== null && !isCount(charges))) return { fault: 'stale' };
  return makeOffer(ctx, facts, agreeable, { payer, charges });
}

/** An offer that was signed. */
type Signed = { offer: Offer; signature: Hex };

/** Opens a signed offer, and checks who signed it. */
async function openSigned(
  ctx: Context,
  plan: CustomersPlan,
  typed: { offer: string; signature: string },
): Promise<Signed | { fault: AgreeFault }> {
  const { facts } = plan;
  const offer = openOffer(ctx, facts, chainsOf(ctx, facts), typed.offer);
  if (!offer) return { fault: 'stale' };
  const signature = readMandateSignature(typed.signature);
  if (!signature) return { fault: 'bad_signature' };
  if (!mayQueryChain(ctx, plan, offer.place.chain.chainId)) return { fault: 'unreachable' };
  const signed = { address: offer.mandate.payer, hash: offer.hash, signature };
  const fault = await signatureFault(offer.place.chain, signed);
  return fault ? { fault } : { offer, signature };
}

/** The allowance that an offer needs. */
function orderOf(facts: PlanFactsRow, { place, mandate, charges }: Offer): AllowanceOrder {
  return {
    chain: place.chain,
    key: { chainId: place.chain.chainId, token: place.token.address, payer: mandate.payer, contract: place.contract },
    planId: facts.id,
    capMicro: mandate.maxAmount,
    charges,
    startsAt: new Date(mandate.startsAt * 1000),
  };
}

/**
 * How the payer of a signed offer must set the allowance. This reveals the sum of all that the payer has agreed to, so
 * it requires the payer's signature.
 */
export async function stepAfterSigning(
  ctx: Context,
  plan: CustomersPlan,
  typed: { offer: string; signature: string },
): Promise<AllowanceStep | { fault: AgreeFault }> {
  const signed = await openSigned(ctx, plan, typed);
  if ('fault' in signed) return signed;
  return (await allowanceStep(ctx, orderOf(plan.facts, signed.offer))) ?? { fault: 'unreachable' };
}

/**
 * Stores that a customer has agreed, after checking everything again. An earlier mandate of the plan is replaced;
 * whoever signs pays. The same agreement submitted twice is stored once.
 */
export async function agree(
  ctx: Context,
  plan: CustomersPlan,
  typed: { offer: string; signature: string; permit: SubmittedPermit | null },
): Promise<Agreed> {
  const { facts } = plan;
  const signed = await openSigned(ctx, plan, typed);
  if ('fault' in signed) return signed;
  const order = orderOf(facts, signed.offer);
  const needed = await neededMicro(ctx.db.sql, order);
  const fault = await checkAllowance(ctx, order, needed, typed.permit);
  // If it is submitted twice, the permit of the first time may have been used meanwhile.
  if (fault) return (await earlier(ctx, plan, signed)) ?? { fault };
  return ctx.db.transaction((tx) => store(ctx, tx, plan, signed, { order, needed, permit: typed.permit }));
}

/** The same agreement, if it is already stored and in use. */
async function earlier(ctx: Context, { scope, facts }: CustomersPlan, { offer }: Signed) {
  const mandate = await ctx.db.scoped(scope, (tx) => selectByHash(tx, scope, facts.id, hashBytes(offer.hash)));
  return mandate?.state === 'active' ? { mandate } : null;
}

type Agreed = { mandate: MandateRow } | { fault: AgreeFault };
type Checked = { order: AllowanceOrder; needed: bigint; permit: SubmittedPermit | null };

/** The payer is locked first, so that the sum for all plans is the same as when it was checked. */
async function store(
  ctx: Context,
  tx: Tx,
  { scope, facts }: CustomersPlan,
  { offer, signature }: Signed,
  { order, needed, permit }: Checked,
): Promise<Agreed> {
  const now = ctx.clock.now();
  await lockPayer(tx, order.key);
  if ((await neededMicro(tx, order)) !== needed) return { fault: 'allowance_changed' };
  const stored = await nestedIn(tx, ctx.db).scoped(scope, async (inner): Promise<Agreed> => {
    const plan = await lockPlan(inner, scope, facts.account_id, facts.id);
    const brought = await selectByHash(inner, scope, facts.id, hashBytes(offer.hash));
    if (brought) return brought.state === 'active' ? { mandate: brought } : { fault: 'stale' };
    if (!plan || !hasSameTerms(plan, facts)) return { fault: 'stale' };
    const since = new Date(now.getTime() - dayMs);
    if ((await countAgreed(inner, scope, facts.id, since)) >= maxAgreedInDay) return { fault: 'too_often' };
    await updateReplaced(inner, scope, facts.id, now);
    const mandate = await insertMandate(inner, scope, rowOf(facts, offer, signature, now));
    await queueAgreedMail(ctx, inner, scope, facts, mandate);
    await audit(ctx, inner, theService, {
      ...scope,
      action: 'mandate.agreed',
      object: { kind: 'plan', id: facts.id },
      details: { wallet: mandate.payer, usdc_micro: mandate.cap_micro },
    });
    return { mandate };
  });
  if ('mandate' in stored) await savePermit(tx, order.key, { needed, permit, now });
  return stored;
}

const termNames = ['collect', 'fiat_int', 'fiat_code', 'cap_fiat_int', 'reserve_percent'] as const;

/** Whether a plan's terms are the same as when the offer was opened; a pause makes no difference. */
function hasSameTerms(plan: PlanRow, facts: PlanFactsRow): boolean {
  return plan.state !== 'ended' && termNames.every((name) => plan[name] === facts[name]);
}

const hashBytes = (hash: Hex) => Buffer.from(hash.slice(2), 'hex');

function rowOf(facts: PlanFactsRow, { place, mandate, hash, charges }: Offer, signature: Hex, now: Date): NewMandate {
  return {
    id: randomUUID(),
    plan_id: facts.id,
    account_id: facts.account_id,
    chain_id: place.chain.chainId,
    token_address: mandate.token,
    contract_address: place.contract,
    payer: mandate.payer,
    payee: mandate.payee,
    executor: mandate.executor,
    cap_micro: mandate.maxAmount.toString(),
    min_interval_s: mandate.minIntervalSeconds,
    starts_at: new Date(mandate.startsAt * 1000),
    ends_at: new Date(mandate.endsAt * 1000),
    plan_ref: hashBytes(mandate.plan),
    salt: hashBytes(mandate.salt),
    hash: hashBytes(hash),
    signature: hashBytes(signature),
    cap_fiat_int: facts.cap_fiat_int ?? '0',
    fiat_code: facts.fiat_code,
    reserve_percent: facts.reserve_percent,
    allowed_charges: charges,
    agreed_at: now,
  };
}
