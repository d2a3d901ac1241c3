import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { auditPages } from './audit.ts';
import { gettingStarted } from './getting-started.ts';
import { keyPages } from './keys.ts';
import { portalEvents } from './live.ts';
import { merchantDetail } from './merchant-detail.ts';
import { merchantsList } from './merchants.ts';
import { overviewPage } from './overview.ts';
import { requestDetail } from './request-detail.ts';
import { requestsList } from './requests-list.ts';
import { settingsPages } from './settings.ts';
import { teamPages } from './team.ts';
import { unmatchedPages } from './unmatched.ts';
import { deliveryPages } from './webhook-deliveries.ts';
import { deliveryDetail } from './webhook-delivery.ts';
import { testEventForm } from './webhook-test.ts';
import { webhookPages } from './webhooks.ts';

/** All that a partner's people see and do. */
export function portalPages(app: FastifyInstance, ctx: Context): void {
  overviewPage(app, ctx);
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
  auditPages(app, ctx);
  gettingStarted(app, ctx);
}
