import { formatFiat } from '../lib/money.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { firstVisible } from '../lib/text/visible.ts';
import { type CustomerMailFact, timeFact, writeCustomerMail } from '../mail/customer-mail.ts';
import type { MailBranding } from '../mail/layout.ts';
import type { NewMail } from '../mail/outbox.ts';
import { receiptTexts } from '../texts/receipts.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import type { ReceiptFacts } from './read.ts';

/** The mail of a receipt: as text, and as HTML in the partner's branding. */
export function receiptMail(facts: ReceiptFacts, branding: MailBranding, recipient: string): NewMail {
  const { row, words, merchant, number, link } = facts;
  const { receiptMail: t } = receiptTexts(words);
  return writeCustomerMail(recipient, {
    words,
    branding,
    subject: fill(row.test_mode ? t.testSubject : t.subject, { number, merchant: oneLine(merchant) }),
    heading: fill(t.paid, { merchant }),
    test: row.test_mode ? t.test : null,
    facts: factsOf(facts, branding),
    link: { url: link, label: t.link, sentence: fill(t.linkRest, { link }) },
    why: t.why,
    stop: null,
  });
}

function factsOf(facts: ReceiptFacts, branding: MailBranding): CustomerMailFact[] {
  const { row, receivedMicro, words, merchant, number } = facts;
  const { receipt: t } = receiptTexts(words);
  const at = row.proof_verified_at;
  const memo = firstVisible(row.memo);
  const amount = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  return [
    [t.number, number],
    timeFact(words, t.confirmed, at),
    [t.paidTo, merchant],
    ...(memo === null ? [] : [[t.for, memo] as CustomerMailFact]),
    [t.amount, amount],
    [t.received, `${groupMicro(words, receivedMicro)} USDC`],
    [t.transaction, row.tx_hash],
    ...(row.merchant_name === null ? [] : [[t.through, branding.name] as CustomerMailFact]),
  ];
}
