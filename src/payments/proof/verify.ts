import { scopeOfRow } from '../../auth/scope.ts';
import { allChains, type ChainConfig, isTestChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isConflict } from '../../db/conflict.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { type Since, wholeQueue } from '../../db/due.ts';
import { chunksOf } from '../../lib/chunks.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { lockForProof } from '../../requests/proof.ts';
import { lockBatch } from '../batches/lock.ts';
import { batchSize, reportBatch } from '../batches/report.ts';
import { completeProofs } from '../complete.ts';
import type { LockedRequest } from '../decide.ts';
import { countDenials, postpone, postponeBriefly, postponeYoung, selectUnsettled } from '../queue-store.ts';
import { reserveRest } from '../reserve-rest.ts';
import { isDoubted, lockTransfers, updateFinals, updateRematch } from '../store.ts';
import { keyOf, selectCounted, type TransferRow, writeTransferKey } from '../transfers.ts';
import { type CrossCheck, crossCheck, emptyCrossCheck } from './cross-check.ts';
import { needsCrossCheck, readChainView, readHeads, standsFinal } from './heads.ts';
import { removeDenied } from './remove-denied.ts';
import { rereadMoved } from './reread-moved.ts';
import { updateUnconfirmedAlarm } from './unconfirmed-alarm.ts';

/** Per chain and pass; the next pass takes the rest. */
const passSize = 500;
/** No request is in two batches of a pass, so they need not wait for each other. */
const batchesAtOnce = 2;
/** How long endpoints are queried in one pass. */
const crossCheckMs = 5_000;

/**
 * Verifies what has become final: marks transfers as final, and verifies each request that final transfers pay in full,
 * with its event in the same transaction. If a chain has several endpoints, all must confirm a transfer first.
 *
 * @param chains processed side by side; all chains by default
 * @param since from when on transfers that wait are read
 * @returns how many requests were verified
 */
export async function verifyFinal(ctx: Context, chains = allChains(ctx.chains), since = wholeQueue): Promise<number> {
  let verified = 0;
  for (const count of await Promise.all(chains.map((chain) => verifyChain(ctx, chain, since())))) verified += count;
  return verified;
}

async function verifyChain(ctx: Context, chain: ChainConfig, since: Since): Promise<number> {
  const heads = await readHeads(ctx.db.sql, chain.chainId);
  const own = { ...chain, testMode: isTestChain(ctx.chains, chain) };
  const final = heads ? await selectUnsettled(ctx.db, own, heads, passSize, since) : [];
  const checks = await confirmAll(ctx, chain, final);
  const agreed = final.filter((row) => checks.agreed.has(row));
  const groups = [...Map.groupBy(agreed, (row) => row.request_id)].flatMap(([requestId, own]): Agreed[] =>
    requestId !== null && own[0] ? [{ requestId, scope: scopeOfRow(own[0]), own }] : [],
  );
  let verified = 0;
  const left: Agreed[] = [];
  await mapLimited(chunksOf(groups, batchSize), batchesAtOnce, async (batch) => {
    const done = await verifyBatch(ctx, batch);
    verified += done.verified;
    left.push(...batch.filter(({ requestId }) => !done.settled.has(requestId)));
  });
  for (const { requestId, scope, own } of left) {
    try {
      if (await verifyRequest(ctx, scope, requestId, own)) verified++;
    } catch (error) {
      if (isConflict(error)) continue;
      // A request that cannot be settled must not delay the others.
      ctx.log.error({ err: error, request_id: requestId }, 'a request could not be settled');
      await postpone(ctx.db, own, 'unsettled');
    }
  }
  await updateUnconfirmedAlarm(ctx, chain, heads, [...checks.doubted, ...checks.young, ...checks.unheard]);
  return verified;
}

/** A transfer that has become final, with the amount due of its request. */
type Unsettled = TransferRow & { usdc_micro: string };

/** If a chain has only one endpoint, it has already reported everything. */
async function confirmAll(ctx: Context, chain: ChainConfig, rows: Unsettled[]): Promise<CrossCheck> {
  const checks = emptyCrossCheck();
  if (!needsCrossCheck(chain)) return { ...checks, agreed: new Set(rows) };
  await crossCheck(chain, rows, crossCheckMs, checks);
  await postpone(ctx.db, checks.doubted, 'unsettled');
  const denied = [...checks.denied.keys()];
  await postponeYoung(ctx.db, checks.young);
  const others = [...checks.agreed, ...checks.young, ...checks.doubted, ...checks.unheard].filter(
    (row) => !checks.denied.has(row),
  );
  await countDenials(ctx.db, denied, true);
  await countDenials(ctx.db, others, false);
  await removeDenied(ctx, chain, denied);
  const late = checks.doubted.filter((row) => isDoubted({ ...row, looks: row.looks + 1 }));
  await rematchSeconds(ctx, late);
  await rereadMoved(ctx, chain, late);
  // If one of them made the endpoint stop answering, it must not come first again.
  await postponeBriefly(ctx.db, checks.unheard);
  return checks;
}

/**
 * If the first payment of a request is doubted for long, a second one may pay the request, so it is matched again. If a
 * part is doubted, more is left to pay.
 *
 * @param late those that are doubted for long
 */
async function rematchSeconds(ctx: Context, late: readonly TransferRow[]): Promise<void> {
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

/** A request, and transfers of it that all endpoints have agreed on. */
type Agreed = { requestId: string; scope: Scope; own: TransferRow[] };

/**
 * Settles requests in one transaction over all scopes. Requests that somebody else has locked are settled one by one,
 * and so are all of them if one cannot be settled.
 */
async function verifyBatch(
  ctx: Context,
  batch: readonly Agreed[],
): Promise<{ settled: ReadonlySet<string>; verified: number }> {
  const agreed = batch.flatMap(({ own }) => own);
  const keys = batch.map(({ requestId, scope: { partnerId: partner_id, testMode: test_mode } }) => {
    return { partner_id, test_mode, id: requestId };
  });
  try {
    return await ctx.db.transaction(async (tx) => {
      const { requests } = await lockBatch(tx, keys, []);
      const verified = await verifyLocked(tx, ctx, [...requests.values()], agreed);
      return { settled: new Set(requests.keys()), verified };
    });
  } catch (error) {
    reportBatch(ctx, error);
    return { settled: new Set(), verified: 0 };
  }
}

function verifyRequest(ctx: Context, scope: Scope, requestId: string, agreed: TransferRow[]): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    const request = await lockForProof(tx, scope, requestId);
    if (!request) return false;
    const counted = await lockTransfers(tx, scope, requestId, null);
    return (await verifyLocked(tx, ctx, [{ request, counted }], agreed)) > 0;
  });
}

/**
 * Everything is checked again under the locks: the chain may have changed while the endpoints were asked.
 *
 * @returns how many requests were verified
 */
async function verifyLocked(
  tx: Tx,
  ctx: Context,
  held: readonly LockedRequest[],
  agreed: readonly TransferRow[],
): Promise<number> {
  const [first] = held;
  if (!first) return 0;
  const view = await readChainView(ctx, tx, first.request.test_mode);
  const inBlock = new Set(agreed.map(placeOf));
  const all = held.map(({ request, counted }) => {
    const due = BigInt(request.usdc_micro);
    const isAgreed = (row: TransferRow) => standsFinal(row, due, view) && inBlock.has(placeOf(row));
    // A transfer that cannot be settled does not delay others that suffice without it.
    return { request, counted, settled: counted.filter((row) => row.final_at !== null || isAgreed(row)) };
  });
  const attached = all.filter(({ request }) => request.proof_status === 'attached');
  const verified = await completeProofs(tx, ctx, attached);
  const [others, now] = [all.filter(({ request }) => !verified.has(request.id)), ctx.clock.now()];
  await updateFinals(
    tx,
    others.flatMap(({ counted, settled }) => {
      const at = afterFinals(counted, now);
      return settled.filter((row) => !row.final_at).map((row) => ({ row, at }));
    }),
  );
  return verified.size;
}

/**
 * The time at which further transfers of a request became final: always after those that are final already, whichever
 * node's clock set their time. This order decides who brought a surplus (`surpluses`).
 */
function afterFinals(counted: readonly TransferRow[], now: Date): Date {
  return new Date(Math.max(now.getTime(), ...counted.map(({ final_at }) => (final_at?.getTime() ?? 0) + 1)));
}

/** Identifies a transfer and the block that it is in. */
const placeOf = (row: TransferRow) => `${writeTransferKey(keyOf(row))} ${row.block_hash}`;
