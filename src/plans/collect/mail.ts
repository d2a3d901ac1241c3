import type { Context } from '../../context.ts';
import { formatFiat } from '../../lib/money.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { type CustomerMailFact, timeFact, writeCustomerMail } from '../../mail/customer-mail.ts';
import type { MailBranding } from '../../mail/layout.ts';
import type { NewMail } from '../../mail/outbox.ts';
import { payeeName } from '../../merchants/payee-name.ts';
import { payPageUrl } from '../../requests/render.ts';
import { type ChargesTexts, chargesTexts } from '../../texts/charges.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { checksummed } from '../../ui/address.ts';
import { fill, wordsKept } from '../../ui/language.ts';
import { planPageUrl } from '../link.ts';
import { stopMailsUrl } from '../stop-mails.ts';
import type { NamedPlan } from '../store.ts';
import type { MailedRequest } from './store.ts';

/** Why a charge failed or was not made, as the customer's mail says. */
export type MailedReason = keyof ChargesTexts['yours'];

export type ChargeMail = {
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
  const { plan, request, to, kind } = mail;
  const { words, merchant, heads, facts } = commonParts(mail, request);
  const { mail: t } = chargesTexts(words);
  const url = payPageUrl(config, request.id);
  return writeCustomerMail(to, {
    ...heads(t[subjects[kind.name]], t[headings[kind.name]]),
    facts: [
      ...facts,
      ...(kind.name === 'failed' ? [timeFact(words, t.next, kind.next)] : []),
      timeFact(words, t.until, request.expires_at),
    ],
    link: { url, label: t.pay, sentence: fill(t.payRest, { link: url }) },
    why: `${kind.name === 'past_due' ? `${t.nothingMore} ` : ''}${fill(t.why, { merchant })}`,
    stop: { url: stopMailsUrl(config, request.id, plan.id), label: t.stop },
  });
}

type AheadMail = Pick<ChargeMail, 'plan' | 'branding' | 'to'> & {
  reason: keyof ChargesTexts['mail']['fixes'];
  payer: string;
  dueAt: Date;
};

/** Warns a customer that the next charge is likely to fail, while there is time to fix it, and says how. */
export function lowFundsMail({ config }: Pick<Context, 'config'>, mail: AheadMail): NewMail {
  const { plan, to, dueAt, reason } = mail;
  const { words, merchant, heads, facts } = commonParts(mail, plan);
  const { mail: t } = chargesTexts(words);
  const url = planPageUrl(config, plan.id);
  return writeCustomerMail(to, {
    ...heads(t.aheadSubject, t.ahead),
    facts: [
      ...facts,
      timeFact(words, t.due, dueAt),
      [t.toDo, fill(t.fixes[reason], { raise: mandateTexts(words).page.raise })],
    ],
    link: { url, label: t.see, sentence: fill(t.seeRest, { link: url }) },
    why: fill(t.why, { merchant }),
    stop: { url: `${url}/stop-mails`, label: t.stop },
  });
}

/** What all mails about a charge have: its language, who is paid, subject and heading, and what it is. */
function commonParts(
  { plan, branding, reason, payer }: Pick<ChargeMail, 'plan' | 'branding' | 'reason' | 'payer'>,
  price: { fiat_int: string; fiat_code: string },
) {
  const words = wordsKept(plan.language);
  const { mail: t, yours } = chargesTexts(words);
  const merchant = payeeName(plan);
  const amount = formatFiat(BigInt(price.fiat_int), price.fiat_code, words.language);
  const facts: CustomerMailFact[] = [
    [t.for, plan.name ?? ''],
    [t.amount, amount],
    [t.payTo, merchant],
    [t.reason, fill(yours[reason], { merchant })],
    ...(payer === null ? [] : [[t.wallet, checksummed(payer)] as CustomerMailFact]),
  ];
  const heads = (subjectText: string, heading: string) => {
    const subject = fill(subjectText, { merchant: oneLine(merchant), amount });
    return {
      words,
      branding,
      subject: plan.test_mode ? fill(t.testSubject, { subject }) : subject,
      heading: fill(heading, { merchant, amount }),
      test: plan.test_mode ? t.test : null,
    };
  };
  return { words, merchant, heads, facts };
}
