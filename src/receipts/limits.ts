import { AttemptLimit } from '../lib/attempts.ts';
import { dayMs } from '../lib/durations.ts';
import { withLatinDigits } from '../lib/text/digits.ts';
import { mailboxOf } from '../lib/text/email.ts';
import type { Channel } from './store.ts';

/** A node may serve millions of customers a day, of whom few may share a counter. 4 MB, once they are needed. */
const sharedCounters = 1_048_576;
const inDay = (limit: number) => new AttemptLimit(limit, dayMs, undefined, sharedCounters);

/**
 * How many receipts one merchant's customer is sent in a day, on a node. A merchant names addresses and numbers that
 * nobody has proved to be a customer's, and can pay its own requests again and again.
 */
const ofMerchant: Record<Channel, AttemptLimit> = {
  mail: inDay(50),
  phone: inDay(10),
};
/** The same of all merchants of a partner: whoever can become one can become many. */
const ofPartner: Record<Channel, AttemptLimit> = {
  mail: inDay(200),
  phone: inDay(40),
};
/** Messages cost the operator money: so many a day go to the customers of one merchant, on a node. */
const messages = new AttemptLimit(10_000, dayMs);

/** Prefixes of countries and trunks are written in many ways, or left out: the last digits are the same in all. */
const lastDigits = 8;
/** An extension, which is no part of a number, has fewer digits; one that has more counts as a number itself. */
const leastDigits = 6;

/** A number from its first digit on, with the signs between digits that are read over, some of them unseen. */
const numbersWritten = /\d[\d\s\p{Pd}\p{Ps}\p{Pe}\p{Cf}.+/·•−~∼_'’]*/gu;

/** What the spellings of a number have in common: of each number that the text has, since any may be the one called. */
function phonesOf(written: string): string[] {
  const runs = withLatinDigits(written.normalize('NFKC')).match(numbersWritten) ?? [];
  const digits = runs.map((run) => run.replace(/\D/g, ''));
  const numbers = digits.filter((run) => run.length >= leastDigits);
  return [...new Set((numbers.length > 0 ? numbers : [digits.join('')]).map((run) => run.slice(-lastDigits)))];
}

/** Whose customer a receipt goes to. */
type Sender = { partnerId: string; accountId: string };

/**
 * Takes one of the receipts that a merchant, and its partner, may have sent in a day.
 *
 * @param to the customer's e-mail address or phone number, however it is written
 * @returns false when they are used up
 */
export function takeReceipt(channel: Channel, { partnerId, accountId }: Sender, to: string, now: Date): boolean {
  const customers = channel === 'mail' ? [mailboxOf(to)] : phonesOf(to);
  for (const customer of customers) {
    if (!ofMerchant[channel].take(`${accountId} ${customer}`, now)) return false;
    if (!ofPartner[channel].take(`${partnerId} ${customer}`, now)) return false;
  }
  return channel === 'mail' || messages.take(accountId, now);
}
