import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { seedDemo } from './demo.ts';
import { demoSignIn } from './demo-sign-in.ts';
import { frontPage } from './front-page.ts';
import { fundRelayer } from './fund-relayer.ts';
import { guardDev } from './guard.ts';
import { mailPages } from './mail-pages.ts';
import { mineWhileWaiting } from './mining.ts';
import { blocksDue } from './mining-store.ts';
import { onboardWithKey } from './onboard.ts';
import { planPanel } from './plan-panel.ts';
import { testPlans } from './plan-route.ts';
import { createTestRequest, hasTestWallet, payTestRequest } from './test-event.ts';
import { testPanel } from './test-panel.ts';
import { testPayments } from './test-route.ts';
import { welcome } from './welcome.ts';

/**
 * Everything that only a sandbox has. The start imports this file if the configuration asks for a sandbox, and puts it
 * into the context. All other code imports only its type, so a production process never loads it.
 */
export const sandbox = {
  guardDev,
  /** Test payments on pay pages, test wallets on plan pages, the front page with its buttons, and the mails. */
  routes(app: FastifyInstance, ctx: Context): void {
    testPayments(app, ctx);
    testPlans(app, ctx);
    frontPage(app, ctx);
    demoSignIn(app, ctx);
    mailPages(app, ctx);
  },
  blocksDue,
  mineWhileWaiting,
  fundRelayer,
  testPanel,
  planPanel,
  hasTestWallet,
  createTestRequest,
  payTestRequest,
  onboardWithKey,
  seedDemo,
  welcome,
};

export type Sandbox = typeof sandbox;
