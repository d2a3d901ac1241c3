import {
  type RecipientQuota,
  recipientSubject,
  takeAllOrNone,
  takeDailyQuota,
  takeRecipientQuota,
} from '../auth/daily-quota.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { withLatinDigits } from '../lib/text/digits.ts';
import { mailboxOf } from '../lib/text/email.ts';
import type { Channel } from './store.ts';

/**
 * How many receipts a customer is sent in a day. A merchant names addresses and numbers that nobody has proved to be a
 * customer's, and can pay its own requests again and again. Whoever can register one merchant can register many.
 */
const toPerson: Record<Channel, RecipientQuota> = {
  mail: { ofPartner: 200, ofMerchant: 50 },
  phone: { ofPartner: 40, ofMerchant: 10 },
};
/** Messages cost the operator money. At most this many a day go to the customers of one merchant. */
const maxMessages = 10_000;

/** Prefixes of countries and trunks are written in many ways, or left out: the last digits are the same in all. */
const lastDigits = 8;
/** An extension, which is no part of a number, has fewer digits; one that has more counts as a number itself. */
const minDigits = 6;

/** A number from its first digit on, with the signs between digits that are read over, some of them unseen. */
const numbersWritten = /\d[\d\s\p{Pd}\p{Ps}\p{Pe}\p{Cf}.+/·•−~∼_'’]*/gu;

/**
 * What all spellings of a phone number have in common. There is one entry for each number in the text, because any of
 * them may be the one that is called, and one for all its digits, because a gateway may drop whatever stands between
 * them.
 */
function phonesOf(written: string): string[] {
  const runs = withLatinDigits(written.normalize('NFKC')).match(numbersWritten) ?? [];
  const digits = runs.map((run) => run.replace(/\D/g, ''));
  const numbers = digits.filter((run) => run.length >= minDigits);
  return [...new Set([...numbers, digits.join('')].map((run) => run.slice(-lastDigits)))];
}

/**
 * Takes one of the receipts that a merchant, and its partner, may have sent in a day. What is refused uses up nothing,
 * of any number that the text has.
 *
 * @param to the customer's e-mail address or phone number, however it is written
 * @returns false when they are used up
 */
export async function takeReceipt(
  { config }: Pick<Context, 'config'>,
  tx: Tx,
  scope: Scope,
  { channel, accountId, to }: { channel: Channel; accountId: string; to: string },
): Promise<boolean> {
  const customers = channel === 'mail' ? [mailboxOf(to)] : phonesOf(to);
  const max = toPerson[channel];
  // Two texts may hold the same numbers, in any order: all take them in the same one, so none waits for another's.
  const people = customers.map((customer) => recipientSubject(config, scope, customer)).sort();
  return takeAllOrNone(tx, async (inner) => {
    for (const person of people) {
      if (!(await takeRecipientQuota(inner, scope, `receipt_${channel}`, { accountId, person, max }))) return false;
    }
    return channel === 'mail' || takeDailyQuota(inner, scope, 'messages', { subject: accountId, max: maxMessages });
  });
}
