import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { onEndpoint } from './audit-object.ts';
import { selectHasFailedAfter, updateReplayed, updateReplayedSince } from './store.ts';

const maxReplays = 10_000;

/**
 * Sends an event again, delivered or not, with the same id and body, in a new round of attempts.
 *
 * @throws Refusal `not_found`
 */
export async function replayDelivery(ctx: Context, actor: Actor, scope: Scope, deliveryId: string): Promise<void> {
  await ctx.db.scoped(scope, async (tx) => {
    if (!(await updateReplayed(tx, scope, deliveryId))) throw refuse('not_found');
    const object = { kind: 'webhook_delivery' as const, id: deliveryId };
    await audit(ctx, tx, actor, { ...scope, action: 'webhook.replayed', object, details: {} });
  });
}

/**
 * Resends events written since a time that are exhausted or have failed so far; the oldest 10,000 of them.
 *
 * @returns the delivery ids, oldest first, and whether there are newer ones that have failed too
 */
export async function replaySince(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  since: Date,
): Promise<{ ids: string[]; more: boolean }> {
  const ids = await replayBatch(ctx, actor, scope, { since, after: null, limit: maxReplays });
  const last = ids.at(-1);
  const more = ids.length === maxReplays && last !== undefined;
  return { ids, more: more && (await ctx.db.scoped(scope, (tx) => selectHasFailedAfter(tx, scope, last))) };
}

/** `report` receives how many were resent so far, after each full batch; it is awaited. */
type ReplayAll = { since: Date; report: (replayed: number) => unknown; batchSize?: number };

/**
 * As `replaySince`, for all of these events, in batches. Each batch is kept, with its audit entry, whatever becomes of
 * the next.
 *
 * @returns the delivery ids, oldest first
 */
export async function replayAllSince(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  { since, report, batchSize = maxReplays }: ReplayAll,
): Promise<string[]> {
  const all: string[] = [];
  for (;;) {
    // What fails again at once is behind `after`, so that this ends.
    const batch = await replayBatch(ctx, actor, scope, { since, after: all.at(-1) ?? null, limit: batchSize });
    for (const id of batch) all.push(id);
    if (batch.length < batchSize) return all;
    await report(all.length);
  }
}

type Batch = { since: Date; after: string | null; limit: number };

function replayBatch(ctx: Context, actor: Actor, scope: Scope, batch: Batch): Promise<string[]> {
  const { since } = batch;
  return ctx.db.scoped(scope, async (tx) => {
    const replayed = await updateReplayedSince(tx, scope, batch);
    if (replayed.length > 0) {
      const details = { since: since.toISOString(), deliveries: replayed.length };
      await audit(ctx, tx, actor, { ...onEndpoint(scope), action: 'webhook.replayed', details });
    }
    return replayed;
  });
}
