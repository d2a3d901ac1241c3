import { type Due, dueSince } from '../db/due.ts';
import { isWaiting } from './expiry.ts';

/** A request whose time passes, and whose expiry is not stored yet. */
export const expiryDue: Due = (sql, since) => sql`
  select min(r.expires_at) from requests r where ${isWaiting(sql)} ${dueSince(sql, sql`r.expires_at`, since)}`;
