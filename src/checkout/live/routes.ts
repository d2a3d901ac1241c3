import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { scopeOfRequest } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import { findMisdirected } from '../../payments/unmatched/misdirected.ts';
import { wordsFor } from '../../ui/language.ts';
import { endEventStream, openEventStream } from '../../web/event-stream.ts';
import { payRoute } from '../paths.ts';
import { readCheckout } from '../read.ts';
import { liveAnswer, waitsForMoney } from './answer.ts';
import { liveLimits } from './limits.ts';
import { OpenPages } from './open-pages.ts';

type Visit = FastifyRequest<{ Params: { request_id: string } }>;

const requestIdIn = ({ params }: Visit) => params.request_id.toLowerCase();

/** `GET {pay_url}/<id>/events` (server-sent events) and `…/state` (the same, once): the page's current fragments. */
export function liveStates(app: FastifyInstance, ctx: Context): void {
  const limits = liveLimits();
  const open = new OpenPages(ctx);
  app.addHook('preClose', async () => open.end());
  const get = (name: 'state' | 'events', handler: (request: Visit, reply: FastifyReply) => Promise<unknown>) =>
    app.route({ method: 'GET', url: `${payRoute(ctx.config)}/${name}`, config: { auth: 'public' }, handler });

  get('state', async (request, reply) => {
    const requestId = requestIdIn(request);
    if (!limits.mayPoll(request.ip, requestId, ctx.clock.now())) {
      return reply.code(429).send({ error: 'too_many_requests' });
    }
    const words = wordsFor(request);
    const first = await readCheckout(ctx, requestId, words, []);
    const misdirected = first && waitsForMoney(first) ? await findMisdirected(ctx, first.scope, first.row.id) : [];
    const checkout = misdirected.length > 0 ? await readCheckout(ctx, requestId, words, misdirected) : first;
    if (!checkout) return reply.code(404).send({ error: 'not_found' });
    return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(liveAnswer(checkout));
  });

  get('events', async (request, reply) => {
    const requestId = requestIdIn(request);
    // 204 ends an event source for good. The page then polls its state.
    if (open.isEnding || !limits.mayConnect(request.ip, ctx.clock.now())) return reply.code(204).send();
    if (!isUuid(requestId) || !(await scopeOfRequest(ctx.db, requestId))) {
      return reply.code(404).send({ error: 'not_found' });
    }
    const leave = limits.takeSlot(request.ip, requestId);
    if (!leave) return reply.code(204).send();
    const stream = openEventStream(reply);
    try {
      await open.follow(stream, requestId, wordsFor(request));
    } catch (error) {
      // The browser reconnects automatically, and shows the last state until then.
      ctx.log.warn({ err: error, request_id: request.id }, 'a live page could not be updated');
    } finally {
      leave();
      endEventStream(stream);
    }
  });
}
