import { type Log, type Rpc, RpcError } from '../rpc.ts';
import { nextRange, paidBy, topicOf, transferOf, transferTopic } from './blocks.ts';

/** A transfer of any token to a wallet, according to its log. */
export type Incoming = { txHash: string; tokenAddress: string; value: bigint; blockNumber: number; blockHash: string };

/** How many blocks are searched, from the newest backwards. */
const maxBlocks = 5_000;
const maxFound = 50;
const limitMs = 4_000;
const firstRange = 1_000;

/**
 * The newest transfers of any token to a wallet, newest first, within limits of time, blocks and count. If a provider
 * refuses a range of blocks, smaller ones are requested.
 *
 * @param accepted tokens whose transfers are counted separately, so that they cannot crowd out the others
 * @throws RpcError when it does not answer even for one block, or not at all
 */
export async function findIncoming(
  rpc: Rpc,
  wallet: string,
  sinceBlock: number,
  accepted: readonly string[],
): Promise<{ others: Incoming[]; accepted: Incoming[] }> {
  const deadline = performance.now() + limitMs;
  const head = (await rpc.header('latest'))?.number ?? -1;
  const first = Math.max(sinceBlock + 1, head - maxBlocks + 1, 0);
  const topics = [transferTopic, null, topicOf(wallet)];
  const found: Incoming[] = [];
  const known: Incoming[] = [];
  let to = head;
  let range = firstRange;
  while (to >= first && found.length < maxFound && performance.now() < deadline) {
    const from = Math.max(first, to - range + 1);
    try {
      const logs = await rpc.logsOfTopics(from, to, topics);
      const transfers = logs.flatMap((log) => describe(log, wallet)).reverse();
      found.push(...transfers.filter(({ tokenAddress }) => !accepted.includes(tokenAddress)));
      known.push(...transfers.filter(({ tokenAddress }) => accepted.includes(tokenAddress)));
      to = from - 1;
      range = nextRange(range, true);
    } catch (error) {
      if (!(error instanceof RpcError) || !isTooMuch(error) || range === 1) throw error;
      range = nextRange(range, false);
    }
  }
  return { others: found.slice(0, maxFound), accepted: known.slice(0, maxFound) };
}

function describe(log: Log, wallet: string): Incoming[] {
  const transfer = transferOf(log);
  if (!transfer || paidBy(log) !== wallet) return [];
  const { txHash, address: tokenAddress, blockNumber, blockHash } = log;
  return [{ txHash, tokenAddress, value: transfer.value, blockNumber, blockHash }];
}

/** Failures that fewer blocks may help. */
function isTooMuch(error: RpcError): boolean {
  return error.kind === 'refused' || error.kind === 'too_large' || error.kind === 'timeout';
}
