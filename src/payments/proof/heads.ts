import type { SeenTransfer } from '../../chain/confirm.ts';
import { type CursorRow, selectCursors } from '../../chain/cursors.ts';
import { type Heads, isFinal } from '../../chain/finality.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Sql, Tx } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import { toTransfer } from '../store.ts';
import type { TransferRow } from '../transfers.ts';

/** The chains of a mode and how far each was read; a chain that was never read has no heads. */
export type ChainView = Map<number, { chain: ChainConfig; heads: Heads | null }>;

/** The chains of a mode as configured, each with how far it was read. */
export async function readChainView(ctx: Context, sql: Sql | Tx, testMode: boolean): Promise<ChainView> {
  const chains = ctx.chains[modeOf(testMode)];
  const cursors = await selectCursors(
    sql,
    chains.map(({ chainId }) => chainId),
  );
  return new Map(
    chains.map((chain) => {
      const row = cursors.find(({ chain_id }) => Number(chain_id) === chain.chainId);
      return [chain.chainId, { chain, heads: row ? toHeads(row) : null }];
    }),
  );
}

/** How far one chain was read; null when it never was. */
export async function readHeads(sql: Sql, chainId: number): Promise<Heads | null> {
  const [row] = await selectCursors(sql, [chainId]);
  return row ? toHeads(row) : null;
}

function toHeads(row: CursorRow): Heads {
  const tag = (value: string | null) => (value === null ? null : Number(value));
  return { latest: Number(row.number), safe: tag(row.safe_number), finalized: tag(row.finalized_number) };
}

/** Whether a transfer can no longer be reorganised away, for a request of this amount. */
export function standsFinal(row: TransferRow, usdcMicro: bigint, view: ChainView): boolean {
  const found = view.get(Number(row.chain_id));
  return !!found?.heads && isFinal(Number(row.block_number), usdcMicro, found.chain.finality, found.heads);
}

/** Whether several endpoints must confirm a transfer before it proves anything. */
export function needsCrossCheck(chain: ChainConfig): boolean {
  return chain.rpcUrls.length > 1;
}

/**
 * A transfer with everything that must be the same at every endpoint. A signature or a merchant's decision counts
 * whatever else the transaction says. An authorization or charge counts whatever the calldata says. Calldata that no
 * endpoint returned when it was read proved nothing.
 */
export function asSeen(row: TransferRow): SeenTransfer {
  const isDecided = row.rule === 'claim' || row.rule === 'merchant';
  const isBound = row.rule === 'authorization' || row.rule === 'charge';
  const { authorizationNonce, chargedReference } = toTransfer(row);
  return {
    txHash: row.tx_hash,
    ordinal: row.ordinal,
    blockNumber: Number(row.block_number),
    logIndex: row.log_index,
    blockHash: row.block_hash,
    blockTime: row.block_time,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    value: BigInt(row.value),
    calldata: isDecided || isBound || !row.calldata_read ? null : { reference: toTransfer(row).reference },
    bindings: isDecided || !row.logs_read ? null : { authorizationNonce, chargedReference },
  };
}
