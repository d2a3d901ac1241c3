import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { scopeOfRequest } from '../auth/scope.ts';
import type { Config, Mode } from '../config.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { sendNotFound } from '../ui/error-page.ts';
import { sendPage } from '../ui/layout.ts';

import { openRequest, opensRequest } from './open.ts';
import { selectPayPage } from './page-store.ts';
import { type PayView, type ProofForm, payPageBody } from './pay-page.ts';
import { payPageUrl } from './render.ts';

/** The route of pay pages: `/pay/:request_id`, or only the id where they have a host of their own. */
export function payRoute(config: Config): string {
  const path = new URL(config.payUrl).pathname.replace(/\/+$/, '');
  // At the root, only what looks like an id: everything else stays with the other routes.
  return path === '' ? '/:request_id([0-9a-fA-F-]{36})' : `${path}/:request_id`;
}

/** What a pay page shows; null when there is no such request. */
export async function readPayPage(ctx: Context, requestId: string): Promise<{ scope: Scope; view: PayView } | null> {
  if (!isUuid(requestId)) return null;
  const scope = await scopeOfRequest(ctx.db, requestId);
  const found = scope && (await ctx.db.scoped(scope, (tx) => selectPayPage(tx, scope, requestId.toLowerCase())));
  if (!found) return null;
  const mode: Mode = scope.testMode ? 'test' : 'live';
  const { row, transfers } = found;
  const url = payPageUrl(ctx.config, row.id);
  return { scope, view: { row, transfers, chains: ctx.chains[mode], url, now: ctx.clock.now() } };
}

/** Answers with the pay page, and what came of a transaction hash that was handed in. */
export function sendPayPage(reply: FastifyReply, status: number, view: PayView, proof: ProofForm): FastifyReply {
  const merchant = view.row.merchant_name ?? view.row.partner_name;
  const title = view.row.proof_status === 'verified' ? `Paid: ${merchant}` : `Pay ${merchant}`;
  return sendPage(reply, status, { title, testMode: view.row.test_mode, body: payPageBody(view, proof) });
}

/** `GET {pay_url}/<request_id>`: shows the request, and opens it when a customer looks (rule 5.1 of the decisions). */
export function payPages(app: FastifyInstance, ctx: Context): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: payRoute(ctx.config),
    exposeHeadRoute: false,
    config: { auth: 'public' },
    handler: async (request: FastifyRequest<{ Params: { request_id: string } }>, reply) => {
      const found = await readPayPage(ctx, request.params.request_id);
      if (!found) return sendNotFound(reply);
      const { scope, view } = found;
      if (view.row.status === 'requested' && opensRequest(request.method, request.headers)) {
        await openRequest(ctx, scope, view.row.id);
      }
      return sendPayPage(reply, 200, view, {});
    },
  });
}
