import { paidBy } from '../../chain/reader/blocks.ts';
import { requestReread } from '../../chain/reader/unread.ts';
import type { Receipt } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { RequestRow } from '../../requests/store.ts';

/**
 * Makes the watcher read a mined transaction again if it pays a request's wallet and its block was read without it,
 * since an endpoint may omit logs. Then its payment is found, or the operator is told.
 *
 * @param receipt of a transaction that was mined since the request was created
 */
export async function rereadIfMissing(
  ctx: Context,
  request: Pick<RequestRow, 'wallet_address' | 'start_blocks' | 'test_mode'>,
  chain: ChainConfig,
  receipt: Receipt,
): Promise<void> {
  const tokens = chain.tokens.map(({ address }) => address as string);
  const pays = receipt.logs.some((log) => tokens.includes(log.address) && paidBy(log) === request.wallet_address);
  if (!pays) return;
  const place = { chainId: chain.chainId, testMode: request.test_mode };
  const start = request.start_blocks[String(chain.chainId)];
  // After a reorganisation its block can have a lower number than the newest one at the create.
  const sinceBlock = start === undefined ? null : Math.min(start, receipt.blockNumber - 1);
  await requestReread(ctx.db, place, { wallet: request.wallet_address, transactions: [receipt], sinceBlock });
}
