import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { RelayerSigner } from '../../config/relayer.ts';
import type { Context } from '../../context.ts';
import { askAny } from '../any-endpoint.ts';
import { connectRpc, type Hex, RpcError } from '../rpc.ts';
import type { AccountState, Counted } from './account-store.ts';
import { isTooDear, priorityFee } from './fees.ts';

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
export async function askCounts(chain: ChainConfig, address: Hex): Promise<Counted> {
  const answers = await Promise.allSettled(
    chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).nonceAt(address, 'latest')),
  );
  const counts = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const failed = answers.find((answer) => answer.status === 'rejected')?.reason;
  if (failed && (counts.length === 0 || !(failed instanceof RpcError))) throw failed;
  const fees = await askAny(chain, timeoutMs, (rpc) => rpc.feeHistory(recentBlocks));
  return {
    least: Math.min(...counts),
    most: Math.max(...counts),
    all: counts.length === chain.rpcUrls.length,
    baseFeeWei: fees.baseFeeWei,
    priorityFeeWei: priorityFee(fees.priorityFeesWei, null),
    head: fees.head,
  };
}

/**
 * The same with the balance, and with the provider's advice on the priority fee.
 *
 * @throws RpcError when no endpoint answers
 */
export async function askAccount(chain: ChainConfig, address: Hex): Promise<Counted & { balanceWei: bigint }> {
  const counted = await askCounts(chain, address);
  const [balanceWei, advised] = await askAny(chain, timeoutMs, (rpc) =>
    // Not every node gives advice.
    Promise.all([rpc.balance(address), rpc.advisedPriorityFee().catch(() => null)]),
  );
  return { ...counted, priorityFeeWei: priorityFee([counted.priorityFeeWei], advised), balanceWei };
}

/** Why nothing can be sent from an account now. */
export type Hindrance = 'no_key' | 'not_ready' | 'low_coin' | 'fees';

/** Judges by what the loop stored of an account; null when it can send. */
export function hindranceOf(account: AccountState | null, chain: ChainConfig): Hindrance | null {
  if (!account?.fresh) return 'not_ready';
  const limits = limitsOf(chain);
  if (account.balanceWei - account.reservedWei < limits.leastBalanceWei) return 'low_coin';
  return isTooDear(account, limits) ? 'fees' : null;
}
