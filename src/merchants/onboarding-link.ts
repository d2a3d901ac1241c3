import { scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { OnboardingRefusal } from './onboarding-refusal.ts';
import { type OnboardingRow, selectOnboarding } from './onboarding-store.ts';
import { readOnboardingToken } from './onboarding-token.ts';

/**
 * Opens an onboarding link.
 *
 * @throws OnboardingRefusal link_unknown, link_expired, link_used; a reset makes older links link_expired
 */
export async function openLink(ctx: Context, token: string): Promise<{ scope: Scope; row: OnboardingRow }> {
  const read = readOnboardingToken(ctx.config.secretKeys, token, ctx.clock.now());
  if (!read) throw new OnboardingRefusal('link_unknown');
  const scope = await scopeOfMerchant(ctx.db, read.accountId);
  const row = scope && (await ctx.db.scoped(scope, (tx) => selectOnboarding(tx, scope, read.accountId)));
  if (!row) throw new OnboardingRefusal('link_unknown');
  assertOpen(row, read.epoch);
  if (read.expired) throw new OnboardingRefusal('link_expired');
  return { scope, row };
}

/** Refuses a link whose merchant has finished, or was taken back to the start after the link was made. */
export function assertOpen(row: Pick<OnboardingRow, 'onboarded_at' | 'onboarding_epoch'>, epoch: number): void {
  if (row.onboarded_at !== null) throw new OnboardingRefusal('link_used');
  if (row.onboarding_epoch !== epoch) throw new OnboardingRefusal('link_expired');
}
