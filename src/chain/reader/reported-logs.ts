import { isProviderDown, type Log, type Rpc, RpcError } from '../rpc.ts';
import { firstRange, nextRange, transferTopic } from './blocks.ts';
import type { Range } from './comparison.ts';
import { logFailure } from './endpoints-asked.ts';
import { watchedTransfers } from './find.ts';
import { ProviderFault } from './pool.ts';
import type { Reader } from './read.ts';

/** The token transfers that an endpoint reports of some blocks, by block number. */
export type ReportedLogs = Pick<Rpc, 'url' | 'host'> & {
  logs: Map<number, Log[]>;
  /** It refuses a block's logs, by wallet too. They are missing. */
  isRefused: boolean;
};

/** What is asked for, and how many blocks are requested from an endpoint at once, by its URL. */
type LogQuery = { tokens: readonly string[]; ranges: Map<string, number> };

/**
 * The token transfers of some blocks, as an endpoint reports them.
 *
 * @param failed gets the endpoint if it does not answer
 * @returns null if fewer blocks must be requested, or the endpoint does not answer
 */
export async function askLogs(
  reader: Reader,
  rpc: Rpc,
  range: Range,
  query: LogQuery,
  failed: Set<Rpc>,
): Promise<ReportedLogs | null> {
  try {
    return await queryLogs(reader, rpc, range, query);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    logFailure(reader, rpc, error);
    failed.add(rpc);
    return null;
  }
}

/**
 * @returns null if fewer blocks must be requested
 * @throws RpcError
 */
async function queryLogs(
  reader: Reader,
  rpc: Rpc,
  { from, to }: Range,
  { tokens, ranges }: LogQuery,
): Promise<ReportedLogs | null> {
  const { url, host } = rpc;
  try {
    const logs = await rpc.logsOfRange(from, to, tokens, transferTopic);
    ranges.set(url, nextRange(ranges.get(url) ?? firstRange, true));
    return { url, host, logs: Map.groupBy(logs, (log) => log.blockNumber), isRefused: false };
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind === 'limited' || (await isProviderDown(rpc))) throw error;
    ranges.set(url, nextRange(to - from + 1, false));
    if (from < to) return null;
    const logs = await watchedLogsOf(reader, rpc, from, tokens);
    return { url, host, logs: new Map([[from, logs ?? []]]), isRefused: logs === null };
  }
}

/** For one block with more logs than an endpoint returns; null if it does not report them by wallet either. */
async function watchedLogsOf(
  { chain, wallets, log }: Reader,
  rpc: Rpc,
  number: number,
  tokens: readonly string[],
): Promise<Log[] | null> {
  await wallets.refresh();
  const header = await rpc.header(number);
  const asked = header && watchedTransfers(header, { tokens, rpc, owners: wallets.owners });
  const logs = await asked?.catch((error) => {
    if (error instanceof ProviderFault) return null; // told of another block, or of other tokens
    throw error;
  });
  if (!logs) log.warn({ chain: chain.chainId, provider: rpc.host, block: number }, 'a block could not be compared');
  return logs ?? null;
}
