import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operator } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { wordsFor } from '../ui/language.ts';
import { enter } from '../users/enter.ts';
import { asksForMore, confirmAct, confirmSection, type Fresh } from '../users/fresh.ts';
import { adminRealm } from '../users/realm.ts';
import { sessionPages } from '../users/session-pages.ts';
import { sendForeignForm } from '../web/error-page.ts';
import { isOwnForm } from '../web/origin.ts';
import { sendAdmin } from './shell.ts';

/** Opens a page of the administration; null when nobody is signed in and the answer is sent already. */
export function openAdmin(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<Operator | null> {
  return enter(ctx, adminRealm, request, reply);
}

/** The same for a form of the administration: one that another site sent changes nothing. */
export async function openAdminForm(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  fresh: Fresh,
): Promise<Operator | null> {
  if (!isOwnForm(request.headers, ctx.config.baseUrl)) {
    sendForeignForm(reply);
    return null;
  }
  const operator = await openAdmin(ctx, request, reply);
  if (!operator || !asksForMore(fresh, null)) return operator;
  const confirmation = await confirmAct(ctx, adminRealm, operator, request, reply);
  if (confirmation.confirmed) return operator;
  sendAdmin(reply, operator, {
    path: '/admin/sessions',
    status: 403,
    title: signInTexts(wordsFor(request)).confirmAct.title,
    body: await confirmSection(ctx, adminRealm, operator, request, confirmation.refused),
  });
  return null;
}

/** Where an operator is signed in, and the way out. */
export function adminSessionPages(app: FastifyInstance, ctx: Context): void {
  sessionPages(app, ctx, adminRealm, async (_, reply, operator, page) => sendAdmin(reply, operator, page));
}
