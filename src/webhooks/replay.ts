import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { onEndpoint } from './object.ts';
import { updateReplayed, updateReplayedSince } from './store.ts';

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
 * @returns the delivery ids
 */
export function replaySince(ctx: Context, actor: Actor, scope: Scope, since: Date): Promise<string[]> {
  return ctx.db.scoped(scope, async (tx) => {
    const replayed = await updateReplayedSince(tx, scope, since, maxReplays);
    if (replayed.length > 0) {
      const details = { since: since.toISOString(), deliveries: replayed.length };
      await audit(ctx, tx, actor, { ...onEndpoint(scope), action: 'webhook.replayed', details });
    }
    return replayed;
  });
}
