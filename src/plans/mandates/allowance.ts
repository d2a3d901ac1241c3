import { approveCall, type PermitTerms, permitJson, readTokenAllowance, tryPermit } from '../../chain/permit.ts';
import { type Hex, RpcError } from '../../chain/rpc.ts';
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
} from './store.ts';
import { allowanceOf, offerMs, permitDeadline } from './terms.ts';

/** What an allowance must be for: a plan's charges, and whatever else its payer has agreed to with this contract. */
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

/** How a payer is to set the allowance. `value`: what it is set to, for all of the payer's plans together. */
export type AllowanceStep =
  | { kind: 'enough' }
  | { kind: 'permit'; value: bigint; nonce: bigint; deadline: bigint; json: string; approve: Hex }
  | { kind: 'approve'; value: bigint; approve: Hex };

/** A permit as a browser brings it. Its spender and token are the order's. */
export type BroughtPermit = { value: bigint; nonce: bigint; deadline: bigint; signature: Hex };

/** What an allowance must come to now. */
export async function neededMicro(sql: Sql | Tx, { key, planId, capMicro, charges }: AllowanceOrder): Promise<bigint> {
  const others = await sumOfOpen(sql, key, planId);
  return allowanceOf({ cap: capMicro, charges }, others.micro);
}

/**
 * How a payer is to set the allowance, as the token and the stored permit stand now.
 *
 * @returns null while the chain cannot be asked
 */
export async function allowanceStep(ctx: Pick<Context, 'db'>, order: AllowanceOrder): Promise<AllowanceStep | null> {
  const { chain, key } = order;
  const [value, stored, told] = await Promise.all([
    neededMicro(ctx.db.sql, order),
    selectPermitOf(ctx.db.sql, key),
    readQuietly(order),
  ]);
  if (!told) return null;
  const unused = told.permit && stored && BigInt(stored.nonce) === told.permit.nonce ? stored : null;
  const deadline = latest(permitDeadline(order.startsAt), unused ? BigInt(unused.deadline) : 0n);
  if (told.micro >= value) return { kind: 'enough' };
  const suffices = unused && BigInt(unused.value) >= value && BigInt(unused.deadline) >= leastDeadline(order.startsAt);
  if (suffices) return { kind: 'enough' };
  const approve = approveCall(spendingOf(key), value);
  if (!told.permit) return { kind: 'approve', value, approve };
  const { domain, nonce } = told.permit;
  const terms: PermitTerms = { ...spendingOf(key), value, nonce, deadline };
  return { kind: 'permit', value, nonce, deadline, json: permitJson(domain, chain.chainId, terms), approve };
}

/** A permit was asked for a while before it is brought, or before another plan can use it too. */
const leastDeadline = (startsAt: Date): bigint => permitDeadline(startsAt) - BigInt(offerMs / 1000);
const latest = (a: bigint, b: bigint) => (a > b ? a : b);
const spendingOf = ({ token, payer, contract }: AllowanceKey) => ({ token, owner: payer, spender: contract });

async function readQuietly({ chain, key }: AllowanceOrder) {
  try {
    return await readTokenAllowance(chain, spendingOf(key));
  } catch (error) {
    if (error instanceof RpcError) return null;
    throw error;
  }
}

/** `permit_refused`: the token would not take it; then the wallet can approve by a transaction of its own. */
export type AllowanceFault = 'allowance_changed' | 'permit_refused' | 'not_approved' | 'unreachable';

/** A permit may be valid for so long after it is needed. */
const longestDeadlineMs = 2 * 365 * dayMs;

/**
 * Checks that the allowance suffices, by the permit that was brought or by what the chain says.
 *
 * @param needed micro units: see `neededMicro`
 */
export async function checkAllowance(
  ctx: Pick<Context, 'db'>,
  order: AllowanceOrder,
  needed: bigint,
  permit: BroughtPermit | null,
): Promise<AllowanceFault | null> {
  const { chain, key, startsAt } = order;
  if (permit === null) {
    const step = await allowanceStep(ctx, order);
    if (!step) return 'unreachable';
    return step.kind === 'enough' ? null : 'not_approved';
  }
  const least = leastDeadline(startsAt);
  const inTime = permit.deadline >= least && permit.deadline <= least + BigInt(longestDeadlineMs / 1000);
  const told = await readQuietly(order);
  if (!told) return 'unreachable';
  if (permit.value !== needed || permit.nonce !== told.permit?.nonce || !inTime) return 'allowance_changed';
  const word = await tryPermit(chain, { ...spendingOf(key), ...permit }, permit.signature);
  if (word === 'accepted') return null;
  return word === 'refused' ? 'permit_refused' : 'unreachable';
}

/**
 * Keeps the permit that was brought. Without one the chain's allowance suffices, or an earlier permit does: one that
 * does not is forgotten, because the first charge would lower the allowance by it.
 */
export async function keepPermit(
  tx: Tx,
  key: AllowanceKey,
  { needed, permit, now }: { needed: bigint; permit: BroughtPermit | null; now: Date },
): Promise<void> {
  if (permit) await upsertPermit(tx, key, permitRow(permit, now));
  else await deletePermitBelow(tx, key, needed);
}

/** A permit as it is stored. */
function permitRow({ value, nonce, deadline, signature }: BroughtPermit, now: Date): PermitRow {
  return {
    value: value.toString(),
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    signature: Buffer.from(signature.slice(2), 'hex'),
    signed_at: now,
  };
}
