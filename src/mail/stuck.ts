import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { type QueueDepth, queueDepth } from '../db/queue-depth.ts';
import { withoutNumbers } from './content.ts';
import { waitingSince } from './queue-store.ts';
import { type GivenUpMail, selectGivenUp, updateRetried } from './store.ts';

export type { GivenUpMail };

/** Operators: how many mails wait, and when the oldest was queued. Mails that were given up do not count. */
export const mailDepth = ({ db: { sql } }: Context, max: number): Promise<QueueDepth> =>
  queueDepth(sql, waitingSince(sql), max);

/** Mails that were given up after their last attempt, newest first. The numbers in their subjects are masked. */
export async function givenUpMails(sql: Sql, limit: number): Promise<GivenUpMail[]> {
  const rows = await selectGivenUp(sql, limit);
  return rows.map((row) => ({ ...row, subject: withoutNumbers(row.subject) }));
}

/** Queues a mail that was given up for a new round of attempts; false if there is no such mail. */
export function retryMail(ctx: Pick<Context, 'db' | 'clock'>, actor: Actor, id: string): Promise<boolean> {
  return ctx.db.transaction(async (tx) => {
    if (!(await updateRetried(tx, id))) return false;
    const about = { partnerId: null, testMode: null, object: { kind: 'mail' as const, id } };
    await audit(ctx, tx, actor, { ...about, action: 'mail.retried', details: {} });
    return true;
  });
}
