import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { type QueueDepth, queueDepth } from '../db/queue-depth.ts';
import { withoutNumbers } from './content.ts';

/** Operators: how many mails wait, and when the oldest was queued. Mails that were given up do not count. */
export const mailDepth = ({ db: { sql } }: Context, max: number): Promise<QueueDepth> =>
  queueDepth(
    sql,
    sql`select created_at as since from mails where sent_at is null and next_attempt_at < 'infinity'`,
    max,
  );

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
