import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a `CHAINS_FILE` whose chains have no endpoint that answers, so that a service has nothing to watch. */
export function writeIdleChains(folder: string): string {
  const chain = (chain_id: number) => ({
    chain_id,
    rpc_urls: ['http://127.0.0.1:9'],
    tokens: [{ symbol: 'USDC', address: `0x${'5f'.repeat(20)}` }],
    finality: [{ confirmations: 2 }],
  });
  const path = join(folder, 'chains.json');
  writeFileSync(path, JSON.stringify({ test: [chain(31337)], live: [chain(31338)] }));
  return path;
}
