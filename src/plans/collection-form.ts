import { minorOf, readAmount } from '../lib/amount.ts';
import { maxFiatInt } from '../requests/rules.ts';

/** How a plan's charges are paid. */
export type Collection = {
  /**
   * `link`: the customer pays each by its link. `automatic`: they are charged to the wallet that has agreed, within its
   * limits.
   */
  collect: 'link' | 'automatic';
  /** The maximum per charge, in minor units of the plan's currency; null if the customer pays by link. */
  capFiatInt: number | null;
  /** Added to the cap for a change of the exchange rate. */
  reservePercent: number;
  /** What follows when a charge stays unpaid: the plan continues by link, or ends. */
  afterPastDue: 'link' | 'end';
};

export type CollectionField = 'collect' | 'cap' | 'reserve' | 'past_due';
export type CollectionFault = 'cap' | 'tooMuch' | 'reserve';

export const byLink: Collection = { collect: 'link', capFiatInt: null, reservePercent: 0, afterPastDue: 'link' };

/**
 * The reserve unless another one is typed. A token that is worth a dollar trades some hundredths of a percent above or
 * below it, so plans in dollars need a small one.
 */
export const usualReserve = (currency: string): number => (currency === 'USD' ? 1 : 10);
const maxReserve = 100;

/**
 * Reads how a plan's charges are paid.
 *
 * @param amount of each charge, in minor units; null if it was mistyped
 * @param report is called with each fault
 */
export function readCollection(
  typed: Partial<Record<CollectionField, string | undefined>>,
  { currency, amount }: { currency: string; amount: bigint | null },
  report: (field: CollectionField, fault: CollectionFault) => void,
): Collection {
  if (typed.collect !== 'automatic') return byLink;
  const capText = (typed.cap ?? '').trim();
  const cap = capText === '' ? amount : minorOf(readAmount(capText, currency));
  if (capText !== '') {
    if (cap === null || (amount !== null && cap < amount)) report('cap', 'cap');
    else if (cap > maxFiatInt) report('cap', 'tooMuch');
  }
  const reserveText = (typed.reserve ?? '').trim();
  const reserve =
    reserveText === '' ? usualReserve(currency) : /^\d{1,3}$/.test(reserveText) ? Number(reserveText) : -1;
  if (reserve < 0 || reserve > maxReserve) report('reserve', 'reserve');
  return {
    collect: 'automatic',
    capFiatInt: cap === null ? null : Number(cap),
    reservePercent: reserve,
    afterPastDue: typed.past_due === 'end' ? 'end' : 'link',
  };
}
