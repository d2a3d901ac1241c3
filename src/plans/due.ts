import type { Due } from '../db/due.ts';

/** The next charge of any plan. */
export const chargeDueAt: Due = (sql) => sql`select min(due_at) from plans where due_at is not null`;

/** When the next revocation is due. */
export const revokeDueAt: Due = (sql) => sql`select min(revoke_due_at) from mandates where revoke_due_at is not null`;
