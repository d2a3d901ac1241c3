import { scopeOfRow } from '../auth/scope.ts';
import { findChain } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { raiseAlarm } from '../db/alarms.ts';
import { isConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';
import { modeOf } from '../lib/mode.ts';
import { isSameTransfer, keyOf, lockTransfer, writeTransferKey } from '../payments/transfers.ts';
import { allocateRefund } from './allocate.ts';
import { lookUpRefund, type RefundLookup } from './lookup.ts';
import { claimRefunds, type DueRefund, deleteReplaced, isReplaced, postponeRefund } from './queue-store.ts';
import {
  lockGroup,
  type RefundState,
  restoreReplaced,
  selectGroup,
  updateRefundedMicro,
  updateRefundState,
} from './store.ts';

const passSize = 20;
/** A transaction that no endpoint has known for this long was most likely never sent. */
const missingAfterMs = dayMs;

/**
 * Follows the transactions that refund payments, until each is final, however late.
 *
 * @returns how many were looked up
 */
export async function followRefunds(ctx: Context): Promise<number> {
  const claimed = await Promise.all([
    claimRefunds(ctx.db, 'returns', passSize),
    claimRefunds(ctx.db, 'returns_replaced', passSize),
  ]);
  const rows = claimed.flat();
  const seen = await Promise.all(rows.map((row) => unlessItFails(ctx, row, () => lookUp(ctx, row))));
  await Promise.all(
    groupsOf(seen.filter((one) => one !== null)).map((group) =>
      unlessItFails(ctx, group[0].row, () => follow(ctx, group)),
    ),
  );
  return rows.length;
}

/** A refund that cannot be followed must not delay the others. */
async function unlessItFails<T>(ctx: Context, row: DueRefund, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!isConflict(error)) ctx.log.error({ err: error, transfer: keyOf(row) }, 'a refund could not be followed');
    return null;
  }
}

/** A refund, and what the chain reports about its transaction. */
type RefundStatus = { row: DueRefund; lookup: RefundLookup };

async function lookUp(ctx: Context, row: DueRefund): Promise<RefundStatus | null> {
  const chain = findChain(ctx.chains[modeOf(row.test_mode)], row.chain_id);
  if (!chain) return null;
  const lookup = await lookUpRefund(chain, {
    refundTxHash: row.return_tx_hash,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    usdcMicro: BigInt(row.usdc_micro),
    sinceBlock: Number(row.block_number ?? 0),
  });
  return lookup.kind === 'unavailable' ? null : { row, lookup };
}

/** Refunds that share a transaction are settled together: its money is divided once, however many are due. */
function groupsOf(seen: RefundStatus[]): [RefundStatus, ...RefundStatus[]][] {
  const groups = new Map<string, [RefundStatus, ...RefundStatus[]]>();
  for (const one of seen) {
    const { row, lookup } = one;
    const alone = row.state === 'kept' || row.state === 'replaced';
    const own = alone ? [row.state, row.tx_hash, row.ordinal] : [];
    const moved = lookup.kind === 'refunds' ? [lookup.movedMicro, lookup.minedIn] : [lookup.kind];
    const key = [row.partner_id, row.test_mode, ...Object.values(groupOf(row)), ...moved, ...own].join();
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

async function follow(ctx: Context, group: [RefundStatus, ...RefundStatus[]]): Promise<void> {
  const [{ row: first, lookup }] = group;
  const scope = scopeOfRow(first);
  if (lookup.kind === 'unknown') {
    await ctx.db.scoped(scope, async (tx) => {
      for (const { row } of group) await postponeRefund(tx, scope, row);
    });
  }
  if (first.state === 'kept') return followCancelled(ctx, scope, first, lookup);
  if (first.state === 'replaced') return followReplaced(ctx, scope, first, lookup);
  await ctx.db.scoped(scope, (tx) => settle(tx, scope, group, ctx.clock.now()));
}

/** Stores what the look-up found of refunds that share a transaction. */
async function settle(tx: Tx, scope: Scope, seen: [RefundStatus, ...RefundStatus[]], now: Date): Promise<void> {
  const [{ row: first, lookup: common }] = seen;
  const group = groupOf(first);
  await lockGroup(tx, scope, group);
  if (common.kind !== 'refunds') {
    for (const { row, lookup } of seen) {
      await moveTo(tx, scope, row, withoutShare(lookup, now.getTime() - row.noted_at.getTime()));
    }
    const nothing = seen.map(({ row }) => ({ key: keyOf(row), micro: 0n }));
    return updateRefundedMicro(tx, scope, group, nothing);
  }
  const rows = await selectGroup(tx, scope, group, common.minedIn);
  const micros = allocateRefund(
    common.movedMicro,
    rows.map(({ usdc_micro }) => ({ usdcMicro: BigInt(usdc_micro) })),
  );
  const shares = rows.map((row, index) => ({ key: keyOf(row), micro: micros[index] ?? 0n }));
  await updateRefundedMicro(tx, scope, group, shares);
  for (const { row, lookup } of seen) {
    const share = shares.find(({ key }) => isSameTransfer(key, keyOf(row)));
    const done = share && share.micro > 0n ? 'confirmed' : 'other';
    await moveTo(tx, scope, row, 'final' in lookup && lookup.final ? done : 'sent');
  }
}

function withoutShare(lookup: RefundLookup, ageMs: number): RefundState {
  if (lookup.kind === 'unknown') return ageMs < missingAfterMs ? 'sent' : 'missing';
  if (lookup.kind === 'other' || lookup.kind === 'failed') return lookup.final ? lookup.kind : 'sent';
  return 'sent';
}

/**
 * A transaction appeared after its refund was cancelled. If the payment was not applied to a request since, the refund
 * is reinstated. If it was, the money was spent twice, and the operator is told. Money that belongs to others changes
 * nothing.
 */
async function followCancelled(ctx: Context, scope: Scope, row: DueRefund, lookup: RefundLookup): Promise<void> {
  const twice = await ctx.db.scoped(scope, (tx) => settleCancelled(tx, scope, row, lookup));
  if (twice === null) return;
  const { appliedTo: requestId } = twice;
  await raiseAlarm(ctx.db.sql, { kind: 'returned-bound', subject: requestId, details: { requestId } });
  if (!twice.final) return;
  await ctx.db.scoped(scope, async (tx) => {
    await updateRefundedMicro(tx, scope, groupOf(row), [{ key: keyOf(row), micro: twice.micro }]);
    await moveTo(tx, scope, row, 'confirmed');
  });
}

/**
 * The request that a payment was applied to after its refund was cancelled, and how much of it was refunded after all.
 */
type RefundedTwice = { appliedTo: string; micro: bigint; final: boolean };

/** Returns null if nothing was spent twice. */
async function settleCancelled(
  tx: Tx,
  scope: Scope,
  row: DueRefund,
  lookup: RefundLookup,
): Promise<RefundedTwice | null> {
  if (lookup.kind === 'failed' || lookup.kind === 'other') {
    if (lookup.final) await updateRefundState(tx, scope, row, 'kept');
    return null;
  }
  if (lookup.kind === 'unknown') return null;
  const transfer = await lockTransfer(tx, scope, keyOf(row), null);
  const micro = lookup.kind === 'refunds' ? await shareOfLate(tx, scope, row, lookup) : null;
  if (lookup.kind === 'refunds' && micro === 0n) {
    if (lookup.final) await updateRefundState(tx, scope, row, 'kept');
    return null;
  }
  if (transfer && transfer.request_id !== row.request_id) {
    if (transfer.request_id === null || lookup.kind !== 'refunds' || micro === null) return null;
    return { appliedTo: transfer.request_id, micro, final: lookup.final };
  }
  await moveTo(tx, scope, row, 'sent');
  return null;
}

/**
 * A transaction appeared after another was recorded in its place. If nothing else is known to have refunded its
 * payment, it is recorded again. Otherwise the payer has the money twice, or the payment is applied to a request, and
 * the operator is told.
 */
async function followReplaced(ctx: Context, scope: Scope, row: DueRefund, lookup: RefundLookup): Promise<void> {
  if (!('final' in lookup)) return;
  const isTwice = await ctx.db.scoped(scope, (tx) => settleReplaced(tx, ctx, scope, row, lookup));
  if (!isTwice) return;
  const payment = writeTransferKey(keyOf(row));
  await raiseAlarm(ctx.db.sql, { kind: 'returned-twice', subject: payment, details: { payment } });
  if (lookup.final) await ctx.db.scoped(scope, (tx) => deleteReplaced(tx, scope, row));
}

/** Returns true if its money was spent twice. */
async function settleReplaced(
  tx: Tx,
  ctx: Context,
  scope: Scope,
  row: DueRefund,
  lookup: Extract<RefundLookup, { final: boolean }>,
): Promise<boolean> {
  const key = keyOf(row);
  const transfer = await lockTransfer(tx, scope, key, null);
  if (!(await isReplaced(tx, scope, row))) return false;
  if (lookup.kind !== 'refunds' || (await shareOfLate(tx, scope, row, lookup)) === 0n) {
    if (lookup.final) await deleteReplaced(tx, scope, row);
    return false;
  }
  if (transfer && transfer.request_id !== row.request_id) return true;
  const recorded = { refundTxHash: row.return_tx_hash, state: 'sent' as const, recordedAt: ctx.clock.now() };
  return !(await restoreReplaced(tx, scope, key, recorded));
}

/**
 * What a payment whose refund is no longer active gets of a transaction's money: what the active refunds leave of it.
 */
async function shareOfLate(
  tx: Tx,
  scope: Scope,
  row: DueRefund,
  { movedMicro, minedIn }: Extract<RefundLookup, { kind: 'refunds' }>,
): Promise<bigint> {
  const group = groupOf(row);
  await lockGroup(tx, scope, group);
  const rows = await selectGroup(tx, scope, group, minedIn, 'with cancelled');
  const isOwn = (other: Parameters<typeof keyOf>[0]) => isSameTransfer(keyOf(other), keyOf(row));
  const all = row.state === 'replaced' ? [...rows.filter((other) => !isOwn(other)), row] : rows;
  const micros = allocateRefund(
    movedMicro,
    all.map(({ usdc_micro }) => ({ usdcMicro: BigInt(usdc_micro) })),
  );
  return micros[all.findIndex(isOwn)] ?? 0n;
}

async function moveTo(tx: Tx, scope: Scope, row: DueRefund, state: RefundState): Promise<void> {
  if (state !== row.state) await updateRefundState(tx, scope, row, state);
}

const groupOf = (row: DueRefund) => ({
  chainId: Number(row.chain_id),
  refundTxHash: row.return_tx_hash,
  tokenAddress: row.token_address,
  fromAddress: row.from_address,
  toAddress: row.to_address,
});
