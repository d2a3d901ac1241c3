import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { adminEvents } from './live.ts';
import { merchantsPages } from './partners/merchants.ts';
import { partnerPages } from './partners/partner.ts';
import { partnersList } from './partners/partners.ts';
import { termsPage } from './partners/terms.ts';
import { chainsPage } from './service/chains.ts';
import { overviewPage } from './service/overview.ts';
import { ratesPages } from './service/rates.ts';
import { stuckPages } from './service/stuck.ts';
import { adminSessionPages } from './session.ts';
import { auditPages } from './users/audit.ts';
import { erasePages } from './users/erase.ts';
import { userPages } from './users/user.ts';
import { usersPages } from './users/users.ts';

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
