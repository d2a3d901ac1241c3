import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import type { Scope } from '../db/connection.ts';
import { dayMs } from '../lib/durations.ts';
import { countUnexplained, type StuckPlan, selectStuck, updateDue } from './stuck-store.ts';

export type { StuckPlan } from './stuck-store.ts';

const mostListed = 100;
const mostCounted = 1000;
/** What mends itself has done so by then. */
const stuckMs = dayMs;

type Db = Pick<Context, 'db' | 'clock'>;

const stuckSince = ({ clock }: Db) => new Date(clock.now().getTime() - stuckMs);

/** Operators: plans whose charge has failed for more than a day, the longest first; at most 100. */
export const listStuckPlans = (ctx: Db): Promise<StuckPlan[]> => selectStuck(ctx.db.sql, stuckSince(ctx), mostListed);

/** Lets the charge of a failing plan be tried at the loop's next turn; false when it does not fail any more. */
export const retryPlan = ({ db, clock }: Db, scope: Scope, id: string): Promise<boolean> =>
  db.scoped(scope, (tx) => updateDue(tx, scope, id, clock.now()));

/** Raises an alarm while a plan has failed for more than a day and nobody knows why: a missing rate has alarms of its own. */
export async function watchStuckPlans(ctx: Db): Promise<void> {
  const { sql } = ctx.db;
  const count = await countUnexplained(sql, stuckSince(ctx), mostCounted);
  if (count === 0) return clearAlarm(sql, 'plans_failing');
  await raiseAlarm(sql, { kind: 'plans_failing', subject: '', details: { count } });
}
