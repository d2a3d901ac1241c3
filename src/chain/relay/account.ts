import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { RelayerSigner } from '../../config/relayer.ts';
import type { Context } from '../../context.ts';
import { connectRpc, type Hex, type Rpc, RpcError } from '../rpc.ts';
import { isTooDear, priorityFee } from './fees.ts';
import type { AccountRow, Seen } from './store.ts';

const timeoutMs = 4_000;
const recentBlocks = 5;

/** The relayer's addresses, newest first; empty where none is configured. */
export function relayerAddresses({ config }: Pick<Context, 'config'>): readonly Hex[] {
  return config.relayer.signers.map(({ address }) => address);
}

/** What signs for an address; undefined where that is no longer configured. */
export function signerOf({ config }: Pick<Context, 'config'>, address: Hex): RelayerSigner | undefined {
  return config.relayer.signers.find((signer) => signer.address === address);
}

/**
 * Asks a chain about an account. The count of its transactions is the lowest that any endpoint reports, so that one
 * that claims too many opens no gap; the rest comes from the first endpoint that answers.
 *
 * @throws RpcError when an endpoint does not answer
 */
export async function askAccount(chain: ChainConfig, address: Hex): Promise<Seen> {
  const counts = await Promise.all(chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).nonceAt(address, 'latest')));
  const { fees, balanceWei, advised } = await firstAnswer(chain, async (rpc) => {
    const [fees, balanceWei, advised] = await Promise.all([
      rpc.feeHistory(recentBlocks),
      rpc.balance(address),
      rpc.advisedPriorityFee().catch(() => null), // not every node has an opinion
    ]);
    return { fees, balanceWei, advised };
  });
  return {
    chainNonce: Math.min(...counts),
    balanceWei,
    baseFeeWei: fees.baseFeeWei,
    priorityFeeWei: priorityFee(fees.priorityFeesWei, advised),
    head: fees.head,
  };
}

async function firstAnswer<T>({ rpcUrls }: ChainConfig, ask: (rpc: Rpc) => Promise<T>): Promise<T> {
  let last: unknown = new RpcError('unreachable', 'no endpoint is configured');
  for (const url of rpcUrls) {
    try {
      return await ask(connectRpc(url, timeoutMs));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      last = error;
    }
  }
  throw last;
}

/** Why nothing can be sent from an account now; null when it can. */
export type Hindrance = 'no_key' | 'not_ready' | 'low_coin' | 'fees';

/** Judges by what the loop stored of an account. */
export function hindranceOf(account: AccountRow | null, chain: ChainConfig): Hindrance | null {
  if (!account?.fresh) return 'not_ready';
  const limits = limitsOf(chain);
  if (BigInt(account.balance_wei) < limits.leastBalanceWei) return 'low_coin';
  const asked = { baseFeeWei: BigInt(account.base_fee_wei), priorityFeeWei: BigInt(account.priority_fee_wei) };
  return isTooDear(asked, limits) ? 'fees' : null;
}
