import { refuseUnknownLink } from '../auth/missing-secret-key.ts';
import { scopeOfPlan } from '../auth/scope.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { keyedHash, matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';
import { isUuid } from '../lib/ids.ts';

const macOf = (secret: SecretKey, planId: string) => keyedHash(secret, 'plan-page', planId);

/** The page of a plan for its customer. Whoever holds the link sees it, may agree with a wallet, and may stop. */
export function planPageUrl(config: Config, planId: string): string {
  return `${config.payUrl}/plans/${planId}/${macOf(newest(config.secretKeys), planId).toString('base64url')}`;
}

/**
 * The scope of the plan that a link leads to; null if there is no such plan, or the token is not the plan's.
 *
 * @throws MissingSecretKey
 */
export async function scopeOfLink(
  ctx: Pick<Context, 'db' | 'config' | 'clock'>,
  planId: string,
  token: string,
): Promise<Scope | null> {
  if (!isUuid(planId)) return null;
  const mac = Buffer.from(token, 'base64url');
  const isOfPlan = matchesAnyKey(ctx.config.secretKeys, (secret) => macOf(secret, planId.toLowerCase()), mac);
  if (isOfPlan) return scopeOfPlan(ctx.db, planId);
  await refuseUnknownLink(ctx);
  return null;
}
