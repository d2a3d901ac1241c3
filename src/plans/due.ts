import type { Due } from '../db/due.ts';

/** The next charge of any plan. */
export const chargeDueAt: Due = (sql) => sql`select min(due_at) from plans where due_at is not null`;
