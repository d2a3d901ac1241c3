import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { raiseAlarm } from '../db/alarms.ts';
import { isConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';
import { modeOf } from '../lib/mode.ts';
import { isSameTransfer, keyOf, lockTransfer, writeTransferKey } from '../payments/transfers.ts';
import { lookForReturn, type ReturnSight } from './lookup.ts';
import { claimReturns, type DueReturn, deleteReplaced, isReplaced, putOffReturn } from './queue-store.ts';
import { shareReturn } from './share.ts';
import { lockGroup, type ReturnState, selectGroup, updateGiven, updateRecalled, updateReturn } from './store.ts';

const passSize = 20;
/** What no endpoint has known for so long was most likely never sent. */
const missingAfterMs = dayMs;

/**
 * Looks again for transactions that gave payments back, until each is final, however late.
 *
 * @returns how many were looked for
 */
export async function followReturns(ctx: Context): Promise<number> {
  const claimed = await Promise.all([
    claimReturns(ctx.db, 'returns', passSize),
    claimReturns(ctx.db, 'returns_replaced', passSize),
  ]);
  const rows = claimed.flat();
  const seen = await Promise.all(rows.map((row) => unlessItFails(ctx, row, () => look(ctx, row))));
  await Promise.all(
    groupsOf(seen.filter((one) => one !== null)).map((group) =>
      unlessItFails(ctx, group[0].row, () => follow(ctx, group)),
    ),
  );
  return rows.length;
}

/** One that cannot be followed must not hold up the others. */
async function unlessItFails<T>(ctx: Context, row: DueReturn, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!isConflict(error)) ctx.log.error({ err: error, transfer: keyOf(row) }, 'a return could not be followed');
    return null;
  }
}

/** A note, and what the chain says of its transaction. */
type Seen = { row: DueReturn; sight: ReturnSight };

async function look(ctx: Context, row: DueReturn): Promise<Seen | null> {
  const chain = ctx.chains[modeOf(row.test_mode)].find(({ chainId }) => String(chainId) === row.chain_id);
  if (!chain) return null;
  const sight = await lookForReturn(ctx, chain, {
    returnTxHash: row.return_tx_hash,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    usdcMicro: BigInt(row.usdc_micro),
    sinceBlock: Number(row.block_number ?? 0),
  });
  return sight.kind === 'unavailable' ? null : { row, sight };
}

/** Notes that share what one transaction moved are settled together: its money is shared out once, however many are due. */
function groupsOf(seen: Seen[]): [Seen, ...Seen[]][] {
  const groups = new Map<string, [Seen, ...Seen[]]>();
  for (const one of seen) {
    const { row, sight } = one;
    const alone = row.state === 'kept' || row.state === 'replaced';
    const own = alone ? [row.state, row.tx_hash, row.ordinal] : [];
    const moved = sight.kind === 'gives' ? [sight.movedMicro, sight.minedIn] : [sight.kind];
    const key = [row.partner_id, row.test_mode, ...Object.values(groupOf(row)), ...moved, ...own].join();
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return [...groups.values()];
}

async function follow(ctx: Context, group: [Seen, ...Seen[]]): Promise<void> {
  const [{ row: first, sight }] = group;
  const scope = scopeOfRow(first);
  if (sight.kind === 'unknown') {
    await ctx.db.scoped(scope, async (tx) => {
      for (const { row } of group) await putOffReturn(tx, scope, row);
    });
  }
  if (first.state === 'kept') return followKept(ctx, scope, first, sight);
  if (first.state === 'replaced') return followReplaced(ctx, scope, first, sight);
  await ctx.db.scoped(scope, (tx) => settle(tx, scope, group, ctx.clock.now()));
}

/** Stores what a look told of payments that are taken and share a transaction. */
async function settle(tx: Tx, scope: Scope, seen: [Seen, ...Seen[]], now: Date): Promise<void> {
  const [{ row: first, sight: common }] = seen;
  const group = groupOf(first);
  await lockGroup(tx, scope, group);
  if (common.kind !== 'gives') {
    for (const { row, sight } of seen) {
      await moveTo(tx, scope, row, withoutShare(sight, now.getTime() - row.noted_at.getTime()));
    }
    const nothing = seen.map(({ row }) => ({ key: keyOf(row), micro: 0n }));
    return updateGiven(tx, scope, group, nothing);
  }
  const rows = await selectGroup(tx, scope, group, common.minedIn);
  const micros = shareReturn(
    common.movedMicro,
    rows.map(({ usdc_micro }) => ({ usdcMicro: BigInt(usdc_micro) })),
  );
  const shares = rows.map((row, index) => ({ key: keyOf(row), micro: micros[index] ?? 0n }));
  await updateGiven(tx, scope, group, shares);
  for (const { row, sight } of seen) {
    const share = shares.find(({ key }) => isSameTransfer(key, keyOf(row)));
    const done = share && share.micro > 0n ? 'confirmed' : 'other';
    await moveTo(tx, scope, row, 'final' in sight && sight.final ? done : 'sent');
  }
}

function withoutShare(sight: ReturnSight, ageMs: number): ReturnState {
  if (sight.kind === 'unknown') return ageMs < missingAfterMs ? 'sent' : 'missing';
  if (sight.kind === 'other' || sight.kind === 'failed') return sight.final ? sight.kind : 'sent';
  return 'sent';
}

/**
 * A transaction that turns up after its payment was put back: where nothing has bound it since, it is taken again; where
 * something has, its money was given twice, which is for the operator. Money that is others' changes nothing.
 */
async function followKept(ctx: Context, scope: Scope, row: DueReturn, sight: ReturnSight): Promise<void> {
  const twice = await ctx.db.scoped(scope, (tx) => settleKept(tx, scope, row, sight));
  if (twice === null) return;
  const { boundTo: requestId } = twice;
  await raiseAlarm(ctx.db.sql, { kind: 'returned-bound', subject: requestId, details: { requestId } });
  if (!twice.final) return;
  await ctx.db.scoped(scope, async (tx) => {
    await updateGiven(tx, scope, groupOf(row), [{ key: keyOf(row), micro: twice.micro }]);
    await moveTo(tx, scope, row, 'confirmed');
  });
}

/** The request that a payment was bound to after it was put back, and what was given back of it all the same. */
type GivenTwice = { boundTo: string; micro: bigint; final: boolean };

/** Returns null where nothing was given twice. */
async function settleKept(tx: Tx, scope: Scope, row: DueReturn, sight: ReturnSight): Promise<GivenTwice | null> {
  if (sight.kind === 'failed' || sight.kind === 'other') {
    if (sight.final) await updateReturn(tx, scope, row, 'kept');
    return null;
  }
  if (sight.kind === 'unknown') return null;
  const transfer = await lockTransfer(tx, scope, keyOf(row), null);
  const micro = sight.kind === 'gives' ? await shareOfLate(tx, scope, row, sight) : null;
  if (sight.kind === 'gives' && micro === 0n) {
    if (sight.final) await updateReturn(tx, scope, row, 'kept');
    return null;
  }
  if (transfer && transfer.request_id !== row.request_id) {
    if (transfer.request_id === null || sight.kind !== 'gives' || micro === null) return null;
    return { boundTo: transfer.request_id, micro, final: sight.final };
  }
  await moveTo(tx, scope, row, 'sent');
  return null;
}

/**
 * A transaction that turns up after another was noted in its place: where nothing else is seen to have given its payment back
 * it is noted again; otherwise the payer has the money twice, or the payment is bound: that is for the operator.
 */
async function followReplaced(ctx: Context, scope: Scope, row: DueReturn, sight: ReturnSight): Promise<void> {
  if (!('final' in sight)) return;
  const isTwice = await ctx.db.scoped(scope, (tx) => settleReplaced(tx, ctx, scope, row, sight));
  if (!isTwice) return;
  const payment = writeTransferKey(keyOf(row));
  await raiseAlarm(ctx.db.sql, { kind: 'returned-twice', subject: payment, details: { payment } });
  if (sight.final) await ctx.db.scoped(scope, (tx) => deleteReplaced(tx, scope, row));
}

/** Returns true where its money was given twice. */
async function settleReplaced(
  tx: Tx,
  ctx: Context,
  scope: Scope,
  row: DueReturn,
  sight: Extract<ReturnSight, { final: boolean }>,
): Promise<boolean> {
  const key = keyOf(row);
  const transfer = await lockTransfer(tx, scope, key, null);
  if (!(await isReplaced(tx, scope, row))) return false;
  if (sight.kind !== 'gives' || (await shareOfLate(tx, scope, row, sight)) === 0n) {
    if (sight.final) await deleteReplaced(tx, scope, row);
    return false;
  }
  if (transfer && transfer.request_id !== row.request_id) return true;
  const note = { returnTxHash: row.return_tx_hash, state: 'sent' as const, notedAt: ctx.clock.now() };
  return !(await updateRecalled(tx, scope, key, note));
}

/** What of a transaction's money is for a payment that is not taken for it any more: of what those leave that are. */
async function shareOfLate(
  tx: Tx,
  scope: Scope,
  row: DueReturn,
  { movedMicro, minedIn }: Extract<ReturnSight, { kind: 'gives' }>,
): Promise<bigint> {
  const group = groupOf(row);
  await lockGroup(tx, scope, group);
  const rows = await selectGroup(tx, scope, group, minedIn, 'also kept');
  const isOwn = (other: Parameters<typeof keyOf>[0]) => isSameTransfer(keyOf(other), keyOf(row));
  const all = row.state === 'replaced' ? [...rows.filter((other) => !isOwn(other)), row] : rows;
  const micros = shareReturn(
    movedMicro,
    all.map(({ usdc_micro }) => ({ usdcMicro: BigInt(usdc_micro) })),
  );
  return micros[all.findIndex(isOwn)] ?? 0n;
}

async function moveTo(tx: Tx, scope: Scope, row: DueReturn, state: ReturnState): Promise<void> {
  if (state !== row.state) await updateReturn(tx, scope, row, state);
}

const groupOf = (row: DueReturn) => ({
  chainId: Number(row.chain_id),
  returnTxHash: row.return_tx_hash,
  tokenAddress: row.token_address,
  fromAddress: row.from_address,
  toAddress: row.to_address,
});
