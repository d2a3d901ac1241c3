import { randomInt } from 'node:crypto';
import { type RecipientQuota, recipientSubject, takeRecipientQuota } from '../auth/daily-quota.ts';
import type { Context } from '../context.ts';
import { hourMs, minuteMs } from '../lib/durations.ts';
import { keyedHash, matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';
import { mailboxOf } from '../lib/text/email.ts';
import { writeNotice } from '../mail/notice.ts';
import { queueMail } from '../mail/outbox.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { readMailBranding } from '../partners/branding.ts';
import { mailTexts } from '../texts/mails.ts';
import type { Words } from '../ui/language.ts';
import { type OpenOnboarding, openLink } from './link.ts';
import { lockOnboarding, type OnboardingRow, selectCode, updateCodeAttempts, upsertCode } from './store.ts';

const codeMs = 15 * minuteMs;
const resendMs = minuteMs;
const maxAttempts = 5;
/**
 * How many codes a day are sent to one mailbox. A partner may name anybody's address for any number of merchants, and
 * whoever has a link can request codes again and again.
 */
const codesPerDay: RecipientQuota = { ofPartner: 50, ofMerchant: 10 };
/** For how long a browser in which the code was entered need not enter it again. */
export const passMs = hourMs;

function hashCode(secret: SecretKey, accountId: string, code: string): Buffer {
  return keyedHash(secret, 'onboarding', `code/${accountId}/${code}`);
}

/**
 * Mails a new six-digit code to the address the partner gave. It is valid for 15 minutes. Wrong attempts carry over
 * from a code that has not expired, so requesting new ones gives no more attempts.
 *
 * @throws MerchantRefusal of the link; email_code_just_sent within a minute; email_code_exhausted; email_code_too_often
 */
export async function sendEmailCode(ctx: Context, token: string, words: Words): Promise<void> {
  const { scope, row } = await openLink(ctx, token);
  const recipient = row.email;
  if (recipient === null) return;
  const now = ctx.clock.now();
  const code = String(randomInt(1_000_000)).padStart(6, '0');
  const hash = hashCode(newest(ctx.config.secretKeys), row.id, code);
  const branding = await readMailBranding(ctx, row.partner_id);
  const values = { partner: row.partner_name };
  const mail = writeNotice({ words, branding, ...mailTexts(words).code, values, figures: { code } });
  await ctx.db.scoped(scope, async (tx) => {
    // Locks the merchant, because without an earlier code there is no code row to lock: concurrent calls would all send
    // a first code.
    await lockOnboarding(tx, scope, row.id);
    const known = await selectCode(tx, scope, row.id);
    const alive = known !== null && known.expires_at > now ? known : null;
    if (alive && alive.expires_at.getTime() - codeMs > now.getTime() - resendMs) {
      throw new MerchantRefusal('email_code_just_sent');
    }
    if (alive && alive.attempts >= maxAttempts) throw new MerchantRefusal('email_code_exhausted');
    const person = recipientSubject(ctx.config, scope, mailboxOf(recipient));
    if (!(await takeRecipientQuota(tx, scope, 'onboarding_code', { accountId: row.id, person, max: codesPerDay }))) {
      throw new MerchantRefusal('email_code_too_often');
    }
    const expiresAt = new Date(now.getTime() + codeMs);
    await upsertCode(tx, scope, row.id, { hash, attempts: alive?.attempts ?? 0, expiresAt });
    await queueMail(ctx, tx, scope.partnerId, { recipient, urgent: true, ...mail });
  });
}

/**
 * Checks a code and counts wrong attempts. The count is committed even if the code is refused.
 *
 * @returns a pass that lets this browser continue for an hour
 * @throws MerchantRefusal of the link; email_code_needed, email_code_wrong, email_code_expired, email_code_exhausted
 */
export async function enterEmailCode(ctx: Context, token: string, code: string): Promise<string> {
  const { scope, row } = await openLink(ctx, token);
  const digits = code.replace(/\s/g, '');
  if (digits === '' || row.email === null) throw new MerchantRefusal('email_code_needed');
  const hashOf = (secret: SecretKey) => hashCode(secret, row.id, digits);
  const fault = await ctx.db.scoped(scope, async (tx) => {
    const known = await selectCode(tx, scope, row.id);
    if (!known || known.expires_at <= ctx.clock.now()) return 'email_code_expired' as const;
    if (known.attempts >= maxAttempts) return 'email_code_exhausted' as const;
    if (matchesAnyKey(ctx.config.secretKeys, hashOf, known.code_hash)) return null;
    await updateCodeAttempts(tx, scope, row.id, known.attempts + 1);
    return 'email_code_wrong' as const;
  });
  if (fault) throw new MerchantRefusal(fault);
  const until = String(Math.floor((ctx.clock.now().getTime() + passMs) / 1000));
  return `${until}.${passProof(newest(ctx.config.secretKeys), row, until).toString('hex')}`;
}

type PassSubject = Pick<OnboardingRow, 'id' | 'email' | 'onboarding_epoch'>;

function passProof(secret: SecretKey, row: PassSubject, until: string): Buffer {
  return keyedHash(secret, 'onboarding', `pass/${row.id}/${row.onboarding_epoch}/${until}/${row.email}`);
}

/** Whether the code was entered in this browser, or none is required because the partner gave no e-mail address. */
export function passedEmail(ctx: Pick<Context, 'config' | 'clock'>, row: PassSubject, pass: string | null): boolean {
  if (row.email === null) return true;
  const [until = '', hex = ''] = pass?.split('.') ?? [];
  const given = Buffer.from(hex, 'hex');
  // Anything but digits could take the beginning of an address into the time, and is no time that ends.
  if (!/^\d{1,12}$/.test(until) || Number(until) * 1000 <= ctx.clock.now().getTime()) return false;
  return matchesAnyKey(ctx.config.secretKeys, (secret) => passProof(secret, row, until), given);
}

/** Whether a code that was sent is still valid. */
export function codeUnderWay(ctx: Context, { scope, row }: OpenOnboarding): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    const known = await selectCode(tx, scope, row.id);
    return known !== null && known.expires_at > ctx.clock.now();
  });
}
