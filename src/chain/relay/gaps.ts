import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { type Hex, RpcError } from '../rpc.ts';
import { signerOf } from './account.ts';
import { type AccountReport, type AccountState, updateGap, updateNextNonce } from './account-store.ts';
import { broadcast } from './broadcast.ts';
import { rebroadcast, zeroTransfer } from './dispatch.ts';
import { firstOffer, type Offer, raisedOffer } from './fees.ts';
import { signCall } from './sign.ts';
import { selectByNonce } from './store.ts';

/** An account's stored state, and what the endpoints have just reported about it. */
type GapCheck = {
  address: Hex;
  account: AccountState;
  report: AccountReport;
  /** The lowest nonce of a call under way; null where there is none. */
  firstLive: number | null;
};

/**
 * Closes a gap: a nonce that the chain waits for and no call under way has. It opens when a chain goes back beyond what
 * was final, or after an endpoint claimed too many transactions; every later call would wait for ever. If the nonce had
 * a call that succeeded, that call is sent again. A call that failed is not sent again: its caller has gone on since,
 * and a customer may have paid in another way. A transfer of zero value takes its nonce. The same happens if the nonce
 * had no call and some calls wait already; otherwise the next call gets the nonce.
 */
export async function closeGap(
  ctx: Context,
  chain: ChainConfig,
  { address, account, report, firstLive }: GapCheck,
): Promise<void> {
  const nonce = report.minNonce;
  const key = { chainId: chain.chainId, address };
  const isOpen = report.isComplete && report.maxNonce === nonce && nonce < (firstLive ?? account.nextNonce);
  if (!isOpen) {
    if (account.gap) await updateGap(ctx.db.sql, key, null);
    return;
  }
  const last = account.gap?.nonce === nonce ? account.gap : null;
  if (last && last.triedMs < limitsOf(chain).resendMs) return;
  const existing = await selectByNonce(ctx.db.sql, key, nonce);
  if (existing?.state === 'final' && !last) {
    await updateGap(ctx.db.sql, key, { nonce, maxFeeWei: 0n, priorityFeeWei: 0n });
    await rebroadcast(ctx, chain, [existing], true);
    return;
  }
  if (!existing && firstLive === null) return updateNextNonce(ctx.db.sql, key, { from: account.nextNonce, to: nonce });
  const limits = limitsOf(chain);
  const offer = last ? raisedOffer(last, account, limits) : firstOffer(account, limits);
  if (!offer) return;
  await updateGap(ctx.db.sql, key, { nonce, ...offer });
  await sendZeroTransfer(ctx, chain, address, nonce, offer);
}

async function sendZeroTransfer(
  ctx: Context,
  chain: ChainConfig,
  address: Hex,
  nonce: number,
  offer: Offer,
): Promise<void> {
  const signer = signerOf(ctx, address);
  if (!signer) return;
  try {
    const { signed } = await signCall(signer, { ...zeroTransfer(address), ...offer, chainId: chain.chainId, nonce });
    const answer = await broadcast(chain, signed);
    ctx.log.warn({ chain_id: chain.chainId, nonce, answer: answer.kind }, 'a gap in the relayer’s nonces is closed');
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    ctx.log.warn({ err: error, chain_id: chain.chainId }, 'a gap in the relayer’s nonces could not be closed');
  }
}
