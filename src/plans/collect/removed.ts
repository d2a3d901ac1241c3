import type { RemovedTransfer } from '../../chain/reader/removed.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/connection.ts';
import { hourMs } from '../../lib/durations.ts';
import { undoRemoved } from '../../payments/undo-removed.ts';
import { updatePaymentRemoved } from './queue-store.ts';

/** How long a removed payment delays a charge. Most are mined again within minutes; a few never are. */
const removedMs = hourMs;

/**
 * What the watcher does, in its own transaction, with transfers that a reorganisation removes. What they proved is
 * undone. Charges of their requests are delayed, because a removed payment usually waits to be mined again, and the
 * customer would pay twice.
 */
export const onRemoved =
  (ctx: Pick<Context, 'clock'>) =>
  async (tx: Tx, removed: readonly RemovedTransfer[]): Promise<void> => {
    await undoRemoved(tx, removed);
    const paid = removed.flatMap(({ partnerId, testMode, requestId }) =>
      requestId === null ? [] : [{ partnerId, testMode, requestId }],
    );
    if (paid.length === 0) return;
    const now = ctx.clock.now();
    await updatePaymentRemoved(tx, paid, { now, dueAt: new Date(now.getTime() + removedMs) });
  };
