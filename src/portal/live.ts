import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { type Watcher, watchScope } from '../db/scope-changes.ts';
import { isUuid } from '../lib/ids.ts';
import { readRequest } from '../requests/read.ts';
import { isStillIn } from '../users/enter.ts';
import { portalRealm } from '../users/realm.ts';
import { StreamPlaces, sendEvents } from '../web/event-stream.ts';
import { openPortal } from './session.ts';

/** A partner can invite as many people as it likes, so all of them together have an end too. */
const mostOfPartner = 200;

/** The address that a page of the portal listens to; with the id of a request, for news of that one only. */
export function portalEventsPath(mode: string, requestId?: string): string {
  return `/portal/events?mode=${mode}${requestId === undefined ? '' : `&request=${requestId}`}`;
}

/** The same for the page of one merchant. */
export function merchantEventsPath(mode: string, accountId: string): string {
  return `/portal/events?mode=${mode}&account=${accountId}`;
}

/** `GET /portal/events` (server-sent events): that something of this partner and mode has changed. */
export function portalEvents(app: FastifyInstance, ctx: Context): void {
  const ending = new AbortController();
  const places = new StreamPlaces();
  const placesOfPartner = new StreamPlaces(Number.POSITIVE_INFINITY, mostOfPartner);
  app.addHook('preClose', async () => ending.abort());

  app.route({
    method: 'GET',
    url: '/portal/events',
    config: { auth: 'session' },
    handler: async (request: FastifyRequest<{ Querystring: { request?: unknown; account?: unknown } }>, reply) => {
      const visit = await openPortal(ctx, request, reply, 'read');
      if (!visit) return reply;
      const { user, scope } = visit;
      const { request: id, account } = request.query;
      const requestId = isUuid(id) ? id.toLowerCase() : null;
      const isAttached = async () =>
        requestId !== null && (await readRequest(ctx.db, scope, requestId)).proof_status === 'attached';
      const watcher: Watcher = {
        scope,
        sessionId: user.sessionId,
        userId: user.userId,
        chains: await isAttached(),
        wake: () => {},
        ...(requestId && { requestId }),
        ...(isUuid(account) && { accountId: account.toLowerCase() }),
      };
      // 204 ends an event source: the page looks again when it is opened anew.
      if (ending.signal.aborted || !placesOfPartner.take(scope.partnerId)) return reply.code(204).send();
      if (!places.take(user.userId)) {
        placesOfPartner.leave(scope.partnerId);
        return reply.code(204).send();
      }
      const complain = (error: unknown) => ctx.log.warn({ err: error }, 'cannot listen for changes');
      const begin = (wake: () => void) => {
        watcher.wake = wake;
        return watchScope(ctx.db, watcher, complain);
      };
      try {
        await sendEvents(reply, ending.signal, begin, async () => {
          if (!(await isStillIn(ctx, portalRealm, request, user))) return false;
          watcher.chains = await isAttached();
          return true;
        });
      } catch (error) {
        complain(error); // the browser connects again by itself
      } finally {
        places.leave(user.userId);
        placesOfPartner.leave(scope.partnerId);
      }
    },
  });
}
