import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { auditPages } from './audit.ts';
import { chainsPage } from './chains.ts';
import { erasePages } from './erase.ts';
import { adminEvents } from './live.ts';
import { merchantsPages } from './merchants.ts';
import { overviewPage } from './overview.ts';
import { partnerPages } from './partner.ts';
import { partnersList } from './partners.ts';
import { ratesPages } from './rates.ts';
import { adminSessionPages } from './session.ts';
import { stuckPages } from './stuck.ts';
import { termsPage } from './terms.ts';
import { userPages } from './user.ts';
import { usersPages } from './users.ts';

/** What those who run the service see and do; on the shared host only, where operators' sessions live. */
export function adminPages(app: FastifyInstance, ctx: Context): void {
  overviewPage(app, ctx);
  partnersList(app, ctx);
  partnerPages(app, ctx);
  usersPages(app, ctx);
  userPages(app, ctx);
  merchantsPages(app, ctx);
  ratesPages(app, ctx);
  chainsPage(app, ctx);
  stuckPages(app, ctx);
  termsPage(app, ctx);
  auditPages(app, ctx);
  erasePages(app, ctx);
  adminSessionPages(app, ctx);
  adminEvents(app, ctx);
}
