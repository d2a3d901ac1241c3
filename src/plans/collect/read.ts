import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import type { CollectionReason, CollectionState } from './rules.ts';
import { selectTroubled, type TroubledRow } from './store.ts';

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
