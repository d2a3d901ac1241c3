import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { updateReplayed, updateReplayedSince } from './store.ts';

const maxReplays = 10_000;

/**
 * Sends an event again, delivered or not, with the same id and body, in a new round of attempts.
 *
 * @throws Refusal `not_found`
 */
export async function replayDelivery(ctx: Context, scope: Scope, deliveryId: string): Promise<void> {
  const found = await ctx.db.scoped(scope, (tx) => updateReplayed(tx, scope, deliveryId));
  if (!found) throw refuse('not_found');
}

/**
 * Resends events written since a time that are exhausted or have failed so far; the oldest 10,000 of them.
 *
 * @returns the delivery ids
 */
export async function replaySince(ctx: Context, scope: Scope, since: Date): Promise<string[]> {
  return ctx.db.scoped(scope, (tx) => updateReplayedSince(tx, scope, since, maxReplays));
}
