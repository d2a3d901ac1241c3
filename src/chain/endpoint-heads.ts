import type { ChainConfig } from '../config/chains.ts';
import { finalNumber, type Heads, isFinal, usesTag } from './finality.ts';
import { connectRpc, nullOfRpc } from './rpc.ts';
import { type FinalityTag, taggedNumber } from './tagged-blocks.ts';

/**
 * Asks every endpoint of a chain for its newest block and its tagged blocks. The reader uses only one endpoint, which
 * could name blocks or tags that the others do not have.
 *
 * @param limitMs how long one call may take
 * @returns null if one does not answer
 */
export async function queryHeads(chain: ChainConfig, limitMs: number): Promise<Heads[] | null> {
  const all = await Promise.all(
    chain.rpcUrls.map(async (url) => {
      const rpc = connectRpc(url, limitMs);
      // Without an answer about its tags, an endpoint has no final block.
      const numberOf = async (tag: FinalityTag) =>
        usesTag(chain.finality, tag) ? taggedNumber(rpc, tag).catch(nullOfRpc) : null;
      const [latest, safe, finalized] = await Promise.all([
        rpc.header('latest').then((header) => header?.number ?? null, nullOfRpc),
        numberOf('safe'),
        numberOf('finalized'),
      ]);
      return latest === null ? null : { latest, safe, finalized };
    }),
  );
  return all.every((heads) => heads !== null) ? all : null;
}

/**
 * Whether a block is final according to every endpoint.
 *
 * @param usdcMicro the amount that decides how many blocks are needed; null for as many as any amount needs
 */
export function isFinalForAll(
  all: readonly Heads[],
  blockNumber: number,
  usdcMicro: bigint | null,
  chain: ChainConfig,
): boolean {
  return all.every((heads) =>
    usdcMicro === null
      ? blockNumber <= finalNumber(chain.finality, heads)
      : isFinal(blockNumber, usdcMicro, chain.finality, heads),
  );
}
