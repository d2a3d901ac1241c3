import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Operator } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import { type Html, html } from '../lib/html.ts';
import { sendForeignForm } from '../ui/error-page.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { isOwnForm } from '../ui/origin.ts';
import { sendShell } from '../ui/shell.ts';
import { adminDoor } from '../users/door.ts';
import { enter } from '../users/enter.ts';
import { serviceName } from '../users/mails.ts';
import { sessionPages } from '../users/session-pages.ts';

/** Opens a page of the administration; null when nobody is signed in and the answer is sent already. */
export function openAdmin(ctx: Context, request: FastifyRequest, reply: FastifyReply): Promise<Operator | null> {
  return enter(ctx, adminDoor, request, reply);
}

/** The same for a form of the administration: one that another site sent changes nothing. */
export async function openAdminForm(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Operator | null> {
  if (isOwnForm(request.headers, ctx.config.baseUrl)) return openAdmin(ctx, request, reply);
  sendForeignForm(reply);
  return null;
}

/** Answers with a page of the administration; `path` is its address without query. */
export function sendAdmin(
  reply: FastifyReply,
  operator: Operator,
  page: { path: string; title: string; body: Html },
): FastifyReply {
  const words = wordsFor(reply.request);
  const { account: t, app } = words.t;
  return sendShell(reply, 200, {
    words,
    testMode: false,
    home: { path: '/admin', label: serviceName },
    places: [
      { path: '/admin', label: t.overview },
      { path: '/admin/sessions', label: t.sessions },
    ],
    aside: html`<p class="quiet">${fill(t.signedInAs, { email: operator.email })}</p>
<form method="post" action="/admin/sign-out"><button class="second">${app.signOut}</button></form>`,
    ...page,
  });
}

/** `/admin`, and where one is signed in. */
export function adminSessionPages(app: FastifyInstance, ctx: Context): void {
  app.route({
    config: { auth: 'session' },
    method: 'GET',
    url: '/admin',
    handler: async (request, reply) => {
      const operator = await openAdmin(ctx, request, reply);
      if (!operator) return reply;
      const { account: t } = wordsFor(request).t;
      const body = html`<p>${t.welcome}. ${fill(t.welcomeRest, { email: operator.email })}</p>`;
      return sendAdmin(reply, operator, { path: '/admin', title: t.admin, body });
    },
  });
  sessionPages(app, ctx, adminDoor, async (_, reply, operator, page) => sendAdmin(reply, operator, page));
}
