import type { FastifyReply } from 'fastify';
import { may, type Permission } from '../auth/roles.ts';
import type { Context } from '../context.ts';
import { modes } from '../lib/mode.ts';
import { type Html, html } from '../lib/text/html.ts';
import { readBranding } from '../partners/branding.ts';
import { commonTexts } from '../texts/common.ts';
import { type PortalTexts, portalTexts } from '../texts/portal.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { form } from '../ui/form.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { docsPath } from '../web/docs-path.ts';
import { notice, sendShell } from '../web/shell.ts';
import { viewSwitch } from '../web/view-switch.ts';
import type { PortalVisit } from './route.ts';

/** The navigation of the portal, with the permission that each item needs. */
const places: [path: string, name: keyof PortalTexts['places'], permission: Permission][] = [
  ['/portal', 'overview', 'read'],
  ['/portal/requests', 'requests', 'read'],
  ['/portal/unmatched', 'unmatched', 'read'],
  ['/portal/merchants', 'merchants', 'read'],
  ['/portal/plans', 'plans', 'read'],
  ['/portal/keys', 'keys', 'keys.read'],
  ['/portal/webhooks', 'webhooks', 'read'],
  ['/portal/settings', 'settings', 'settings'],
  ['/portal/team', 'team', 'team'],
  ['/portal/audit', 'audit', 'read'],
  ['/portal/start', 'start', 'read'],
  [`${docsPath}/`, 'docs', 'read'],
];

export type PortalPage = {
  /** Address of the page, without query. */
  path: string;
  /** Null: the page belongs to no navigation item, whatever its address. */
  under?: null;
  title: string;
  body: Html | null;
  /** Where the switch of modes leads if this page's object exists in one mode only. */
  otherModePath?: string;
  status?: number;
};

/** Sends a page of the portal in the partner's branding. */
export async function sendPortal(
  ctx: Context,
  reply: FastifyReply,
  { user, mode }: Pick<PortalVisit, 'user' | 'mode'>,
  { path, under, title, body, otherModePath, status }: PortalPage,
): Promise<FastifyReply> {
  const words = wordsFor(reply.request);
  const { account: t } = signInTexts(words);
  const { app } = commonTexts(words);
  const portal = portalTexts(words);
  const seen = places.filter(([, , permission]) => may(user, permission, mode));
  const modeLinks = modes.map((one) => ({
    name: app[one],
    href: `${one === mode ? path : (otherModePath ?? path)}?mode=${one}`,
    current: one === mode,
  }));
  const off = user.partner.disabled && notice('attention', fill(t.partnerOff, { partner: user.partner.name }));
  return sendShell(reply, status ?? 200, {
    words,
    testMode: mode === 'test',
    branding: await readBranding(ctx, user.partner.id),
    home: { path: '/portal', label: user.partner.name },
    places: seen.map(([place, name]) => ({ path: place, label: portal.places[name] })),
    modeSwitch: viewSwitch(app.mode, modeLinks),
    user: user.userId,
    aside: html`
      <p class="quiet">
        <a href="/portal/sessions">${fill(t.signedInAs, { email: user.email })}</a>
        <br>
        ${t.roles[user.role]}
      </p>
      ${form({ action: '/portal/sign-out', submit: app.signOut, second: true })}
    `,
    path,
    ...(under === null && { under: '' }),
    title,
    body: html`${off}${body}`,
  });
}
