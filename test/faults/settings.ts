import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callRpc } from '../../src/chain/rpc.ts';
import type { SecretKey } from '../../src/lib/encrypt.ts';
import { pause } from '../../src/lib/time.ts';
import type { TestChain } from '../support/chain/chain.ts';
import { randomAddress, secretsTextOf, testSecrets } from '../support/fixtures.ts';
import { finality } from './model.ts';
import type { FaultyNode } from './nodes.ts';

/** What an operator changes: CHAINS_FILE, and back later, and SECRET_KEYS. The nodes restart one after the other. */

type ChainsKind = 'usual' | 'token-missing' | 'chain-missing' | 'chain-moved';

/** Answers 6 to every call, as a token with six decimals does. */
const sixDecimals = '0x600660005260206000f3';

/**
 * Writes a chains file of each kind: the usual one; one with another token in place of the one that is paid in; one
 * without the second chain; one that has the second chain in the other mode.
 *
 * @returns the path of each
 */
export async function writeChains(
  folder: string,
  { chain: { chain }, elsewhere, endpoints }: { chain: TestChain; elsewhere: TestChain; endpoints: { url: string }[] },
): Promise<Record<ChainsKind, string>> {
  const otherToken = { symbol: 'SIX', address: randomAddress() };
  await callRpc(chain.rpcUrls[0] ?? '', 'anvil_setCode', [otherToken.address, sixDecimals]);
  const entry = { finality, poll_ms: 100, tokens: chain.tokens };
  const own = { ...entry, chain_id: chain.chainId, rpc_urls: endpoints.map(({ url }) => url) };
  const second = { ...entry, chain_id: elsewhere.chain.chainId, rpc_urls: elsewhere.chain.rpcUrls };
  // Nobody pays on it, but each mode needs a chain.
  const other = { ...entry, chain_id: chain.chainId + 1, rpc_urls: ['http://127.0.0.1:9'] };
  const write = (kind: ChainsKind, chains: Record<'test' | 'live', unknown[]>) => {
    const file = join(folder, `chains-${kind}.json`);
    writeFileSync(file, JSON.stringify(chains));
    return file;
  };
  return {
    usual: write('usual', { test: [own, second], live: [other] }),
    'token-missing': write('token-missing', { test: [{ ...own, tokens: [otherToken] }, second], live: [other] }),
    'chain-missing': write('chain-missing', { test: [own], live: [other] }),
    'chain-moved': write('chain-moved', { test: [own], live: [other, second] }),
  };
}

export class Settings {
  private readonly nodes: readonly FaultyNode[];
  private readonly chainsFiles: Record<ChainsKind, string>;
  private keys = testSecrets;

  constructor(nodes: readonly FaultyNode[], chainsFiles: Record<ChainsKind, string>) {
    this.nodes = nodes;
    this.chainsFiles = chainsFiles;
  }

  /** Uses other chains for a while, and then the usual ones again. */
  async useChainsFor(kind: ChainsKind, ms: number): Promise<void> {
    await this.useChains(kind);
    await pause(ms);
    await this.useChains('usual');
  }

  useChains(kind: ChainsKind): Promise<void> {
    return this.restartWith({ CHAINS_FILE: this.chainsFiles[kind] });
  }

  /** Puts a new key in front, in two rounds, so that no node makes what the other cannot read. */
  async rotate(): Promise<void> {
    const made: SecretKey = { id: `key${this.keys.length}`, key: randomBytes(32) };
    await this.restartWith({ SECRET_KEYS: secretsTextOf([...this.keys, made]) });
    this.keys = [made, ...this.keys];
    await this.restartWith({ SECRET_KEYS: secretsTextOf(this.keys) });
  }

  private async restartWith(changes: Record<string, string>): Promise<void> {
    for (const node of this.nodes) await node.restartWith(changes);
  }
}
