import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { AttemptLimit, clientSubject, networkSubject } from '../../lib/concurrency/attempts.ts';
import { minuteMs } from '../../lib/durations.ts';
import { stopByCustomer } from '../../plans/mandates/stop.ts';
import { wordsFor } from '../../ui/language.ts';
import { sendForeignForm, sendNotFound, sendTooMany } from '../../web/error-page.ts';
import { isOwnForm } from '../../web/origin.ts';
import { readQuery } from '../../web/query.ts';
import { planRoute } from '../paths.ts';
import { sendPlanPage } from './page.ts';
import { planPosts } from './posts.ts';
import { type PlanView, readPlanView } from './read.ts';

type Visit = FastifyRequest<{
  Params: { plan_id: string; token: string };
  Querystring: Record<string, unknown>;
  Body: Record<string, unknown> | undefined;
}>;

const publicRoute = { auth: 'public' as const };
const maxFieldLength = 20_000;

/**
 * `GET {pay_url}/plans/<plan id>/<token>` for a plan's customer, and the posts of browser code and forms of the page.
 */
export function planPages(app: FastifyInstance, ctx: Context): void {
  const route = planRoute(ctx.config);
  const views = new AttemptLimit(60, minuteMs);
  // Whoever knows a link can use up their own attempts, but hardly those of everybody. A merchant can make many plans.
  const posts = {
    perClient: new AttemptLimit(60, minuteMs),
    perNetwork: new AttemptLimit(600, minuteMs),
    perPlan: new AttemptLimit(120, minuteMs),
  };
  // Stops are limited per network and not per plan: the merchant also has the link, and must not prevent them.
  const stops = new AttemptLimit(20, minuteMs);
  const viewOf = (request: Visit): Promise<PlanView | null> => {
    const { plan_id: planId, token } = request.params;
    const { after = null } = readQuery(request.query, ['after']);
    return readPlanView(ctx, { planId, token }, wordsFor(request), after);
  };
  app.route({
    method: ['GET', 'HEAD'],
    url: route,
    exposeHeadRoute: false,
    config: publicRoute,
    handler: async (request: Visit, reply) => {
      if (!views.take(clientSubject(request.ip), ctx.clock.now())) return sendTooMany(reply);
      const view = await viewOf(request);
      return view ? sendPlanPage(ctx, reply, view, request.query.done) : sendNotFound(reply);
    },
  });
  const post = (name: string, run: (view: PlanView, request: Visit, reply: FastifyReply) => Promise<unknown>) =>
    app.route({
      method: 'POST',
      url: `${route}/${name}`,
      config: publicRoute,
      handler: async (request: Visit, reply) => {
        if (!isOwnForm(request.headers, ctx.config.payUrl)) return sendForeignForm(reply);
        const now = ctx.clock.now();
        const tooMany = () => (name === 'stop' ? sendTooMany(reply) : reply.code(429).send({ fault: 'too_many' }));
        if (!posts.perClient.take(clientSubject(request.ip), now)) return tooMany();
        const view = await viewOf(request);
        if (!view) return sendNotFound(reply);
        const { id } = view.facts;
        const network = networkSubject(request.ip);
        const isAllowed =
          name === 'stop'
            ? stops.take(`${network} ${id}`, now)
            : posts.perNetwork.take(network, now) && posts.perPlan.take(id, now);
        return isAllowed ? run(view, request, reply) : tooMany();
      },
    });
  for (const [name, run] of Object.entries(planPosts)) {
    post(name, async (view, request, reply) => {
      const answer = await run(ctx, view, (field) => fieldIn(request, field));
      return reply
        .code('fault' in answer ? 409 : 200)
        .header('cache-control', 'no-store')
        .send(answer);
    });
  }
  post('stop', async (view, request, reply) => {
    const stopped = await stopByCustomer(ctx, view, fieldIn(request, 'signature') || null);
    return reply.redirect(`${view.path}${stopped ? '?done=stopped' : ''}`, 303);
  });
}

function fieldIn({ body }: Visit, name: string): string {
  const value = body?.[name];
  return typeof value === 'string' ? value.slice(0, maxFieldLength) : '';
}
