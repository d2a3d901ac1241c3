import type { Context } from '../context.ts';
import { everywhere } from '../db/due.ts';
import { updateExpired } from './store.ts';

const batch = 500;

/**
 * Stores the expiry of requests whose time has passed; readers already see it.
 *
 * @param since from when on requests that wait are read
 * @returns how many were stored
 */
export async function expireDue(ctx: Context, since = everywhere): Promise<number> {
  let total = 0;
  for (let round = 0; round < 100; round++) {
    const expired = await updateExpired(ctx.db, batch, since());
    total += expired;
    if (expired < batch) break;
  }
  return total;
}
