import type { Scope, Tx } from '../db/connection.ts';

/**
 * Changes when an active plan is charged next, but not its date. For trials in the sandbox.
 *
 * @returns false when the plan is not active
 */
export async function movePlanDue(tx: Tx, scope: Scope, id: string, dueAt: Date): Promise<boolean> {
  const { count } = await tx`
    update plans set due_at = ${dueAt}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} and state = 'active'`;
  return count === 1;
}
