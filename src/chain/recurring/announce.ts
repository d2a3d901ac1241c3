import { allChains } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { queryContractState } from './deployed-code.ts';

/**
 * At start, outside a sandbox, logs whether plans are charged automatically, and by which contract. The operator should
 * know, because no outside party has audited the contract.
 */
export async function announceRecurring({ config, chains, log }: Pick<Context, 'config' | 'chains' | 'log'>) {
  if (config.sandbox) return;
  const all = allChains(chains);
  const address = all.find(({ recurringContract }) => recurringContract !== null)?.recurringContract;
  if (!address) {
    log.warn(
      'plans are not charged automatically, because RECURRING_CONTRACT is not set: `quittance contracts deploy` deploys the contract and names its address',
    );
    return;
  }
  if (config.relayer.signers.length === 0) {
    log.warn(
      'plans are not charged automatically, because the relayer has no key: RECURRING_CONTRACT needs RELAYER_KEYS',
    );
    return;
  }
  log.warn(
    { contract: address },
    'plans are charged automatically by a contract that has not been audited by an outside party: docs/contracts.md says what it can and cannot do',
  );
  const states = await Promise.all(all.map(queryContractState));
  for (const [i, { chainId }] of all.entries()) {
    const about = { chain: chainId, contract: address };
    if (states[i] === 'absent') log.warn(about, 'the contract for automatic charges is not deployed here');
    if (states[i] === 'foreign') log.error(about, 'RECURRING_CONTRACT is not this version’s code');
  }
}
