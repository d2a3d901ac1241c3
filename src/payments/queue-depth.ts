import type { Context } from '../context.ts';
import { type QueueDepth, queueDepth } from '../db/queue-depth.ts';
import { waitingTransfers } from './queue-store.ts';

/** Operators: how many transfers wait to be matched, over all chains, and the time of the oldest one's block. */
export const matchingDepth = ({ db: { sql } }: Context, max: number): Promise<QueueDepth> =>
  queueDepth(sql, waitingTransfers(sql), max);
