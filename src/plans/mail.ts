import type { Context } from '../context.ts';
import { formatFiat } from '../lib/money.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { type CustomerMailFact, timeFact, writeCustomerMail } from '../mail/customer-mail.ts';
import type { MailBranding } from '../mail/layout.ts';
import type { NewMail } from '../mail/outbox.ts';
import { payeeName } from '../merchants/payee-name.ts';
import { payPageUrl } from '../requests/render.ts';
import type { RequestRow } from '../requests/store.ts';
import { planTexts } from '../texts/plans.ts';
import { receiptTexts } from '../texts/receipts.ts';
import { fill, wordsKept } from '../ui/language.ts';
import { stopMailsUrl } from './stop-mails.ts';
import type { NamedPlan } from './store.ts';

/** A charge that its customer is asked to pay. */
type DueCharge = { plan: NamedPlan; request: RequestRow; branding: MailBranding; to: string };

/** The mail that asks a customer to pay a charge by its link: as text, and as HTML with the partner's branding. */
export function paymentRequestMail(
  { config }: Pick<Context, 'config'>,
  { plan, request, branding, to }: DueCharge,
): NewMail {
  const words = wordsKept(plan.language);
  const { planMail: t } = planTexts(words);
  const merchant = payeeName(plan);
  const amount = formatFiat(BigInt(request.fiat_int), request.fiat_code, words.language);
  const values = { merchant: oneLine(merchant), amount };
  const url = payPageUrl(config, request.id);
  const facts: CustomerMailFact[] = [
    [t.for, plan.name ?? ''],
    [t.amount, amount],
    timeFact(words, t.until, request.expires_at),
    [t.payTo, merchant],
    ...(plan.merchant_name === null ? [] : [[receiptTexts(words).receipt.through, branding.name] as CustomerMailFact]),
  ];
  return writeCustomerMail(to, {
    words,
    branding,
    subject: fill(plan.test_mode ? t.testSubject : t.subject, values),
    heading: fill(t.asks, { merchant, amount }),
    test: plan.test_mode ? t.test : null,
    facts,
    link: { url, label: t.pay, sentence: fill(t.linkRest, { link: url }) },
    why: `${fill(t.why, { merchant })} ${fill(t.unexpected, { merchant })}`,
    stop: { url: stopMailsUrl(config, request.id, plan.id), label: t.stop },
  });
}
