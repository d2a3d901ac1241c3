import { listMerchantSessions, revokeMerchantSession, type SessionView } from '../auth/session.ts';
import { clearSessionCookie } from '../auth/session-cookie.ts';
import type { Context } from '../context.ts';
import { type Html, html } from '../lib/html.ts';
import { isUuid } from '../lib/ids.ts';
import { chainsOf } from '../merchants/onboard.ts';
import { readOpenRecovery, type WalletChange } from '../merchants/recovery.ts';
import { card, carried, facts, mono, stateLine } from '../ui/components.ts';
import { instant } from '../ui/formats.ts';
import { fill, type Words } from '../ui/language.ts';
import { type Look, logoOf } from '../ui/look.ts';
import { fillHtml } from '../ui/wallet-forms.ts';
import { recoveryLine } from './recovery-line.ts';
import { type DashboardRoutes, type MerchantVisit, signInPath } from './route.ts';
import { showPage } from './show.ts';

/** `GET /dashboard`: what a merchant sees first; and its ways out. */
export function homePages(routes: DashboardRoutes, ctx: Context): void {
  routes.signedIn({ method: 'GET', url: '/dashboard', handle: (visit) => showHome(ctx, visit) });
  routes.signedIn({
    method: 'POST',
    url: '/dashboard/sign-out',
    handle: async ({ reply, session }) => {
      await revokeMerchantSession(ctx, session.scope, session.accountId, session.id);
      clearSessionCookie(reply, ctx.config);
      return reply.redirect(signInPath, 303);
    },
  });
  routes.signedIn({
    method: 'POST',
    url: '/dashboard/sessions/end',
    handle: async ({ reply, session, typed }) => {
      const id = typed.session ?? '';
      if (isUuid(id)) await revokeMerchantSession(ctx, session.scope, session.accountId, id);
      return reply.redirect('/dashboard', 303);
    },
  });
}

type Home = MerchantVisit & { recovery: WalletChange | null; sessions: SessionView[]; networks: string[] };

async function showHome(ctx: Context, visit: MerchantVisit) {
  const { session, merchant, reply } = visit;
  const [recovery, sessions] = await Promise.all([
    readOpenRecovery(ctx, session.scope, session.accountId),
    listMerchantSessions(ctx, session.scope, session.accountId),
  ]);
  const checked = merchant.wallet_chain_ids;
  const networks = chainsOf(ctx, merchant)
    .filter(({ chainId }) => checked === null || checked.includes(chainId))
    .map(({ name }) => name);
  const home: Home = { ...visit, recovery, sessions, networks };
  return showPage(ctx, reply, {
    title: ({ t }) => t.dashboard.title,
    of: merchant,
    path: '/dashboard',
    refusal: null,
    body: (words, look) => homePage(words, look, home),
  });
}

function homePage(words: Words, look: Look | null, home: Home): Html {
  const { dashboard } = words.t;
  const { merchant, recovery } = home;
  const partner = merchant.partner_name;
  return html`${card(
    look && logoOf(look),
    html`<h1>${merchant.business_name ?? merchant.display_name ?? dashboard.title}</h1>`,
    recovery && recoveryLine(words, merchant, recovery),
    merchant.disabled_by_partner || merchant.disabled_by_operator
      ? stateLine('attention', dashboard.off, offReasons(words, home))
      : stateLine('paid', dashboard.ready, fill(dashboard.readyRest, { partner })),
    facts([
      [dashboard.wallet, html`<span dir="ltr">${mono(merchant.wallet_address ?? '')}</span>`],
      [dashboard.networks, home.networks.join(', ')],
      [dashboard.currency, merchant.display_currency],
      [dashboard.through, partner],
      termsFact(words, home),
      [dashboard.number, html`<span dir="ltr">${mono(merchant.id)}</span>`],
    ]),
    html`<p><a class="button" href="/dashboard/wallet">${dashboard.changeWallet}</a></p>`,
  )}
${card(
  html`<h2>${dashboard.payments}</h2>`,
  stateLine('waiting', dashboard.noPayments, fill(dashboard.noPaymentsRest, { partner })),
)}
${sessionsCard(words, home)}`;
}

/** Who switched the merchant off, what to do, and what still works. */
function offReasons({ t }: Words, { merchant }: Home): string {
  const { dashboard } = t;
  const partner = merchant.partner_name;
  const reasons = [
    merchant.disabled_by_partner && fill(dashboard.offByPartner, { partner }),
    merchant.disabled_by_operator && fill(dashboard.offByOperator, { partner }),
    dashboard.offRest,
  ];
  return reasons.filter(Boolean).join(' ');
}

function termsFact(words: Words, { merchant }: Home): [string, Html] | null {
  const { dashboard } = words.t;
  const { terms_version: version, terms_accepted_at: at } = merchant;
  if (version === null || at === null) return null;
  return [dashboard.terms, fillHtml(dashboard.termsVersion, { version, time: instant(words, at) })];
}

function sessionsCard(words: Words, { sessions, session }: Home): Html {
  const { dashboard } = words.t;
  return card(
    html`<h2>${dashboard.sessions}</h2>`,
    html`<ul class="sessions">${sessions.map(({ id, last_seen_at, ip, user_agent }) => {
      const own = id === session.id;
      return html`<li><p><strong>${own ? dashboard.thisOne : (user_agent ?? ip)}</strong></p>
<p class="quiet">${fillHtml(dashboard.lastSeen, { time: instant(words, last_seen_at), ip })}</p>
${
  own
    ? html`<form method="post" action="/dashboard/sign-out"><button class="second">${dashboard.signOut}</button></form>`
    : html`<form method="post" action="/dashboard/sessions/end">${carried('session', id)}<button class="second">${dashboard.signOutThere}</button></form>`
}</li>`;
    })}</ul>`,
  );
}
