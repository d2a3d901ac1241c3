import { audit, theService } from '../audit/write.ts';
import { takeDailyQuota } from '../auth/daily-quota.ts';
import { hostAddress } from '../auth/host.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { raiseAlarm } from '../db/alarms.ts';
import { isUnreachable, type Tx } from '../db/connection.ts';
import { modeOf } from '../lib/mode.ts';
import { writeNotice } from '../mail/notice.ts';
import { queueMail } from '../mail/outbox.ts';
import { mailBrandingOf } from '../partners/branding.ts';
import { mailTexts } from '../texts/mails.ts';
import { wordsKept } from '../ui/language.ts';
import { onEndpoint } from './audit-object.ts';
import { disabledSubject } from './endpoint.ts';
import { disableFailing, selectContact } from './health-store.ts';
import { deadReason, disableAfterMs } from './rules.ts';

export type Disabled = { partner_id: string; test_mode: boolean; url: string; disabled_reason: string };

const perPass = 100;
/**
 * How many notices a day (UTC) a partner is mailed, in each mode. Its owner names the address without proof, and its
 * receiver can have itself disabled again and again.
 */
const maxNotices = 10;

/**
 * Disables endpoints without a success for 120 h, including those that were sent nothing lately: attempts of one event
 * end after about 76 h, and the partner must know before the next payment. Each is disabled in its own transaction, so
 * a failure of one delays no other.
 *
 * @returns how many were disabled
 */
export async function disableDead(ctx: Context): Promise<number> {
  const now = ctx.clock.now();
  const failingSince = new Date(now.getTime() - disableAfterMs);
  const failed: Disabled[] = [];
  let disabled = 0;
  while (disabled + failed.length < perPass) {
    let row: Disabled | null = null;
    try {
      await ctx.db.transaction(async (tx) => {
        row = await disableFailing(tx, { failingSince, now, except: failed });
        if (!row) return;
        await queueDisabledNotice(ctx, tx, row);
        await logDisabled(ctx, tx, [row]);
      });
    } catch (error) {
      const found = row as Disabled | null;
      if (!found || isUnreachable(error)) throw error;
      ctx.log.error({ err: error, partner: found.partner_id }, 'a webhook endpoint could not be disabled');
      failed.push(found);
      continue;
    }
    if (!row) break;
    disabled++;
  }
  return disabled;
}

const whyDisabled = ({ disabled_reason }: Disabled) => (disabled_reason === deadReason ? 'dead' : 'gone');

/**
 * Writes to the partners' audit logs that endpoints were disabled: last in the transaction, and in the same order on
 * all nodes, to avoid deadlocks.
 */
export async function logDisabled(ctx: Context, tx: Tx, rows: Disabled[]): Promise<void> {
  for (const row of rows.toSorted((a, b) => (a.partner_id < b.partner_id ? -1 : 1))) {
    await audit(ctx, tx, theService, {
      ...onEndpoint({ partnerId: row.partner_id, testMode: row.test_mode }),
      action: 'webhook.disabled',
      details: { host: new URL(row.url).host, why: whyDisabled(row) },
    });
  }
}

/**
 * Notifies the operator and, where an address is known and was not mailed too often today, the partner, in the
 * transaction that disabled the endpoint. That one holds the endpoint's lock, so nobody else counts its notices.
 */
export async function queueDisabledNotice(ctx: Context, tx: Tx, row: Disabled): Promise<void> {
  const { partner_id, test_mode, disabled_reason } = row;
  ctx.log.warn({ partner_id, test_mode, disabled_reason }, 'a webhook endpoint was disabled');
  const mode = modeOf(test_mode);
  await raiseAlarm(tx, {
    kind: 'webhook_disabled',
    subject: disabledSubject(partner_id, test_mode),
    details: { partnerId: partner_id, mode, why: whyDisabled(row) },
  });
  const contact = await selectContact(tx, partner_id);
  if (!contact?.email) return;
  const scope = scopeOfRow(row);
  if (!(await takeDailyQuota(tx, scope, 'webhook_disabled', { subject: mode, max: maxNotices }))) {
    ctx.log.warn({ partner_id, test_mode }, 'a partner was not mailed of its endpoint: it was mailed too often today');
    return;
  }
  const words = wordsKept(contact.language);
  const { endpoint: t } = mailTexts(words);
  const notice = writeNotice({
    words,
    branding: mailBrandingOf(ctx, contact),
    subject: test_mode ? t.testSubject : t.liveSubject,
    body: t.body,
    values: { reason: disabled_reason === deadReason ? t.failing : t.gone },
    figures: { url: row.url },
    links: { link: `${hostAddress(ctx.config, null)}/portal/webhooks?mode=${mode}` },
    button: t.open,
  });
  await queueMail(ctx, tx, partner_id, { recipient: contact.email, ...notice });
}
