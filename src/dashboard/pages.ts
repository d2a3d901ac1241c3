import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { homePages } from './home.ts';
import { recoveryPages } from './recovery.ts';
import { dashboardRoutes } from './route.ts';
import { signInPages } from './sign-in.ts';
import { walletPages } from './wallet.ts';

/** The merchant's dashboard: signing in, the first page, the wallet and its recovery. */
export function dashboardPages(app: FastifyInstance, ctx: Context): void {
  const routes = dashboardRoutes(app, ctx);
  signInPages(routes, ctx);
  homePages(routes, ctx);
  walletPages(routes, ctx);
  recoveryPages(routes, ctx);
}
