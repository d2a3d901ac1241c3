import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { askPages } from './ask.ts';
import { attachPages } from './attach.ts';
import { cancelPages } from './cancel.ts';
import { cashierPages } from './cashier.ts';
import { giveBackPages } from './give-back.ts';
import { homePages } from './home.ts';
import { dashboardEvents } from './live.ts';
import { paymentPage } from './payment.ts';
import { paymentList } from './payments.ts';
import { planPage } from './plan.ts';
import { planNewPages } from './plan-new.ts';
import { planList } from './plans.ts';
import { profilePages } from './profile.ts';
import { recoveryPages } from './recovery.ts';
import { dashboardRoutes } from './route.ts';
import { sessionPages } from './sessions.ts';
import { signInPages } from './sign-in.ts';
import { unmatchedList } from './unmatched.ts';
import { walletPages } from './wallet.ts';

/** The merchant's dashboard: signing in, payments, asking for money, the wallet and its recovery. */
export function dashboardPages(app: FastifyInstance, ctx: Context): void {
  const routes = dashboardRoutes(app, ctx);
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort());
  signInPages(routes, ctx);
  homePages(routes, ctx);
  paymentList(routes, ctx);
  paymentPage(routes, ctx);
  cancelPages(routes, ctx);
  askPages(routes, ctx);
  cashierPages(routes, ctx);
  planList(routes, ctx);
  planNewPages(routes, ctx);
  planPage(routes, ctx);
  unmatchedList(routes, ctx);
  attachPages(routes, ctx);
  giveBackPages(routes, ctx);
  profilePages(routes, ctx);
  sessionPages(routes, ctx);
  dashboardEvents(routes, ctx, ending.signal);
  walletPages(routes, ctx);
  recoveryPages(routes, ctx);
}
