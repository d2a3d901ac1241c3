import { randomInt, timingSafeEqual } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { keyedHash, newest, type SecretKey } from '../lib/seal.ts';
import { queueMail } from '../mail/outbox.ts';
import { openLink } from './onboarding-link.ts';
import { OnboardingRefusal } from './onboarding-refusal.ts';
import { type OnboardingRow, selectCode, updateCodeAttempts, upsertCode } from './onboarding-store.ts';

const codeMs = 15 * 60_000;
const resendMs = 60_000;
const maxAttempts = 5;

function hashCode(secret: SecretKey, accountId: string, code: string): Buffer {
  return keyedHash(secret, 'onboarding', `code/${accountId}/${code}`);
}

/**
 * Mails a new six-digit code to the address the partner gave. It lives 15 minutes. Wrong tries carry over from a code
 * that has not run out, so asking for new ones gives no more tries.
 *
 * @throws OnboardingRefusal of the link; email_code_just_sent within a minute; email_code_exhausted
 */
export async function sendEmailCode(ctx: Context, token: string): Promise<void> {
  const { scope, row } = await openLink(ctx, token);
  const recipient = row.email;
  if (recipient === null) return;
  const now = ctx.clock.now();
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const hash = hashCode(newest(ctx.config.secretKeys), row.id, code);
  await ctx.db.scoped(scope, async (tx) => {
    const known = await selectCode(tx, scope, row.id);
    const alive = known !== null && known.expires_at > now ? known : null;
    if (alive && alive.expires_at.getTime() - codeMs > now.getTime() - resendMs) {
      throw new OnboardingRefusal('email_code_just_sent');
    }
    if (alive && alive.attempts >= maxAttempts) throw new OnboardingRefusal('email_code_exhausted');
    const expiresAt = new Date(now.getTime() + codeMs);
    await upsertCode(tx, scope, row.id, { hash, attempts: alive?.attempts ?? 0, expiresAt });
    await queueMail(tx, { recipient, subject: `${code} is your code`, body: codeMail(row.partner_name, code) });
  });
}

function codeMail(partnerName: string, code: string): string {
  return `Your code is ${code}. It lives for 15 minutes.

${partnerName} invited you to be paid in stablecoins. Enter the code on the page you opened.
If you did not ask for it, do nothing: without the code nobody can go on.
`;
}

/**
 * Checks a code and counts the wrong ones; the count is committed by itself. Where no e-mail is known there is nothing
 * to check.
 *
 * @throws OnboardingRefusal email_code_needed, email_code_wrong, email_code_expired, email_code_exhausted
 */
export async function checkEmailCode(
  ctx: Context,
  scope: Scope,
  row: Pick<OnboardingRow, 'id' | 'email'>,
  code: string | undefined,
): Promise<void> {
  if (row.email === null) return;
  const digits = code?.replace(/\s/g, '') ?? '';
  if (digits === '') throw new OnboardingRefusal('email_code_needed');
  const hashes = ctx.config.secretKeys.map((secret) => hashCode(secret, row.id, digits));
  const fault = await ctx.db.scoped(scope, async (tx) => {
    const known = await selectCode(tx, scope, row.id);
    if (!known || known.expires_at <= ctx.clock.now()) return 'email_code_expired' as const;
    if (known.attempts >= maxAttempts) return 'email_code_exhausted' as const;
    if (hashes.some((hash) => timingSafeEqual(hash, known.code_hash))) return null;
    await updateCodeAttempts(tx, scope, row.id, known.attempts + 1);
    return 'email_code_wrong' as const;
  });
  if (fault) throw new OnboardingRefusal(fault);
}
