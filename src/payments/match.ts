import { scopeOfRow } from '../auth/scope.ts';
import type { ChainConfig } from '../chain/config.ts';
import { confirmTransfer } from '../chain/confirm.ts';
import { finalNumber } from '../chain/finality.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { findReferenced, findReservations } from '../requests/proof.ts';
import { bind } from './bind.ts';
import { isBusy } from './busy.ts';
import { asSeen, needsSecondOpinion, readChainView } from './heads.ts';
import { type Choice, choose, flaw, type Hints, neighbourhoodMicro, type Reason, type Transfer } from './rules.ts';
import { keyOf, selectUnjudged, type TransferRow, toTransfer, updateJudged } from './store.ts';

/** Per chain and pass; what is left comes in the next one. */
const passSize = 200;

/**
 * Judges the transfers that the watcher found, oldest first: each is bound to the request it is meant for, or unmatched
 * with a reason. Any number of processes can do so at once.
 *
 * @returns how many were judged
 */
export async function judgePending(ctx: Context): Promise<number> {
  let judged = 0;
  for (const chain of [...ctx.chains.test, ...ctx.chains.live]) {
    const rows = await selectUnjudged(ctx.db, chain.chainId, passSize);
    if (rows.length > 0) judged += await judgeRows(ctx, chain, rows);
  }
  return judged;
}

async function judgeRows(ctx: Context, chain: ChainConfig, rows: TransferRow[]): Promise<number> {
  const confirm = await secondOpinion(ctx, chain, rows[0]?.test_mode ?? true);
  let judged = 0;
  for (const row of rows) {
    try {
      if (await judgeOne(ctx, chain, row, await confirm(row))) judged++;
    } catch (error) {
      // One that cannot be judged must not hold up the others.
      if (!isBusy(error)) ctx.log.error({ err: error, transfer: keyOf(row) }, 'a transfer could not be judged');
    }
  }
  return judged;
}

/** Asks two endpoints about transfers that are final at first sight, until they do not answer; the rest is settled later. */
async function secondOpinion(ctx: Context, chain: ChainConfig, testMode: boolean) {
  if (!needsSecondOpinion(chain)) return async () => true;
  const heads = (await readChainView(ctx, ctx.db.sql, testMode)).get(chain.chainId)?.heads;
  const final = heads ? finalNumber(chain.finality, heads) : -1;
  let answers = true;
  return async (row: TransferRow): Promise<boolean> => {
    if (!answers || Number(row.block_number) > final) return false;
    const opinion = await confirmTransfer(chain, asSeen(row));
    answers = opinion !== 'unavailable';
    return opinion === 'agreed';
  };
}

function judgeOne(ctx: Context, chain: ChainConfig, row: TransferRow, confirmed: boolean): Promise<boolean> {
  const scope = scopeOfRow(row);
  const transfer = toTransfer(row);
  const tokens = chain.tokens.map(({ address }) => address);
  return ctx.db.scoped(scope, async (tx) => {
    const fault = flaw(transfer, tokens);
    const choice: Choice = fault
      ? { requestId: null, reason: fault }
      : choose(transfer, await readHints(tx, scope, transfer));
    const unmatched = (reason: Reason, candidateId: string | null) =>
      updateJudged(tx, scope, row, 'unjudged', { requestId: null, candidateId, reason }, ctx.clock.now());
    if (choice.requestId === null) return unmatched(choice.reason, null);
    const { requestId, rule } = choice;
    const bound = await bind(tx, ctx, scope, { row, requestId, rule, from: 'unjudged', confirmed });
    if (bound.kind === 'refused') return unmatched(bound.reason, requestId);
    return bound.kind === 'bound';
  });
}

async function readHints(tx: Tx, scope: Scope, transfer: Transfer): Promise<Hints> {
  const aroundMicro = neighbourhoodMicro(transfer.value);
  const [referenced, reservations] = await Promise.all([
    transfer.reference === null ? null : findReferenced(tx, scope, Buffer.from(transfer.reference, 'hex')),
    findReservations(tx, scope, {
      walletAddress: transfer.to,
      fromMicro: transfer.value - aroundMicro,
      toMicro: transfer.value + aroundMicro,
    }),
  ]);
  return {
    referenced: referenced && { id: referenced.id, walletAddress: referenced.wallet_address },
    reservations: reservations.map((row) => ({
      requestId: row.request_id,
      usdcMicro: BigInt(row.usdc_micro),
      reservedAt: row.reserved_at,
      reservedUntil: row.reserved_until,
      startBlocks: row.start_blocks,
    })),
  };
}
