import { isAddress } from '../lib/ids.ts';

export type TokenConfig = {
  symbol: string;
  /** Contract address in lower case. Six decimals and one US dollar, checked at start. */
  address: `0x${string}`;
};

/**
 * When a transfer is final: so many blocks on top of its own (`confirmations`, 1 = its block is enough), or the
 * provider's tag. The first tier whose limit the amount does not exceed applies; the last has no limit.
 */
export type FinalityTier = { upToUsdcMicro: bigint | null } & (
  | { confirmations: number }
  | { tag: 'safe' | 'finalized' }
);

export type ChainConfig = {
  chainId: number;
  name: string;
  /** One or more; with two or more, two must agree before a payment is verified. */
  rpcUrls: string[];
  tokens: TokenConfig[];
  finality: FinalityTier[];
  explorerUrl: string | null;
  /** An endpoint that customers' wallets may be told of; the others may hold the operator's secrets. */
  publicRpcUrl?: string;
  /** Symbol of the coin that pays fees; ETH unless said. */
  coin?: string;
  /** How often the head is asked for. */
  pollMs: number;
};

/**
 * Reads a chains file: `{"test": [chain, …], "live": [chain, …]}` with
 * `{"chain_id", "name", "rpc_urls", "tokens": [{"symbol", "address"}], "finality": [{"up_to_usdc_micro"?, "confirmations"} | {"tag"}],
 * "explorer_url"?, "public_rpc_url"?, "coin"?, "poll_ms"?}`.
 *
 * @throws Error naming the first fault
 */
export function readChains(text: string): Record<'test' | 'live', ChainConfig[]> {
  const file = JSON.parse(text) as Record<string, unknown>;
  const chains = { test: readMode(file, 'test'), live: readMode(file, 'live') };
  const ids = [...chains.test, ...chains.live].map((chain) => chain.chainId);
  if (new Set(ids).size !== ids.length) throw new Error('a chain id stands twice; test and live need different chains');
  return chains;
}

function readMode(file: Record<string, unknown>, mode: string): ChainConfig[] {
  const list = file[mode];
  if (!Array.isArray(list) || list.length === 0) throw new Error(`"${mode}" must list at least one chain`);
  return list.map((entry) => readChain(entry as Record<string, unknown>));
}

function readChain(entry: Record<string, unknown>): ChainConfig {
  const chainId = entry.chain_id;
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 1)
    throw new Error('chain_id must be a number');
  const fail = (fault: string) => new Error(`chain ${chainId}: ${fault}`);
  const rpcUrls = entry.rpc_urls;
  if (
    !Array.isArray(rpcUrls) ||
    rpcUrls.length === 0 ||
    !rpcUrls.every((url) => typeof url === 'string' && URL.canParse(url))
  ) {
    throw fail('rpc_urls must list at least one address');
  }
  if (!Array.isArray(entry.tokens) || entry.tokens.length === 0) throw fail('tokens must list at least one token');
  const tokens = entry.tokens.map((token: Record<string, unknown>) => {
    if (!isAddress(token.address) || typeof token.symbol !== 'string') throw fail('a token needs symbol and address');
    return { symbol: token.symbol, address: token.address.toLowerCase() as `0x${string}` };
  });
  if (!Array.isArray(entry.finality) || entry.finality.length === 0) throw fail('finality must list at least one tier');
  const finality = entry.finality.map((tier: Record<string, unknown>): FinalityTier => {
    const limit = tier.up_to_usdc_micro;
    const upToUsdcMicro = limit === undefined ? null : BigInt(limit as string);
    if (tier.tag === 'safe' || tier.tag === 'finalized') return { upToUsdcMicro, tag: tier.tag };
    const confirmations = tier.confirmations;
    if (typeof confirmations !== 'number' || !Number.isInteger(confirmations) || confirmations < 1) {
      throw fail('a finality tier needs confirmations (1 or more) or tag (safe, finalized)');
    }
    return { upToUsdcMicro, confirmations };
  });
  if (finality.at(-1)?.upToUsdcMicro !== null) throw fail('the last finality tier must have no up_to_usdc_micro');
  return {
    chainId,
    name: typeof entry.name === 'string' ? entry.name : `Chain ${chainId}`,
    rpcUrls: rpcUrls as string[],
    tokens,
    finality,
    explorerUrl: typeof entry.explorer_url === 'string' ? entry.explorer_url.replace(/\/+$/, '') : null,
    ...(typeof entry.public_rpc_url === 'string' ? { publicRpcUrl: entry.public_rpc_url } : {}),
    ...(typeof entry.coin === 'string' ? { coin: entry.coin } : {}),
    pollMs: typeof entry.poll_ms === 'number' ? entry.poll_ms : 1000,
  };
}
