import type { FastifyReply } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import { clientOf } from '../auth/client.ts';
import type { Context } from '../context.ts';
import { type Html, html } from '../lib/text/html.ts';
import { firstVisible } from '../lib/text/visible.ts';
import { readBranding } from '../partners/branding.ts';
import { commonTexts } from '../texts/common.ts';
import { type DashboardTexts, dashboardTexts } from '../texts/dashboard.ts';
import { shortAddress } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import type { IslandName } from '../web/assets.ts';
import { flashOf } from '../web/flash.ts';
import { sendShell } from '../web/shell.ts';
import type { MerchantVisit } from './route.ts';

/** The navigation of the dashboard. */
const places: [path: string, name: keyof DashboardTexts['places']][] = [
  ['/dashboard', 'home'],
  ['/dashboard/payments', 'payments'],
  ['/dashboard/ask', 'newRequest'],
  ['/dashboard/plans', 'plans'],
  ['/dashboard/unmatched', 'unmatched'],
  ['/dashboard/profile', 'profile'],
  ['/dashboard/wallet', 'wallet'],
  ['/dashboard/sessions', 'sessions'],
];

export type DashboardPage = {
  /** Address of the page, without query. */
  path: string;
  /** The navigation item that the page belongs to, if its address does not show it. */
  under?: string;
  title: string;
  /** The title as HTML, if it is more than text. */
  heading?: Html;
  body: Html;
  island?: IslandName;
  /** Origins outside this site that browser code may connect to. */
  connectTo?: string | undefined;
  status?: number;
};

/** Sends a page of the dashboard in the partner's branding. After a change it says what was done. */
export async function sendDashboard(
  ctx: Context,
  { reply, words, request, merchant }: MerchantVisit,
  { path, under, title, heading, body, island, connectTo, status }: DashboardPage,
): Promise<FastifyReply> {
  const dashboard = dashboardTexts(words);
  const { app } = commonTexts(words);
  return sendShell(reply, status ?? 200, {
    words,
    testMode: merchant.test_mode,
    branding: await readBranding(ctx, merchant.partner_id),
    home: { path: '/dashboard', label: nameOf(merchant) ?? dashboard.title },
    places: places.map(([place, name]) => ({ path: place, label: dashboard.places[name] })),
    user: merchant.id,
    aside: html`
      <p class="quiet">${shortAddress(merchant.wallet_address ?? '')}</p>
      ${form({ action: '/dashboard/sign-out', submit: app.signOut, second: true })}
    `,
    path,
    under,
    title,
    heading,
    island,
    connectTo,
    body: html`${flashOf({ request }, { done: dashboard.done })}${body}`,
  });
}

/** The merchant's name; null if it has given none. */
export function nameOf(merchant: { business_name: string | null; display_name: string | null }): string | null {
  return firstVisible(merchant.business_name, merchant.display_name);
}

/** The actor for the audit log. */
export function merchantActor({ session, request }: MerchantVisit): Actor {
  return {
    kind: 'merchant',
    accountId: session.accountId,
    walletAddress: session.walletAddress,
    ...clientOf(request),
  };
}
