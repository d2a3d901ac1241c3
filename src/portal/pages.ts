import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { portalRealm } from '../users/realm.ts';
import { userSessionPages } from '../users/session-pages.ts';
import { portalEvents } from './live.ts';
import { merchantDetail } from './merchants/merchant.ts';
import { merchantsList } from './merchants/merchants.ts';
import { chosenMode } from './mode.ts';
import { gettingStarted } from './overview/getting-started.ts';
import { portalOverview } from './overview/overview.ts';
import { planDetail } from './plans/plan.ts';
import { plansList } from './plans/plans.ts';
import { lookUpPage } from './requests/look-up.ts';
import { requestDetail } from './requests/request.ts';
import { requestsList } from './requests/requests.ts';
import { resendEvent } from './requests/resend.ts';
import { unmatchedPages } from './requests/unmatched.ts';
import { declarePortalPages } from './route.ts';
import { portalAuditPages } from './settings/audit.ts';
import { keyPages } from './settings/keys.ts';
import { settingsPages } from './settings/settings.ts';
import { teamPages } from './settings/team.ts';
import { sendPortal } from './shell.ts';
import { deliveryPages } from './webhooks/deliveries.ts';
import { deliveryDetail } from './webhooks/delivery.ts';
import { testEventForm } from './webhooks/test.ts';
import { webhookPages } from './webhooks/webhooks.ts';

/** All pages of the portal, for a partner's users. */
export function portalPages(app: FastifyInstance, ctx: Context): void {
  const pages = declarePortalPages(app, ctx);
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort());
  portalOverview(pages, ctx);
  requestsList(pages, ctx);
  requestDetail(pages, ctx);
  resendEvent(pages, ctx);
  lookUpPage(pages, ctx);
  unmatchedPages(pages, ctx);
  portalEvents(pages, ctx, ending.signal);
  merchantsList(pages, ctx);
  merchantDetail(pages, ctx);
  plansList(pages, ctx);
  planDetail(pages, ctx);
  keyPages(pages, ctx);
  webhookPages(pages, ctx);
  testEventForm(pages, ctx);
  deliveryPages(pages, ctx);
  deliveryDetail(pages, ctx);
  settingsPages(app, pages, ctx);
  teamPages(pages, ctx);
  portalAuditPages(pages, ctx);
  // Needs no permission: every user sees where they are signed in, and can sign out.
  userSessionPages(app, ctx, portalRealm, (request, reply, user, page) =>
    sendPortal(ctx, reply, { user, mode: chosenMode(request, reply) }, page),
  );
  gettingStarted(pages, ctx);
}
