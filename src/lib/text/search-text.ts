import { isAddress, isHash32, isUuid } from '../ids.ts';
import { parseReceiptNumber } from './receipt-number.ts';
import { readTypedAmounts, type TypedAmounts } from './typed-amounts.ts';

/** What a text in a search field may mean. An absent field is not meant. */
export type SearchText = {
  /** As typed, without spaces around it. */
  text: string;
  id?: string;
  /** The first and last UUID that begin as typed, 8 characters or more, and the end that was typed, or ''. */
  ids?: { from: string; to: string; end: string };
  /** The hash of a transaction, in lower case. */
  hash?: string;
  /** In lower case. */
  address?: string;
  receipt?: { number: string; day: Date };
  /** A whole address, in lower case. */
  email?: string;
  amounts?: TypedAmounts;
};

const idInside = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const hashInside = /0x[0-9a-f]{64}/i;
const addressInside = /0x[0-9a-f]{40}/i;

/**
 * Reads what was typed or pasted into a search field. A link to a pay page or a block explorer means the identifier in
 * it.
 */
export function readSearchText(typed: string): SearchText {
  const text = typed.trim();
  const named = (text.includes('/') && [idInside, hashInside, addressInside].map((one) => one.exec(text)?.[0])) || [];
  const word = named.find((one) => one !== undefined) ?? text;
  const [low, receipt, amounts] = [word.toLowerCase(), parseReceiptNumber(word), readTypedAmounts(word)];
  const ids = idsFrom(low);
  return {
    text,
    ...(isUuid(low) && { id: low }),
    ...(ids && { ids }),
    ...(isHash32(low) && { hash: low }),
    ...(isAddress(low) && { address: low }),
    ...(receipt && { receipt }),
    ...(/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(low) && { email: low }),
    ...(amounts && { amounts }),
  };
}

/** Lists shorten an id to its beginning and end: `3f2a91bc…77d0`. */
function idsFrom(word: string): SearchText['ids'] {
  const [start = '', end = ''] = word.split('…');
  if (start.length < 8 || start.length > 35 || !/^[0-9a-f-]{0,27}$/.test(end)) return undefined;
  const filled = (digit: string) =>
    start + `${'x'.repeat(8)}-xxxx-xxxx-xxxx-${'x'.repeat(12)}`.slice(start.length).replaceAll('x', digit);
  const [from, to] = [filled('0'), filled('f')];
  return isUuid(from) ? { from, to, end } : undefined;
}
