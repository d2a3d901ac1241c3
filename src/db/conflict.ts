import { refuse } from '../errors.ts';
import { jitter, pause } from '../lib/time.ts';
import { sqlState } from './connection.ts';

/**
 * lock_not_available, deadlock_detected, serialization_failure: another transaction is in the way, and the next pass
 * will succeed.
 */
const conflictStates = ['55P03', '40P01', '40001'];
const attempts = 20;
/** Spread, so that several that collide do not collide again. */
const waitMs = 50;
const spread = 0.5;

/** True when a transaction gave way to another one, so that retrying is right. */
export function isConflict(error: unknown): boolean {
  return conflictStates.includes(sqlState(error) ?? '');
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
