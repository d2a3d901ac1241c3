import type { Context } from '../context.ts';
import { rowsInBatches } from '../db/in-batches.ts';
import { dayMs } from '../lib/durations.ts';
import { storedContent } from './content.ts';
import { deleteOld, selectReadable, updateEncrypted } from './store.ts';

const keptMs = 30 * dayMs;
const batchSize = 1000;

/**
 * Loop: deletes mails 30 days after they were sent, and mails that were given up 30 days after they were queued.
 * Returns how many.
 */
export function deleteOldMails({ db, clock }: Pick<Context, 'db' | 'clock'>, signal: AbortSignal): Promise<number> {
  const before = new Date(clock.now().getTime() - keptMs);
  return rowsInBatches(signal, batchSize, () => deleteOld(db.sql, before, batchSize));
}

/**
 * Loop: outside the sandbox, encrypts readable mails that wait or were given up, and deletes the content of sent ones.
 * A sandbox or an earlier version queued such mails. Returns how many.
 */
export async function encryptMails({ db, config }: Pick<Context, 'db' | 'config'>): Promise<number> {
  if (config.sandbox) return 0;
  const readable = await selectReadable(db.sql, batchSize);
  for (const mail of readable) {
    const { sent_at, subject, body, body_html: html, unsubscribe_url: unsubscribeUrl } = mail;
    const stored = storedContent(config, { recipient: '', subject, body, html, unsubscribeUrl });
    await updateEncrypted(db.sql, mail, { subject: stored.subject, sealed: sent_at === null ? stored.sealed : null });
  }
  return readable.length;
}
