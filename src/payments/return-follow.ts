import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { raiseAlarm } from '../db/alarms.ts';
import { isBusy } from '../db/busy.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { lockTransfer } from './merchant-store.ts';
import { lookForReturn, type ReturnSight } from './return-look.ts';
import { shareReturn } from './return-share.ts';
import {
  claimReturns,
  type DueReturn,
  lockGroup,
  putOffReturn,
  type ReturnState,
  selectGroup,
  updateGiven,
  updateReturn,
} from './return-store.ts';
import { isSameTransfer, keyOf } from './store.ts';

const passSize = 20;
/** What no endpoint has known for so long was most likely never sent. */
const missingAfterMs = 24 * 3_600_000;

/**
 * Looks again for transactions that gave payments back, until each is final, however late.
 *
 * @returns how many were looked for
 */
export async function followReturns(ctx: Context): Promise<number> {
  const rows = await claimReturns(ctx.db, passSize);
  await Promise.all(
    rows.map(async (row) => {
      try {
        await follow(ctx, row);
      } catch (error) {
        // One that cannot be followed must not hold up the others.
        if (!isBusy(error)) ctx.log.error({ err: error, transfer: keyOf(row) }, 'a return could not be followed');
      }
    }),
  );
  return rows.length;
}

async function follow(ctx: Context, row: DueReturn): Promise<void> {
  const chain = ctx.chains[row.test_mode ? 'test' : 'live'].find(({ chainId }) => String(chainId) === row.chain_id);
  if (!chain) return;
  const sight = await lookForReturn(ctx, row.test_mode, chain, {
    returnTxHash: row.return_tx_hash,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    usdcMicro: BigInt(row.usdc_micro),
    sinceBlock: Number(row.block_number ?? 0),
  });
  if (sight.kind === 'unavailable') return;
  const scope = scopeOfRow(row);
  if (sight.kind === 'unknown') await ctx.db.scoped(scope, (tx) => putOffReturn(tx, scope, row));
  if (row.state === 'kept') return followKept(ctx, scope, row, sight);
  const ageMs = ctx.clock.now().getTime() - row.noted_at.getTime();
  await ctx.db.scoped(scope, (tx) => settle(tx, scope, row, sight, ageMs));
}

/** Stores what a look told of a payment that is taken. */
async function settle(tx: Tx, scope: Scope, row: DueReturn, sight: ReturnSight, ageMs: number): Promise<void> {
  const key = keyOf(row);
  const group = groupOf(row);
  await lockGroup(tx, scope, group);
  if (sight.kind !== 'gives') {
    await moveTo(tx, scope, row, withoutShare(sight, ageMs));
    return updateGiven(tx, scope, key, row.return_tx_hash, null);
  }
  const rows = await selectGroup(tx, scope, group, sight.minedIn);
  const shares = shareReturn(
    sight.movedMicro,
    rows.map(({ usdc_micro }) => ({ usdcMicro: BigInt(usdc_micro) })),
  );
  let ownMicro = 0n;
  for (const [index, other] of rows.entries()) {
    const micro = shares[index] ?? 0n;
    await updateGiven(tx, scope, keyOf(other), row.return_tx_hash, micro === 0n ? null : micro);
    if (isSameTransfer(keyOf(other), key)) ownMicro = micro;
  }
  const done = ownMicro === 0n ? 'other' : 'confirmed';
  await moveTo(tx, scope, row, sight.final ? done : 'sent');
}

function withoutShare(sight: ReturnSight, ageMs: number): ReturnState {
  if (sight.kind === 'unknown') return ageMs < missingAfterMs ? 'sent' : 'missing';
  if (sight.kind === 'other' || sight.kind === 'failed') return sight.final ? sight.kind : 'sent';
  return 'sent';
}

/**
 * A transaction that turns up after its payment was put back: where nothing has bound it since, it is taken again; where
 * something has, its money was given twice, which is for the operator.
 */
async function followKept(ctx: Context, scope: Scope, row: DueReturn, sight: ReturnSight): Promise<void> {
  const boundTo = await ctx.db.scoped(scope, (tx) => settleKept(tx, scope, row, sight));
  if (boundTo === null || sight.kind !== 'gives') return;
  const message = `The payment of request ${boundTo} was given back by a transaction that turned up late; its money must be checked by hand.`;
  await raiseAlarm(ctx.db.sql, `returned-bound-${boundTo}`, message);
  if (!sight.final) return;
  await ctx.db.scoped(scope, async (tx) => {
    await updateGiven(tx, scope, keyOf(row), row.return_tx_hash, sight.movedMicro);
    await moveTo(tx, scope, row, 'confirmed');
  });
}

/** Returns the request that the payment was bound to meanwhile; null for none. */
async function settleKept(tx: Tx, scope: Scope, row: DueReturn, sight: ReturnSight): Promise<string | null> {
  if (sight.kind === 'failed' || sight.kind === 'other') {
    if (sight.final) await updateReturn(tx, scope, row, 'kept');
    return null;
  }
  if (sight.kind === 'unknown') return null;
  const transfer = await lockTransfer(tx, scope, keyOf(row), null);
  if (transfer && transfer.request_id !== row.request_id) return transfer.request_id;
  await moveTo(tx, scope, row, 'sent');
  return null;
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
