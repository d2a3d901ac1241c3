import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { adminRealm } from '../users/realm.ts';
import { userSessionPages } from '../users/session-pages.ts';
import { adminEvents } from './live.ts';
import { merchantsPages } from './partners/merchants.ts';
import { partnerPages } from './partners/partner.ts';
import { partnersList } from './partners/partners.ts';
import { termsPage } from './partners/terms.ts';
import { declareAdminPages } from './route.ts';
import { chainsPage } from './service/chains.ts';
import { adminOverview } from './service/overview.ts';
import { ratesPages } from './service/rates.ts';
import { relayerPage } from './service/relayer.ts';
import { stuckPages } from './service/stuck.ts';
import { sendAdmin } from './shell.ts';
import { adminAuditPages } from './users/audit.ts';
import { erasePages } from './users/erase.ts';
import { userPages } from './users/user.ts';
import { usersPages } from './users/users.ts';

/** What those who run the service see and do; on the shared host only, where operators' sessions live. */
export function adminPages(app: FastifyInstance, ctx: Context): void {
  const pages = declareAdminPages(app, ctx);
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort());
  adminOverview(pages, ctx);
  partnersList(pages, ctx);
  partnerPages(pages, ctx);
  usersPages(pages, ctx);
  userPages(pages, ctx);
  merchantsPages(pages, ctx);
  ratesPages(pages, ctx);
  chainsPage(pages, ctx);
  relayerPage(pages, ctx);
  stuckPages(pages, ctx);
  termsPage(pages, ctx);
  adminAuditPages(pages, ctx);
  erasePages(pages, ctx);
  userSessionPages(app, ctx, adminRealm, async (_, reply, operator, page) => sendAdmin(reply, operator, page));
  adminEvents(pages, ctx, ending.signal);
}
