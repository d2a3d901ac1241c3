import { scopeOfRow } from '../../auth/scope.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isConflict } from '../../db/conflict.ts';
import type { Scope } from '../../db/connection.ts';
import { lockForProof } from '../../requests/proof.ts';
import { completeProofs } from '../complete.ts';
import { countDenials, postpone, postponeBriefly, selectUnsettled } from '../queue-store.ts';
import { reserveRest } from '../rest.ts';
import { isDoubted, lockTransfers, updateFinals, updateRematch } from '../store.ts';
import { selectCounted, type TransferRow } from '../transfers.ts';
import { type CrossCheck, crossCheck, emptyCrossCheck } from './cross-check.ts';
import { needsCrossCheck, readChainView, readHeads, standsFinal } from './heads.ts';
import { removeDenied } from './remove-denied.ts';
import { updateUnconfirmedAlarm } from './unconfirmed-alarm.ts';

/** Per chain and pass; what is left comes in the next one. */
const passSize = 200;
/** So long are endpoints asked in one pass. */
const crossCheckMs = 5_000;

/**
 * Verifies what has become final: marks transfers as final, and verifies each request that final transfers pay in full,
 * with its event in the same transaction. Where a chain has two endpoints, both must agree on a transfer first.
 *
 * @param chains processed side by side; all chains by default
 * @returns how many requests were verified
 */
export async function settle(ctx: Context, chains = [...ctx.chains.test, ...ctx.chains.live]): Promise<number> {
  let verified = 0;
  for (const count of await Promise.all(chains.map((chain) => settleChain(ctx, chain)))) verified += count;
  return verified;
}

async function settleChain(ctx: Context, chain: ChainConfig): Promise<number> {
  const heads = await readHeads(ctx.db.sql, chain.chainId);
  const final = heads ? await selectUnsettled(ctx.db, chain, heads, passSize) : [];
  const checks = await confirmAll(ctx, chain, final);
  const agreed = final.filter((row) => checks.agreed.has(row));
  let verified = 0;
  for (const [requestId, own] of Map.groupBy(agreed, (row) => row.request_id)) {
    if (requestId === null || !own[0]) continue;
    const scope = scopeOfRow(own[0]);
    try {
      if (await settleRequest(ctx, scope, requestId, own)) verified++;
    } catch (error) {
      if (isConflict(error)) continue;
      // One request that cannot be settled must not hold up the others.
      ctx.log.error({ err: error, request_id: requestId }, 'a request could not be settled');
      await postpone(ctx.db, own, 'unsettled');
    }
  }
  if (needsCrossCheck(chain)) await updateUnconfirmedAlarm(ctx, chain, checks.away || checks.doubted.length > 0);
  return verified;
}

/** Where a chain has one endpoint only, that one has told all already. */
async function confirmAll(ctx: Context, chain: ChainConfig, rows: TransferRow[]): Promise<CrossCheck> {
  const checks = emptyCrossCheck();
  if (!needsCrossCheck(chain)) return { ...checks, agreed: new Set(rows) };
  await crossCheck(chain, rows, crossCheckMs, checks);
  await postpone(ctx.db, checks.doubted, 'unsettled');
  const denied = [...checks.denied.keys()];
  const others = [...checks.agreed, ...checks.doubted, ...checks.unheard].filter((row) => !checks.denied.has(row));
  await countDenials(ctx.db, denied, true);
  await countDenials(ctx.db, others, false);
  await removeDenied(ctx, chain, denied);
  await rematchSeconds(ctx, checks.doubted);
  // Should one of them have driven the endpoint away, it does not come first again.
  await postponeBriefly(ctx.db, checks.unheard);
  return checks;
}

/**
 * What came second for a request whose first payment is long doubted may pay it: it is matched anew. Where a part is
 * doubted, more is left to pay.
 */
async function rematchSeconds(ctx: Context, doubted: readonly TransferRow[]): Promise<void> {
  const late = doubted.filter((row) => isDoubted({ ...row, looks: row.looks + 1 }));
  for (const [requestId, [row]] of Map.groupBy(late, (one) => one.request_id)) {
    if (requestId === null || !row) continue;
    const scope = scopeOfRow(row);
    await ctx.db.scoped(scope, async (tx) => {
      const request = await lockForProof(tx, scope, requestId);
      if (request?.proof_status === 'attached') await updateRematch(tx, scope, requestId);
      else if (request) await reserveRest(tx, scope, request, await selectCounted(tx, scope, requestId));
    });
  }
}

/** Everything is checked again under the locks: the chain may have changed while the endpoints were asked. */
function settleRequest(ctx: Context, scope: Scope, requestId: string, agreed: TransferRow[]): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    const request = await lockForProof(tx, scope, requestId);
    if (!request) return false;
    const counted = await lockTransfers(tx, scope, requestId, null);
    const view = await readChainView(ctx, tx, scope.testMode);
    const due = BigInt(request.usdc_micro);
    const isAgreed = (row: TransferRow) =>
      standsFinal(row, due, view) && agreed.some((other) => isSameBlock(other, row));
    const settled = counted.filter((row) => row.final_at !== null || isAgreed(row));
    // What cannot be settled holds back nothing that suffices without it.
    const attached = request.proof_status === 'attached';
    if (attached && (await completeProofs(tx, ctx, [{ request, settled }])).size > 0) return true;
    const now = ctx.clock.now();
    await updateFinals(
      tx,
      settled.filter((row) => !row.final_at).map((row) => ({ row, at: now })),
    );
    return false;
  });
}

function isSameBlock(a: TransferRow, b: TransferRow): boolean {
  return (
    a.chain_id === b.chain_id && a.tx_hash === b.tx_hash && a.ordinal === b.ordinal && a.block_hash === b.block_hash
  );
}
