import type { Context } from '../context.ts';
import type { Since } from '../db/due.ts';
import { rowsInBatches } from '../db/in-batches.ts';
import { updateExpired } from './store.ts';

const batch = 500;

/**
 * Stores the expiry of requests whose time has passed; readers already see it.
 *
 * @param since from when on requests that wait are read
 * @returns how many were stored
 */
export function expireDue(ctx: Context, signal: AbortSignal, since: () => Since): Promise<number> {
  return rowsInBatches(signal, batch, () => updateExpired(ctx.db, batch, since()));
}
