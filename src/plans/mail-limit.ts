import { type RecipientQuota, recipientSubject, takeRecipientQuota } from '../auth/daily-quota.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { mailboxOf } from '../lib/text/email.ts';
import type { PlanRow } from './store.ts';

/**
 * How many mails about plans one mailbox is sent in a day. Nobody has proved that it is a customer's, and whoever can
 * register one merchant can register many.
 */
export const maxPlanMails: RecipientQuota = { ofPartner: 200, ofMerchant: 100 };

/**
 * Takes one of the mails that a merchant, and its partner, may send to the mailbox of a plan's customer in a day.
 *
 * @returns the address to mail; null if there is none, if its owner has stopped the mails, or if they are used up. Then
 * the mail is left out, and its link is on the merchant's page
 */
export async function takePlanMail(
  { config, log }: Pick<Context, 'config' | 'log'>,
  tx: Tx,
  scope: Scope,
  plan: Pick<PlanRow, 'id' | 'account_id' | 'customer_email' | 'mails_stopped_at'>,
): Promise<string | null> {
  const to = plan.customer_email;
  if (to === null || plan.mails_stopped_at !== null) return null;
  const person = recipientSubject(config, scope, mailboxOf(to));
  const counted = { accountId: plan.account_id, person, max: maxPlanMails };
  if (await takeRecipientQuota(tx, scope, 'plan_mail', counted)) return to;
  log.warn({ plan_id: plan.id }, 'a customer was not mailed about a plan: too many were sent to this address today');
  return null;
}
