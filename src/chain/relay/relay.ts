import { randomUUID } from 'node:crypto';
import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope, Sql, Tx } from '../../db/connection.ts';
import type { Hex } from '../rpc.ts';
import { type Hindrance, hindranceOf, relayerAddresses, signerOf } from './account.ts';
import { reserve } from './budget.ts';
import { firstOffer } from './fees.ts';
import { type Simulation, simulateCall } from './simulate.ts';
import { insertRelay, type RelayPurpose, type RelayState, selectAccount, selectRelay, takeNonce } from './store.ts';

export { relayerAddresses } from './account.ts';
export { budgetLeft } from './budget.ts';
export { dispatch } from './dispatch.ts';
export type { Simulation } from './simulate.ts';
export type { RelayPurpose, RelayState } from './store.ts';

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
};

/** Why a call is not taken on. Nothing was stored: the caller can try again later, or go another way. */
export class RelayRefusal extends Error {
  readonly reason: Hindrance | 'budget' | 'gas';
  constructor(reason: RelayRefusal['reason']) {
    super(`the relayer does not take on a call: ${reason}`);
    this.reason = reason;
  }
}

/** More gas than any call of ours needs; an estimate beyond it is an error, or somebody's trap. */
const mostGas = 2_000_000n;
/** What a call may use beyond its estimate: the chain's state changes until it is mined. */
const withRoom = (gas: bigint) => gas + gas / 4n + 10_000n;

const senderOf = (ctx: Pick<Context, 'config'>, from: Hex | null): Hex | null =>
  from ?? relayerAddresses(ctx)[0] ?? null;

/**
 * Whether the relayer can send on a chain now: it has a key and enough coin, and the chain answers and asks for no more
 * than may be paid. Judges by what its loop last stored.
 *
 * @param from which of its addresses; null for its first
 */
export async function canRelay(ctx: Context, chain: ChainConfig, from: Hex | null = null): Promise<boolean> {
  return (await hindrance(ctx, ctx.db.sql, chain, from)) === null;
}

async function hindrance(ctx: Context, sql: Sql | Tx, chain: ChainConfig, from: Hex | null): Promise<Hindrance | null> {
  const address = senderOf(ctx, from);
  if (!address || !signerOf(ctx, address)) return 'no_key';
  return hindranceOf(await selectAccount(sql, { chainId: chain.chainId, address }), chain);
}

/**
 * Runs a call without sending it: one provider call, or one per endpoint if it would fail.
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
 * Takes on a call in the caller's service transaction: counts its highest fee in the partner's budget, gives it a
 * nonce and stores it. From then until the transaction ends, others wait: do it last, once per transaction, and make
 * no network call after it. Then call `dispatch`; what is not dispatched is sent by the relayer's loop.
 *
 * @param gas what `simulate` estimated
 * @returns the id under which it is followed
 * @throws RelayRefusal before anything is written
 */
export async function allot(ctx: Context, tx: Tx, call: RelayCall, gas: bigint): Promise<string> {
  const { scope, chain, to, data, purpose, subjectId } = call;
  const reason = await hindrance(ctx, tx, chain, call.from);
  if (reason) throw new RelayRefusal(reason);
  if (gas > mostGas) throw new RelayRefusal('gas');
  const from = senderOf(ctx, call.from) as Hex;
  const account = { chainId: chain.chainId, address: from };
  const known = await selectAccount(tx, account);
  const limits = limitsOf(chain);
  const limit = withRoom(gas);
  const asked = { baseFeeWei: BigInt(known?.base_fee_wei ?? 0), priorityFeeWei: BigInt(known?.priority_fee_wei ?? 0) };
  const feeWei = limit * firstOffer(asked, limits).maxFeeWei;
  if (!(await reserve(tx, { scope, chainId: chain.chainId, budgetWei: limits.budgetWei }, feeWei))) {
    throw new RelayRefusal('budget');
  }
  const nonce = await takeNonce(tx, account, chain.pollMs);
  const id = randomUUID();
  const { partnerId, testMode } = scope;
  await insertRelay(tx, {
    ...{ partnerId, testMode, id, chainId: chain.chainId, from, nonce, gas: limit, purpose, subjectId, feeWei },
    to: to.toLowerCase() as Hex,
    data,
  });
  return id;
}

/** Where a relayed call stands. */
export type Relayed = {
  state: RelayState;
  /** The transaction that was mined, or the newest that was signed; null before the first. */
  hash: Hex | null;
  /** What it may cost at most, in wei; once it is mined, what it cost. */
  feeWei: bigint;
  /** Of the mined transaction; null before it is known. */
  succeeded: boolean | null;
};

/** Where a call stands; null when there is none with this id that the transaction may see. */
export async function readRelay(sql: Sql | Tx, relayId: string): Promise<Relayed | null> {
  const row = await selectRelay(sql, relayId);
  return row && { state: row.state, hash: row.hash, feeWei: BigInt(row.fee_wei), succeeded: row.succeeded };
}
