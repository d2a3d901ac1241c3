import { formatFiat } from '../lib/money.ts';
import { receiptTexts } from '../texts/receipts.ts';
import { fill } from '../ui/language.ts';
import type { ReceiptFacts } from './read.ts';

const maxMerchant = 40;
/** What makes a phone show a link or an address. Only our own link may be opened, but a merchant chooses its name. */
const linking = /[.。．｡:/\\@](?=\S)/gu;

/** The text of a message to a phone, short enough for two parts of 153 characters in most languages. */
export function receiptMessage({ row, words, merchant, number, link }: ReceiptFacts): string {
  const { message, testMessage } = receiptTexts(words).receiptMail;
  return fill(row.test_mode ? testMessage : message, {
    merchant: shortened(merchant),
    amount: formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language),
    number,
    link,
  });
}

function shortened(name: string): string {
  const characters = [...name.replace(linking, ' ').replace(/\s+/g, ' ').trim()];
  return characters.length <= maxMerchant ? characters.join('') : `${characters.slice(0, maxMerchant - 1).join('')}…`;
}
