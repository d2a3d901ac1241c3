import type { Actor, ObjectKind } from '../audit/actions.ts';
import { noPartner, withAudit, withAuditIn } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';

/** Writes into a partner's log that an operator opens something of that partner's, before it is shown. */
export function recordView(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  object: { kind: ObjectKind; id: string },
): Promise<void> {
  const { partnerId, testMode } = scope;
  return withAuditIn(
    ctx,
    scope,
    actor,
    async () => {},
    () => ({ action: 'data.viewed', partnerId, testMode, object, details: {} }),
  );
}

/**
 * Writes into the operators' log that one of them searches what all partners have, and in which partner where one is
 * named. What was typed is not written down: it can be a customer's name or address, which may have to be erased.
 */
export function recordSearch(ctx: Context, actor: Actor, partner: string | null): Promise<void> {
  return withAudit(
    ctx,
    actor,
    async () => {},
    () => ({
      action: 'data.searched',
      partnerId: null,
      testMode: null,
      object: { kind: 'partner', id: noPartner },
      details: { partner },
    }),
  );
}
