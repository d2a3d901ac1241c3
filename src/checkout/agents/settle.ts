import type { ServerResponse } from 'node:http';
import { type Hex, RpcError } from '../../chain/rpc.ts';
import { isAuthorizationPending, isAuthorizationUsed } from '../../chain/token-domain.ts';
import { findChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { pause } from '../../lib/time.ts';
import type { SignedAuthorization } from '../../payments/authorized/authorization.ts';
import { type AuthorizationOutcome, readAuthorizationOutcome } from '../../payments/authorized/outcome.ts';
import { submitAuthorization } from '../../payments/authorized/submit.ts';
import { type Checkout, readCheckout } from '../read.ts';
import { payable } from '../state.ts';
import type { Payment, Settlement } from './contract.ts';
import { type AgentOffer, agentOffers } from './offers.ts';
import { type RefusalCode, refusalOf } from './refusals.ts';
import { judgePayment, toAuthorization } from './rules.ts';

/** The result of a payment header. `checkout` was read after it. */
export type Paid = { checkout: Checkout } & (
  | { kind: 'mined' | 'pending'; settlement: Settlement }
  /** `settlement`: the result of a transaction that failed, or of a payment that was not sent. */
  | { kind: 'refused'; code: RefusalCode; settlement?: Settlement }
  /** The service cannot send it now, for a reason of its own. */
  | { kind: 'not_now' }
);

/** What all payments of this process share. `waiting` counts the responses that wait for a block. */
export type Payer = { ctx: Context; ending: AbortSignal; waiting: number };

/** A payment header, the request that it was sent for, and the response that waits for its result. */
export type HeaderCall = { payer: Payer; checkout: Checkout; payment: Payment; response: ServerResponse };

const maxWaitMs = 20_000;
const maxWaiting = 500;
const firstPauseMs = 100;
const maxPauseMs = 500;

/** The chain and token that execute a payment's authorization, and the authorization itself. */
type Place = { chainId: number; tokenAddress: Hex; signed: SignedAuthorization };

/**
 * Pays a request by a payment header and returns the result. The same header is settled once, however often it is sent.
 * Waits for the block for at most 20 seconds.
 */
export async function payByHeader(call: HeaderCall): Promise<Paid> {
  const place = placeOf(call.payment);
  const before = place && (await outcomeOf(call, place));
  if (place && before && before.state !== 'failed') return follow(call, place, before);
  const paid = await settleFirstTime(call);
  if (!place || paid.kind !== 'refused' || paid.settlement?.transaction) return paid;
  // It may have been refused because the same header was sent a second time, and that call was faster.
  const after = await outcomeOf(call, place);
  return after && after.state !== 'failed' ? follow(call, place, after) : paid;
}

/** Pays with a header that was not settled before, or whose settlement failed. */
async function settleFirstTime(call: HeaderCall): Promise<Paid> {
  const { payer, checkout, payment } = call;
  if (payable(checkout.state) === 'no') return notSent(checkout, payment);
  const offers = agentOffers(checkout);
  if (offers.length === 0) return { kind: 'not_now', checkout };
  const judged = judgePayment(
    payment,
    offers.map(({ requirements }) => requirements),
    { url: checkout.url, now: payer.ctx.clock.now(), endsAt: checkout.row.expires_at },
  );
  if (judged.kind === 'fault') return { kind: 'refused', code: judged.code, checkout };
  const offer = offers.find(({ requirements }) => requirements === judged.requirements) as AgentOffer;
  return submit(call, offer, judged.signed);
}

/**
 * The request is paid, ended, or being paid by another payment: this payment is not sent, and the payer keeps the
 * money.
 */
function notSent(checkout: Checkout, { accepted: { network, amount }, payload }: Payment): Paid {
  const payer = payload.authorization.from.toLowerCase() as Hex;
  const settlement = { success: false, errorReason: 'other_payment', payer, transaction: '', network, amount } as const;
  return { kind: 'refused', code: 'other_payment', settlement, checkout };
}

/** Null if the network is not an EVM chain. */
function placeOf(payment: Payment): Place | null {
  const [, chainId] = /^eip155:([1-9]\d{0,14})$/.exec(payment.accepted.network) ?? [];
  const tokenAddress = payment.accepted.asset.toLowerCase() as Hex;
  return chainId ? { chainId: Number(chainId), tokenAddress, signed: toAuthorization(payment) } : null;
}

const outcomeOf = ({ payer, checkout }: HeaderCall, { chainId, tokenAddress, signed }: Place) =>
  readAuthorizationOutcome(payer.ctx, checkout.scope, checkout.row.id, {
    ...{ chainId, tokenAddress, authorizer: signed.from },
    nonce: Buffer.from(signed.nonce.slice(2), 'hex'),
  });

/** Submits a payment that meets the rules, and follows it. */
async function submit(call: HeaderCall, offer: AgentOffer, signed: SignedAuthorization): Promise<Paid> {
  const { payer, checkout, payment } = call;
  const { ctx } = payer;
  const { chain, token, amountMicro } = offer;
  const place = { chainId: chain.chainId, tokenAddress: token.address, signed };
  const used = await isUsed(call, place);
  if (used === null) return { kind: 'not_now', checkout };
  // The nonce names no request. So if somebody is already sending this authorization, a stranger may have copied it
  // from there, and it was not made for this request.
  const key = { token: token.address, authorizer: signed.from, nonce: signed.nonce };
  if (used || (await isAuthorizationPending(chain, key))) {
    return { kind: 'refused', code: 'invalid_exact_evm_nonce_already_used', checkout };
  }
  const { id: requestId, account_id: accountId } = checkout.row;
  const submitted = { requestId, accountId, chain, token, amountMicro, signed };
  const outcome = await submitAuthorization(ctx, checkout.scope, submitted);
  if (outcome.kind === 'closed' || outcome.kind === 'other_under_way') {
    return notSent(await reread(ctx, checkout), payment);
  }
  if (outcome.kind !== 'sent') {
    const code = refusalOf(outcome.kind);
    return code ? { kind: 'refused', code, checkout: await reread(ctx, checkout) } : { kind: 'not_now', checkout };
  }
  return follow(call, place, { state: 'sent', hash: null, valueMicro: signed.valueMicro });
}

/** Whether any endpoint reports the authorization as used or cancelled; null if one does not answer. */
async function isUsed(
  { payer, checkout }: HeaderCall,
  { chainId, tokenAddress, signed }: Place,
): Promise<boolean | null> {
  const chain = findChain(checkout.chains, chainId);
  if (!chain) return null;
  try {
    const key = { token: tokenAddress, authorizer: signed.from, nonce: signed.nonce };
    return await isAuthorizationUsed(chain, key);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    payer.ctx.log.warn({ err: error, chain_id: chainId }, 'an authorization could not be looked up');
    return null;
  }
}

/** Waits until the payment is mined, while the client waits and for a limited time. */
async function follow(call: HeaderCall, place: Place, first: AuthorizationOutcome): Promise<Paid> {
  const last = await waitFor(call, place, first);
  const now = await reread(call.payer.ctx, call.checkout);
  const settlement = settlementOf(place, last);
  if (last.state === 'mined') return { kind: 'mined', settlement: { ...settlement, success: true }, checkout: now };
  const pending: Paid = {
    kind: 'pending',
    settlement: { ...settlement, errorReason: 'settlement_pending' },
    checkout: now,
  };
  if (last.state === 'sent') return pending;
  // Our transaction also fails if somebody else executed the authorization first. Then the money has moved, and the
  // reader will see it in a moment.
  if ((await isUsed(call, place)) !== false) return pending;
  const code = 'invalid_transaction_state';
  return { kind: 'refused', code, settlement: { ...settlement, errorReason: code }, checkout: now };
}

/** Waits while the authorization is only sent. Returns its latest outcome. */
async function waitFor(call: HeaderCall, place: Place, first: AuthorizationOutcome): Promise<AuthorizationOutcome> {
  const { payer, response } = call;
  if (first.state !== 'sent' || payer.waiting >= maxWaiting) return first;
  const left = new AbortController();
  const leave = () => left.abort();
  const signal = AbortSignal.any([left.signal, payer.ending]);
  response.once('close', leave);
  payer.waiting++;
  try {
    const until = performance.now() + maxWaitMs;
    let last = first;
    for (let pauseMs = firstPauseMs; last.state === 'sent'; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      await pause(pauseMs, signal);
      last = (await outcomeOf(call, place)) ?? last;
      if (signal.aborted || performance.now() > until) break;
    }
    return last;
  } finally {
    payer.waiting--;
    response.removeListener('close', leave);
  }
}

function settlementOf({ chainId, signed }: Place, { hash, valueMicro }: AuthorizationOutcome): Settlement {
  return {
    success: false,
    payer: signed.from,
    transaction: hash ?? '',
    network: `eip155:${chainId}`,
    amount: valueMicro.toString(),
  };
}

async function reread(ctx: Context, checkout: Checkout): Promise<Checkout> {
  return (await readCheckout(ctx, checkout.row.id, checkout.words)) ?? checkout;
}
