import { sqlState } from '../db/connection.ts';

/** lock_not_available, deadlock_detected, serialization_failure: somebody else is at it, and the next pass will see. */
const busyStates = ['55P03', '40P01', '40001'];

/** True when a transaction gave way to another one: nothing is wrong, and trying again is right. */
export function isBusy(error: unknown): boolean {
  return busyStates.includes(sqlState(error) ?? '');
}
