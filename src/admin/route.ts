import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import type { Operator } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import { enter, userActor } from '../users/enter.ts';
import { asksForMore, askToConfirm } from '../users/fresh.ts';
import { adminRealm } from '../users/realm.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { type AdminPage, sendAdmin } from './shell.ts';

type AdminVisit = {
  operator: Operator;
  /** As whom the audit log knows who acts. */
  actor: Actor;
  /** Answers with a page. */
  show(page: AdminPage): FastifyReply;
};

/** A call of a page or form of the administration, by an operator who is signed in. */
export type AdminCall = Call & AdminVisit;

/** A form says whether its act asks for more than the session. */
export type AdminPages = Pages<AdminVisit, object, { fresh: 'never' | 'always' }>;

/** How pages and forms of the administration are declared: for operators who are signed in. */
export function declareAdminPages(app: FastifyInstance, ctx: Context): AdminPages {
  const open = async (request: FastifyRequest, reply: FastifyReply): Promise<AdminVisit | null> => {
    const operator = await enter(ctx, adminRealm, request, reply);
    return (
      operator && { operator, actor: userActor(operator, request), show: (page) => sendAdmin(reply, operator, page) }
    );
  };
  return declarePages(app, ctx, {
    auth: 'session',
    open,
    openForm: async (request, reply, { fresh }) => {
      const visit = await open(request, reply);
      if (!visit || !asksForMore(fresh, null)) return visit;
      const question = await askToConfirm(ctx, adminRealm, visit.operator, request, reply);
      if (!question) return visit;
      visit.show({ path: '/admin/sessions', ...question });
      return null;
    },
    wayBack: () => ({}),
  });
}
