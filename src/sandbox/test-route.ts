import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendPayPage } from '../checkout/page.ts';
import { payRoute } from '../checkout/paths.ts';
import { readCheckout } from '../checkout/read.ts';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { wordsFor } from '../ui/language.ts';
import { sendForeignForm, sendNotFound, sendTooMany } from '../web/error-page.ts';
import { isOwnForm } from '../web/origin.ts';
import { SandboxRefusal, sandboxOutcome, sandboxOutcomes } from './outcomes.ts';
import { reportSent, type TestReport } from './test-panel.ts';

type Press = FastifyRequest<{ Params: { request_id: string }; Body: { outcome?: unknown } | undefined }>;

/**
 * `POST {pay_url}/<request_id>/test`: pays with a test wallet, with the outcome of the pressed button. Only in the
 * sandbox's test mode.
 */
export function testPayments(app: FastifyInstance, ctx: Context): void {
  const perClient = new AttemptLimit(30, minuteMs);
  app.route({
    method: 'POST',
    url: `${payRoute(ctx.config)}/test`,
    config: { auth: 'public' },
    handler: async (request: Press, reply) => {
      if (!isOwnForm(request.headers, ctx.config.payUrl)) return sendForeignForm(reply);
      if (!perClient.take(clientSubject(request.ip), ctx.clock.now())) return sendTooMany(reply);
      const words = wordsFor(request);
      const before = await readCheckout(ctx, request.params.request_id, words);
      const outcome = sandboxOutcomes.find((name) => name === request.body?.outcome);
      if (!before?.testPanel || !outcome) return sendNotFound(reply);
      let report: TestReport | null = reportSent(outcome);
      try {
        await sandboxOutcome(ctx, before.scope, before.row.id, outcome);
      } catch (error) {
        if (!(error instanceof SandboxRefusal)) throw error;
        report = { refused: error.reason };
      }
      const after = (await readCheckout(ctx, before.row.id, words, [])) ?? before;
      const status = report === null || report === 'sent' ? 200 : 409;
      return sendPayPage(reply, status, after, null, report);
    },
  });
}
