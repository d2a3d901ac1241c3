import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type QueueDepth, queueDepth } from '../db/queue-depth.ts';
import type { Channel } from './store.ts';
import { type GivenUpReceipt, selectGivenUp, updateRetried, waitingReceipts } from './stuck-store.ts';

const maxListed = 100;

/** Operators: how many receipts wait, and when the oldest was created. Those that were given up do not count. */
export const receiptDepth = ({ db: { sql } }: Context, max: number): Promise<QueueDepth> =>
  queueDepth(sql, waitingReceipts(sql), max);

/** Operators: receipts that were given up, the newest first; at most 100. */
export const listGivenUpReceipts = (ctx: Context): Promise<GivenUpReceipt[]> => selectGivenUp(ctx.db.sql, maxListed);

/** Makes a receipt that was given up due again; false if there is no such receipt. */
export function retryReceipt(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  scope: Scope,
  requestId: string,
  channel: Channel,
): Promise<boolean> {
  return withAudit(
    ctx,
    actor,
    ({ db }) => updateRetried(db.sql, scope, requestId, channel),
    (done) =>
      done
        ? { ...scope, action: 'receipt.retried', object: { kind: 'receipt', id: requestId }, details: { channel } }
        : null,
  );
}
