import type { Due } from '../db/due.ts';

/** A request whose time passes, and whose expiry is not stored yet. */
export const expiryDue: Due = (sql) => sql`
  select min(expires_at) from requests where status in ('requested', 'opened') and proof_status = 'none'`;
