import type { Tag } from '../db/sql.ts';

// Every reader sees an expiry at once, stored or not. The conditions below decide this for a request `r` at the start
// of the statement; `effectiveStatus` decides it for a row.

/** True of a request `r` that nobody has paid or cancelled and whose expiry is not stored. */
export const isWaiting = (sql: Tag) => sql`(r.proof_status = 'none' and r.status in ('requested', 'opened'))`;

/** True of a request `r` whose time has passed but whose expiry is not stored. */
export const isPast = (sql: Tag) => sql`(${isWaiting(sql)} and r.expires_at <= statement_timestamp())`;

/** True of a request `r` whose time has not passed, whatever its state. */
export const hasTimeLeft = (sql: Tag) => sql`(r.expires_at > statement_timestamp())`;

/** True of a request `r` that is waiting for payment and has time left. */
export const isOpen = (sql: Tag) => sql`(${isWaiting(sql)} and ${hasTimeLeft(sql)})`;

/** The status of a request `r` as every reader sees it, by its columns `status`, `proof_status` and `expires_at`. */
export const seenStatus = (sql: Tag) => sql`case when ${isPast(sql)} then 'expired' else r.status end`;
