import type { Scope, Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import type { Channel } from './store.ts';

export type GivenUpReceipt = {
  partner_id: string;
  partner_slug: string;
  partner_name: string;
  test_mode: boolean;
  request_id: string;
  channel: Channel;
  created_at: Date;
  attempts: number;
  error: string | null;
};

export function selectGivenUp(sql: Sql, limit: number): Promise<GivenUpReceipt[]> {
  return sql<GivenUpReceipt[]>`
    select r.partner_id, p.slug as partner_slug, p.name as partner_name, r.test_mode, r.request_id, r.channel, r.created_at, r.attempts, r.error
    from receipts r join partners p on p.id = r.partner_id
    where r.done_at is null and r.next_attempt_at = 'infinity' order by r.created_at desc, r.request_id limit ${limit}`;
}

/** Makes an abandoned receipt due now, in a new round of attempts; false when there is no such receipt. */
export async function updateRetried(sql: Sql, scope: Scope, requestId: string, channel: Channel): Promise<boolean> {
  const { count } = await sql`
    update receipts set attempts = 0, next_attempt_at = now()
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${requestId}
      and channel = ${channel} and done_at is null and next_attempt_at = 'infinity'`;
  return count === 1;
}

/** Receipts that wait to be sent, for `queueDepth`; not those that were given up. */
export const waitingReceipts = (sql: Sql): Fragment =>
  sql`select created_at as since from receipts where done_at is null and next_attempt_at < 'infinity'`;
