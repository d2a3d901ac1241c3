import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, AuditEntry } from '../audit/actions.ts';
import { withAudit, withAuditIn } from '../audit/write.ts';
import type { Permission } from '../auth/roles.ts';
import type { Context } from '../context.ts';
import { type Words, wordsFor } from '../ui/language.ts';
import { userActor } from '../users/enter.ts';
import { type FormRule, openPortal, openPortalForm, type PortalVisit } from './session.ts';

/** A call of a page or form of the portal, by somebody who may do it. */
export type PortalCall = PortalVisit & {
  /** As whom the audit log knows who acts. */
  actor: Actor;
  request: FastifyRequest;
  reply: FastifyReply;
  words: Words;
  /** What stands in the address in place of `:name`; empty when there is no such place. */
  param(name: string): string;
  /** A field of the form as text; empty when it was not sent. */
  typed(name: string): string;
  /** All values of a field that can be sent more than once: boxes that were ticked. */
  ticked(name: string): string[];
};

/** A merchant that nobody is: what a filter for a malformed number finds. */
export const noAccount = '00000000-0000-0000-0000-000000000000';

type Handle = (call: PortalCall) => Promise<FastifyReply>;

/** A page of the portal: `GET`, for whoever is signed in and has this permission. */
export function portalPage(
  app: FastifyInstance,
  ctx: Context,
  url: string,
  permission: Permission,
  handle: Handle,
): void {
  app.route({
    config: { auth: 'session' },
    method: 'GET',
    url,
    handler: async (request, reply) => {
      const visit = await openPortal(ctx, request, reply, permission);
      return visit ? handle(callOf(visit, request, reply)) : reply;
    },
  });
}

/**
 * A form of the portal: a `POST` from one of our pages, whose address names its mode (see `actionIn`). If the response
 * asks for a passkey, the form's own address stays in the browser; opening it leads back to the form.
 */
export function portalForm(app: FastifyInstance, ctx: Context, url: string, rule: FormRule, handle: Handle): void {
  app.route({
    config: { auth: 'session', fresh: rule.fresh },
    method: 'POST',
    url,
    handler: async (request, reply) => {
      const visit = await openPortalForm(ctx, request, reply, rule);
      return visit ? handle(callOf(visit, request, reply)) : reply;
    },
  });
  if (rule.fresh === 'never' || app.hasRoute({ method: 'GET', url })) return;
  portalPage(app, ctx, url, 'read', async ({ request, reply }) => {
    const { pathname, search } = new URL(request.url, ctx.config.baseUrl);
    return reply.redirect(pathname.slice(0, pathname.lastIndexOf('/')) + search, 303);
  });
}

function callOf(visit: PortalVisit, request: FastifyRequest, reply: FastifyReply): PortalCall {
  const params = request.params as Record<string, string>;
  const body = (request.body ?? {}) as Record<string, unknown>;
  const ticked = (name: string) =>
    [body[name] ?? []].flat().filter((value): value is string => typeof value === 'string');
  return {
    ...visit,
    actor: userActor(visit.user, request),
    request,
    reply,
    words: wordsFor(request),
    param: (name) => params[name] ?? '',
    typed: (name) => ticked(name)[0]?.trim() ?? '',
    ticked,
  };
}

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

/** After a change: the page again, which says what was done by `?done=`. */
export function doneAt(reply: FastifyReply, path: string, done: string): FastifyReply {
  return reply.redirect(`${path}?done=${done}`, 303);
}
