import type { FinalityTier } from '../chain/config.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { readRequest } from '../requests/read.ts';
import { type ChainView, readChainView, standsFinal } from './heads.ts';
import { sumMicro } from './rules.ts';
import { selectCounted, type TransferKey, type TransferRow } from './store.ts';

/** How far one transfer has come. */
export type TransferProgress = TransferKey & {
  fromAddress: string;
  usdcMicro: bigint;
  blockTime: Date;
  /** Blocks read since and with its own. */
  confirmations: number;
  /** How many make it final; null where the chain says so by a tag. */
  neededConfirmations: number | null;
  final: boolean;
};

/** How far the payment of a request has come. */
export type PaymentProgress = {
  proofStatus: 'none' | 'attached' | 'verified';
  /** Why a proof was taken back. */
  proofNote: string | null;
  dueMicro: bigint;
  receivedMicro: bigint;
  /** 0n when it is paid in full. */
  missingMicro: bigint;
  /** In the order of the chain. */
  transfers: TransferProgress[];
};

/**
 * What pages and dashboards show of a payment under way.
 *
 * @throws Refusal not_found
 */
export async function readProgress(ctx: Context, scope: Scope, requestId: string): Promise<PaymentProgress> {
  const request = await readRequest(ctx.db, scope, requestId);
  const [counted, view] = await ctx.db.scoped(scope, (tx) =>
    Promise.all([selectCounted(tx, scope, request.id), readChainView(ctx, tx, scope.testMode)]),
  );
  const dueMicro = BigInt(request.usdc_micro);
  const receivedMicro = sumMicro(counted);
  return {
    proofStatus: request.proof_status,
    proofNote: request.proof_note,
    dueMicro,
    receivedMicro,
    missingMicro: receivedMicro >= dueMicro ? 0n : dueMicro - receivedMicro,
    transfers: counted.map((row) => describe(row, dueMicro, view)),
  };
}

function describe(row: TransferRow, dueMicro: bigint, view: ChainView): TransferProgress {
  const found = view.get(Number(row.chain_id));
  const tier = found?.chain.finality.find(applies(dueMicro));
  const latest = found?.heads?.latest ?? Number(row.block_number);
  return {
    chainId: Number(row.chain_id),
    txHash: row.tx_hash,
    ordinal: row.ordinal,
    fromAddress: row.from_address,
    usdcMicro: BigInt(row.value),
    blockTime: row.block_time,
    confirmations: Math.max(0, latest - Number(row.block_number) + 1),
    neededConfirmations: tier && 'confirmations' in tier ? tier.confirmations : null,
    final: row.final_at !== null || standsFinal(row, dueMicro, view),
  };
}

/** As `isFinal` chooses the tier. */
const applies =
  (dueMicro: bigint) =>
  ({ upToUsdcMicro }: FinalityTier) =>
    upToUsdcMicro === null || dueMicro <= upToUsdcMicro;
