import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { RelayerSigner } from '../../config/relayer.ts';
import type { Context } from '../../context.ts';
import { connectRpc, type Hex, nullOfRpc, type Rpc, RpcError } from '../rpc.ts';
import type { AccountReport, AccountState } from './account-store.ts';
import { agreedPrice, exceedsFeeLimit, higher, priorityFee } from './fees.ts';

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
 * What these endpoints answer, in their order, without those that do not answer.
 *
 * @throws RpcError when none answers
 */
async function queryAll<T>(
  urls: readonly string[],
  ask: (rpc: Rpc) => Promise<T>,
): Promise<{ url: string; answer: T }[]> {
  const answers = await Promise.allSettled(urls.map((url) => ask(connectRpc(url, timeoutMs))));
  const failed = answers.find((answer) => answer.status === 'rejected')?.reason;
  const given = answers.flatMap((answer, i) =>
    answer.status === 'fulfilled' ? [{ url: urls[i] as string, answer: answer.value }] : [],
  );
  if (failed && (given.length === 0 || !(failed instanceof RpcError))) throw failed;
  return given;
}

/**
 * Asks every endpoint how many transactions of an account are mined, and then those that answer what gas costs. The
 * head that comes with it is at least as new as the counts.
 *
 * @throws RpcError when none answers
 */
export async function queryNonces(chain: ChainConfig, address: Hex): Promise<AccountReport> {
  const { report } = await queryCounted(chain, address);
  return report;
}

async function queryCounted(chain: ChainConfig, address: Hex): Promise<{ report: AccountReport; answering: string[] }> {
  const counted = await queryAll(chain.rpcUrls, (rpc) => rpc.nonceAt(address, 'latest'));
  const answering = counted.map(({ url }) => url);
  const fees = await queryAll(answering, (rpc) => rpc.feeHistory(recentBlocks));
  const prices = fees.map(({ answer: { baseFeeWei, priorityFeesWei } }) => ({
    baseFeeWei,
    priorityFeeWei: priorityFee(priorityFeesWei, []),
  }));
  const counts = counted.map(({ answer }) => answer);
  const report = {
    minNonce: Math.min(...counts),
    maxNonce: Math.max(...counts),
    isComplete: counts.length === chain.rpcUrls.length,
    ...agreedPrice(prices, limitsOf(chain)),
    head: fees[0]?.answer.head ?? 0,
  };
  return { report, answering };
}

/**
 * As `queryNonces`, with the balance, and with the providers' advice on the priority fee. Of several balances the
 * highest counts: a call that the coin does not suffice for is refused and costs nothing, but one endpoint that reports
 * too little would stop everything.
 *
 * @throws RpcError when no endpoint answers
 */
export async function queryAccount(chain: ChainConfig, address: Hex): Promise<AccountReport & { balanceWei: bigint }> {
  const { report, answering } = await queryCounted(chain, address);
  const answers = await queryAll(answering, (rpc) =>
    // Not every node gives advice.
    Promise.all([rpc.balance(address), rpc.advisedPriorityFee().catch(nullOfRpc)]),
  );
  const balances = answers.map(({ answer: [balanceWei] }) => balanceWei);
  const advised = answers.flatMap(({ answer: [, fee] }) => (fee === null ? [] : [fee]));
  return {
    ...report,
    priorityFeeWei: priorityFee([report.priorityFeeWei], advised),
    balanceWei: balances.reduce(higher),
  };
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
