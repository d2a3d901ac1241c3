import type { Context } from '../context.ts';

const keptMs = 30 * 24 * 3_600_000;
const batchSize = 1000;
const maxBatches = 100;

/**
 * Loop: deletes mails a month after they were sent, and those that were given up a month after they were written. They hold
 * links, codes and addresses, and nobody asks for them any more. Returns how many.
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
      -- Asked again of each row: an operator may have let one be sent anew meanwhile.
      and (sent_at < ${before} or (sent_at is null and next_attempt_at = 'infinity'))`;
    forgotten += count;
    if (count < batchSize) break;
  }
  return forgotten;
}
