import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { may, type Permission } from '../auth/roles.ts';
import { readCookie } from '../auth/session-cookie.ts';
import { type PartnerUser, userScope } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { type Mode, modes } from '../lib/mode.ts';
import { html } from '../lib/text/html.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { card } from '../ui/components.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { enter } from '../users/enter.ts';
import { asksForMore, askToConfirm, type Fresh } from '../users/fresh.ts';
import { portalRealm } from '../users/realm.ts';
import { userSessionPages } from '../users/session-pages.ts';
import { sendPortal } from './shell.ts';

/** A visit of a partner's user: who it is, and the mode that was chosen, with the scope to work in. */
export type PortalVisit = { user: PartnerUser; mode: Mode; scope: Scope };

const modeCookie = 'mode';
const modeCookieSeconds = 365 * 24 * 3600;
const modeFrom = (text: unknown): Mode | undefined => modes.find((mode) => mode === text);

/** Test until live is chosen (`?mode=live`), then kept in a cookie: it only says what to show. */
function chosenMode(request: FastifyRequest, reply: FastifyReply): Mode {
  const chosen = modeFrom((request.query as { mode?: unknown }).mode);
  if (chosen)
    reply.header('set-cookie', `${modeCookie}=${chosen}; Path=/portal; Max-Age=${modeCookieSeconds}; SameSite=Lax`);
  return chosen ?? modeFrom(readCookie(request.headers.cookie, modeCookie)) ?? 'test';
}

/**
 * Opens a page of the portal; null when it was already answered: nobody is signed in, or the role does not allow it.
 */
export async function openPortal(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  permission: Permission,
): Promise<PortalVisit | null> {
  const user = await enter(ctx, portalRealm, request, reply);
  if (!user) return null;
  const mode = chosenMode(request, reply);
  if (!may(user, permission, mode)) {
    const { account: t } = signInTexts(wordsFor(request));
    const partner = user.partner.name;
    const rest = fill(user.partner.disabled ? t.partnerOff : t.notAllowedRest, { partner });
    await sendPortal(
      ctx,
      reply,
      { user, mode },
      {
        path: '/portal',
        under: null,
        title: t.notAllowed,
        status: 403,
        body: card(html`<p>${rest}</p>`),
      },
    );
    return null;
  }
  return { user, mode, scope: userScope(user, mode) };
}

/** What a form of the portal asks of who sends it: a permission, and for which acts more than the session. */
export type FormRule = { permission: Permission; fresh: Fresh };

/** The same for a form of the portal. */
export async function openPortalForm(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  { permission, fresh }: FormRule,
): Promise<PortalVisit | null> {
  const visit = await openPortal(ctx, request, reply, permission);
  if (!visit || !asksForMore(fresh, visit.mode)) return visit;
  const question = await askToConfirm(ctx, portalRealm, visit.user, request, reply);
  if (!question) return visit;
  await sendPortal(ctx, reply, visit, { path: '/portal', under: null, ...question });
  return null;
}

/** `/portal/sessions`: where one is signed in; and the way out. */
export function portalSessionPages(app: FastifyInstance, ctx: Context): void {
  userSessionPages(app, ctx, portalRealm, (request, reply, user, page) =>
    sendPortal(ctx, reply, { user, mode: chosenMode(request, reply) }, page),
  );
}
