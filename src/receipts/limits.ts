import { AttemptLimit } from '../lib/attempts.ts';
import { dayMs } from '../lib/durations.ts';
import { mailboxOf } from '../lib/text/email.ts';
import type { Channel } from './store.ts';

/**
 * How many receipts one merchant's customer is sent in a day, on a node. A merchant names addresses and numbers that
 * nobody has proved to be a customer's, and can pay its own requests again and again.
 */
const ofCustomer: Record<Channel, AttemptLimit> = {
  mail: new AttemptLimit(50, dayMs),
  phone: new AttemptLimit(10, dayMs),
};
/** Messages cost the operator money: so many a day go to the customers of one merchant, on a node. */
const messages = new AttemptLimit(10_000, dayMs);

/** Prefixes of countries and trunks are written in many ways, or left out: the last digits are the same in all. */
const lastDigits = 8;

/** What a number's spellings have in common; an extension is no part of it. */
function phoneOf(written: string): string {
  const runs = written.normalize('NFKC').match(/\d[\d\s().+/-]*/g) ?? [];
  const [number = ''] = runs.map((run) => run.replace(/\D/g, '')).sort((a, b) => b.length - a.length);
  return number.slice(-lastDigits);
}

/**
 * Takes one of the receipts that a merchant may have sent in a day.
 *
 * @param to the customer's e-mail address or phone number, however it is written
 * @returns false when they are used up
 */
export function takeReceipt(channel: Channel, accountId: string, to: string, now: Date): boolean {
  const customer = channel === 'mail' ? mailboxOf(to) : phoneOf(to);
  if (!ofCustomer[channel].take(`${accountId} ${customer}`, now)) return false;
  return channel === 'mail' || messages.take(accountId, now);
}
