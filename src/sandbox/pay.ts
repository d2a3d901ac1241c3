import { privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { RequestRow } from '../requests/store.ts';
import { fund, sendUsdc } from './wallet.ts';

/**
 * Pays a request on a local chain from a wallet that is funded first.
 *
 * @returns the transaction's hash, mined
 */
export async function payInSandbox(
  chain: ChainConfig,
  request: Pick<RequestRow, 'wallet_address' | 'reference'>,
  payment: { privateKey: Hex; usdcMicro: bigint; tagged: boolean },
): Promise<string> {
  const { privateKey, usdcMicro, tagged } = payment;
  // Mints the whole amount, because the wallet's balance may be needed by another pending payment.
  await fund(chain, privateKeyToAccount(privateKey).address, usdcMicro);
  const reference = tagged ? request.reference : undefined;
  return sendUsdc(chain, { privateKey, to: request.wallet_address, usdcMicro, reference });
}
