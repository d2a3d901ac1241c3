import type { Due } from '../db/due.ts';

/** A recovery that takes effect: until then, new requests are paid to the wallet that is lost. */
export const recoveriesDue: Due = (sql) => sql`
  select min(greatest(due_at, settle_after)) from wallet_changes where state = 'signed'`;
