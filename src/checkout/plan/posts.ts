import { mandateTypedData } from '../../chain/recurring/mandate.ts';
import { walletJson } from '../../chain/typed-data.ts';
import type { Context } from '../../context.ts';
import { parseInstant } from '../../lib/time.ts';
import { type AgreeFault, agree, type CustomersPlan, offerTo, stepAfterSigning } from '../../plans/mandates/agree.ts';
import type { AllowanceStep, SubmittedPermit } from '../../plans/mandates/allowance.ts';
import { raiseAllowance, raiseOffer, raiseStep, type SignedRaise } from '../../plans/mandates/raise-allowance.ts';
import { readMandateSignature } from '../../plans/mandates/signature.ts';
import { unlimitedAllowance } from '../../plans/mandates/terms.ts';

/** A field of a form, as text; empty if it is missing. */
export type FieldReader = (name: string) => string;
/** The answer to browser code: what to do next, or why not. */
export type Answer = { fault: AgreeFault } | Record<string, unknown>;
type Post = (ctx: Context, plan: CustomersPlan, typed: FieldReader) => Promise<Answer>;

/** Stands for an invalid number of charges, for which nothing is offered. */
const noCount = -1;

/** The number of charges that the customer chose for the allowance; null: without limit. */
function countIn(typed: FieldReader): number | null {
  const text = typed('charges');
  if (text === 'limitless') return null;
  return /^\d{1,4}$/.test(text) ? Number(text) : noCount;
}

function stepAnswer(step: AllowanceStep | { fault: AgreeFault }): Answer {
  if ('fault' in step) return step;
  if (step.kind === 'enough') return { step: 'enough' };
  const value = { value: step.value.toString(), limitless: step.value === unlimitedAllowance, approve: step.approve };
  if (step.kind === 'approve') return { step: 'approve', ...value };
  const permit = { nonce: step.nonce.toString(), deadline: step.deadline.toString(), typed: step.json };
  return { step: 'permit', ...value, ...permit };
}

const wholeNumber = /^\d{1,78}$/;

/** The permit that the browser sent; null without a valid one. */
function permitIn(typed: FieldReader): SubmittedPermit | null {
  const signature = readMandateSignature(typed('permit_signature'));
  const numbers = ['permit_value', 'permit_nonce', 'permit_deadline'].map((name) => typed(name));
  if (!signature || !numbers.every((text) => wholeNumber.test(text))) return null;
  const [value = 0n, nonce = 0n, deadline = 0n] = numbers.map(BigInt);
  return { value, nonce, deadline, signature };
}

function signedRaise(typed: FieldReader): SignedRaise {
  const until = parseInstant(typed('until')) ?? new Date(0);
  return { charges: countIn(typed), until, signature: readMandateSignature(typed('signature')) };
}

/** The calls of browser code on a plan's page, by the last part of the address. */
export const planPosts: Record<string, Post> = {
  offer: async (ctx, plan, typed) => {
    const made = await offerTo(ctx, plan, {
      payer: typed('payer').toLowerCase(),
      chainId: Number(typed('chain_id')),
      token: typed('token').toLowerCase(),
      charges: countIn(typed),
      shown: typed('shown'),
    });
    if ('fault' in made) return made;
    const { mandate, place } = made.offer;
    return { offer: made.text, typed: walletJson(mandateTypedData(mandate, place.chain.chainId, place.contract)) };
  },
  allowance: async (ctx, plan, typed) =>
    stepAnswer(await stepAfterSigning(ctx, plan, { offer: typed('offer'), signature: typed('signature') })),
  agree: async (ctx, plan, typed) => {
    const signed = { offer: typed('offer'), signature: typed('signature'), permit: permitIn(typed) };
    const agreed = await agree(ctx, plan, signed);
    return 'fault' in agreed ? agreed : { done: 'agreed' };
  },
  'raise-offer': async (ctx, plan, typed) => {
    const offered = await raiseOffer(ctx, plan, countIn(typed));
    return 'fault' in offered ? offered : { typed: offered.json, until: offered.until.toISOString() };
  },
  'raise-step': async (ctx, plan, typed) => stepAnswer(await raiseStep(ctx, plan, signedRaise(typed))),
  raise: async (ctx, plan, typed) => {
    const fault = await raiseAllowance(ctx, plan, { ...signedRaise(typed), permit: permitIn(typed) });
    return fault ? { fault } : { done: 'raised' };
  },
};
