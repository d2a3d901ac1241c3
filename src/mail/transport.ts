import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { pause } from '../lib/time.ts';
import type { NewMail } from './outbox.ts';
import { RecipientRefused, smtpTransport } from './smtp.ts';

export type DueMail = NewMail & { id: string };

/** Hands one mail on; throws when it could not, also once the signal aborts. */
export type MailTransport = (mail: DueMail, signal: AbortSignal) => Promise<void>;

/** By SMTP where it is configured; else the sandbox prints mails. They stay in the table, for /dev/mail. Null: none. */
function transportOf(ctx: Context): MailTransport | null {
  if (ctx.config.mail) return smtpTransport(ctx.config.mail);
  if (!ctx.config.sandbox) return null;
  return async ({ recipient, subject, body }) => {
    ctx.log.info({ recipient, subject, body }, 'mail');
  };
}

const missingAlarm = 'mail_transport';
const failingAlarm = 'mail_failing';
const mailsPerPass = 100;
/** For one mail, from the look-up of the server's name to its last answer. */
const sendLimitMs = 45_000;
/** The first wait; each is twice the one before. Longer than sending takes, so nobody else takes a mail under way. */
const firstWaitMs = 120_000;
/** About two and a half days. */
const maxAttempts = 12;
const markTries = 5;

/**
 * Sends mails that are due, over all nodes each one once; a failed one is tried again later, at most a day apart and
 * twelve times. Without a transport they stay queued, and an alarm says so.
 *
 * @param signal no further mail is begun once it aborts
 * @returns how many were sent
 */
export async function sendDueMails(ctx: Context, signal: AbortSignal, transport = transportOf(ctx)): Promise<number> {
  if (!transport) {
    await alarmWhenWaiting(ctx);
    return 0;
  }
  await clearAlarm(ctx.db.sql, missingAlarm);
  let sent = 0;
  for (let begun = 0; begun < mailsPerPass && !signal.aborted; begun++) {
    const mail = await claimMail(ctx);
    if (!mail) break;
    if (await send(ctx, mail, transport)) sent++;
  }
  return sent;
}

type Claimed = DueMail & { last: boolean };

/** Claims one by moving its next attempt: a crash in between delays a mail, it does not lose it. */
async function claimMail(ctx: Context): Promise<Claimed | null> {
  const [mail] = await ctx.db.sql<Claimed[]>`
    update mails set attempts = attempts + 1,
      next_attempt_at = case when attempts + 1 < ${maxAttempts}
        then now() + least(${firstWaitMs} * interval '1 ms' * 2 ^ attempts, interval '1 day') else 'infinity' end
    where id = (
      select id from mails where sent_at is null and next_attempt_at <= now()
      order by next_attempt_at limit 1 for update skip locked)
    returning id, recipient, subject, body, body_html as html, attempts >= ${maxAttempts} as last`;
  return mail ?? null;
}

async function send(ctx: Context, { last, ...mail }: Claimed, transport: MailTransport): Promise<boolean> {
  try {
    await transport(mail, AbortSignal.timeout(sendLimitMs));
  } catch (error) {
    ctx.log[last ? 'error' : 'warn']({ err: error, mail_id: mail.id, given_up: last }, 'a mail could not be sent');
    if (error instanceof RecipientRefused) return false;
    const message = `A mail could not be sent: ${(error as Error).message.slice(0, 200)}`;
    await raiseAlarm(ctx.db.sql, failingAlarm, message);
    return false;
  }
  await markSent(ctx, mail.id);
  await clearAlarm(ctx.db.sql, failingAlarm);
  return true;
}

/** Tried again while the database is away: what is not marked would be sent a second time. */
async function markSent(ctx: Context, id: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await ctx.db.sql`update mails set sent_at = now() where id = ${id}`;
      return;
    } catch (error) {
      if (attempt === markTries) throw error;
      await pause(1000 * attempt);
    }
  }
}

async function alarmWhenWaiting(ctx: Context): Promise<void> {
  const [row] = await ctx.db.sql<{ waiting: number }[]>`
    select count(*)::int as waiting from (
      select from mails where sent_at is null and next_attempt_at < 'infinity' limit 1000) w`;
  if (!row?.waiting) return;
  const message = `${row.waiting === 1 ? '1 mail waits' : `${row.waiting} mails wait`}: no mail transport is configured; set SMTP_URL and MAIL_FROM.`;
  await raiseAlarm(ctx.db.sql, missingAlarm, message);
}
