import type { Context } from '../../context.ts';
import type { Scope, Tx } from '../../db/connection.ts';
import type { MandateRow } from '../mandates/read.ts';
import type { CollectionReason, CollectionState } from './rules.ts';
import { selectLastCharge, selectTroubled, type TroubledRow } from './store.ts';

export type { CollectionReason, CollectionState, TroubledRow };

/** The charges of these plans that failed or were postponed and wait for their next attempt, by the plan's id. */
export async function readTroubled(
  { db }: Pick<Context, 'db'>,
  scope: Scope,
  planIds: string[],
): Promise<Map<string, TroubledRow>> {
  if (planIds.length === 0) return new Map();
  const rows = await db.scoped(scope, (tx) => selectTroubled(tx, scope, planIds));
  return new Map(rows.map((row) => [row.plan_id, row]));
}

/** From when a mandate allows its next charge: from its start, and its interval after the charge before. */
export async function readNextAllowed(tx: Tx, scope: Scope, mandate: MandateRow, now: Date): Promise<Date> {
  const last = await selectLastCharge(tx, scope, mandate, now);
  const afterLast = last === null ? 0 : last.getTime() + Number(mandate.min_interval_s) * 1000;
  return new Date(Math.max(mandate.starts_at.getTime(), afterLast));
}
