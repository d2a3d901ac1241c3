import { minuteMs } from '../../lib/durations.ts';
import { findFault } from '../tokens.ts';
import { ProviderFault, type RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';

const checkEveryMs = minuteMs;

/**
 * Compares a provider with the configuration, at first and then each minute: a token can change behind its address.
 */
export async function checkProvider(reader: Reader, provider: RpcProvider): Promise<void> {
  if (!isCheckDue(provider)) return;
  provider.checkedAtMs = performance.now();
  if (provider.checked === 'no') provider.checked = 'asking';
  try {
    const fault = await findFault(reader.chain, provider.rpc);
    provider.checked = fault ? 'no' : 'yes';
    if (fault) throw new ProviderFault(fault);
  } finally {
    if (provider.checked === 'asking') provider.checked = 'no';
  }
}

const isCheckDue = ({ checked, checkedAtMs }: RpcProvider) =>
  checked !== 'yes' || performance.now() - checkedAtMs >= checkEveryMs;

/**
 * As `checkProvider`, in the background, for a provider that may be needed later: it must not delay the one that works.
 */
export async function checkOther(reader: Reader, provider: RpcProvider): Promise<void> {
  if (provider.checked === 'asking') return;
  try {
    await checkProvider(reader, provider);
  } catch (error) {
    reader.pool.failed(provider, error as Error);
    const reason = (error as Error).message;
    reader.log.warn({ chain: reader.chain.chainId, provider: provider.rpc.host, reason }, 'a provider failed');
  }
}
