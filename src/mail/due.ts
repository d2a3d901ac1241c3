import type { Due } from '../db/due.ts';

/** A mail's next attempt; those that were given up have none. */
export const mailsDue: Due = (sql) => sql`
  select min(lane.at) from (
    select min(next_attempt_at) as at from mails where sent_at is null and urgent and next_attempt_at < 'infinity'
    union all
    select min(next_attempt_at) from mails where sent_at is null and not urgent and next_attempt_at < 'infinity') lane`;
