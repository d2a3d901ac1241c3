import type { FinalityTier } from '../config/chains.ts';

/** How far a chain was read, and the blocks that its provider's tags name; null if tags are unused or unknown. */
export type Heads = { latest: number; safe: number | null; finalized: number | null };

/** The newest block number that a tier counts as final. */
function finalUnder(tier: FinalityTier, heads: Heads): number {
  if ('confirmations' in tier) return heads.latest - tier.confirmations + 1;
  // A tag can be ahead of what was read here, and only blocks that were read are known to be on the chain.
  return Math.min(heads[tier.tag] ?? -1, heads.latest);
}

/** The tier for an amount: the first whose limit the amount does not exceed. */
export function tierOf(tiers: readonly FinalityTier[], usdcMicro: bigint): FinalityTier | undefined {
  return tiers.find(({ upToUsdcMicro }) => upToUsdcMicro === null || usdcMicro <= upToUsdcMicro);
}

/** Whether any amount becomes final by this tag, so that its block is worth asking for. */
export const usesTag = (tiers: readonly FinalityTier[], name: 'safe' | 'finalized'): boolean =>
  tiers.some((tier) => 'tag' in tier && tier.tag === name);

/** Whether some amounts become final by a tag whose block is not known. */
export const lacksTag = (tiers: readonly FinalityTier[], heads: Heads): boolean =>
  tiers.some((tier) => 'tag' in tier && heads[tier.tag] === null);

/** Whether a transfer of this amount in this block is final, as the chain is configured. */
export function isFinal(blockNumber: number, usdcMicro: bigint, tiers: readonly FinalityTier[], heads: Heads): boolean {
  const tier = tierOf(tiers, usdcMicro);
  return tier !== undefined && blockNumber <= finalUnder(tier, heads);
}

/** The newest final block number of each tier, in the tiers' order: for a statement that selects final transfers. */
export function finalNumbers(tiers: readonly FinalityTier[], heads: Heads): number[] {
  return tiers.map((tier) => finalUnder(tier, heads));
}

/** The newest block number that is final for any amount; -1 when there is none. */
export function finalNumber(tiers: readonly FinalityTier[], heads: Heads): number {
  return Math.max(-1, Math.min(...finalNumbers(tiers, heads)));
}
