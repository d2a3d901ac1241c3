import { readTransfer } from '../chain/blocks.ts';
import type { ChainConfig } from '../chain/config.ts';
import { connectRpc, type Receipt, type Rpc, RpcError } from '../chain/rpc.ts';
import type { Outcome } from './outcome.ts';
import type { Payable } from './rules.ts';

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
  | 'before_request'
  | 'seen'
>;

/** Asks the chains what they know of a transaction that the watcher has not brought; the most telling answer counts. */
export async function lookOnChains(chains: ChainConfig[], request: Payable, txHash: string): Promise<Answer> {
  const answers = await Promise.all(chains.map((chain) => lookOnChain(chain, request, txHash)));
  const told = answers.find((answer) => answer !== 'not_found' && answer !== 'unavailable');
  return told ?? (answers.includes('unavailable') ? 'unavailable' : 'not_found');
}

async function lookOnChain(chain: ChainConfig, request: Payable, txHash: string): Promise<Answer> {
  let answer: Answer = 'unavailable';
  // The second endpoint may know what the first does not, or be up when it is down; more would take too long.
  for (const url of chain.rpcUrls.slice(0, 2)) {
    try {
      answer = await askEndpoint(connectRpc(url, timeoutMs), chain, request, txHash);
      if (answer !== 'not_found') return answer;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return answer;
}

async function askEndpoint(rpc: Rpc, chain: ChainConfig, request: Payable, txHash: string): Promise<Answer> {
  const [receipt, tx] = await Promise.all([rpc.receipt(txHash), rpc.transaction(txHash)]);
  if (!receipt) return tx ? 'pending_in_mempool' : 'not_found';
  if (!receipt.success) return 'failed';
  return readPayment(chain, request, receipt, tx?.to ?? null);
}

function readPayment(chain: ChainConfig, request: Payable, receipt: Receipt, recipient: string | null): Answer {
  const tokens = chain.tokens.map(({ address }) => address as string);
  const own = receipt.logs.filter((log) => readTransfer(log)?.to === request.walletAddress);
  if (own.some((log) => tokens.includes(log.address))) {
    const start = request.startBlocks[String(chain.chainId)];
    return start !== undefined && receipt.blockNumber <= start ? 'before_request' : 'seen';
  }
  return own.length > 0 || recipient === request.walletAddress ? 'wrong_token' : 'wrong_recipient';
}
