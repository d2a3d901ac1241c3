import type { FastifyInstance, FastifyRequest } from 'fastify';
import { generatePrivateKey } from 'viem/accounts';
import { planRoute } from '../checkout/paths.ts';
import { readPlanView } from '../checkout/plan/read.ts';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { movePlanDue } from '../plans/move-due.ts';
import { wordsFor } from '../ui/language.ts';
import { sendForeignForm, sendNotFound, sendTooMany } from '../web/error-page.ts';
import { isOwnForm } from '../web/origin.ts';
import { agreeInSandbox } from './agree.ts';
import { planStep } from './plan-panel.ts';

type Press = FastifyRequest<{ Params: { plan_id: string; token: string }; Body: { step?: unknown } | undefined }>;

/**
 * `POST {pay_url}/plans/<plan id>/<token>/test`: agrees to a plan with a new test wallet, or makes its next charge due.
 * Only in the sandbox's test mode.
 */
export function testPlans(app: FastifyInstance, ctx: Context): void {
  const perClient = new AttemptLimit(30, minuteMs);
  app.route({
    method: 'POST',
    url: `${planRoute(ctx.config)}/test`,
    config: { auth: 'public' },
    handler: async (request: Press, reply) => {
      if (!isOwnForm(request.headers, ctx.config.payUrl)) return sendForeignForm(reply);
      if (!perClient.take(clientSubject(request.ip), ctx.clock.now())) return sendTooMany(reply);
      const { plan_id: planId, token } = request.params;
      const view = await readPlanView(ctx, { planId, token }, wordsFor(request), null);
      const [chain] = ctx.chains.test;
      if (!view?.testPanel || !chain) return sendNotFound(reply);
      const step = planStep(view);
      // The button was pressed twice, or the plan has changed: the page shows what can be tried now.
      if (step === null || step !== request.body?.step) return reply.redirect(view.path, 303);
      const { scope, facts } = view;
      if (step === 'agree') await agreeInSandbox(ctx, chain, view, generatePrivateKey());
      else await ctx.db.scoped(scope, (tx) => movePlanDue(tx, scope, facts.id, ctx.clock.now()));
      return reply.redirect(`${view.path}?done=${step === 'agree' ? 'agreed' : 'due'}`, 303);
    },
  });
}
