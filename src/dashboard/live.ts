import type { FastifyReply } from 'fastify';
import type { Context } from '../context.ts';
import { type Watcher, watchScope } from '../db/scope-changes.ts';
import { isUuid } from '../lib/ids.ts';
import { readByMerchant } from '../requests/lists/by-merchant.ts';
import { sendEvents } from '../web/event-stream.ts';
import { Places, takeEach } from '../web/places.ts';
import { readQuery } from '../web/query.ts';
import { type MerchantPages, type MerchantVisit, merchantSessionOf } from './route.ts';

/** A partner can have as many merchants as it likes, so all of them together have an end too. */
const mostOfPartner = 1_000;

/** The stream that a dashboard page listens to; with a request id, only for that request. */
export function dashboardEventsPath(requestId?: string): string {
  return `/dashboard/events${requestId === undefined ? '' : `?request=${requestId}`}`;
}

/** `GET /dashboard/events` (server-sent events): that something of this merchant has changed. */
export function dashboardEvents(pages: MerchantPages, ctx: Context, ending: AbortSignal): void {
  const places = new Places();
  const placesOfPartner = new Places(Number.POSITIVE_INFINITY, mostOfPartner);
  pages.page({ url: '/dashboard/events' }, async (visit) => {
    const { session, reply } = visit;
    // 204 ends an event source: the page looks again when it is opened anew.
    const { accountId, scope } = session;
    const leave = ending.aborted ? null : takeEach([placesOfPartner, scope.partnerId], [places, accountId]);
    if (!leave) return reply.code(204).send();
    try {
      await stream(ctx, visit, ending);
    } finally {
      leave();
    }
    return reply;
  });
}

async function stream(ctx: Context, { session, request, reply }: MerchantVisit, ending: AbortSignal): Promise<void> {
  const { scope, accountId } = session;
  const { request: id } = readQuery(request.query, ['request']);
  const requestId = isUuid(id) ? id.toLowerCase() : null;
  // Confirmations are counted on the page of one request only, and only until it is paid.
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
    complain(error); // the browser connects again by itself
  }
}
