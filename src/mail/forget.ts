import type { Context } from '../context.ts';
import { dayMs } from '../lib/durations.ts';
import { type StoredContent, storedContent } from './content.ts';

const keptMs = 30 * dayMs;
const batchSize = 1000;
const maxBatches = 100;

/**
 * Loop: deletes mails 30 days after they were sent, and mails that were given up 30 days after they were queued.
 * Returns how many.
 */
export async function forgetMails({ db, clock }: Pick<Context, 'db' | 'clock'>, signal: AbortSignal): Promise<number> {
  const before = new Date(clock.now().getTime() - keptMs);
  let forgotten = 0;
  for (let batch = 0; batch < maxBatches && !signal.aborted; batch++) {
    const { count } = await db.sql`
      delete from mails where id in (
        (select id from mails where sent_at < ${before} order by sent_at limit ${batchSize})
        union all
        (select id from mails where sent_at is null and next_attempt_at = 'infinity' and created_at < ${before}
          order by created_at limit ${batchSize}))
      -- Checked again for each row: an operator may have retried one meanwhile.
      and (sent_at < ${before} or (sent_at is null and next_attempt_at = 'infinity'))`;
    forgotten += count;
    if (count < batchSize) break;
  }
  return forgotten;
}

/**
 * Loop: outside the sandbox, encrypts readable mails that wait or were given up, and deletes the content of sent ones.
 * A sandbox or an earlier version queued such mails. Returns how many.
 */
export async function encryptMails({ db, config }: Pick<Context, 'db' | 'config'>): Promise<number> {
  if (config.sandbox) return 0;
  const readable = await db.sql<(StoredContent & { id: string; sent_at: Date | null; body: string })[]>`
    select id, sent_at, subject, body, body_html, unsubscribe_url from mails where body is not null
    order by created_at limit ${batchSize}`;
  for (const { id, sent_at, subject, body, body_html: html, unsubscribe_url: unsubscribeUrl } of readable) {
    const stored = storedContent(config, { recipient: '', subject, body, html, unsubscribeUrl });
    await db.sql`
      update mails set subject = ${stored.subject}, body = null, body_html = null, unsubscribe_url = null,
        sealed = ${sent_at === null ? stored.sealed : null}
      where id = ${id} and body is not null and (sent_at is null) = ${sent_at === null}`;
  }
  return readable.length;
}
