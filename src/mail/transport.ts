import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { wholeQueue } from '../db/due.ts';
import { workThrough } from '../lib/concurrency/work-through.ts';
import { pause } from '../lib/time.ts';
import { decryptedContent } from './content.ts';
import type { NewMail } from './outbox.ts';
import { type Busy, type Claimed, claimMail, mailsDue, ourselves, updateSent } from './queue-store.ts';
import { RecipientRefused, smtpTransport } from './smtp.ts';
import { mailDepth } from './stuck.ts';

export { mailsDue };

export type DueMail = NewMail & { id: string };

/** Sends one mail. Throws if this fails, or once the signal aborts. */
export type MailTransport = (mail: DueMail, signal: AbortSignal) => Promise<void>;

/** SMTP if it is configured. Without it, a sandbox leaves its mails in the table, for /dev/mail. Null: no transport. */
export function transportOf(ctx: Context): MailTransport | null {
  if (ctx.config.mail) return smtpTransport(ctx.config.mail);
  if (!ctx.config.sandbox) return null;
  return async ({ id, recipient }) => {
    ctx.log.info({ recipient, mail_id: id }, 'a mail can be read at /dev/mail');
  };
}

/**
 * Urgent mails have their own places, so that many receipts do not delay them. Mails to one server cannot take all
 * places, so that a slow server does not delay mails to others. The same holds for mails of one partner.
 */
const lanes = [
  { urgent: true, places: 10, perServer: 3, perPartner: 5 },
  { urgent: false, places: 10, perServer: 3, perPartner: 5 },
];
/**
 * A poll that skips busy servers may read everything that is due for them. After one that found nothing, wait at least
 * this long.
 */
const pollPastBusyMs = 1000;
/** The limit for sending one mail, from resolving the server's name to its last response. */
const sendLimitMs = 45_000;
/** With growing waits between them, they take a minute, and end before the mail may be claimed again. */
const markTries = 10;
const maxCounted = 1_000;

/**
 * Sends due mails, several at a time. No two nodes send the same mail. A failed one is retried after at most a day, up
 * to twelve attempts in all. Without a transport mails stay queued, and an alarm is raised.
 *
 * @param signal no further mail is started once it aborts
 * @param since from when on mails that wait are read
 * @returns how many were sent
 */
export async function sendDueMails(
  ctx: Context,
  signal: AbortSignal,
  transport = transportOf(ctx),
  since = wholeQueue,
): Promise<number> {
  if (!transport) {
    await alarmWhenWaiting(ctx);
    return 0;
  }
  await clearAlarm(ctx.db.sql, 'mail_transport');
  const keyIds = ctx.config.secretKeys.map(({ id }) => id);
  const underWay = new Set<Claimed>();
  const polledPastBusy = new Map<boolean, number>();
  const take = async () => {
    const taken: Claimed[] = [];
    for (const lane of lanes) {
      const inLane = () => [...underWay].filter(({ urgent }) => urgent === lane.urgent);
      while (inLane().length < lane.places) {
        const busy = busyIn(inLane(), lane);
        const isBusy = busy.servers.length + busy.senders.length > 0;
        const polledAt = polledPastBusy.get(lane.urgent) ?? Number.NEGATIVE_INFINITY;
        if (isBusy && performance.now() - polledAt < pollPastBusyMs) break;
        const mail = await claimMail(ctx.db.sql, lane.urgent, busy, keyIds, since());
        if (!mail) {
          if (isBusy) polledPastBusy.set(lane.urgent, performance.now());
          break;
        }
        underWay.add(mail);
        taken.push(mail);
      }
    }
    return taken;
  };
  return workThrough(signal, take, async (mail) => {
    const sent = await send(ctx, mail, transport);
    underWay.delete(mail);
    return sent;
  });
}

/** The domain of an address, which identifies the mail server. */
const serverOf = ({ recipient }: Claimed) => recipient.slice(recipient.lastIndexOf('@') + 1).toLowerCase();

/** How many mails of each sender are under way, and the servers and partners that may not have another one. */
function busyIn(mails: Claimed[], { perServer, perPartner }: { perServer: number; perPartner: number }): Busy {
  const bySender = countBy(mails, ({ sender }) => sender);
  return {
    bySender,
    servers: atLeast(countBy(mails, serverOf), perServer),
    senders: atLeast(bySender, perPartner).filter((sender) => sender !== ourselves),
  };
}

const countBy = (mails: Claimed[], by: (mail: Claimed) => string) =>
  new Map([...Map.groupBy(mails, by)].map(([key, theirs]) => [key, theirs.length]));
const atLeast = (counts: ReadonlyMap<string, number>, min: number) =>
  [...counts].filter(([, count]) => count >= min).map(([key]) => key);

/**
 * Sends a claimed mail and stores the result; returns whether it was sent. Never throws: if the result cannot be
 * stored, the mail is attempted again.
 */
async function send(ctx: Context, mail: Claimed, transport: MailTransport): Promise<boolean> {
  const { id, recipient } = mail;
  const hand = async () => {
    await transport({ id, recipient, ...decryptedContent(ctx.config, mail) }, AbortSignal.timeout(sendLimitMs));
  };
  const fault = await hand().then(
    () => null,
    (error: Error) => error,
  );
  try {
    if (fault === null) {
      await markSent(ctx, mail.id);
      await clearAlarm(ctx.db.sql, 'mail_failing');
    } else {
      const { last } = mail;
      ctx.log[last ? 'error' : 'warn']({ err: fault, mail_id: id, given_up: last }, 'a mail could not be sent');
      if (!(fault instanceof RecipientRefused)) {
        const details = { fault: fault.message.slice(0, 200) };
        await raiseAlarm(ctx.db.sql, { kind: 'mail_failing', subject: '', details });
      }
    }
  } catch (error) {
    ctx.log.error({ err: error, mail_id: mail.id }, 'the result of sending a mail could not be stored');
  }
  return fault === null;
}

/**
 * Marks a mail as sent and deletes its content; the sandbox keeps it for /dev/mail. Retries while the database is
 * unreachable or the table locked, because an unmarked mail would be sent twice.
 */
async function markSent(ctx: Context, id: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await updateSent(ctx.db.sql, id, { keepContent: ctx.config.sandbox });
    } catch (error) {
      if (attempt === markTries) throw error;
      await pause(1000 * attempt);
    }
  }
}

async function alarmWhenWaiting(ctx: Context): Promise<void> {
  const { waiting } = await mailDepth(ctx, maxCounted);
  if (waiting > 0) await raiseAlarm(ctx.db.sql, { kind: 'mail_transport', subject: '', details: { waiting } });
}
