import { join } from 'node:path';
import { recurringAddress } from '../../../src/chain/recurring/contract.ts';
import { type ChainConfig, readChains } from '../../../src/config/chains.ts';
import { chainEntry, openChain } from '../../../src/sandbox/chain.ts';

/** Starts a single local chain, with its state in a folder. */
export async function startDevChain(chainId: number, folder: string) {
  const opened = await openChain(chainId, join(folder, `${chainId}.json`));
  const entry = { ...chainEntry('test', opened.url), chain_id: chainId };
  const other = { ...entry, chain_id: chainId + 1 };
  const [chain] = readChains(JSON.stringify({ test: [entry], live: [other] }), recurringAddress()).test;
  return { ...opened, chain: chain as ChainConfig };
}
