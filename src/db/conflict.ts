import { refuse } from '../errors.ts';
import { jitter, pause } from '../lib/time.ts';
import { isUnreachable, sqlState } from './connection.ts';

/**
 * lock_not_available, deadlock_detected, serialization_failure: another transaction is in the way, and the next pass
 * will succeed.
 */
const conflictStates = ['55P03', '40P01', '40001'];
const attempts = 20;
/** Spread, so that several that collide do not collide again. */
const waitMs = 50;
const spread = 0.5;

/** query_canceled: the server ended a statement that took too long, mostly because it waited for another's lock. */
const canceled = '57014';

/** True when a transaction gave way to another one, so that retrying is right. */
export function isConflict(error: unknown): boolean {
  return conflictStates.includes(sqlState(error) ?? '');
}

/** True when a row with the same key is in the table, or in one of its parts, whose names begin with the table's. */
export function isStored(error: unknown, table: string): boolean {
  return sqlState(error) === '23505' && !!(error as { table?: string }).table?.startsWith(table);
}

/**
 * Runs a transaction that somebody is waiting for. Retries after a conflict, for about a second.
 *
 * @throws Refusal unavailable when every attempt met a conflict
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
 * Turns what may succeed when the same is asked later into 503 `unavailable`: the database cannot be reached, another
 * transaction is in the way, or a statement took too long. Anything else passes through.
 */
export function asRefusal(error: unknown): unknown {
  return isUnreachable(error) || isConflict(error) || sqlState(error) === canceled ? refuse('unavailable') : error;
}
