import { isMerchantStillIn } from '../auth/merchant-session.ts';
import type { Context } from '../context.ts';
import { type Watcher, watchScope } from '../db/scope-changes.ts';
import { Slots } from '../lib/concurrency/slots.ts';
import { isUuid } from '../lib/ids.ts';
import { readByMerchant } from '../requests/lists/by-merchant.ts';
import { maxStreams, maxStreamsOfOne, type Reported, sendEvents } from '../web/event-stream.ts';
import type { MerchantPages, MerchantVisit } from './route.ts';

/** A partner can have any number of merchants, so all of them together also have a limit. */
const maxOfPartner = 1_000;

/** The event stream for a dashboard page; with a request id, only for that request. */
export function dashboardEventsPath(requestId?: string): string {
  return `/dashboard/events${requestId === undefined ? '' : `?request=${requestId}`}`;
}

/** `GET /dashboard/events` (server-sent events): reports that something of this merchant has changed. */
export function dashboardEvents(pages: MerchantPages, ctx: Context, ending: AbortSignal): void {
  const streams = { slots: new Slots(maxStreams, maxOfPartner, maxStreamsOfOne), ending, log: ctx.log };
  pages.page({ url: '/dashboard/events' }, (visit) => {
    const { scope, accountId } = visit.session;
    return sendEvents(visit.reply, streams, [scope.partnerId, accountId], () => reportTo(ctx, visit));
  });
}

async function reportTo(ctx: Context, { session, query }: MerchantVisit): Promise<Reported> {
  const { scope, accountId } = session;
  const { request: id } = query(['request']);
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
  return {
    watch: (wake, onError) => {
      watcher.wake = wake;
      return [watchScope(ctx.db, watcher, onError)];
    },
    goesOn: async () => {
      if (!(await isMerchantStillIn(ctx, session.id))) return false;
      watcher.chains = await isAttached();
      return true;
    },
  };
}
