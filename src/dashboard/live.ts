import type { FastifyReply } from 'fastify';
import type { Context } from '../context.ts';
import { type Watcher, watchScope } from '../db/scope-changes.ts';
import { Places } from '../lib/concurrency/places.ts';
import { isUuid } from '../lib/ids.ts';
import { readByMerchant } from '../requests/lists/by-merchant.ts';
import { maxStreams, maxStreamsOfOne, sendEvents } from '../web/event-stream.ts';
import { readQuery } from '../web/query.ts';
import { type MerchantPages, type MerchantVisit, merchantSessionOf } from './route.ts';

/** A partner can have any number of merchants, so all of them together also have a limit. */
const maxOfPartner = 1_000;

/** The event stream for a dashboard page; with a request id, only for that request. */
export function dashboardEventsPath(requestId?: string): string {
  return `/dashboard/events${requestId === undefined ? '' : `?request=${requestId}`}`;
}

/** `GET /dashboard/events` (server-sent events): reports that something of this merchant has changed. */
export function dashboardEvents(pages: MerchantPages, ctx: Context, ending: AbortSignal): void {
  const places = new Places(maxStreams, maxOfPartner, maxStreamsOfOne);
  pages.page({ url: '/dashboard/events' }, async (visit) => {
    const { session, reply } = visit;
    // 204 ends an event source for good. Browser code then updates the page, and connects again after growing waits.
    const holder = [session.scope.partnerId, session.accountId];
    if (ending.aborted || !places.take(...holder)) return reply.code(204).send();
    try {
      await stream(ctx, visit, ending);
    } finally {
      places.leave(...holder);
    }
    return reply;
  });
}

async function stream(ctx: Context, { session, request, reply }: MerchantVisit, ending: AbortSignal): Promise<void> {
  const { scope, accountId } = session;
  const { request: id } = readQuery(request.query, ['request']);
  const requestId = isUuid(id) ? id.toLowerCase() : null;
  // Only the page of one request shows confirmations, and only until the request is paid.
  const isAttached = async () =>
    requestId !== null && (await readByMerchant(ctx.db, scope, accountId, requestId)).proof_status === 'attached';
  const watcher: Watcher = {
    scope,
    accountId,
    sessionId: session.id,
    chains: await isAttached(),
    wake: () => {},
    ...(requestId && { requestId }),
  };
  const complain = (error: unknown) => ctx.log.warn({ err: error }, 'cannot listen for changes');
  const begin = (wake: () => void) => {
    watcher.wake = wake;
    return watchScope(ctx.db, watcher, complain);
  };
  try {
    await sendEvents(reply as FastifyReply, ending, begin, async () => {
      if ((await merchantSessionOf(ctx, request, false))?.id !== session.id) return false;
      watcher.chains = await isAttached();
      return true;
    });
  } catch (error) {
    complain(error); // the browser reconnects automatically
  }
}
