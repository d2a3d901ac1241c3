import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { blockerOf, relayerAddresses, signerOf } from './account.ts';
import { selectAccount } from './account-store.ts';
import { shareOf } from './budget.ts';
import { budgetLeft, crowdsOut } from './budget-store.ts';
import { firstOffer } from './fees.ts';

/**
 * Whether the relayer's first address would accept a call of this much gas for a merchant now: it can send, and the
 * day's budget has room. Judges by what its loop last stored; a call that is enqueued is judged again.
 */
export async function canAfford(
  ctx: Context,
  { scope, accountId }: { scope: Scope; accountId: string },
  chain: ChainConfig,
  gas: bigint,
): Promise<boolean> {
  const [address] = relayerAddresses(ctx);
  if (!address || !signerOf(ctx, address)) return false;
  const limits = limitsOf(chain);
  const { chainId } = chain;
  const purpose = 'authorization';
  const budget = { scope, chainId, budgetWei: shareOf(purpose, limits.budgetWei) };
  const [account, leftWei] = await Promise.all([
    selectAccount(ctx.db.sql, { chainId, address }),
    budgetLeft(ctx.db.sql, budget),
  ]);
  if (!account || blockerOf(account, chain) !== null) return false;
  const feeWei = gas * firstOffer(account, limits).maxFeeWei;
  if (feeWei > leftWei) return false;
  const spentWei = budget.budgetWei - leftWei + feeWei;
  return !(await crowdsOut(ctx.db.sql, budget, spentWei, [{ accountId, purpose, feeWei }]));
}
