import { randomUUID } from 'node:crypto';
import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope, Sql, Tx } from '../../db/connection.ts';
import { dayMs } from '../../lib/durations.ts';
import type { Hex } from '../rpc.ts';
import { type Blocker, blockerOf, relayerAddresses, signerOf } from './account.ts';
import { selectAccount, takeNonces } from './account-store.ts';
import { shareOf } from './budget.ts';
import { crowdsOut, reserveBudget } from './budget-store.ts';
import { firstOffer } from './fees.ts';
import { type Simulation, simulateCall, simulateTogether } from './simulate.ts';
import { countWaiting, insertRelays, type RelayPurpose, type RelayState, selectRelays } from './store.ts';

export { relayerAddresses } from './account.ts';
export { dispatch, dispatchAll } from './dispatch.ts';
export type { Simulation } from './simulate.ts';
export type { RelayState } from './store.ts';

/** A contract call that the relayer sends for a partner. */
export type RelayCall = {
  scope: Scope;
  chain: ChainConfig;
  /** Which of the relayer's addresses sends; null: its first. The executor of a mandate is fixed. */
  from: Hex | null;
  to: Hex;
  data: Hex;
  purpose: RelayPurpose;
  /** The request (charge, authorization) or mandate (revoke) that it is for. */
  subjectId: string;
  /** The merchant whose customers it serves. */
  accountId: string;
};

/** Why a call is not enqueued. Nothing was stored: the caller can try again later, or go another way. */
export class RelayRefusal extends Error {
  /**
   * `budget`: the partner's, or the merchant's, share of the day is used up. `queue`: too many of the partner's calls
   * wait to be mined; try again soon. `too_large`: the call is too large. The others concern the relayer.
   */
  readonly reason: Blocker | 'budget' | 'queue' | 'too_large';
  constructor(reason: RelayRefusal['reason']) {
    super(`the relayer does not accept a call: ${reason}`);
    this.reason = reason;
  }
}

/** More gas and more bytes than any call of ours needs. A call that exceeds them is an error, or an attack. */
const maxGas = 2_000_000n;
const maxBytes = 16_384;
/** The gas limit above the estimate, since the chain's state changes until the call is mined. */
const withMargin = (gas: bigint) => gas + gas / 4n + 10_000n;
/**
 * How many calls of one partner in one mode may wait to be mined on a chain, so that nobody fills the queue for others.
 */
const maxWaiting = 100n;
/** How many of them may be for one purpose. */
export const maxWaitingOf = (purpose: RelayPurpose): number => Number(shareOf(purpose, maxWaiting));

/** How long work that needs a key of the relayer is left to the nodes that have it. */
const leftMs = dayMs;

/**
 * The relayer's addresses whose keys this node has. What only another key can sign is left to other nodes, unless it
 * has been due since `leftSince`: then no node has that key any more.
 */
export type HeldKeys = { addresses: readonly Hex[]; leftSince: Date };

export const heldKeys = (ctx: Pick<Context, 'config'>, now: Date): HeldKeys => ({
  addresses: relayerAddresses(ctx),
  leftSince: new Date(now.getTime() - leftMs),
});

const senderOf = (ctx: Pick<Context, 'config'>, from: Hex | null): Hex | null =>
  from ?? relayerAddresses(ctx)[0] ?? null;

/**
 * Whether the relayer can send on a chain now: it has a key and enough coin, and the chain answers and asks for no more
 * than may be paid. Judges by what its loop last stored.
 *
 * @param from which of its addresses; null for its first
 */
export async function canRelay(ctx: Context, chain: ChainConfig, from: Hex | null = null): Promise<boolean> {
  const address = senderOf(ctx, from);
  if (!address || !signerOf(ctx, address)) return false;
  return blockerOf(await selectAccount(ctx.db.sql, { chainId: chain.chainId, address }), chain) === null;
}

/**
 * Simulates a call: one provider call, or one per endpoint if it would fail.
 *
 * @throws RelayRefusal without a key
 */
export async function simulate(
  ctx: Context,
  { chain, from, to, data }: Pick<RelayCall, 'chain' | 'from' | 'to' | 'data'>,
): Promise<Simulation> {
  const address = senderOf(ctx, from);
  if (!address) throw new RelayRefusal('no_key');
  return simulateCall(chain, { from: address, to, data });
}

/**
 * Simulates calls of one chain and sender, in one message if an endpoint accepts it.
 *
 * @returns for each how much gas it used; null if only `simulate` can find out
 */
export function simulateMany(ctx: Context, calls: readonly RelayCall[]): Promise<(bigint | null)[]> {
  const [first] = calls;
  const address = first && senderOf(ctx, first.from);
  if (!address) return Promise.resolve(calls.map(() => null));
  return simulateTogether(
    first.chain,
    calls.map(({ to, data }) => ({ from: address, to, data })),
  );
}

/** A call and what `simulate` estimated. */
export type EstimatedCall = { call: RelayCall; gas: bigint };

/**
 * Enqueues a call in the caller's service transaction: counts its highest fee in the partner's budget, gives it a
 * nonce and stores it. From then until the transaction ends, others wait: do it last, once per transaction, and make
 * no network call after it. Then call `dispatch`; what is not dispatched is sent by the relayer's loop.
 *
 * @param gas what `simulate` estimated
 * @returns the id under which it is followed
 * @throws RelayRefusal; the caller's transaction must then be rolled back, or a savepoint in it
 */
export async function enqueueCall(ctx: Context, tx: Tx, call: RelayCall, gas: bigint): Promise<string> {
  const [id] = await enqueueCalls(ctx, tx, [{ call, gas }]);
  return id as string;
}

/**
 * As `enqueueCall`, for calls of one partner and mode on one chain, by one sender: all of them or none.
 *
 * @param calls at least one
 * @returns their ids, in order
 */
export async function enqueueCalls(ctx: Context, tx: Tx, calls: readonly EstimatedCall[]): Promise<string[]> {
  const { scope, chain, purpose, from } = (calls[0] as EstimatedCall).call;
  const { chainId, pollMs } = chain;
  const address = senderOf(ctx, from);
  if (!address || !signerOf(ctx, address)) throw new RelayRefusal('no_key');
  const account = await selectAccount(tx, { chainId, address });
  const blocker = blockerOf(account, chain);
  if (!account || blocker) throw new RelayRefusal(blocker ?? 'not_ready');
  const limits = limitsOf(chain);
  const { maxFeeWei } = firstOffer(account, limits);
  const { partnerId, testMode } = scope;
  const rows = calls.map(({ call: { to, data, subjectId, accountId }, gas }) => {
    if (gas > maxGas || data.length > 2 + 2 * maxBytes) throw new RelayRefusal('too_large');
    const limit = withMargin(gas);
    const lower = to.toLowerCase() as Hex;
    const same = { partnerId, testMode, chainId, address, purpose };
    return { ...same, id: randomUUID(), to: lower, data, gas: limit, feeWei: limit * maxFeeWei, subjectId, accountId };
  });
  const feeWei = rows.reduce((sum, row) => sum + row.feeWei, 0n);
  // The coin must suffice in addition to what is under way; the account is locked only below.
  if (account.balanceWei - account.reservedWei < feeWei) throw new RelayRefusal('low_coin');
  const budgetWei = shareOf(purpose, limits.budgetWei);
  const budget = { scope, chainId, budgetWei };
  const spentWei = await reserveBudget(tx, budget, feeWei);
  if (spentWei === null || (await crowdsOut(tx, budget, spentWei, rows))) throw new RelayRefusal('budget');
  const waiting = await countWaiting(tx, { partnerId, testMode, chainId });
  if (waiting + rows.length > maxWaitingOf(purpose)) throw new RelayRefusal('queue');
  const nonces = await takeNonces(tx, { chainId, address }, rows.length, pollMs);
  await insertRelays(
    tx,
    rows.map((row, i) => ({ ...row, nonce: nonces[i] as number })),
  );
  return rows.map(({ id }) => id);
}

/** The state of a relayed call. */
export type Relayed = {
  state: RelayState;
  /** The transaction that was mined, or the newest that was signed; null before the first. */
  hash: Hex | null;
  /** The most it may cost, in wei; once it is mined, what it cost. */
  feeWei: bigint;
  /** Whether the mined transaction succeeded; null before it is known. */
  succeeded: boolean | null;
};

/** The state of a call; null if the transaction can see none with this id. */
export async function readRelay(sql: Sql | Tx, relayId: string): Promise<Relayed | null> {
  const [row = null] = await selectRelays(sql, [relayId]);
  return row && { state: row.state, hash: row.hash, feeWei: BigInt(row.fee_wei), succeeded: row.succeeded };
}
