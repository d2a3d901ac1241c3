import { watchSilentChains } from '../chain/silence.ts';
import type { Context } from '../context.ts';
import { type Watcher, watchScope } from '../db/scope-changes.ts';
import { Slots } from '../lib/concurrency/slots.ts';
import { isUuid } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { readRequest } from '../requests/read.ts';
import { isStillIn } from '../users/current-user.ts';
import { maxStreams, maxStreamsOfOne, type Reported, sendEvents } from '../web/event-stream.ts';
import type { PortalCall, PortalPages } from './route.ts';

/** A partner can invite any number of people, so all of them together also have a limit. */
const maxOfPartner = 200;

/** The event stream for a page of the portal; with a request id, only for that request. */
export function portalEventsPath(mode: string, requestId?: string): string {
  return `/portal/events?mode=${mode}${requestId === undefined ? '' : `&request=${requestId}`}`;
}

/** The event stream for the page of one merchant. */
export function merchantEventsPath(mode: string, accountId: string): string {
  return `/portal/events?mode=${mode}&account=${accountId}`;
}

/** `GET /portal/events` (server-sent events): reports that something of this partner and mode has changed. */
export function portalEvents(pages: PortalPages, ctx: Context, ending: AbortSignal): void {
  const streams = { slots: new Slots(maxStreams, maxOfPartner, maxStreamsOfOne), ending, log: ctx.log };
  pages.page({ url: '/portal/events', permission: 'read' }, (visit) =>
    sendEvents(visit.reply, streams, [visit.scope.partnerId, visit.user.userId], () => reportTo(ctx, visit)),
  );
}

async function reportTo(ctx: Context, { user, scope, query }: PortalCall): Promise<Reported> {
  const { request: id, account } = query(['request', 'account']);
  const requestId = isUuid(id) ? id.toLowerCase() : null;
  // Only the page of one request shows confirmations, and only until the request is paid.
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
  return {
    watch: (wake, onError) => {
      watcher.wake = wake;
      return [watchScope(ctx.db, watcher, onError), watchSilentChains(ctx, modeOf(scope.testMode), wake)];
    },
    goesOn: async () => {
      if (!(await isStillIn(ctx, user))) return false;
      watcher.chains = await isAttached();
      return true;
    },
  };
}
