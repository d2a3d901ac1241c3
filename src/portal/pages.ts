import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { portalEvents } from './live.ts';
import { merchantDetail } from './merchants/merchant.ts';
import { merchantsList } from './merchants/merchants.ts';
import { gettingStarted } from './overview/getting-started.ts';
import { portalOverview } from './overview/overview.ts';
import { requestDetail } from './requests/request.ts';
import { requestsList } from './requests/requests.ts';
import { unmatchedPages } from './requests/unmatched.ts';
import { portalAuditPages } from './settings/audit.ts';
import { keyPages } from './settings/keys.ts';
import { settingsPages } from './settings/settings.ts';
import { teamPages } from './settings/team.ts';
import { deliveryPages } from './webhooks/deliveries.ts';
import { deliveryDetail } from './webhooks/delivery.ts';
import { testEventForm } from './webhooks/test.ts';
import { webhookPages } from './webhooks/webhooks.ts';

/** All that a partner's people see and do. */
export function portalPages(app: FastifyInstance, ctx: Context): void {
  portalOverview(app, ctx);
  requestsList(app, ctx);
  requestDetail(app, ctx);
  unmatchedPages(app, ctx);
  portalEvents(app, ctx);
  merchantsList(app, ctx);
  merchantDetail(app, ctx);
  keyPages(app, ctx);
  webhookPages(app, ctx);
  testEventForm(app, ctx);
  deliveryPages(app, ctx);
  deliveryDetail(app, ctx);
  settingsPages(app, ctx);
  teamPages(app, ctx);
  portalAuditPages(app, ctx);
  gettingStarted(app, ctx);
}
