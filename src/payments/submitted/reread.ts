import { queryWithFailover } from '../../chain/failover.ts';
import { paidBy } from '../../chain/reader/blocks.ts';
import { requestReread } from '../../chain/reader/unread.ts';
import { nullOfRpc, type Receipt } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { madeAt } from '../../requests/rules.ts';
import type { RequestRow } from '../../requests/store.ts';
import { canBeAfter } from '../rules.ts';

type PaidRequest = Pick<RequestRow, 'wallet_address' | 'start_blocks' | 'test_mode' | 'created_at' | 'made_at'>;

const timeoutMs = 2_500;

/**
 * Makes the watcher read a mined transaction again if it pays a request's wallet and its block was read without it,
 * since an endpoint may omit logs. Then its payment is found, or the operator is told.
 *
 * @param receipt of a transaction that was mined since the request was created
 */
export async function rereadIfMissing(
  ctx: Context,
  request: PaidRequest,
  chain: ChainConfig,
  receipt: Receipt,
): Promise<void> {
  const tokens = chain.tokens.map(({ address }) => address as string);
  const pays = receipt.logs.some((log) => tokens.includes(log.address) && paidBy(log) === request.wallet_address);
  if (!pays) return;
  const place = { chainId: chain.chainId, testMode: request.test_mode };
  const sinceBlock = await payableSince(request, chain, receipt);
  await requestReread(ctx.db, place, { wallet: request.wallet_address, transactions: [receipt], sinceBlock });
}

/**
 * The block after which a request can have been paid, as far as a receipt needs it; null if the receipt's block is from
 * before the request.
 */
async function payableSince(
  request: PaidRequest,
  chain: ChainConfig,
  { blockNumber, blockHash }: Receipt,
): Promise<number | null> {
  const start = request.start_blocks[String(chain.chainId)];
  // After a reorganisation its block can have a lower number than the newest one at the create.
  if (start !== undefined) return Math.min(start, blockNumber - 1);
  // No recent block was known at the create, so the block's time decides.
  const header = await queryWithFailover(chain, timeoutMs, (rpc) => rpc.header(blockNumber)).catch(nullOfRpc);
  return header?.hash === blockHash && canBeAfter(header.time, madeAt(request)) ? blockNumber - 1 : null;
}
