import { refuse } from '../errors.ts';
import { pause } from '../lib/time.ts';
import { sqlState } from './connection.ts';

/** lock_not_available, deadlock_detected, serialization_failure: somebody else is at it, and the next pass will see. */
const busyStates = ['55P03', '40P01', '40001'];
const attempts = 10;
const waitMs = 50;

/** True when a transaction gave way to another one: nothing is wrong, and trying again is right. */
export function isBusy(error: unknown): boolean {
  return busyStates.includes(sqlState(error) ?? '');
}

/**
 * Runs a transaction that somebody waits for, again when it gave way, for about half a second.
 *
 * @throws Refusal unavailable when it gave way each time
 */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (attempt === attempts) throw refuse('unavailable');
    }
    await pause(waitMs);
  }
}
