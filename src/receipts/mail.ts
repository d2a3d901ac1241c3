import { type Html, html } from '../lib/html.ts';
import { formatFiat } from '../lib/money.ts';
import type { NewMail } from '../mail/outbox.ts';
import type { MailLook } from '../partners/look.ts';
import { groupMicro, instant } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import type { ReceiptFacts } from './facts.ts';

/** Colours of `style.css`: readers of mail know no variables, and many no dark mode. */
const paper = '#fbfaf8';
const ink = '#1a2029';
const quiet = '#5d646f';
const line = '#dcdee2';
const faces = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";

/** The mail of a receipt: as text, and as HTML in the partner's look. Nothing of it is loaded but the logo. */
export function receiptMail(facts: ReceiptFacts, look: MailLook, recipient: string): NewMail {
  const { row, words, merchant, number } = facts;
  const { receiptMail: t } = words.t;
  const subject = fill(row.test_mode ? t.testSubject : t.subject, { number, merchant: oneLine(merchant) });
  return { recipient, subject, body: asText(facts, look), html: asHtml(facts, look, subject).text };
}

/** A header holds one line, whatever the merchant calls itself. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

type Fact = [name: string, value: string, shown?: Html];

function factsOf({ row, words, merchant, number }: ReceiptFacts, look: MailLook): Fact[] {
  const { receipt: t, receiptMail } = words.t;
  const at = row.proof_verified_at;
  const amount = formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language);
  return [
    [t.number, number],
    [t.confirmed, `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`, instant(words, at)],
    [t.paidTo, merchant],
    ...(row.memo === null ? [] : [[t.for, row.memo] as Fact]),
    [t.amount, amount],
    [receiptMail.usdc, `${groupMicro(words, BigInt(row.usdc_micro))} USDC`],
    [t.transaction, row.tx_hash],
    ...(row.merchant_name === null ? [] : [[t.through, look.name] as Fact]),
  ];
}

function asText(facts: ReceiptFacts, look: MailLook): string {
  const { row, words, merchant, link } = facts;
  const { receiptMail: t } = words.t;
  const lines = factsOf(facts, look).map(([name, value]) => `${name}: ${value}`);
  const parts = [
    `${fill(t.paid, { merchant })}.`,
    row.test_mode && t.test,
    lines.join('\n'),
    fill(t.linkRest, { link }),
    t.why,
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function asHtml(facts: ReceiptFacts, look: MailLook, title: string): Html {
  const { row, words, merchant, link } = facts;
  const { receiptMail: t } = words.t;
  const end = words.direction === 'rtl' ? 'left' : 'right';
  const rows = factsOf(facts, look).map(
    ([name, value, shown]) =>
      html`<tr><th scope="row" style="padding:8px 0;border-top:1px solid ${line};font-weight:400;color:${quiet};text-align:start;vertical-align:top">${name}</th>
<td dir="auto" style="padding:8px 0 8px 16px;border-top:1px solid ${line};text-align:${end};word-break:break-word;white-space:pre-line">${shown ?? value}</td></tr>`,
  );
  return html`<!doctype html>
<html lang="${words.language}" dir="${words.direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${title}</title></head>
<body style="margin:0;background:${paper};color:${ink};font:16px/1.5 ${faces}">
<div style="max-width:440px;margin:0 auto;padding:24px 16px">
${look.logoUrl !== null && html`<p style="margin:0 0 16px"><img src="${look.logoUrl}" alt="${look.name}" height="40"></p>`}
<div style="background:#ffffff;border:1px solid ${line};border-top:4px solid ${look.accent};border-radius:10px;padding:24px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${fill(t.paid, { merchant })}</h1>
${row.test_mode && html`<p style="margin:0 0 16px"><strong>${t.test}</strong></p>`}
<table role="presentation" style="width:100%;border-collapse:collapse;font-size:14px">${rows}</table>
<p style="margin:24px 0 0"><a href="${link}" style="display:inline-block;background:${look.accent};color:${look.onAccent};padding:12px 20px;border-radius:10px;text-decoration:none;font-weight:600">${t.link}</a></p>
</div>
<p style="margin:16px 0 0;font-size:12px;color:${quiet}">${t.why}</p>
</div></body></html>`;
}
