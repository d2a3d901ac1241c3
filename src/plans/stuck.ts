import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';
import { dayMs } from '../lib/durations.ts';

const maxListed = 100;
const maxCounted = 1000;
/** A temporary failure is over by then. */
const stuckMs = dayMs;

type Db = Pick<Context, 'db' | 'clock'>;

const stuckSince = ({ clock }: Db) => new Date(clock.now().getTime() - stuckMs);

/** Operators: plans whose charge has failed for more than a day, the longest first; at most 100. */
export const listStuckPlans = (ctx: Db): Promise<StuckPlan[]> => selectStuck(ctx.db.sql, stuckSince(ctx), maxListed);

/** Makes a failing plan's charge due at the loop's next turn; false when it no longer fails. */
export function retryPlan(ctx: Db, actor: Actor, scope: Scope, id: string): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    if (!(await updateDue(tx, scope, id, ctx.clock.now()))) return false;
    await audit(ctx, tx, actor, { ...scope, action: 'plan.retried', object: { kind: 'plan', id }, details: {} });
    return true;
  });
}

/**
 * Raises an alarm while a plan has failed for more than a day without a known reason: a missing rate has its own
 * alarms.
 */
export async function watchStuckPlans(ctx: Db): Promise<void> {
  const { sql } = ctx.db;
  const count = await countUnexplained(sql, stuckSince(ctx), maxCounted);
  if (count === 0) return clearAlarm(sql, 'plans_failing');
  await raiseAlarm(sql, { kind: 'plans_failing', subject: '', details: { count } });
}

/** A plan whose charge has failed for long, through no fault of its partner or merchant. */
export type StuckPlan = {
  partner_slug: string;
  partner_name: string;
  test_mode: boolean;
  id: string;
  account_id: string;
  merchant_name: string | null;
  failure: 'rate_unavailable' | 'other';
  failed_at: Date;
};

/** Plans of all partners that have failed since before a time, the longest first. */
function selectStuck(sql: Sql, before: Date, limit: number): Promise<StuckPlan[]> {
  return sql<StuckPlan[]>`
    select w.slug as partner_slug, w.name as partner_name, p.test_mode, p.id, p.account_id,
      ${shownName(sql)} as merchant_name, p.failure, p.failed_at
    from plans p
      join partners w on w.id = p.partner_id
      join merchants m on (m.partner_id, m.test_mode, m.id) = (p.partner_id, p.test_mode, p.account_id)
    where p.failure in ('rate_unavailable', 'other') and p.failed_at <= ${before}
    order by p.failed_at, p.id limit ${limit}`;
}

/** How many have failed since before a time for an unknown reason, counted up to `max`. */
async function countUnexplained(sql: Sql, before: Date, max: number): Promise<number> {
  // The first condition is that of the index.
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from (
      select from plans p where p.failure in ('rate_unavailable', 'other') and p.failure = 'other'
        and p.failed_at <= ${before} limit ${max}) unexplained`;
  return row?.count ?? 0;
}

/** Makes the charge of a failing plan due; false when it does not fail any more. */
async function updateDue(tx: Tx, scope: Scope, id: string, now: Date): Promise<boolean> {
  const { count } = await tx`
    update plans p set due_at = ${now}
    where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode} and p.id = ${id}
      and p.state = 'active' and p.failure is not null`;
  return count === 1;
}
