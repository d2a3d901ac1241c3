import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { batchesOf, cursorAt, placeOf, type ReadFrom, readPage } from '../lib/paging.ts';
import { type ChargeRow, selectCharges } from './charges-store.ts';
import {
  courseOf,
  type PlanDisplayStatus,
  type PlanRow,
  planDisplayStatuses,
  selectPlan,
  selectPlanOfRequest,
  selectPlans,
} from './store.ts';

export { type ChargeRow, courseOf, type PlanDisplayStatus, type PlanRow, planDisplayStatuses };

type Db = Pick<Context, 'db'>;

/** The state of a plan, in one word. */
export function planDisplayStatus({ state, failure }: PlanRow): PlanDisplayStatus {
  return state === 'active' && failure !== null ? 'failing' : state;
}

/**
 * A plan of one merchant.
 *
 * @throws Refusal not_found, also for another merchant's, another partner's or one of the other mode
 */
export async function readPlan({ db }: Db, scope: Scope, accountId: string, id: string): Promise<PlanRow> {
  const row = isUuid(id) ? await db.scoped(scope, (tx) => selectPlan(tx, scope, accountId, id)) : null;
  if (!row) throw refuse('not_found');
  return row;
}

/** The plan that a request of the scope is a charge of; null for others. */
export function readPlanOfRequest({ db }: Db, scope: Scope, requestId: string): Promise<PlanRow | null> {
  return db.scoped(scope, (tx) => selectPlanOfRequest(tx, scope, requestId));
}

const plansFrom =
  ({ db }: Db, scope: Scope, accountId: string, displayStatus: PlanDisplayStatus | null): ReadFrom<PlanRow> =>
  (after, limit) =>
    db.read(scope, (sql) => selectPlans(sql, scope, accountId, { displayStatus, after: placeOf(after), limit }));

/** One page of a merchant's plans, the newest first, and the cursor of the next page; null at the end. */
export function listPlans(
  ctx: Db,
  scope: Scope,
  accountId: string,
  displayStatus: PlanDisplayStatus | null,
  after: string | null,
) {
  return readPage(plansFrom(ctx, scope, accountId, displayStatus), cursorAt, after);
}

/** All plans of a merchant in this state, the newest first, in batches. */
export function exportPlans(
  ctx: Db,
  scope: Scope,
  accountId: string,
  displayStatus: PlanDisplayStatus | null,
): AsyncGenerator<PlanRow[]> {
  return batchesOf(plansFrom(ctx, scope, accountId, displayStatus), cursorAt);
}

const numberPattern = /^\d{1,9}$/;

/** One page of a plan's charges, the newest first, and the cursor of the next page; null at the end. */
export function listCharges(ctx: Db, scope: Scope, planId: string, after: string | null) {
  return readPage(chargesFrom(ctx, scope, planId), placeOfCharge, after);
}

/** All charges of a plan, the newest first, in batches. */
export function exportCharges(ctx: Db, scope: Scope, planId: string): AsyncGenerator<ChargeRow[]> {
  return batchesOf(chargesFrom(ctx, scope, planId), placeOfCharge);
}

const placeOfCharge = ({ number }: ChargeRow) => String(number);

const chargesFrom =
  ({ db }: Db, scope: Scope, planId: string): ReadFrom<ChargeRow> =>
  (cursor, limit) => {
    const before = numberPattern.test(cursor ?? '') ? Number(cursor) : null;
    return db.scoped(scope, (tx) => selectCharges(tx, scope, planId, before, limit));
  };
