import { tierOf } from '../../chain/finality.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { findRequest } from '../../requests/read.ts';
import { type RestRow, selectRests } from '../../requests/reserved-rests.ts';
import type { RequestRow } from '../../requests/store.ts';
import { undoubtedMicroOf } from '../reserve-rest.ts';
import { minPartMicro, type Reason, restMicro, sumMicro, surpluses } from '../rules.ts';
import { selectCandidates } from '../store.ts';
import { keyOf, selectCounted, type TransferKey, type TransferRow } from '../transfers.ts';
import { findNearMatches, type NearMatch } from '../unmatched/near-matches.ts';
import { type ChainView, readChainView, standsFinal } from './heads.ts';

/** How far one transfer has come. */
export type TransferProgress = TransferKey & {
  tokenAddress: string;
  fromAddress: string;
  usdcMicro: bigint;
  blockTime: Date;
  /** Blocks read since and with its own. */
  confirmations: number;
  /** How many make it final; null if a block tag of the chain decides. */
  neededConfirmations: number | null;
  final: boolean;
};

/** A transfer probably meant for the request that does not count: late, second, or after a cancellation. */
export type UnmatchedProgress = TransferProgress & { reason: Reason };

/** How far the payment of a request has come. */
export type PaymentProgress = {
  proofStatus: 'none' | 'attached' | 'verified';
  dueMicro: bigint;
  receivedMicro: bigint;
  /** The sum without what endpoints have failed to confirm for long. */
  undoubtedMicro: bigint;
  /**
   * The amount to pay now. After a partial payment that is large enough: the rest, with the surcharge that identifies
   * it.
   */
  asked: { micro: bigint; isRest: boolean; isReserved: boolean };
  /** 0n when it is paid in full. */
  missingMicro: bigint;
  /** The surplus over the amount due, from transfers that count and are final; otherwise 0n. */
  overpaidMicro: bigint;
  /** Those that count, in the order of the chain. */
  transfers: TransferProgress[];
  /** The share of each in `overpaidMicro`, the largest first. */
  surpluses: (TransferKey & { fromAddress: string; micro: bigint })[];
  /** The newest first, at most 20. */
  unmatched: UnmatchedProgress[];
  /**
   * Payments that may be meant for it, judged by time and amount alone. `findNearMatches` says whom they may be shown
   * to.
   */
  near: NearMatch[];
};

/**
 * What pages and dashboards show about a payment in progress, read in one round trip. Only this function counts
 * confirmations.
 *
 * @throws Refusal not_found
 */
export async function readProgress(ctx: Context, scope: Scope, requestId: string): Promise<PaymentProgress> {
  if (!isUuid(requestId)) throw refuse('not_found');
  const [request, counted, candidates, near, rests, view] = await ctx.db.scoped(scope, (tx) =>
    Promise.all([
      findRequest(tx, scope, requestId),
      selectCounted(tx, scope, requestId),
      selectCandidates(tx, scope, requestId),
      findNearMatches(tx, scope, requestId),
      selectRests(tx, scope, requestId),
      readChainView(ctx, tx, scope.testMode),
    ]),
  );
  if (!request) throw refuse('not_found');
  const dueMicro = BigInt(request.usdc_micro);
  const receivedMicro = sumMicro(counted);
  const beyondMicro = receivedMicro - dueMicro;
  const settled = counted.filter(({ final_at }) => final_at !== null);
  const overMicro = sumMicro(settled) - dueMicro;
  // The surcharge that identifies a rest is below one cent, and does not count as overpaid.
  const minOverMicro = counted.length > 1 ? minPartMicro : 1n;
  const overpaidMicro = overMicro >= minOverMicro ? overMicro : 0n;
  const undoubtedMicro = undoubtedMicroOf(counted);
  return {
    proofStatus: request.proof_status,
    dueMicro,
    receivedMicro,
    undoubtedMicro,
    asked: askedOf(request, undoubtedMicro, rests),
    missingMicro: beyondMicro < 0n ? -beyondMicro : 0n,
    overpaidMicro,
    transfers: counted.map((row) => describe(row, dueMicro, view)),
    surpluses: overpaidMicro === 0n ? [] : surplusesOf(counted, request),
    unmatched: candidates.map((row) => ({ ...describe(row, dueMicro, view), reason: row.reason ?? 'no_match' })),
    near,
  };
}

function surplusesOf(counted: readonly TransferRow[], request: RequestRow): PaymentProgress['surpluses'] {
  return surpluses(counted, BigInt(request.usdc_micro), request.proof_verified_at)
    .map(({ transfer, micro }) => ({ ...keyOf(transfer), fromAddress: transfer.from_address, micro }))
    .filter(({ micro }) => micro > 0n)
    .sort((a, b) => (a.micro < b.micro ? 1 : a.micro > b.micro ? -1 : 0));
}

function askedOf(
  { usdc_micro, reserved }: RequestRow,
  undoubtedMicro: bigint,
  rests: RestRow[],
): PaymentProgress['asked'] {
  const rest = restMicro(BigInt(usdc_micro), undoubtedMicro);
  if (rest === null) return { micro: BigInt(usdc_micro), isRest: false, isReserved: reserved };
  const held = rests.find(({ rest_micro }) => BigInt(rest_micro) === rest);
  return { micro: held ? BigInt(held.usdc_micro) : rest, isRest: true, isReserved: held !== undefined };
}

function describe(row: TransferRow, dueMicro: bigint, view: ChainView): TransferProgress {
  const found = view.get(Number(row.chain_id));
  const tier = found && tierOf(found.chain.finality, dueMicro);
  const latest = found?.heads?.latest ?? Number(row.block_number);
  return {
    chainId: Number(row.chain_id),
    txHash: row.tx_hash,
    ordinal: row.ordinal,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    usdcMicro: BigInt(row.value),
    blockTime: row.block_time,
    confirmations: Math.max(0, latest - Number(row.block_number) + 1),
    neededConfirmations: tier && 'confirmations' in tier ? tier.confirmations : null,
    final: row.final_at !== null || standsFinal(row, dueMicro, view),
  };
}
