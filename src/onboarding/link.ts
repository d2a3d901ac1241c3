import { refuseUnknownLink } from '../auth/missing-secret-key.ts';
import { scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { readOnboardingToken } from '../merchants/onboarding-token.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { type OnboardingRow, selectOnboarding } from './store.ts';

/** An onboarding that can continue. */
export type OpenOnboarding = { scope: Scope; row: OnboardingRow };

/**
 * Opens an onboarding link.
 *
 * @throws MerchantRefusal link_unknown, link_expired, link_used; link_replaced after a reset
 */
export async function openLink(ctx: Context, token: string): Promise<OpenOnboarding> {
  const read = readOnboardingToken(ctx.config.secretKeys, token, ctx.clock.now());
  if (!read) {
    await refuseUnknownLink(ctx);
    throw new MerchantRefusal('link_unknown');
  }
  const scope = await scopeOfMerchant(ctx.db, read.accountId);
  const row = scope && (await ctx.db.scoped(scope, (tx) => selectOnboarding(tx, scope, read.accountId)));
  if (!row) throw new MerchantRefusal('link_unknown');
  assertOpen(row, read.epoch);
  if (read.expired) throw new MerchantRefusal('link_expired');
  return { scope, row };
}

/** Refuses a link whose merchant has completed onboarding, or was reset after the link was made. */
export function assertOpen(row: Pick<OnboardingRow, 'onboarded_at' | 'onboarding_epoch'>, epoch: number): void {
  if (row.onboarded_at !== null) throw new MerchantRefusal('link_used');
  if (row.onboarding_epoch !== epoch) throw new MerchantRefusal('link_replaced');
}
