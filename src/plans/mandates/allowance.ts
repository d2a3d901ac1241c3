import { approveCall, type PermitTerms, permitJson, readTokenAllowance, tryPermit } from '../../chain/permit.ts';
import { type Hex, nullOfRpc } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Sql, Tx } from '../../db/connection.ts';
import { dayMs } from '../../lib/durations.ts';
import {
  type AllowanceKey,
  deletePermitBelow,
  type PermitRow,
  selectPermitOf,
  sumOfOpen,
  upsertPermit,
} from './allowance-store.ts';
import { allowanceOf, offerMs, permitDeadline } from './terms.ts';

/** What an allowance must cover: a plan's charges, and whatever else its payer has agreed to with this contract. */
export type AllowanceOrder = {
  chain: ChainConfig;
  key: AllowanceKey;
  planId: string;
  capMicro: bigint;
  /** Null: without limit. */
  charges: number | null;
  /** When the first charge may come. */
  startsAt: Date;
};

/** How a payer must set the allowance. `value`: the new allowance, for all of the payer's plans together. */
export type AllowanceStep =
  | { kind: 'enough' }
  | { kind: 'permit'; value: bigint; nonce: bigint; deadline: bigint; json: string; approve: Hex }
  | { kind: 'approve'; value: bigint; approve: Hex };

/** A permit as a browser submits it. Its spender and token are the order's. */
export type SubmittedPermit = { value: bigint; nonce: bigint; deadline: bigint; signature: Hex };

/** The allowance that is needed now. */
export async function neededMicro(sql: Sql | Tx, { key, planId, capMicro, charges }: AllowanceOrder): Promise<bigint> {
  const others = await sumOfOpen(sql, key, planId);
  return allowanceOf({ cap: capMicro, charges }, others.micro);
}

/**
 * How a payer must set the allowance, given the token's state and the stored permit.
 *
 * @returns null while the chain cannot be queried
 */
export async function allowanceStep(ctx: Pick<Context, 'db'>, order: AllowanceOrder): Promise<AllowanceStep | null> {
  const { chain, key } = order;
  const [value, stored, onChain] = await Promise.all([
    neededMicro(ctx.db.sql, order),
    selectPermitOf(ctx.db.sql, key),
    readQuietly(order),
  ]);
  if (!onChain) return null;
  const unused = onChain.permit && stored && BigInt(stored.nonce) === onChain.permit.nonce ? stored : null;
  const deadline = latest(permitDeadline(order.startsAt), unused ? BigInt(unused.deadline) : 0n);
  if (onChain.micro >= value) return { kind: 'enough' };
  const suffices = unused && BigInt(unused.value) >= value && BigInt(unused.deadline) >= minDeadline(order.startsAt);
  if (suffices) return { kind: 'enough' };
  const approve = approveCall(spendingOf(key), value);
  if (!onChain.permit) return { kind: 'approve', value, approve };
  const { domain, nonce } = onChain.permit;
  const terms: PermitTerms = { ...spendingOf(key), value, nonce, deadline };
  return { kind: 'permit', value, nonce, deadline, json: permitJson(domain, chain.chainId, terms), approve };
}

/**
 * The earliest deadline that is accepted: a permit was requested a while before it is submitted, or before another plan
 * uses it too.
 */
const minDeadline = (startsAt: Date): bigint => permitDeadline(startsAt) - BigInt(offerMs / 1000);
const latest = (a: bigint, b: bigint) => (a > b ? a : b);
const spendingOf = ({ token, payer, contract }: AllowanceKey) => ({ token, owner: payer, spender: contract });

async function readQuietly({ chain, key }: AllowanceOrder) {
  try {
    return await readTokenAllowance(chain, spendingOf(key));
  } catch (error) {
    return nullOfRpc(error);
  }
}

/** `permit_refused`: the token would not accept it; then the wallet can approve with its own transaction. */
export type AllowanceFault = 'allowance_changed' | 'permit_refused' | 'not_approved' | 'unreachable';

/** How long after it is needed a permit may be valid. */
const maxDeadlineMs = 2 * 365 * dayMs;

/**
 * Checks that the allowance suffices, by the submitted permit or by the state of the chain.
 *
 * @param needed micro units: see `neededMicro`
 */
export async function checkAllowance(
  ctx: Pick<Context, 'db'>,
  order: AllowanceOrder,
  needed: bigint,
  permit: SubmittedPermit | null,
): Promise<AllowanceFault | null> {
  const { chain, key, startsAt } = order;
  if (permit === null) {
    const step = await allowanceStep(ctx, order);
    if (!step) return 'unreachable';
    return step.kind === 'enough' ? null : 'not_approved';
  }
  const least = minDeadline(startsAt);
  const inTime = permit.deadline >= least && permit.deadline <= least + BigInt(maxDeadlineMs / 1000);
  const onChain = await readQuietly(order);
  if (!onChain) return 'unreachable';
  if (permit.value !== needed || permit.nonce !== onChain.permit?.nonce || !inTime) return 'allowance_changed';
  const verdict = await tryPermit(chain, { ...spendingOf(key), ...permit }, permit.signature);
  if (verdict === 'accepted') return null;
  return verdict === 'refused' ? 'permit_refused' : 'unreachable';
}

/**
 * Stores the submitted permit. Without one, the allowance on the chain or an earlier permit suffices. A stored permit
 * that does not suffice is deleted, because with it the first charge would lower the allowance.
 */
export async function savePermit(
  tx: Tx,
  key: AllowanceKey,
  { needed, permit, now }: { needed: bigint; permit: SubmittedPermit | null; now: Date },
): Promise<void> {
  if (permit) await upsertPermit(tx, key, permitRow(permit, now));
  else await deletePermitBelow(tx, key, needed);
}

/** A permit as it is stored. */
function permitRow({ value, nonce, deadline, signature }: SubmittedPermit, now: Date): PermitRow {
  return {
    value: value.toString(),
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    signature: Buffer.from(signature.slice(2), 'hex'),
    signed_at: now,
  };
}
