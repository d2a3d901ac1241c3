import type { Context } from '../../context.ts';
import { ChainLimit } from '../../payments/chain-limit.ts';
import type { CustomersPlan } from './agree.ts';

const windowMs = 10_000;
/**
 * How many signed terms a node checks in a window on each chain. Each check queries the chain's endpoints several
 * times. Whoever holds a plan's link names the wallet, and a merchant can make many plans.
 */
const checks = new ChainLimit({ ofOne: 100, ofAll: 300 }, windowMs);

/** Counts one check of terms that were signed for a plan; false if there is none left. */
export const mayQueryChain = ({ clock }: Pick<Context, 'clock'>, { scope, facts }: CustomersPlan, chainId: number) =>
  checks.take(chainId, scope, facts.account_id, clock.now());
