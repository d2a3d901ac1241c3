import { bytesToHex } from 'viem';
import { scopeOfRow } from '../../auth/scope.ts';
import { tryPayee } from '../../chain/payee.ts';
import { chargeCall, type Permit, type Revert, readRevert, referenceWord } from '../../chain/recurring/calls.ts';
import { type RelayCall, type Simulation, simulate, simulateMany } from '../../chain/relay/relay.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import type { PermitRow } from '../mandates/read.ts';
import { toMandate } from '../mandates/read.ts';
import type { ChargeFactsRow, UsableMandate } from './charge-facts-store.ts';
import { isExecutorKept, isOffered, priceOf, termsOf } from './cover.ts';
import { holdingsOf } from './holdings.ts';
import { endCharged, endPaid, endStopped, endUncovered, fail, moveToChain, postpone } from './outcome.ts';
import { type ChargeFacts, isAllowed, isNewPermit, judge, maxGas, shortage } from './rules.ts';
import { type Ready, sendAll } from './send.ts';

/** A charge that this node has claimed, with its plan's mandate and the last permit of that mandate's payer. */
export type Attempt = { row: ChargeFactsRow; mandate: UsableMandate | null; permit: PermitRow | null };

/** How many charges of one partner are attempted alone at once. */
const attemptsAtOnce = 6;
/** How far the chain's clock may be behind ours. */
const chainSkewMs = 15_000;

/**
 * Makes one attempt at each charge: decides by what is stored, simulates the charge, and then stores and sends its
 * transaction. The outcome is stored with the charge. Charges that pass are simulated, stored and sent together; the
 * others are attempted alone, after them.
 *
 * @param all of one partner and mode, whose mandates have one executor
 * @returns how many transactions were sent
 */
export async function attemptAll(
  ctx: Context,
  chain: ChainConfig,
  all: readonly Attempt[],
  ready: ReadonlySet<Hex>,
): Promise<number> {
  const passing = await selectPassing(ctx, chain, all, ready);
  let sent = await sendAll(ctx, passing);
  const done = new Set(passing.map(({ one }) => one.row));
  await mapLimited(
    all.filter(({ row }) => !done.has(row)),
    attemptsAtOnce,
    async (one) => {
      try {
        if (await attempt(ctx, chain, one, ready)) sent++;
      } catch (error) {
        // It is claimed again once its lease is over.
        const level = isUnreachable(error) ? 'warn' : 'error';
        ctx.log[level]({ err: error, request_id: one.row.request_id }, 'a charge could not be attempted');
      }
    },
  );
  return sent;
}

/** Of several charges, those that pass unchanged; at most one per wallet, since one may spend what another needs. */
async function selectPassing(
  ctx: Context,
  chain: ChainConfig,
  all: readonly Attempt[],
  ready: ReadonlySet<Hex>,
): Promise<Ready[]> {
  const wallets = new Set<Hex>();
  const chargeable = all.flatMap((one) => {
    const { row, mandate } = one;
    const verdict = judge(factsOf(ctx, one, ready), ctx.clock.now());
    if (verdict.kind !== 'charge' || !mandate || mandate.chain_id !== chain.chainId) return [];
    if (row.reverted || wallets.has(mandate.payer)) return [];
    wallets.add(mandate.payer);
    const { amountMicro } = verdict;
    const charging = { ...one, mandate };
    return [{ one: charging, amountMicro, call: callOf(chain, charging, amountMicro, firstPermit(ctx, charging)) }];
  });
  const used = await simulateMany(
    ctx,
    chargeable.map(({ call }) => call),
  );
  return chargeable.flatMap((one, i) => {
    const gas = used[i] ?? null;
    return gas === null || gas > maxGas ? [] : [{ ...one, gas }];
  });
}

/** Makes one attempt at one charge; true when a transaction was sent. */
async function attempt(ctx: Context, chain: ChainConfig, one: Attempt, ready: ReadonlySet<Hex>): Promise<boolean> {
  const { row, mandate } = one;
  const verdict = judge(factsOf(ctx, one, ready), ctx.clock.now());
  switch (verdict.kind) {
    case 'paid':
      await endPaid(ctx, one);
      return false;
    case 'stop':
      await endStopped(ctx, one, verdict.reason);
      return false;
    case 'ask':
      await endUncovered(ctx, one, verdict.reason);
      return false;
    case 'delay':
      await postpone(ctx, one, verdict.reason, verdict.until);
      return false;
    case 'fail':
      await fail(ctx, one, verdict.reason);
      return false;
    case 'charge':
      break;
  }
  if (!mandate) throw new Error(`the charge of ${row.request_id} has no mandate`);
  if (mandate.chain_id !== chain.chainId) {
    await moveToChain(ctx, row, mandate);
    return false;
  }
  return charge(ctx, chain, { ...one, mandate }, verdict.amountMicro);
}

function factsOf(ctx: Context, { row, mandate }: Attempt, ready: ReadonlySet<Hex>): ChargeFacts {
  return {
    price: priceOf(row),
    status: row.status,
    proofStatus: row.proof_status,
    countedMicro: BigInt(row.counted_micro),
    paymentSeen: row.payment_seen,
    terms: mandate && termsOf(mandate),
    offered: mandate !== null && isOffered(ctx, mandate, row) && isExecutorKept(ctx, mandate),
    allowed: mandate !== null && isAllowed(mandate),
    canRelay: mandate !== null && ready.has(mandate.executor),
    merchantDisabled: row.merchant_disabled,
    partnerDisabled: row.partner_disabled,
  };
}

type Charging = Attempt & { mandate: UsableMandate };
type SimulatedCharge = { call: RelayCall; result: Simulation };

async function charge(ctx: Context, chain: ChainConfig, one: Charging, amountMicro: bigint): Promise<boolean> {
  const permit = usablePermit(ctx, one.permit);
  const attemptWith = async (used: Permit | null): Promise<SimulatedCharge> => {
    const call = callOf(chain, one, amountMicro, used);
    return { call, result: await simulate(ctx, call) };
  };
  const first = firstPermit(ctx, one);
  let tried = await attemptWith(first);
  if (permit && !first && reasonOf(tried.result)?.kind === 'allowance') tried = await attemptWith(permit);
  const { call, result } = tried;
  if (result.kind === 'unreachable') {
    await postpone(ctx, one, 'chain_unreachable', null);
    return false;
  }
  if (result.kind === 'reverted') {
    await settleRevert(ctx, chain, one, amountMicro, readRevert(result.data));
    return false;
  }
  // A charge that passes now but was reverted before has cost the relayer a fee, so it is not sent again at once.
  if (one.row.reverted || result.gas > maxGas) {
    await fail(ctx, one, one.row.reverted ? 'reverted' : 'wallet_refused');
    return false;
  }
  return (await sendAll(ctx, [{ one, call, amountMicro, gas: result.gas }])) > 0;
}

const reasonOf = (result: Simulation): Revert | null => (result.kind === 'reverted' ? readRevert(result.data) : null);

function usablePermit(ctx: Context, permit: PermitRow | null): Permit | null {
  if (!permit || BigInt(permit.deadline) * 1000n <= BigInt(ctx.clock.now().getTime())) return null;
  return { value: BigInt(permit.value), deadline: BigInt(permit.deadline), signature: bytesToHex(permit.signature) };
}

/**
 * The permit for the first charge after it was signed. That charge sets the allowance even if an earlier allowance
 * still suffices, because the permit could otherwise expire unused. A permit that was already used does no harm, and
 * later charges rarely need one.
 */
const firstPermit = (ctx: Context, { mandate, permit }: Charging): Permit | null =>
  permit && isNewPermit(mandate.charged_at, permit.signed_at) ? usablePermit(ctx, permit) : null;

function callOf(chain: ChainConfig, { row, mandate }: Charging, amount: bigint, permit: Permit | null): RelayCall {
  const reference = referenceWord(row.reference);
  return {
    scope: scopeOfRow(row),
    chain,
    from: mandate.executor,
    to: mandate.contract_address,
    data: chargeCall(
      { mandate: toMandate(mandate), signature: bytesToHex(mandate.signature), amount, reference },
      permit,
    ),
    purpose: 'charge',
    subjectId: row.request_id,
    accountId: row.account_id,
  };
}

/** Stores the outcome of a charge whose simulation reverts: nothing was sent. */
async function settleRevert(
  ctx: Context,
  chain: ChainConfig,
  one: Charging,
  amountMicro: bigint,
  revert: Revert,
): Promise<void> {
  switch (revert.kind) {
    case 'reference_used':
      return endCharged(ctx, one);
    case 'revoked':
      return endUncovered(ctx, one, 'revoked');
    case 'ended':
      return endUncovered(ctx, one, 'expired');
    case 'amount':
      return endUncovered(ctx, one, 'above_cap');
    case 'too_soon':
      return postpone(ctx, one, 'too_soon', new Date(revert.allowedAt * 1000 + chainSkewMs));
    case 'not_started':
      return postpone(ctx, one, 'not_started', null);
    case 'executor':
    case 'party':
      return postpone(ctx, one, 'relayer_unready', null);
    case 'paused':
      return postpone(ctx, one, 'token_paused', null);
    case 'balance':
      return fail(ctx, one, 'balance_low');
    case 'allowance':
      return fail(ctx, one, 'allowance_low');
    case 'signature':
      return fail(ctx, one, 'wallet_refused');
    case 'blacklisted':
      return settleRefused(ctx, chain, one);
    case 'unknown':
      return settleUnknown(ctx, chain, one, amountMicro);
  }
}

/** Each token words its reasons differently, so the payer's balance and allowance decide what was missing. */
async function settleUnknown(ctx: Context, chain: ChainConfig, one: Charging, amountMicro: bigint): Promise<void> {
  const [holdings] = (await holdingsOf(chain, one.mandate, [one.mandate.payer])) ?? [];
  if (!holdings) return postpone(ctx, one, 'chain_unreachable', null);
  const missing = shortage(holdings, amountMicro, null);
  return missing ? fail(ctx, one, missing) : settleRefused(ctx, chain, one);
}

/** An issuer blocks wallets of merchants, too: a customer whose wallet could pay anybody else has not failed. */
async function settleRefused(ctx: Context, chain: ChainConfig, one: Charging): Promise<void> {
  const { token_address, contract_address, payee } = one.mandate;
  switch (await tryPayee(chain, token_address, contract_address, payee)) {
    case 'accepted':
      return fail(ctx, one, 'wallet_refused');
    case 'refused':
      return postpone(ctx, one, 'payee_refused', null);
    case 'unreachable':
      return postpone(ctx, one, 'chain_unreachable', null);
  }
}
