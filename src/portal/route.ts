import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import { may, type Permission } from '../auth/roles.ts';
import { type PartnerUser, userScope } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { nilUuid } from '../lib/ids.ts';
import type { Mode } from '../lib/mode.ts';
import { html } from '../lib/text/html.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { card } from '../ui/components.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { requireUser, userActor } from '../users/current-user.ts';
import { portalRealm } from '../users/realm.ts';
import { type Fresh, needsStepUp, requireStepUp } from '../users/step-up.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { chosenMode } from './mode.ts';
import { sendPortal } from './shell.ts';

export type PortalVisit = {
  user: PartnerUser;
  /** Who acts, for the audit log. */
  actor: Actor;
  /** The chosen mode. */
  mode: Mode;
  /** The scope of the user's partner in that mode. */
  scope: Scope;
};

/** A call of a page or form of the portal, by a user who has the permission. */
export type PortalCall = Call & PortalVisit;

type PageRule = { permission: Permission };
/**
 * What a form of the portal requires of its sender: a permission, and `fresh`, which says for which acts the session
 * alone does not suffice.
 */
export type FormRule = PageRule & { fresh: Fresh };

export type PortalPages = Pages<PortalVisit, PageRule, FormRule>;

/**
 * Declares pages and forms of the portal: for users who are signed in and have the permission. A form's address
 * contains the mode of its page (see `actionIn`).
 */
export function declarePortalPages(app: FastifyInstance, ctx: Context): PortalPages {
  const open = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { permission }: PageRule,
  ): Promise<PortalVisit | null> => {
    const user = await requireUser(ctx, portalRealm, request, reply);
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
      if (!visit || !needsStepUp(rule.fresh, visit.mode)) return visit;
      const question = await requireStepUp(ctx, portalRealm, visit.user, request, reply);
      if (!question) return visit;
      await sendPortal(ctx, reply, visit, { path: '/portal', under: null, ...question });
      return null;
    },
    // If a form is answered by the question for a passkey, the browser keeps the form's address, so that address must
    // have a page.
    redirectRule: ({ fresh }) => (fresh === 'never' ? null : { permission: 'read' }),
  });
}

function sendNotAllowed(ctx: Context, reply: FastifyReply, user: PartnerUser, mode: Mode): Promise<FastifyReply> {
  const { account: t } = signInTexts(wordsFor(reply.request));
  const partner = user.partner.name;
  // While the partner is disabled, each page begins with why.
  const answer = user.partner.disabled
    ? { title: fill(t.notWhileOff, { partner }), body: null }
    : { title: t.notAllowed, body: card(html`<p>${fill(t.notAllowedRest, { partner })}</p>`) };
  return sendPortal(ctx, reply, { user, mode }, { path: '/portal', under: null, status: 403, ...answer });
}

/** An id that no merchant has. A filter for a malformed id uses it, and so finds nothing. */
export const noAccount = nilUuid;

/**
 * A form's address with the mode of its page, so that the form keeps its mode if the user switches mode in another tab.
 */
export function actionIn({ mode }: Pick<PortalVisit, 'mode'>, path: string): string {
  return `${path}?mode=${mode}`;
}
