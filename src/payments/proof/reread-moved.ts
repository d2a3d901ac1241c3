import { requestReread } from '../../chain/reader/unread.ts';
import { connectRpc, nullOfRpc } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import type { TransferRow } from '../transfers.ts';

const timeoutMs = 2_500;
const atOnce = 4;
/** How long endpoints are asked in one pass. What is left has its turn in a later one. */
const passMs = 5_000;

/**
 * Has transfers read again that are stored in another block than all endpoints report: one of them told of another
 * before, and the reader does not come back to a block that it has read.
 *
 * @param doubted transfers that endpoints have failed to confirm for long
 */
export async function rereadMoved(ctx: Context, chain: ChainConfig, doubted: readonly TransferRow[]): Promise<void> {
  const deadline = performance.now() + passMs;
  // Begins at a random position: otherwise those that an endpoint answers late would come first in each pass.
  const start = Math.floor(Math.random() * doubted.length);
  await mapLimited([...doubted.slice(start), ...doubted.slice(0, start)], atOnce, async (row) => {
    if (performance.now() > deadline) return;
    const { tx_hash: txHash, to_address: wallet, test_mode: testMode } = row;
    const receipts = await Promise.all(
      chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).receipt(txHash).catch(nullOfRpc)),
    );
    const [first] = receipts;
    const isElsewhere = first && first.txHash === txHash && first.blockHash !== row.block_hash;
    if (!isElsewhere || !receipts.every((receipt) => receipt?.blockHash === first.blockHash)) return;
    const { blockHash, blockNumber } = first;
    await requestReread(
      ctx.db,
      { chainId: chain.chainId, testMode },
      {
        wallet,
        transactions: [{ txHash, blockHash, blockNumber }],
        sinceBlock: blockNumber - 1,
        isKnown: true,
      },
    );
  });
}
