import type { Context } from '../context.ts';
import { onboardingUrl } from './onboarding-token.ts';
import type { MerchantView } from './store.ts';

/** The merchant object as JSON text. While onboarding is incomplete, it contains a new link. */
export function renderMerchant(ctx: Pick<Context, 'config' | 'clock'>, row: MerchantView, replay = false): string {
  const complete = row.onboarded_at !== null;
  return JSON.stringify({
    ok: true,
    account_id: row.id,
    email: row.email,
    display_name: row.display_name,
    business_name: row.business_name,
    country: row.country,
    phone: row.phone,
    website: row.website,
    instagram: row.instagram,
    industry: row.industry,
    app_mode: row.app_mode,
    onboarding_status: complete ? 'complete' : 'incomplete',
    wallet_address: row.wallet_address,
    display_currency: row.display_currency,
    home_portal: row.home_portal,
    disabled: row.disabled_by_partner || row.disabled_by_operator,
    created_at: row.created_at.toISOString(),
    test_mode: row.test_mode,
    onboarding_url: complete ? null : onboardingUrl(ctx.config, row, ctx.clock.now()),
    ...(replay ? { idempotent_replay: true } : {}),
  });
}
