import type { FastifyInstance, FastifyRequest } from 'fastify';
import { scopeOfRequest } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { type Change, listenForChanges } from '../db/changes.ts';
import { AttemptLimit, clientSubject, networkSubject } from '../lib/concurrency/attempts.ts';
import { Places, takeEach } from '../lib/concurrency/places.ts';
import { minuteMs } from '../lib/durations.ts';
import { isUuid } from '../lib/ids.ts';
import { pause } from '../lib/time.ts';
import { findMisdirected, type MisdirectedPayment } from '../payments/unmatched/misdirected.ts';
import { wordsFor } from '../ui/language.ts';
import { openEventStream } from '../web/event-stream.ts';
import { fragmentsOf, payPageTitle } from './page.ts';
import { payRoute } from './paths.ts';
import { type Checkout, readCheckout } from './read.ts';
import { isOver, payable } from './state.ts';

/**
 * How often lost connections are noticed, and changes without a trigger (expiry, submitted transactions, misdirected
 * payments) are polled.
 */
const restMs = 5_000;
/** Changes within this time are sent together. */
const gatherMs = 50;
/** Browsers reconnect automatically, so a forgotten page does not hold a connection forever. */
const maxStreamMs = 15 * minuteMs;
const maxPages = 10_000;
/** Per client. Each stream queries the database every few seconds, but many customers can share an address. */
const maxPagesOfOne = 60;
/** Per network of addresses, because one owner can have a whole network. */
const maxPagesOfNetwork = 300;
/** For all clients together, because whoever knows a request's id can have any number of addresses. */
const maxPagesOfRequest = 50;
/** Per minute. A page that cannot listen polls every 2 to 15 s, and all tablets of a shop come from one address. */
const pollsOfClient = 1_200;
const pollsOfClientForRequest = 120;
/**
 * An event and not a comment, because browsers hide comments from pages, and a page takes a long silence for a broken
 * connection.
 */
const signOfLife = 'event: here\ndata: 1\n\n';

type OpenPage = { requestId: string; confirming: boolean; misdirected: MisdirectedPayment[]; wake: () => void };

/** `GET {pay_url}/<id>/events` (server-sent events) and `…/state` (the same, once): the page's current fragments. */
export function liveStates(app: FastifyInstance, ctx: Context): void {
  const open = new Set<OpenPage>();
  const ending = new AbortController();
  let stopListening: (() => void) | undefined;
  const connections = new AttemptLimit(120, minuteMs);
  const pollLimit = new AttemptLimit(pollsOfClient, minuteMs);
  const pollLimitForOne = new AttemptLimit(pollsOfClientForRequest, minuteMs);
  const places = new Places(maxPages, maxPagesOfOne);
  const ofNetworks = new Places(Number.POSITIVE_INFINITY, maxPagesOfNetwork);
  const ofRequests = new Places(Number.POSITIVE_INFINITY, maxPagesOfRequest);

  const onChange = (change: Change) => {
    for (const page of open) {
      const concerns =
        change.kind === 'anything' ||
        (change.kind === 'chain' && page.confirming) ||
        (change.kind === 'request' && page.requestId === change.requestId);
      if (concerns) page.wake();
    }
  };
  app.addHook('preClose', async () => {
    ending.abort();
    for (const page of open) page.wake();
    stopListening?.();
  });

  app.route({
    method: 'GET',
    url: `${payRoute(ctx.config)}/state`,
    config: { auth: 'public' },
    handler: async (request: FastifyRequest<{ Params: { request_id: string } }>, reply) => {
      const [client, now] = [clientSubject(request.ip), ctx.clock.now()];
      const requestId = request.params.request_id.toLowerCase();
      if (!pollLimit.take(client, now) || !pollLimitForOne.take(`${client} ${requestId}`, now)) {
        return reply.code(429).send({ error: 'too_many_requests' });
      }
      const words = wordsFor(request);
      const first = await readCheckout(ctx, requestId, words, []);
      const misdirected = first && waitsForMoney(first) ? await findMisdirected(ctx, first.scope, first.row.id) : [];
      const checkout = misdirected.length > 0 ? await readCheckout(ctx, requestId, words, misdirected) : first;
      if (!checkout) return reply.code(404).send({ error: 'not_found' });
      return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(stateOf(checkout));
    },
  });

  app.route({
    method: 'GET',
    url: `${payRoute(ctx.config)}/events`,
    config: { auth: 'public' },
    handler: async (request: FastifyRequest<{ Params: { request_id: string } }>, reply) => {
      const words = wordsFor(request);
      const requestId = request.params.request_id.toLowerCase();
      const client = clientSubject(request.ip);
      // 204 ends an event source for good. The page then polls its state.
      if (ending.signal.aborted || !connections.take(client, ctx.clock.now())) return reply.code(204).send();
      if (!isUuid(requestId) || !(await scopeOfRequest(ctx.db, requestId))) {
        return reply.code(404).send({ error: 'not_found' });
      }
      const leave = takeEach([ofRequests, requestId], [ofNetworks, networkSubject(request.ip)], [places, client]);
      if (!leave) return reply.code(204).send();
      // Until the database connection listens, each page still polls after its rest.
      stopListening ??= listenForChanges(ctx.db, onChange, (error) =>
        ctx.log.warn({ err: error }, 'cannot listen for changes'),
      );
      const stream = openEventStream(reply);
      const page: OpenPage = { requestId, confirming: false, misdirected: [], wake: () => {} };
      open.add(page);
      stream.once('close', () => page.wake());
      const until = performance.now() + maxStreamMs;
      let lastSent = '';
      let refreshing: Promise<void> | undefined;
      try {
        while (!stream.destroyed && !ending.signal.aborted && performance.now() < until) {
          // Created before reading, so that a change in between is not missed.
          const woken = wake(page);
          const checkout = await readCheckout(ctx, requestId, words, page.misdirected);
          if (!checkout) break;
          page.confirming = checkout.state.kind === 'confirming';
          const state = JSON.stringify(stateOf(checkout));
          stream.write(state === lastSent ? signOfLife : `data: ${state}\n\n`);
          lastSent = state;
          if (isOver(checkout.state)) break;
          refreshing ??= waitsForMoney(checkout)
            ? refreshMisdirected(ctx, checkout, page).finally(() => (refreshing = undefined))
            : undefined;
          const pollAt = performance.now() + pollAfterMs(open.size);
          let isWoken = await woken;
          while (!isWoken && performance.now() < pollAt) {
            stream.write(signOfLife);
            isWoken = await wake(page);
          }
          await pause(gatherMs, ending.signal);
        }
      } catch (error) {
        // The browser reconnects automatically, and shows the last state until then.
        ctx.log.warn({ err: error, request_id: request.id }, 'a live page could not be updated');
      } finally {
        open.delete(page);
        leave();
        stream.end();
      }
    },
  });
}

const waitsForMoney = ({ state }: Checkout) => payable(state) === 'whole';

/**
 * Runs beside the page's own reads, because a chain in trouble answers late. Wakes the page if the number of payments
 * changes.
 */
async function refreshMisdirected(ctx: Context, { scope, row }: Checkout, page: OpenPage): Promise<void> {
  try {
    const before = page.misdirected.length;
    page.misdirected = await findMisdirected(ctx, scope, row.id);
    if (page.misdirected.length !== before) page.wake();
  } catch (error) {
    ctx.log.warn({ err: error }, 'payments sent by mistake could not be looked up');
  }
}

/**
 * The shortest wait between polls of a page, in ms, while nothing changes. It grows with the number of open pages:
 * together they poll at most 40 times a second, so opening many cannot overload the process.
 */
export const pollAfterMs = (pages: number): number => pages * 25;

/** Resolves when the page is woken (true), or after its rest (false). */
function wake(page: OpenPage): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, restMs, false);
    page.wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
}

/** The answer to browser code: the page's fragments with their versions, so that only changed ones are replaced. */
function stateOf(checkout: Checkout): object {
  return {
    kind: checkout.state.kind,
    over: isOver(checkout.state),
    title: payPageTitle(checkout),
    parts: fragmentsOf(checkout),
  };
}
