import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import type { Operator } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import { requireUser, userActor } from '../users/current-user.ts';
import { adminRealm } from '../users/realm.ts';
import { needsStepUp, requireStepUp } from '../users/step-up.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { type AdminPage, sendAdmin } from './shell.ts';

type AdminVisit = {
  operator: Operator;
  /** Who acts, for the audit log. */
  actor: Actor;
  /** Sends a page. */
  show(page: AdminPage): FastifyReply;
};

/** A call of a page or form of the administration, by a signed-in operator. */
export type AdminCall = Call & AdminVisit;

/** A form declares whether its act needs more than the session. */
export type AdminPages = Pages<AdminVisit, object, { fresh: 'never' | 'always' }>;

/** Declares pages and forms of the administration, for signed-in operators. */
export function declareAdminPages(app: FastifyInstance, ctx: Context): AdminPages {
  const open = async (request: FastifyRequest, reply: FastifyReply): Promise<AdminVisit | null> => {
    const operator = await requireUser(ctx, adminRealm, request, reply);
    return (
      operator && { operator, actor: userActor(operator, request), show: (page) => sendAdmin(reply, operator, page) }
    );
  };
  return declarePages(app, ctx, {
    auth: 'session',
    open,
    openForm: async (request, reply, { fresh }) => {
      const visit = await open(request, reply);
      if (!visit || !needsStepUp(fresh, null)) return visit;
      const question = await requireStepUp(ctx, adminRealm, visit.operator, request, reply);
      if (!question) return visit;
      visit.show({ path: '/admin/sessions', ...question });
      return null;
    },
    redirectRule: () => ({}),
  });
}
