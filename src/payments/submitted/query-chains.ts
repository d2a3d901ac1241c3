import { promptEndpoints } from '../../chain/failover.ts';
import { transferOf } from '../../chain/reader/blocks.ts';
import { connectRpc, type Receipt, type Rpc, RpcError, type Transaction } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Outcome } from '../outcome.ts';
import { canBePaid, type Payable } from '../rules.ts';
import type { StartBlock } from './store.ts';

/** A customer waits for this. */
const timeoutMs = 2_500;

type Answer = Extract<
  Outcome['kind'],
  | 'not_found'
  | 'unavailable'
  | 'pending_in_mempool'
  | 'failed'
  | 'wrong_token'
  | 'wrong_recipient'
  | 'wrong_network'
  | 'before_request'
  | 'seen'
>;

/** A transaction that has not moved anything yet, or failed, as an endpoint of its chain reports it. */
export type UnsettledTransaction = {
  chain: ChainConfig;
  transaction: Transaction;
  /** The newest block of that endpoint. */
  headNumber: number;
  state: 'seen' | 'failed';
};

export type Lookup = {
  kind: Answer;
  unsettled: UnsettledTransaction | null;
  /** If it properly pays the wallet, and was mined since the request was created. The watcher handles it. */
  mined: { chain: ChainConfig; receipt: Receipt } | null;
};

/**
 * What to look for. `startBlocks`: the newest blocks known when the request was created, by chain id, without those
 * that were reorganised away.
 */
export type Sought = {
  txHash: string;
  request: Pick<Payable, 'walletAddress' | 'walletChainIds'>;
  startBlocks: Readonly<Record<string, StartBlock>>;
};

/** Asks the chains about a transaction that the watcher has not found; the most informative answer counts. */
export async function queryChains(chains: ChainConfig[], sought: Sought): Promise<Lookup> {
  const lookups = await Promise.all(chains.map((chain) => queryChain(chain, sought)));
  const decisive = lookups.find(({ kind }) => kind !== 'not_found' && kind !== 'unavailable');
  return decisive ?? answerOnly(lookups.some(({ kind }) => kind === 'unavailable') ? 'unavailable' : 'not_found');
}

/** Answers that an endpoint would also give if it left logs out. */
const mayLackLogs: Answer[] = ['wrong_recipient', 'wrong_token'];

async function queryChain(chain: ChainConfig, sought: Sought): Promise<Lookup> {
  let lookup = answerOnly('unavailable');
  for (const url of promptEndpoints(chain)) {
    try {
      const next = await queryEndpoint(connectRpc(url, timeoutMs), chain, sought);
      if (!mayLackLogs.includes(lookup.kind) || next.mined) lookup = next;
      if (lookup.kind !== 'not_found' && !mayLackLogs.includes(lookup.kind)) return lookup;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return lookup;
}

async function queryEndpoint(rpc: Rpc, chain: ChainConfig, sought: Sought): Promise<Lookup> {
  const { txHash } = sought;
  const [receipt, transaction] = await Promise.all([rpc.receipt(txHash), rpc.transaction(txHash)]);
  if (receipt?.success) {
    const kind = await readPayment(rpc, chain, sought, receipt, transaction?.to ?? null);
    return { ...answerOnly(kind), mined: kind === 'seen' ? { chain, receipt } : null };
  }
  if (!transaction) return answerOnly(receipt ? 'failed' : 'not_found');
  const headNumber = (await rpc.header('latest'))?.number ?? 0;
  const state = receipt ? 'failed' : 'seen';
  return {
    kind: receipt ? 'failed' : 'pending_in_mempool',
    unsettled: { chain, transaction, headNumber, state },
    mined: null,
  };
}

const answerOnly = (kind: Answer): Lookup => ({ kind, unsettled: null, mined: null });

async function readPayment(
  rpc: Rpc,
  chain: ChainConfig,
  sought: Sought,
  receipt: Receipt,
  recipient: string | null,
): Promise<Answer> {
  const { walletAddress, walletChainIds } = sought.request;
  const tokens = chain.tokens.map(({ address }) => address as string);
  const own = receipt.logs.filter((log) => transferOf(log)?.to === walletAddress);
  if (own.some((log) => tokens.includes(log.address))) {
    if (!canBePaid(chain.chainId, walletChainIds)) return 'wrong_network';
    // A transaction in a later block may be read soon, or be set aside for a while.
    const start = sought.startBlocks[chain.chainId];
    return start && (await isBefore(rpc, receipt, start)) ? 'before_request' : 'seen';
  }
  return own.length > 0 || recipient === walletAddress ? 'wrong_token' : 'wrong_recipient';
}

/** Whether a transaction was mined no later than a block: a reorganisation can put a later one at a lower number. */
async function isBefore(rpc: Rpc, { blockNumber }: Receipt, { number, time }: StartBlock): Promise<boolean> {
  if (blockNumber > number) return false;
  const header = time && (await rpc.header(blockNumber));
  return !header || header.time <= time;
}
