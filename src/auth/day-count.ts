import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { keyedHash, newest } from '../lib/encrypt.ts';
import { hasPlace } from '../lib/places.ts';

const today = (tx: Tx) => tx`(clock_timestamp() at time zone 'UTC')::date`;

/**
 * Takes one of what somebody may do in a calendar day (UTC, the database's clock), exactly, over all nodes. It counts
 * with the transaction: what is refused later, or fails, uses up nothing.
 *
 * @param subject whose: the id of a merchant or request
 * @returns false when they are used up
 */
export async function takeOfDay(
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

/** How many a day one person is sent: by all merchants of a partner together, and by each of them. */
export type MaxToPerson = { ofPartner: number; ofMerchant: number };

/**
 * The same of what a merchant sends to one person. It leaves the partner's other merchants as much as it has used
 * itself: no merchant alone keeps a person from what others send.
 *
 * @param person as `personSubject` names it
 */
export async function takeOfPerson(
  tx: Tx,
  scope: Scope,
  action: string,
  { accountId, person, max }: { accountId: string; person: string; max: MaxToPerson },
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
  if (!hasPlace([ofPartner.calls, ofMerchant.calls], [max.ofPartner, max.ofMerchant])) return false;
  await tx`
    update day_counters set calls = calls + 1
    where partner_id = ${scope.partnerId} and action = ${action}
      and (day, subject) in ((${ofPartner.day}, ${person}), (${ofMerchant.day}, ${own}))`;
  return true;
}

/**
 * Takes several of these together: if one is used up, none is taken.
 *
 * @param take false when one is used up
 */
export async function takeTogether(tx: Tx, take: (inner: Tx) => Promise<boolean>): Promise<boolean> {
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

/** How a person's mailbox or phone number is counted: nobody who reads the database learns it. */
export function personSubject({ secretKeys }: Config, { partnerId }: Scope, address: string): string {
  return keyedHash(newest(secretKeys), 'day-count', `${partnerId} ${address}`).toString('base64url', 0, 16);
}

const batchSize = 1000;
const maxBatches = 100;

/** Loop: deletes the counts of past days. Returns how many. */
export async function forgetDays({ db }: Pick<Context, 'db'>, signal: AbortSignal): Promise<number> {
  let forgotten = 0;
  for (let batch = 0; batch < maxBatches && !signal.aborted; batch++) {
    // Yesterday's may still be written by a transaction that began before midnight.
    const { count } = await db.sql`
      delete from day_counters where (partner_id, day, action, subject) in (
        select partner_id, day, action, subject from day_counters
        where day < (now() at time zone 'UTC')::date - 1 order by day limit ${batchSize})`;
    forgotten += count;
    if (count < batchSize) break;
  }
  return forgotten;
}
