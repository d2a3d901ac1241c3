import type { Context } from '../../context.ts';
import { isConflict } from '../../db/conflict.ts';
import { isUnreachable } from '../../db/connection.ts';

/** So many are written in one transaction. More save little, and hold the locks of all of them for longer. */
export const batchSize = 150;

/**
 * Whatever failed in a batch is found by taking its members one by one.
 *
 * @throws where the database cannot be reached: then there is nothing to take
 */
export function reportBatch(ctx: Pick<Context, 'log'>, error: unknown): void {
  if (isUnreachable(error)) throw error;
  if (!isConflict(error)) ctx.log.warn({ err: error }, 'payments could not be written together');
}
