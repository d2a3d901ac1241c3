import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { cashierPages } from './home/cashier.ts';
import { homePages } from './home/home.ts';
import { newRequestPages } from './home/new-request.ts';
import { dashboardEvents } from './live.ts';
import { attachPages } from './payments/attach.ts';
import { cancelPages } from './payments/cancel.ts';
import { paymentPage } from './payments/payment.ts';
import { paymentList } from './payments/payments.ts';
import { refundPages } from './payments/refund.ts';
import { unmatchedList } from './payments/unmatched.ts';
import { planPage } from './plans/plan.ts';
import { planChangePages } from './plans/plan-change.ts';
import { planNewPages } from './plans/plan-new.ts';
import { planList } from './plans/plans.ts';
import { declareDashboardPages } from './route.ts';
import { profilePages } from './settings/profile.ts';
import { recoveryPages } from './settings/recovery.ts';
import { merchantSessionPages } from './settings/sessions.ts';
import { walletPages } from './settings/wallet.ts';
import { merchantSignInPages } from './sign-in.ts';

/** The merchant's dashboard: signing in, payments, new requests, the wallet and its recovery. */
export function dashboardPages(app: FastifyInstance, ctx: Context): void {
  const { open, signedIn } = declareDashboardPages(app, ctx);
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort());
  merchantSignInPages(open, ctx);
  homePages(signedIn, ctx);
  paymentList(signedIn, ctx);
  paymentPage(signedIn, ctx);
  cancelPages(signedIn, ctx);
  newRequestPages(signedIn, ctx);
  cashierPages(signedIn, ctx);
  planList(signedIn, ctx);
  planNewPages(signedIn, ctx);
  planChangePages(signedIn, ctx);
  planPage(signedIn, ctx);
  unmatchedList(signedIn, ctx);
  attachPages(signedIn, ctx);
  refundPages(signedIn, ctx);
  profilePages(signedIn, ctx);
  merchantSessionPages(signedIn, ctx);
  dashboardEvents(signedIn, ctx, ending.signal);
  walletPages(signedIn, ctx);
  recoveryPages(open, ctx);
}
