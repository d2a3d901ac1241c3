import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { revokeMerchantSession } from './merchant-session.ts';
import { revokeUserSession } from './user-session.ts';

type SessionContext = Pick<Context, 'db' | 'clock' | 'config'>;

/**
 * Ends a session of a merchant, in this browser or another, and writes it to the audit log.
 *
 * @returns false if it is no valid session of that merchant
 */
export function endMerchantSession(
  ctx: SessionContext,
  actor: Actor,
  scope: Scope,
  accountId: string,
  id: string,
): Promise<boolean> {
  return withAudit(
    ctx,
    actor,
    (inner) => revokeMerchantSession(inner, scope, accountId, id),
    (done) => (done ? { ...scope, action: 'session.revoked', object: { kind: 'session', id }, details: {} } : null),
  );
}

/** The user whose session is ended. The audit log names `email` if somebody else ends it. */
export type SessionOwner = Parameters<typeof revokeUserSession>[1] & { partnerId: string | null; email?: string };

/**
 * Ends a session of a user, and writes it to the audit log.
 *
 * @returns false if it is no valid session of that user
 */
export function endUserSession(
  ctx: SessionContext,
  actor: Actor,
  { partnerId, email, ...owner }: SessionOwner,
  id: string,
): Promise<boolean> {
  return withAudit(
    ctx,
    actor,
    (inner) => revokeUserSession(inner, owner, id),
    (done) =>
      done
        ? {
            action: 'session.revoked',
            partnerId,
            testMode: null,
            object: { kind: 'session', id },
            details: email === undefined ? {} : { email },
          }
        : null,
  );
}
