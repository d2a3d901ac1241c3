import { type Due, dueSince } from '../db/due.ts';
import type { Channel } from './store.ts';

/** The next attempt of a receipt on this channel; receipts that were given up have none. */
export const receiptsDue =
  (channel: Channel): Due =>
  (sql, since) =>
    sql`
    select min(next_attempt_at) from receipts
    where channel = ${channel} and done_at is null and next_attempt_at < 'infinity'
      ${dueSince(sql, sql`next_attempt_at`, since)}`;
