import type { Context } from '../context.ts';
import { type QueueDepth, queueDepth } from '../db/queue-depth.ts';
import { waitingTransfers } from './queue-store.ts';

/** For operators: how many transfers wait to be matched, over all chains, and the block time of the oldest. */
export const matchingDepth = ({ db: { sql } }: Context, max: number): Promise<QueueDepth> =>
  queueDepth(sql, waitingTransfers(sql), max);
