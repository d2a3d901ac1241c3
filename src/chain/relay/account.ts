import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { RelayerSigner } from '../../config/relayer.ts';
import type { Context } from '../../context.ts';
import { queryWithFailover } from '../failover.ts';
import { connectRpc, type Hex, RpcError } from '../rpc.ts';
import type { AccountReport, AccountState } from './account-store.ts';
import { exceedsFeeLimit, priorityFee } from './fees.ts';

const timeoutMs = 4_000;
const recentBlocks = 5;

/** The relayer's addresses, newest first; empty if none is configured. */
export function relayerAddresses({ config }: Pick<Context, 'config'>): readonly Hex[] {
  return config.relayer.signers.map(({ address }) => address);
}

/** The signer of an address; undefined if it is no longer configured. */
export function signerOf({ config }: Pick<Context, 'config'>, address: Hex): RelayerSigner | undefined {
  return config.relayer.signers.find((signer) => signer.address === address);
}

/**
 * Asks every endpoint how many transactions of an account are mined, and then one of them what gas costs. The head that
 * comes with it is at least as new as the counts.
 *
 * @throws RpcError when none answers
 */
export async function queryNonces(chain: ChainConfig, address: Hex): Promise<AccountReport> {
  const answers = await Promise.allSettled(
    chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).nonceAt(address, 'latest')),
  );
  const counts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === 'rejected')?.reason;
  if (failed && (counts.length === 0 || !(failed instanceof RpcError))) throw failed;
  const fees = await queryWithFailover(chain, timeoutMs, (rpc) => rpc.feeHistory(recentBlocks));
  return {
    minNonce: Math.min(...counts),
    maxNonce: Math.max(...counts),
    isComplete: counts.length === chain.rpcUrls.length,
    baseFeeWei: fees.baseFeeWei,
    priorityFeeWei: priorityFee(fees.priorityFeesWei, null),
    head: fees.head,
  };
}

/**
 * As `queryNonces`, with the balance, and with the provider's advice on the priority fee.
 *
 * @throws RpcError when no endpoint answers
 */
export async function queryAccount(chain: ChainConfig, address: Hex): Promise<AccountReport & { balanceWei: bigint }> {
  const counted = await queryNonces(chain, address);
  const [balanceWei, advised] = await queryWithFailover(chain, timeoutMs, (rpc) =>
    // Not every node gives advice.
    Promise.all([rpc.balance(address), rpc.advisedPriorityFee().catch(() => null)]),
  );
  return { ...counted, priorityFeeWei: priorityFee([counted.priorityFeeWei], advised), balanceWei };
}

/** Why nothing can be sent from an account now. */
export type Blocker = 'no_key' | 'not_ready' | 'low_coin' | 'fees';

/** Judges by what the loop stored of an account; null when it can send. */
export function blockerOf(account: AccountState | null, chain: ChainConfig): Blocker | null {
  if (!account?.fresh) return 'not_ready';
  const limits = limitsOf(chain);
  if (account.balanceWei - account.reservedWei < limits.minBalanceWei) return 'low_coin';
  return exceedsFeeLimit(account, limits) ? 'fees' : null;
}
