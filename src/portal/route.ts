import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor, AuditEntry } from '../audit/actions.ts';
import { withAudit, withAuditIn } from '../audit/write.ts';
import type { Permission } from '../auth/roles.ts';
import type { Context } from '../context.ts';
import { userActor } from '../users/enter.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { type FormRule, openPortal, openPortalForm, type PortalVisit } from './session.ts';

/** `actor`: as whom the audit log knows who acts. */
type ActingVisit = PortalVisit & { actor: Actor };

/** A call of a page or form of the portal, by somebody who may do it. */
export type PortalCall = Call & ActingVisit;

export type PortalPages = Pages<ActingVisit, { permission: Permission }, FormRule>;

/**
 * How pages and forms of the portal are declared: for who is signed in and has the permission. A form's address names
 * the mode of its page (see `actionIn`).
 */
export function declarePortalPages(app: FastifyInstance, ctx: Context): PortalPages {
  const acting = (visit: PortalVisit | null, request: FastifyRequest): ActingVisit | null =>
    visit && { ...visit, actor: userActor(visit.user, request) };
  return declarePages(app, ctx, {
    auth: 'session',
    open: async (request, reply, { permission }) => acting(await openPortal(ctx, request, reply, permission), request),
    openForm: async (request, reply, rule) => acting(await openPortalForm(ctx, request, reply, rule), request),
    // A form's own address stays in the browser where it is answered by the question for a passkey.
    wayBack: ({ fresh }) => (fresh === 'never' ? null : { permission: 'read' }),
  });
}

/** A merchant that nobody is: what a filter for a malformed number finds. */
export const noAccount = '00000000-0000-0000-0000-000000000000';

/** A form's address with the mode of its page: a user who has switched mode in another tab still means this one. */
export function actionIn({ mode }: Pick<PortalVisit, 'mode'>, path: string): string {
  return `${path}?mode=${mode}`;
}

/** Does what a form asks for and writes it into the audit log, both or neither. */
export function recorded<T>(
  ctx: Context,
  { user, request }: Pick<PortalCall, 'user' | 'request'>,
  work: (inner: Context) => Promise<T>,
  told: (result: T) => AuditEntry | null,
): Promise<T> {
  return withAudit(ctx, userActor(user, request), work, told);
}

/** As `recorded`, for what concerns the mode that is shown alone: the transaction sees nothing beyond. */
export function recordedIn<T>(
  ctx: Context,
  { user, request, scope }: Pick<PortalCall, 'user' | 'request' | 'scope'>,
  work: (inner: Context) => Promise<T>,
  told: (result: T) => AuditEntry | null,
): Promise<T> {
  return withAuditIn(ctx, scope, userActor(user, request), work, told);
}
