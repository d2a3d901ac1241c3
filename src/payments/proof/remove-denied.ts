import { toRemoved } from '../../chain/reader/removed.ts';
import { requestReread } from '../../chain/reader/unread.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { raiseAlarm } from '../../db/alarms.ts';
import { nestedIn } from '../../db/nested.ts';
import { deleteDenied, deniedChecks } from '../queue-store.ts';
import type { TransferRow } from '../transfers.ts';
import { undoRemoved } from '../undo-removed.ts';

/**
 * Removes transfers whose block is final and that all endpoints have denied for long. As in a reorganisation, what they
 * proved is undone. Each is read and matched again as soon as an endpoint reports it. The operator is told.
 *
 * @param denied the transfers that all endpoints deny in this check, as they were before it
 */
export async function removeDenied(ctx: Context, chain: ChainConfig, denied: readonly TransferRow[]): Promise<void> {
  for (const row of denied) {
    if (row.denials + 1 < deniedChecks || !(await remove(ctx, chain, row))) continue;
    ctx.log.warn({ chain: chain.chainId, tx: row.tx_hash }, 'all endpoints deny a final transfer: it was removed');
  }
}

/** False if it has not been denied for long enough, or has changed. */
async function remove(ctx: Context, chain: ChainConfig, row: TransferRow): Promise<boolean> {
  const { chainId } = chain;
  return ctx.db.transaction(async (tx) => {
    if (!(await deleteDenied(tx, row))) return false;
    const details = { chainId, transactions: [row.tx_hash] };
    await raiseAlarm(tx, { kind: 'chain-final-reorged', subject: `${chainId}:${row.tx_hash}`, details });
    await undoRemoved(tx, [toRemoved(chainId, row)]);
    const blockNumber = Number(row.block_number);
    const place = { chainId, testMode: row.test_mode };
    const transaction = { txHash: row.tx_hash, blockHash: row.block_hash, blockNumber };
    await requestReread(nestedIn(tx, ctx.db), place, {
      wallet: row.to_address,
      transactions: [transaction],
      sinceBlock: blockNumber - 1,
      isKnown: true,
    });
    return true;
  });
}
