import type { FastifyReply } from 'fastify';
import type { Operator } from '../auth/user-session.ts';
import { type Html, html } from '../lib/text/html.ts';
import { type AdminTexts, adminTexts } from '../texts/admin.ts';
import { commonTexts } from '../texts/common.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { form } from '../ui/form.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { serviceName } from '../users/mails.ts';
import { sendShell } from '../web/shell.ts';

const places: [path: string, name: keyof AdminTexts['places']][] = [
  ['/admin', 'overview'],
  ['/admin/search', 'search'],
  ['/admin/partners', 'partners'],
  ['/admin/users', 'users'],
  ['/admin/merchants', 'merchants'],
  ['/admin/rates', 'rates'],
  ['/admin/chains', 'chains'],
  ['/admin/relayer', 'relayer'],
  ['/admin/stuck', 'stuck'],
  ['/admin/terms', 'terms'],
  ['/admin/audit', 'audit'],
  ['/admin/erase', 'erase'],
];

/** `path`: address of the page, without query. */
export type AdminPage = { path: string; title: string; body: Html; status?: number };

/** Sends a page of the administration. */
export function sendAdmin(reply: FastifyReply, operator: Operator, page: AdminPage): FastifyReply {
  const words = wordsFor(reply.request);
  const { account: t } = signInTexts(words);
  const { app } = commonTexts(words);
  const admin = adminTexts(words);
  const { path, title, body, status = 200 } = page;
  return sendShell(reply, status, {
    words,
    testMode: null,
    home: { path: '/admin', label: serviceName },
    places: places.map(([place, name]) => ({ path: place, label: admin.places[name] })),
    user: operator.userId,
    aside: html`
      <p class="quiet">
        <a href="/admin/sessions">${fill(t.signedInAs, { email: operator.email })}</a>
      </p>
      ${form({ action: '/admin/sign-out', submit: app.signOut, second: true })}
    `,
    path,
    title,
    body,
  });
}
