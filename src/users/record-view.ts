import type { Actor, ObjectKind } from '../audit/actions.ts';
import { noPartner, withAudit, withAuditIn } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';

/** Writes to a partner's audit log that an operator views something of that partner, before it is shown. */
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
 * Writes to the operators' audit log that an operator searches all partners, or the named one. The search term is not
 * stored: it can be a customer's name or address, which may have to be erased.
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
