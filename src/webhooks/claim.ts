import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Pace } from './pace.ts';
import { type ClaimedDelivery, claimDue } from './queue-store.ts';
import { maxPosts } from './rules.ts';

/** Claims what is due, as far as there is room. */
export async function claim(ctx: Context, pace: Pace, free: number): Promise<ClaimedDelivery[]> {
  if (free <= 0) return [];
  return claimDue(ctx.db.sql, pace.rooms(), {
    lease: randomUUID(),
    free: Math.min(free, maxPosts),
    freeUnproven: pace.freeUnproven(),
    window: pace.window,
    firstWaitMs: ctx.config.webhookScheduleMs[0] ?? 0,
    keyIds: ctx.config.secretKeys.map(({ id }) => id),
  });
}
