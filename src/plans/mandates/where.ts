import { offeredChains } from '../../chain/offered.ts';
import { readDeployedCode } from '../../chain/recurring/state.ts';
import { relayerAddresses } from '../../chain/relay/relay.ts';
import { connectRpc, type Hex, RpcError } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { minuteMs } from '../../lib/durations.ts';
import { modeOf } from '../../lib/mode.ts';

/** A chain on which a wallet can be charged, with the contract and the relayer's address that charge there. */
export type AutomaticChain = { chain: ChainConfig; contract: Hex; executor: Hex };

/** Why there are no automatic charges: no key that sends them, no contract that makes them, no chain for a wallet. */
export type NoAutomatic = 'no_relayer' | 'no_contract' | 'no_chain';

/**
 * Where automatic charges are configured in a mode.
 *
 * @param walletChainIds for a merchant with a contract wallet: the chains on which it can be paid; null for any
 */
export function automaticChains(
  ctx: Context,
  testMode: boolean,
  walletChainIds: readonly number[] | null,
): { chains: AutomaticChain[] } | { why: NoAutomatic } {
  const [executor] = relayerAddresses(ctx);
  if (!executor) return { why: 'no_relayer' };
  const all = ctx.chains[modeOf(testMode)].filter(({ recurringContract }) => recurringContract !== null);
  if (all.length === 0) return { why: 'no_contract' };
  const chains = offeredChains(all, walletChainIds).map((chain) => ({
    chain,
    contract: chain.recurringContract as Hex,
    executor,
  }));
  return chains.length > 0 ? { chains } : { why: 'no_chain' };
}

const timeoutMs = 3_000;
/** A deployed contract stays; a missing one may be deployed at any time. */
const keptMs = { stands: 60 * minuteMs, absent: 10_000 };
const known = new WeakMap<ChainConfig, { stands: boolean; untilMs: number }>();

/** Those of these chains on which the contract is deployed. One that does not answer is left out. */
export async function withContract(chains: AutomaticChain[]): Promise<AutomaticChain[]> {
  const standing = await Promise.all(chains.map(({ chain, contract }) => stands(chain, contract)));
  return chains.filter((_, i) => standing[i]);
}

async function stands(chain: ChainConfig, contract: Hex): Promise<boolean> {
  const kept = known.get(chain);
  if (kept && performance.now() < kept.untilMs) return kept.stands;
  const isThere = await ask(chain, contract);
  known.set(chain, { stands: isThere, untilMs: performance.now() + (isThere ? keptMs.stands : keptMs.absent) });
  return isThere;
}

async function ask(chain: ChainConfig, contract: Hex): Promise<boolean> {
  for (const url of chain.rpcUrls) {
    try {
      return (await readDeployedCode(connectRpc(url, timeoutMs), chain.chainId, contract)) === 'deployed';
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return false;
}
