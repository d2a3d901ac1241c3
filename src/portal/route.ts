import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import { may, type Permission } from '../auth/roles.ts';
import { type PartnerUser, userScope } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import type { Mode } from '../lib/mode.ts';
import { html } from '../lib/text/html.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { card } from '../ui/components.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { enter, userActor } from '../users/enter.ts';
import { asksForMore, askToConfirm, type Fresh } from '../users/fresh.ts';
import { portalRealm } from '../users/realm.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { chosenMode } from './mode.ts';
import { sendPortal } from './shell.ts';

export type PortalVisit = {
  user: PartnerUser;
  /** As whom the audit log knows who acts. */
  actor: Actor;
  /** The mode that was chosen. */
  mode: Mode;
  /** The scope to work in. */
  scope: Scope;
};

/** A call of a page or form of the portal, by somebody who may do it. */
export type PortalCall = Call & PortalVisit;

type PageRule = { permission: Permission };
/** What a form of the portal asks of who sends it: a permission, and for which acts more than the session. */
export type FormRule = PageRule & { fresh: Fresh };

export type PortalPages = Pages<PortalVisit, PageRule, FormRule>;

/**
 * How pages and forms of the portal are declared: for who is signed in and has the permission. A form's address names
 * the mode of its page (see `actionIn`).
 */
export function declarePortalPages(app: FastifyInstance, ctx: Context): PortalPages {
  const open = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { permission }: PageRule,
  ): Promise<PortalVisit | null> => {
    const user = await enter(ctx, portalRealm, request, reply);
    if (!user) return null;
    const mode = chosenMode(request, reply);
    if (may(user, permission, mode))
      return { user, actor: userActor(user, request), mode, scope: userScope(user, mode) };
    await sendNotAllowed(ctx, reply, user, mode);
    return null;
  };
  return declarePages(app, ctx, {
    auth: 'session',
    open,
    openForm: async (request, reply, rule) => {
      const visit = await open(request, reply, rule);
      if (!visit || !asksForMore(rule.fresh, visit.mode)) return visit;
      const question = await askToConfirm(ctx, portalRealm, visit.user, request, reply);
      if (!question) return visit;
      await sendPortal(ctx, reply, visit, { path: '/portal', under: null, ...question });
      return null;
    },
    // A form's own address stays in the browser where it is answered by the question for a passkey.
    wayBack: ({ fresh }) => (fresh === 'never' ? null : { permission: 'read' }),
  });
}

function sendNotAllowed(ctx: Context, reply: FastifyReply, user: PartnerUser, mode: Mode): Promise<FastifyReply> {
  const { account: t } = signInTexts(wordsFor(reply.request));
  const rest = fill(user.partner.disabled ? t.partnerOff : t.notAllowedRest, { partner: user.partner.name });
  const body = card(html`<p>${rest}</p>`);
  return sendPortal(
    ctx,
    reply,
    { user, mode },
    { path: '/portal', under: null, title: t.notAllowed, status: 403, body },
  );
}

/** A merchant that nobody is: what a filter for a malformed number finds. */
export const noAccount = '00000000-0000-0000-0000-000000000000';

/** A form's address with the mode of its page: a user who has switched mode in another tab still means this one. */
export function actionIn({ mode }: Pick<PortalVisit, 'mode'>, path: string): string {
  return `${path}?mode=${mode}`;
}
