import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { type PlanFactsRow, selectPlanFacts } from './facts-store.ts';

export type { PlanFactsRow };

/** A plan with what its customer's page needs of merchant, partner and rate; null when there is none. */
export function readPlanFacts({ db }: Pick<Context, 'db'>, scope: Scope, planId: string): Promise<PlanFactsRow | null> {
  return db.scoped(scope, (tx) => selectPlanFacts(tx, scope, planId));
}
