import type { Context } from '../../context.ts';
import { formatFiat } from '../../lib/money.ts';
import {
  type CustomerMail,
  type CustomerMailFact,
  customerMailHtml,
  customerMailText,
  timeFact,
} from '../../mail/customer-mail.ts';
import { type MailBranding, oneLine } from '../../mail/layout.ts';
import type { NewMail } from '../../mail/outbox.ts';
import { payPageUrl } from '../../requests/render.ts';
import { type ChargesTexts, chargesTexts } from '../../texts/charges.ts';
import { checksummed } from '../../ui/address.ts';
import { fill, wordsKept } from '../../ui/language.ts';
import { planPageUrl } from '../link.ts';
import { stopMailsUrl } from '../stop-mails.ts';
import type { NamedPlan } from '../store.ts';
import type { MailedRequest } from './store.ts';

/** Why a charge failed or was not made, as the customer's mail says. */
export type MailedReason = keyof ChargesTexts['yours'];

type ChargeMail = {
  plan: NamedPlan;
  request: MailedRequest;
  branding: MailBranding;
  to: string;
  reason: MailedReason;
  /** The wallet that should have paid; null if none was tried. */
  payer: string | null;
  /** `failed`: it is tried again, at `next`. `past_due`: it is not tried again. `ask`: it was not tried. */
  kind: { name: 'failed'; next: Date } | { name: 'past_due' } | { name: 'ask' };
};

const subjects = { failed: 'failedSubject', past_due: 'pastDueSubject', ask: 'askSubject' } as const;
const headings = { failed: 'failed', past_due: 'pastDue', ask: 'ask' } as const;

/** Tells a customer that a charge was not collected, why, whether it is tried again, and how to pay it by link. */
export function chargeMail({ config }: Pick<Context, 'config'>, mail: ChargeMail): NewMail {
  const { plan, request, branding, to, reason, payer, kind } = mail;
  const words = wordsKept(plan.language);
  const texts = chargesTexts(words);
  const t = texts.mail;
  const merchant = plan.merchant_name ?? plan.partner_name;
  const amount = formatFiat(BigInt(request.fiat_int), request.fiat_code, words.language);
  const url = payPageUrl(config, request.id);
  const stopUrl = stopMailsUrl(config, request.id, plan.id);
  const subject = fill(t[subjects[kind.name]], { merchant: oneLine(merchant), amount });
  const facts: CustomerMailFact[] = [
    [t.for, plan.name ?? ''],
    [t.amount, amount],
    [t.payTo, merchant],
    [t.reason, fill(texts.yours[reason], { merchant })],
    ...(payer === null ? [] : [[t.wallet, checksummed(payer)] as CustomerMailFact]),
    ...(kind.name === 'failed' ? [timeFact(words, t.next, kind.next)] : []),
    timeFact(words, t.until, request.expires_at),
  ];
  return written({
    to,
    words,
    branding,
    subject: plan.test_mode ? fill(t.testSubject, { subject }) : subject,
    heading: fill(t[headings[kind.name]], { merchant, amount }),
    test: plan.test_mode ? t.test : null,
    facts,
    link: { url, label: t.pay, sentence: fill(t.payRest, { link: url }) },
    why: `${kind.name === 'past_due' ? `${t.nothingMore} ` : ''}${fill(t.why, { merchant })}`,
    stop: { url: stopUrl, label: t.stop },
  });
}

type AheadMail = Pick<ChargeMail, 'plan' | 'branding' | 'to' | 'reason'> & { payer: string; dueAt: Date };

/** Warns a customer that the next charge is likely to fail, while there is time to fix it. */
export function aheadMail({ config }: Pick<Context, 'config'>, mail: AheadMail): NewMail {
  const { plan, branding, to, reason, payer, dueAt } = mail;
  const words = wordsKept(plan.language);
  const texts = chargesTexts(words);
  const t = texts.mail;
  const merchant = plan.merchant_name ?? plan.partner_name;
  const amount = formatFiat(BigInt(plan.fiat_int), plan.fiat_code, words.language);
  const url = planPageUrl(config, plan.id);
  const subject = fill(t.aheadSubject, { merchant: oneLine(merchant), amount });
  return written({
    to,
    words,
    branding,
    subject: plan.test_mode ? fill(t.testSubject, { subject }) : subject,
    heading: fill(t.ahead, { merchant, amount }),
    test: plan.test_mode ? t.test : null,
    facts: [
      [t.for, plan.name ?? ''],
      [t.amount, amount],
      [t.payTo, merchant],
      [t.reason, fill(texts.yours[reason], { merchant })],
      [t.wallet, checksummed(payer)],
      timeFact(words, t.due, dueAt),
    ],
    link: { url, label: t.see, sentence: fill(t.seeRest, { link: url }) },
    why: fill(t.why, { merchant }),
    stop: { url: `${url}/stop-mails`, label: t.stop },
  });
}

function written({ to, ...mail }: CustomerMail & { to: string }): NewMail {
  return {
    recipient: to,
    subject: mail.subject,
    body: customerMailText(mail),
    html: customerMailHtml(mail),
    unsubscribeUrl: mail.stop?.url ?? null,
  };
}
