import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/attempts.ts';
import { payRoute, readPayPage, sendPayPage } from '../requests/pages.ts';
import { sendNotFound, sendNotice } from '../ui/error-page.ts';
import { isOwnForm } from '../ui/origin.ts';
import { type Outcome, outcomeText } from './outcome.ts';
import { submitHash } from './submit.ts';

const minuteMs = 60_000;

/** What is on its way, or waits for us: news. Everything else is a fault beside the field. */
const news: Outcome['kind'][] = ['pending_in_mempool', 'seen', 'counted', 'underpaid', 'unavailable'];

/** `POST {pay_url}/<request_id>/proof`: looks up a transaction hash at once and says in plain words what it is worth. */
export function proofPages(app: FastifyInstance, ctx: Context): void {
  const perRequest = new AttemptLimit(10, minuteMs);
  const perClient = new AttemptLimit(60, minuteMs);
  app.route({
    method: 'POST',
    url: `${payRoute(ctx.config)}/proof`,
    config: { auth: 'public' },
    handler: async (
      request: FastifyRequest<{ Params: { request_id: string }; Body: Record<string, unknown> | undefined }>,
      reply,
    ) => {
      if (!isOwnForm(request.headers, ctx.config.payUrl)) {
        const advice = 'Open the payment link and hand in the transaction there. No money was moved.';
        return sendNotice(reply, 403, 'This form came from another site', advice);
      }
      const id = request.params.request_id.toLowerCase();
      const typed = typeof request.body?.tx_hash === 'string' ? request.body.tx_hash.slice(0, 200) : '';
      if (!perClient.take(clientSubject(request.ip), ctx.clock.now())) {
        const advice = 'Wait a minute, then go on. A payment you already sent is found without this form.';
        return sendNotice(reply, 429, 'Too many attempts', advice);
      }
      const found = await readPayPage(ctx, id);
      if (!found) return sendNotFound(reply);
      if (!perRequest.take(id, ctx.clock.now())) {
        const fault = 'Too many attempts for this payment. Wait a minute; what you sent is also found by itself.';
        return sendPayPage(reply, 429, found.view, { typed, fault });
      }
      const outcome = await submitHash(ctx, id, { txHash: typed });
      const text = outcomeText(outcome);
      const proof = news.includes(outcome.kind) ? { typed, note: text } : { typed, fault: text };
      return sendPayPage(reply, outcome.kind === 'malformed' ? 400 : 200, found.view, proof);
    },
  });
}
