import type { Scope, Tx } from '../../db/connection.ts';
import type { StopReason } from './rules.ts';
import { stopWaiting } from './store.ts';

/**
 * Permanently stops the charges of a plan that wait for an attempt: a merchant who pauses or ends a plan expects no
 * more charges. Their requests stay open for payment by link. A transaction under way goes on until the chain has
 * decided. The caller has locked the plan.
 */
export function stopCollecting(
  tx: Tx,
  scope: Scope,
  planId: string,
  reason: Extract<StopReason, 'plan_paused' | 'plan_ended'>,
  now: Date,
): Promise<void> {
  return stopWaiting(tx, scope, planId, { reason, now });
}
