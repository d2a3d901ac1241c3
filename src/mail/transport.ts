import type { Context } from '../context.ts';
import { raiseAlarm } from '../db/alarms.ts';
import type { NewMail } from './outbox.ts';

/** Hands one mail on; throws when it could not. */
export type MailTransport = (mail: NewMail) => Promise<void>;

/** The sandbox's transport prints mails; they also stay in the table, for /dev/mail. Null: none is configured. */
function transportOf(ctx: Context): MailTransport | null {
  if (!ctx.config.sandbox) return null;
  return async ({ recipient, subject, body }) => {
    ctx.log.info({ recipient, subject, body }, 'mail');
  };
}

const alarmName = 'mail_transport';
const batch = 20;

/**
 * Sends mails that are due, over all nodes each one once; a failed one is tried again later, at most a day apart.
 * Without a transport they stay queued, and an alarm says so.
 *
 * @returns how many were sent
 */
export async function sendDueMails(ctx: Context, transport = transportOf(ctx)): Promise<number> {
  if (!transport) {
    await alarmWhenWaiting(ctx);
    return 0;
  }
  // Claimed by moving their next attempt: a crash in between delays a mail, it does not lose it.
  const due = await ctx.db.sql<(NewMail & { id: string })[]>`
    update mails set attempts = attempts + 1,
      next_attempt_at = now() + least(interval '1 minute' * 2 ^ least(attempts, 12), interval '1 day')
    where id in (
      select id from mails where sent_at is null and next_attempt_at <= now()
      order by next_attempt_at limit ${batch} for update skip locked)
    returning id, recipient, subject, body`;
  let sent = 0;
  for (const mail of due) {
    try {
      await transport(mail);
    } catch (error) {
      ctx.log.warn({ err: error, mailId: mail.id }, 'a mail could not be sent; it is tried again');
      continue;
    }
    await ctx.db.sql`update mails set sent_at = now() where id = ${mail.id}`;
    sent += 1;
  }
  return sent;
}

async function alarmWhenWaiting(ctx: Context): Promise<void> {
  const [row] = await ctx.db.sql<{ waiting: number }[]>`
    select count(*)::int as waiting from (select from mails where sent_at is null limit 1000) w`;
  if (!row?.waiting) return;
  const message = `${row.waiting === 1 ? '1 mail waits' : `${row.waiting} mails wait`}: no mail transport is configured.`;
  await raiseAlarm(ctx.db.sql, alarmName, message);
}
