import { dispatch, enqueueCall, RelayRefusal, simulate } from '../../chain/relay/relay.ts';
import { doubtTokenDomain } from '../../chain/token-domain.ts';
import type { ChainConfig, TokenConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { retryOnConflict } from '../../db/conflict.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { nestedIn } from '../../db/nested.ts';
import { lockForProof } from '../../requests/proof.ts';
import { effectiveStatus } from '../../requests/rules.ts';
import type { RequestRow } from '../../requests/store.ts';
import { toPayable } from '../decide.ts';
import { canApply, minPartMicro } from '../rules.ts';
import { selectCounted } from '../transfers.ts';
import { authorizationCall, type SignedAuthorization } from './authorization.ts';
import { maxGas } from './offer.ts';
import { hasFailed } from './progress.ts';
import { faultOf, readTokenRefusal, type TokenRefusal } from './rules.ts';
import {
  type AuthorizationKey,
  type AuthorizationRow,
  bindAuthorization,
  hasArriving,
  hasCharge,
  lockWallet,
  selectAuthorized,
  selectUnread,
  updateRelayed,
} from './store.ts';

/** An authorization that was submitted for a request, and where it is executed. */
export type SubmittedAuthorization = {
  requestId: string;
  /** The merchant who is paid. */
  accountId: string;
  chain: ChainConfig;
  token: TokenConfig;
  /** The amount requested now: exactly this must be signed. */
  amountMicro: bigint;
  signed: SignedAuthorization;
};

/** The outcome of submitting an authorization. Only with `sent` is anything sent. */
export type SubmitOutcome =
  /** It is on its way, or was already. `relayId`: the call that executes it. */
  | { kind: 'sent'; relayId: string }
  /** Another payment of the request is on its way: this one would be the second. */
  | { kind: 'other_under_way' }
  /** It was already executed, by anybody, or cancelled. */
  | { kind: 'used' }
  /** It was submitted for another request before, or its nonce names one. */
  | { kind: 'taken' }
  /** The request can no longer be paid. */
  | { kind: 'closed' }
  /** It does not match what is requested now: another amount or wallet, or a time that does not fit. */
  | { kind: 'changed' }
  /** Not signed by the wallet; it does not hold the amount; or the token refuses it. */
  | { kind: 'signature' | 'balance' | 'refused' }
  /** Calls for this request or this wallet have failed too often. */
  | { kind: 'too_often' }
  /** Several payments of this wallet are under way: once they are mined, this one can be submitted. */
  | { kind: 'too_many_at_once' }
  /** The chain could not be queried. */
  | { kind: 'unreachable' }
  /** The relayer cannot send it now: no budget, no coin, or a fee that is too high. */
  | { kind: 'not_offered' };

/** Each failure costs a fee. After this many of a request, or of a wallet within a day, nothing more is sent. */
const maxFailuresOfRequest = 3;
const maxFailuresOfWallet = 3;
/** A simulation does not know what else the same wallet has signed, so this many may fail together. */
const maxUnderWayOfWallet = 5;

const refusals: Record<
  TokenRefusal,
  SubmitOutcome['kind'] & ('used' | 'signature' | 'balance' | 'changed' | 'refused')
> = {
  used: 'used',
  signature: 'signature',
  balance: 'balance',
  times: 'changed',
  other: 'refused',
};

/**
 * Takes an authorization, simulates it, binds it to its request and has the relayer send it. Everything is stored in
 * one transaction before anything is sent. An authorization that is submitted again is sent again only if its call
 * failed.
 *
 * This queries the chain, and a call that is sent costs a fee. So the caller limits attempts and has checked that this
 * payment is offered.
 */
export async function submitAuthorization(
  ctx: Context,
  scope: Scope,
  submitted: SubmittedAuthorization,
): Promise<SubmitOutcome> {
  const { chain, token, signed } = submitted;
  const call = { scope, chain, from: null, to: token.address, data: authorizationCall(signed) };
  const known = () => ctx.db.scoped(scope, (tx) => readKnown(tx, scope, submitted, ctx.clock.now()));
  const before = await known();
  if (before) return before;
  const simulated = await simulate(ctx, call);
  if (simulated.kind === 'unreachable') return { kind: 'unreachable' };
  // If it was submitted twice at the same time, our own call may have used it by now.
  if (simulated.kind === 'reverted') {
    const refusal = readTokenRefusal(simulated.data);
    if (refusal === 'signature') doubtTokenDomain(token);
    return (await known()) ?? { kind: refusals[refusal] };
  }
  if (simulated.gas > maxGas) return { kind: 'refused' };
  try {
    const outcome = await retryOnConflict(() =>
      ctx.db.transaction(async (tx): Promise<SubmitOutcome> => {
        const { failures, underWay } = await lockWallet(tx, signed.from, submitted.requestId);
        if (failures >= maxFailuresOfWallet) return { kind: 'too_often' };
        if (underWay >= maxUnderWayOfWallet) return { kind: 'too_many_at_once' };
        const refused = await nestedIn(tx, ctx.db).scoped(scope, (inner) =>
          bindUnderLock(ctx, inner, scope, submitted),
        );
        if (refused) return refused;
        const { requestId: subjectId, accountId } = submitted;
        const subject = { purpose: 'authorization', subjectId, accountId } as const;
        const relayId = await enqueueCall(ctx, tx, { ...call, ...subject }, simulated.gas);
        const { valueMicro, validBefore } = signed;
        const until = new Date(Number(validBefore) * 1000);
        await updateRelayed(tx, scope, keyOf(submitted), { id: relayId, valueMicro, validBefore: until });
        return { kind: 'sent', relayId };
      }),
    );
    if (outcome.kind === 'sent') await send(ctx, outcome.relayId);
    return outcome;
  } catch (error) {
    if (error instanceof RelayRefusal) return { kind: 'not_offered' };
    throw error;
  }
}

/** If this fails, the relayer's loop sends what is stored. */
async function send(ctx: Context, relayId: string): Promise<void> {
  await dispatch(ctx, relayId).catch((error) =>
    ctx.log.warn({ err: error, relay_id: relayId }, 'an authorization could not be sent at once'),
  );
}

function keyOf({ chain, token, signed }: SubmittedAuthorization): AuthorizationKey {
  const nonce = Buffer.from(signed.nonce.slice(2), 'hex');
  return { chainId: chain.chainId, tokenAddress: token.address, authorizer: signed.from, nonce };
}

/** The outcome, if known without querying the chain: it is under way, or belongs to another request. */
async function readKnown(
  tx: Tx,
  scope: Scope,
  submitted: SubmittedAuthorization,
  now: Date,
): Promise<SubmitOutcome | null> {
  const { live } = await readOwn(tx, scope, submitted, now);
  if (live) return { kind: 'sent', relayId: live };
  const named = await selectAuthorized(tx, scope, keyOf(submitted));
  return named && named.id !== submitted.requestId ? { kind: 'taken' } : null;
}

/**
 * The authorizations submitted for the request whose transfers are not matched yet. `live`: the call of this
 * authorization, if it may still execute it. `others`: whether the call of another authorization may still execute that
 * one.
 */
async function readOwn(tx: Tx, scope: Scope, submitted: SubmittedAuthorization, now: Date) {
  const key = keyOf(submitted);
  const rows = await selectUnread(tx, scope, submitted.requestId);
  const isOwn = (row: AuthorizationRow) =>
    Number(row.chain_id) === key.chainId &&
    row.token_address === key.tokenAddress &&
    row.authorizer === key.authorizer &&
    Buffer.from(row.nonce).equals(key.nonce);
  const live = rows.filter((row) => row.relay_id !== null && !hasFailed(row, now));
  return { rows, live: live.find(isOwn)?.relay_id ?? null, others: live.some((row) => !isOwn(row)) };
}

/** Checks all conditions under the request's lock before the call is enqueued; null if all are met. */
async function bindUnderLock(
  ctx: Context,
  tx: Tx,
  scope: Scope,
  submitted: SubmittedAuthorization,
): Promise<SubmitOutcome | null> {
  const { requestId, chain, token, amountMicro, signed } = submitted;
  const request = await lockForProof(tx, scope, requestId);
  const now = ctx.clock.now();
  if (!request || !isPayable(request, now)) return { kind: 'closed' };
  const own = await readOwn(tx, scope, submitted, now);
  if (own.live) return { kind: 'sent', relayId: own.live };
  const { wallet_address: walletAddress } = request;
  const isPaying = own.others || (await hasCharge(tx, scope, requestId)) || (await hasArriving(tx, scope, requestId));
  if (isPaying) return { kind: 'other_under_way' };
  const terms = { walletAddress, expiresAt: request.expires_at, now };
  if (signed.valueMicro !== amountMicro || faultOf(signed, terms)) return { kind: 'changed' };
  const transfer = {
    ...{ chainId: chain.chainId, tokenAddress: token.address, from: signed.from, to: signed.to },
    ...{ value: signed.valueMicro, blockNumber: 0, blockTime: now, reference: null },
    ...{ authorizationNonce: signed.nonce.slice(2), chargedReference: null },
  };
  const payable = toPayable(request, await selectCounted(tx, scope, requestId));
  const applicability = canApply(transfer, payable, 'authorization');
  if (!applicability.counts || !applicability.completes) return { kind: 'changed' };
  // A part was paid since the amount was requested, so this payment would overpay the request.
  const beyondMicro = payable.undoubtedMicro + signed.valueMicro - payable.usdcMicro;
  if (beyondMicro >= minPartMicro) return { kind: 'changed' };
  const failures = own.rows.reduce((sum, row) => sum + row.failures + (row.succeeded === false ? 1 : 0), 0);
  if (failures >= maxFailuresOfRequest) return { kind: 'too_often' };
  const validBefore = new Date(Number(signed.validBefore) * 1000);
  const bound = { valueMicro: signed.valueMicro, validBefore };
  return (await bindAuthorization(tx, scope, keyOf(submitted), requestId, bound)) ? null : { kind: 'taken' };
}

function isPayable(request: RequestRow, now: Date): boolean {
  const status = effectiveStatus(request, now);
  return request.proof_status === 'none' && status !== 'expired' && status !== 'voided';
}
