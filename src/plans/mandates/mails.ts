import type { Context } from '../../context.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import { formatFiat, formatMicro } from '../../lib/money.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { type CustomerMailFact, timeFact, writeCustomerMail } from '../../mail/customer-mail.ts';
import { writeNotice } from '../../mail/notice.ts';
import { queueMail, queuePlanMail } from '../../mail/outbox.ts';
import { payeeName } from '../../merchants/payee-name.ts';
import { mailBrandingOf } from '../../partners/branding.ts';
import { type MandateTexts, mandateTexts } from '../../texts/mandates.ts';
import { planTexts } from '../../texts/plans.ts';
import { checksummed } from '../../ui/address.ts';
import { amountEvery } from '../../ui/formats.ts';
import { fill, type Words, wordsKept } from '../../ui/language.ts';
import { planPageUrl } from '../link.ts';
import { takePlanMail } from '../mail-limit.ts';
import type { PlanFactsRow } from './facts.ts';
import type { EndReason, MandateRow } from './store.ts';

type MailContext = Pick<Context, 'config' | 'log'>;
type Kind = 'ask' | 'again' | 'agreed' | 'stopped' | 'ended';
type Why = 'askWhy' | 'againWhy' | 'agreedWhy' | 'stoppedWhy' | 'endedWhy';

/**
 * After these the plan continues and the customer did nothing to end the mandate, so the customer is asked to agree
 * again.
 */
const asksAgain: readonly EndReason[] = ['wallet_changed', 'above_cap', 'currency_changed', 'expired'];

/** Asks a plan's customer to agree to automatic charges. */
export async function queueAskMail(ctx: MailContext, tx: Tx, scope: Scope, facts: PlanFactsRow): Promise<void> {
  await queueToCustomer(ctx, tx, scope, facts, { kind: 'ask', more: () => [] });
}

/** Tells a plan's customer what was agreed, and how to stop it: whoever held the link may have agreed. */
export async function queueAgreedMail(
  ctx: MailContext,
  tx: Tx,
  scope: Scope,
  facts: PlanFactsRow,
  mandate: MandateRow,
): Promise<void> {
  await queueToCustomer(ctx, tx, scope, facts, {
    kind: 'agreed',
    more: (words, { page: t }) => [
      [t.max, `${formatMicro(BigInt(mandate.cap_micro))} USDC`],
      [t.payer, checksummed(mandate.payer)],
      timeFact(words, t.until, mandate.ends_at),
    ],
  });
}

/**
 * Tells customer and merchant that a plan is no longer charged automatically; asks the customer again if that helps.
 */
export async function queueEndMails(
  ctx: MailContext,
  tx: Tx,
  scope: Scope,
  facts: PlanFactsRow,
  reason: EndReason,
): Promise<void> {
  if (reason === 'customer_erased') return;
  const hasEnded = facts.state === 'ended';
  const again = asksAgain.includes(reason) && !hasEnded;
  if (reason === 'expired' && !again) return;
  const isQueued = await queueToCustomer(ctx, tx, scope, facts, {
    kind: again ? 'again' : hasEnded ? 'ended' : 'stopped',
    more: (_, t) => [[t.mails.reason, t.ended[reason]]],
  });
  // The merchant knows what it has just done itself.
  if (reason !== 'stopped_by_merchant' && reason !== 'plan_ended')
    await queueToMerchant(ctx, tx, facts, reason, merchantText(hasEnded, again, isQueued));
}

/** Only the merchant can ask a customer to whom no mail goes: for lack of an address, or who stopped the mails. */
function merchantText(hasEnded: boolean, again: boolean, isQueued: boolean) {
  if (hasEnded) return 'merchantEnded';
  if (!again) return 'merchantBody';
  return isQueued ? 'merchantAgain' : 'merchantAsk';
}

/** @returns false when the customer gets no mail */
async function queueToCustomer(
  ctx: MailContext,
  tx: Tx,
  scope: Scope,
  facts: PlanFactsRow,
  { kind, more }: { kind: Kind; more: (words: Words, texts: MandateTexts) => CustomerMailFact[] },
): Promise<boolean> {
  const recipient = await takePlanMail(ctx, tx, scope, facts);
  if (recipient === null) return false;
  const words = wordsKept(facts.language);
  const texts = mandateTexts(words);
  const { mails: t, page } = texts;
  const { planMail } = planTexts(words);
  const merchant = oneLine(payeeName(facts));
  const url = planPageUrl(ctx.config, facts.id);
  const why: Why = `${kind}Why`;
  const heading = fill(t[kind === 'ended' ? 'stopped' : kind], { merchant });
  const subject = facts.test_mode ? fill(t.testSubject, { subject: heading }) : heading;
  const amount = formatFiat(BigInt(facts.fiat_int), facts.fiat_code, words.language);
  const mail = writeCustomerMail(recipient, {
    words,
    branding: mailBrandingOf(ctx, { ...facts, name: facts.partner_name }),
    subject,
    heading,
    test: facts.test_mode ? t.test : null,
    facts: [
      [page.what, facts.name ?? ''],
      [page.each, amountEvery(words, amount, facts.every, facts.period)],
      ...more(words, texts),
    ],
    link: { url, label: kind === 'ask' || kind === 'again' ? t.see : t.seePlan, sentence: fill(t.link, { link: url }) },
    why: fill(t[why], { merchant }),
    stop: { url: `${url}/stop-mails`, label: planMail.stop },
  });
  await queuePlanMail(ctx, tx, scope, facts.id, mail);
  return true;
}

async function queueToMerchant(
  ctx: MailContext,
  tx: Tx,
  facts: PlanFactsRow,
  reason: EndReason,
  body: ReturnType<typeof merchantText>,
): Promise<void> {
  if (facts.merchant_email === null) return;
  const words = wordsKept(facts.merchant_language);
  const { mails: t, ended } = mandateTexts(words);
  const notice = writeNotice({
    words,
    branding: mailBrandingOf(ctx, { ...facts, name: facts.partner_name }),
    subject: t.merchantSubject,
    body: t[body],
    values: {
      plan: facts.name ?? facts.id,
      customer: facts.customer_name ?? t.nobody,
      reason: ended[reason],
    },
    links: { link: `${ctx.config.baseUrl}/dashboard/plans/${facts.id}` },
    button: t.toPlan,
  });
  await queueMail(ctx, tx, facts.partner_id, { recipient: facts.merchant_email, aboutPlanId: facts.id, ...notice });
}
