import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { portalEvents } from './live.ts';
import { overviewPage } from './overview.ts';
import { requestDetail } from './request-detail.ts';
import { requestsList } from './requests-list.ts';
import { unmatchedPages } from './unmatched.ts';

/** What a partner's people see: how things stand, the requests, money without one, and news of all that. */
export function portalPages(app: FastifyInstance, ctx: Context): void {
  overviewPage(app, ctx);
  requestsList(app, ctx);
  requestDetail(app, ctx);
  unmatchedPages(app, ctx);
  portalEvents(app, ctx);
}
