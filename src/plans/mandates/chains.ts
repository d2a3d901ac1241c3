import { queryWithFailover } from '../../chain/failover.ts';
import { offeredChains } from '../../chain/offered.ts';
import { readDeployedCode } from '../../chain/recurring/state.ts';
import { relayerAddresses } from '../../chain/relay/relay.ts';
import { type Hex, RpcError } from '../../chain/rpc.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { minuteMs } from '../../lib/durations.ts';
import { modeOf } from '../../lib/mode.ts';
import type { MandateRow } from './store.ts';

/** A chain on which a wallet can be charged, with the contract and the relayer's address that charge there. */
export type AutomaticChain = { chain: ChainConfig; contract: Hex; executor: Hex };

/** The chain of a mandate; undefined if it is no longer configured. */
export function chainOf({ chains }: Pick<Context, 'chains'>, mandate: MandateRow): ChainConfig | undefined {
  return findChain(chains[modeOf(mandate.test_mode)], mandate.chain_id);
}

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
/** How long an answer is kept. A deployed contract stays; a missing one may be deployed at any time. */
const keptMs = { deployed: 60 * minuteMs, other: 10_000 };
const known = new WeakMap<ChainConfig, { isDeployed: boolean; untilMs: number }>();

/** Those of these chains on which the contract is deployed. One that does not answer is left out. */
export async function withContract(chains: AutomaticChain[]): Promise<AutomaticChain[]> {
  const deployed = await Promise.all(chains.map(isDeployed));
  return chains.filter((_, i) => deployed[i]);
}

async function isDeployed({ chain, contract }: AutomaticChain): Promise<boolean> {
  const kept = known.get(chain);
  if (kept && performance.now() < kept.untilMs) return kept.isDeployed;
  const found = await queryIsDeployed(chain, contract);
  known.set(chain, { isDeployed: found, untilMs: performance.now() + (found ? keptMs.deployed : keptMs.other) });
  return found;
}

async function queryIsDeployed(chain: ChainConfig, contract: Hex): Promise<boolean> {
  try {
    const code = await queryWithFailover(chain, timeoutMs, (rpc) => readDeployedCode(rpc, chain.chainId, contract));
    return code === 'deployed';
  } catch (error) {
    if (error instanceof RpcError) return false;
    throw error;
  }
}
