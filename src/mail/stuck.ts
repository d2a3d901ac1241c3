import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { withoutNumbers } from './content.ts';

/**
 * How many mails wait, at most `max`, and when the oldest of them was queued. Mails that were given up do not count.
 */
export async function mailDepth(sql: Sql, max: number): Promise<{ waiting: number; oldest: Date | null }> {
  const [row] = await sql<{ waiting: number; oldest: Date | null }[]>`
    select count(*)::int as waiting, min(created_at) as oldest from (
      select created_at from mails where sent_at is null and next_attempt_at < 'infinity' limit ${max}) w`;
  return row ?? { waiting: 0, oldest: null };
}

export type GivenUpMail = { id: string; subject: string; recipient: string; created_at: Date; attempts: number };

/** Mails that were given up after their last attempt, newest first. The numbers in their subjects are masked. */
export async function givenUpMails(sql: Sql, limit: number): Promise<GivenUpMail[]> {
  const rows = await sql<GivenUpMail[]>`
    select id, subject, recipient, created_at, attempts from mails
    where sent_at is null and next_attempt_at = 'infinity' order by created_at desc, id desc limit ${limit}`;
  return rows.map((row) => ({ ...row, subject: withoutNumbers(row.subject) }));
}

/** Queues a mail that was given up for a new round of attempts; false if there is no such mail. */
export function retryMail(ctx: Pick<Context, 'db' | 'clock'>, actor: Actor, id: string): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    const { count } = await tx`
      update mails set attempts = 0, next_attempt_at = now()
      where id = ${id} and sent_at is null and next_attempt_at = 'infinity'`;
    if (count === 0) return false;
    const about = { partnerId: null, testMode: null, object: { kind: 'mail' as const, id } };
    await audit(ctx, tx, actor, { ...about, action: 'mail.retried', details: {} });
    return true;
  });
}
