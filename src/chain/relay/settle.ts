import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { finalNumber } from '../finality.ts';
import { connectRpc, type Receipt, RpcError } from '../rpc.ts';
import { selectFound, selectHeads, updateEnded, updateMined } from './follow-store.ts';
import { type RelayRow, selectVariants } from './store.ts';

const timeoutMs = 4_000;

/**
 * Decides about calls whose nonce is used. What the reader has stored is taken from there; only of the rest are the
 * receipts asked for.
 *
 * @returns how many have ended
 */
export async function settleMined(ctx: Context, chain: ChainConfig, rows: readonly RelayRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { sql } = ctx.db;
  const variants = Map.groupBy(
    await selectVariants(
      sql,
      rows.map(({ id }) => id),
    ),
    ({ id }) => id,
  );
  const hashesOf = (row: RelayRow) => (variants.get(row.id) ?? []).map(({ hash }) => hash);
  const found = await selectFound(sql, chain.chainId, rows.flatMap(hashesOf));
  const heads = await selectHeads(sql, chain.chainId);
  let ended = 0;
  for (const row of rows) {
    const hashes = hashesOf(row);
    const transfer = hashes.map((hash) => found.get(hash)).find((one) => one !== undefined);
    if (transfer) {
      if (row.block_hash !== transfer.blockHash)
        await updateMined(sql, row, { ...transfer, succeeded: true, feeWei: null });
      if (transfer.final) {
        await updateEnded(sql, row.id, 'final');
        ended++;
      }
      continue;
    }
    const receipt = await findReceipt(chain, hashes);
    if (!receipt) continue;
    const { txHash, blockNumber, blockHash, success, feeWei } = receipt;
    await updateMined(sql, row, { hash: txHash as `0x${string}`, blockNumber, blockHash, succeeded: success, feeWei });
    if (heads && blockNumber <= finalNumber(chain.finality, heads)) {
      await updateEnded(sql, row.id, success ? 'final' : 'reverted');
      ended++;
    }
  }
  return ended;
}

async function findReceipt(chain: ChainConfig, hashes: readonly string[]): Promise<Receipt | null> {
  for (const hash of hashes) {
    for (const url of chain.rpcUrls) {
      try {
        const receipt = await connectRpc(url, timeoutMs).receipt(hash);
        if (receipt) return receipt;
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
      }
    }
  }
  return null;
}
