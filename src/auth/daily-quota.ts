import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { rowsInBatches } from '../db/in-batches.ts';
import { hasSlot } from '../lib/concurrency/slots.ts';
import { keyedHash, newest } from '../lib/encrypt.ts';

const today = (tx: Tx) => tx`(clock_timestamp() at time zone 'UTC')::date`;

/**
 * Counts an action against its limit for a calendar day (UTC, by the database's clock), exactly, over all nodes. The
 * count is part of the transaction: an action that is refused later, or fails, does not count.
 *
 * @param subject whose: the id of a merchant or request
 * @returns false when the limit is reached
 */
export async function takeDailyQuota(
  tx: Tx,
  scope: Scope,
  action: string,
  { subject, max }: { subject: string; max: number },
): Promise<boolean> {
  const { count } = await tx`
    insert into day_counters as counter (partner_id, day, action, subject, calls)
    values (${scope.partnerId}, ${today(tx)}, ${action}, ${subject}, 1)
    on conflict (partner_id, day, action, subject) do update set calls = counter.calls + 1
      where counter.calls < ${max}`;
  return count === 1;
}

/** How many messages one person may be sent a day, by all merchants of a partner together and by each of them. */
export type RecipientQuota = { ofPartner: number; ofMerchant: number };

/**
 * As `takeDailyQuota`, for messages from a merchant to one person. A merchant leaves the partner's other merchants as
 * many as it has used itself, so no merchant alone can use up what a person may be sent.
 *
 * @param person as `recipientSubject` names it
 */
export async function takeRecipientQuota(
  tx: Tx,
  scope: Scope,
  action: string,
  { accountId, person, max }: { accountId: string; person: string; max: RecipientQuota },
): Promise<boolean> {
  const own = `${accountId} ${person}`;
  // Locked in this order by everybody: the person's count first.
  const counts = await tx<{ subject: string; day: string; calls: number }[]>`
    insert into day_counters as counter (partner_id, day, action, subject, calls)
    values (${scope.partnerId}, ${today(tx)}, ${action}, ${person}, 0),
      (${scope.partnerId}, ${today(tx)}, ${action}, ${own}, 0)
    on conflict (partner_id, day, action, subject) do update set calls = counter.calls
    returning subject, day::text as day, calls`;
  const taken = (subject: string) => counts.find((row) => row.subject === subject);
  const [ofPartner, ofMerchant] = [taken(person), taken(own)];
  if (!ofPartner || !ofMerchant) throw new Error('what a person is sent was not counted');
  if (!hasSlot([ofPartner.calls, ofMerchant.calls], [max.ofPartner, max.ofMerchant])) return false;
  await tx`
    update day_counters set calls = calls + 1
    where partner_id = ${scope.partnerId} and action = ${action}
      and (day, subject) in ((${ofPartner.day}, ${person}), (${ofMerchant.day}, ${own}))`;
  return true;
}

/**
 * Counts against several limits at once, or against none if one of them is reached.
 *
 * @param take false when a limit is reached
 */
export async function takeAllOrNone(tx: Tx, take: (inner: Tx) => Promise<boolean>): Promise<boolean> {
  const usedUp = new Error('used up');
  try {
    await tx.savepoint(async (inner) => {
      if (!(await take(inner))) throw usedUp;
    });
    return true;
  } catch (error) {
    if (error === usedUp) return false;
    throw error;
  }
}

/** Names a person's mailbox or phone number in the counters, without revealing it to readers of the database. */
export function recipientSubject({ secretKeys }: Config, { partnerId }: Scope, address: string): string {
  return keyedHash(newest(secretKeys), 'day-count', `${partnerId} ${address}`).toString('base64url', 0, 16);
}

const batchSize = 1000;

/** Loop: deletes the counts of past days. Returns how many. */
export function deletePastDays({ db }: Pick<Context, 'db'>, signal: AbortSignal): Promise<number> {
  return rowsInBatches(signal, batchSize, async () => {
    // Yesterday's may still be written by a transaction that began before midnight.
    const { count } = await db.sql`
      delete from day_counters where (partner_id, day, action, subject) in (
        select partner_id, day, action, subject from day_counters
        where day < (now() at time zone 'UTC')::date - 1 order by day limit ${batchSize})`;
    return count;
  });
}
