import { refuse } from '../errors.ts';
import { jitter, pause } from '../lib/time.ts';
import { isUnreachable, sqlState } from './connection.ts';

/**
 * lock_not_available, deadlock_detected, serialization_failure: the transaction conflicted with another one, and can
 * succeed when it is retried.
 */
const conflictStates = ['55P03', '40P01', '40001'];
const attempts = 20;
/** The pause between attempts. It is random within ±50 %, so that colliding transactions do not collide again. */
const waitMs = 50;
const spread = 0.5;

/** query_canceled: the server ended a statement that took too long, usually because it waited for a lock. */
const canceled = '57014';

/** Whether an error is a conflict with another transaction, so that a retry can succeed. */
export function isConflict(error: unknown): boolean {
  return conflictStates.includes(sqlState(error) ?? '');
}

/** Whether a row with the same key is in the table, or in one of its partitions, whose names begin with the table's. */
export function isStored(error: unknown, table: string): boolean {
  return sqlState(error) === '23505' && !!(error as { table?: string }).table?.startsWith(table);
}

/**
 * Runs a transaction for which a person or program waits. After a conflict, retries for about a second.
 *
 * @throws Refusal unavailable if every attempt met a conflict
 */
export async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (attempt === attempts) throw refuse('unavailable');
    }
    await pause(jitter(waitMs, spread));
  }
}

/**
 * Turns errors that a later retry may avoid into 503 `unavailable`: the database cannot be reached, another transaction
 * conflicts, or a statement took too long. Returns any other error unchanged.
 */
export function asRefusal(error: unknown): unknown {
  return isUnreachable(error) || isConflict(error) || sqlState(error) === canceled ? refuse('unavailable') : error;
}
