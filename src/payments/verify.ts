import { scopeOfRow } from '../auth/scope.ts';
import type { ChainConfig } from '../chain/config.ts';
import { confirmTransfer } from '../chain/confirm.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { lockForProof } from '../requests/proof.ts';
import { isBusy } from './busy.ts';
import { completeProof } from './complete.ts';
import { asSeen, needsSecondOpinion, readChainView, standsFinal } from './heads.ts';
import { noteOpinions } from './opinion-alarm.ts';
import { lockTransfers, selectUnsettled, type TransferRow, updateFinal } from './store.ts';

/** Per chain and pass; what is left comes in the next one. */
const passSize = 200;

/**
 * Settles what has become final: marks transfers as final, and verifies each request that final ones pay in full, with
 * its event in the same transaction. Where a chain has two endpoints, both must agree on a transfer first.
 *
 * @returns how many requests were verified
 */
export async function settle(ctx: Context): Promise<number> {
  let verified = 0;
  // Side by side: an endpoint that does not answer delays its own chain only.
  const chains = [...ctx.chains.test, ...ctx.chains.live];
  for (const count of await Promise.all(chains.map((chain) => settleChain(ctx, chain)))) verified += count;
  return verified;
}

async function settleChain(ctx: Context, chain: ChainConfig): Promise<number> {
  const rows = await selectUnsettled(ctx.db, chain.chainId, passSize);
  const [first] = rows;
  const view = first ? await readChainView(ctx, ctx.db.sql, first.test_mode) : null;
  const final = view ? rows.filter((row) => standsFinal(row, BigInt(row.usdc_micro), view)) : [];
  const agreed = await confirmAll(ctx, chain, final);
  let verified = 0;
  for (const [requestId, own] of Map.groupBy(agreed, (row) => row.request_id)) {
    if (requestId === null || !own[0]) continue;
    const scope = scopeOfRow(own[0]);
    try {
      if (await settleRequest(ctx, scope, requestId, own)) verified++;
    } catch (error) {
      // One request that cannot be settled must not hold up the others.
      if (!isBusy(error)) ctx.log.error({ err: error, request_id: requestId }, 'a request could not be settled');
    }
  }
  return verified;
}

/** The transfers that both endpoints of the chain agree on; all of them where there is only one. */
async function confirmAll(ctx: Context, chain: ChainConfig, rows: TransferRow[]): Promise<TransferRow[]> {
  if (!needsSecondOpinion(chain)) return rows;
  const agreed: TransferRow[] = [];
  let waiting = false;
  for (const row of rows) {
    const opinion = await confirmTransfer(chain, asSeen(row));
    if (opinion === 'agreed') agreed.push(row);
    else waiting = true;
    // The others would wait for the same endpoint, and each for its full time.
    if (opinion === 'unavailable') break;
  }
  await noteOpinions(ctx, chain, waiting);
  return agreed;
}

/** Everything is looked at again under the locks: the chain may have changed its mind while the endpoints were asked. */
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
    if (request.proof_status === 'attached' && settled.length === counted.length) {
      if (await completeProof(tx, ctx, scope, request, counted)) return true;
    }
    for (const row of settled) if (!row.final_at) await updateFinal(tx, scope, row, ctx.clock.now());
    return false;
  });
}

function isSameBlock(a: TransferRow, b: TransferRow): boolean {
  return (
    a.chain_id === b.chain_id && a.tx_hash === b.tx_hash && a.ordinal === b.ordinal && a.block_hash === b.block_hash
  );
}
