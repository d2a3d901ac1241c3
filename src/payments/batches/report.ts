import type { Context } from '../../context.ts';
import { isConflict } from '../../db/conflict.ts';
import { isUnreachable } from '../../db/connection.ts';

/** How many items are written in one transaction. More would save little and hold all locks for longer. */
export const batchSize = 150;

/**
 * Logs that a batch failed. Taking its members one by one shows which of them failed.
 *
 * @throws if the database cannot be reached, because then trying them one by one is pointless
 */
export function reportBatch(ctx: Pick<Context, 'log'>, error: unknown): void {
  if (isUnreachable(error)) throw error;
  if (!isConflict(error)) ctx.log.warn({ err: error }, 'payments could not be written together');
}
