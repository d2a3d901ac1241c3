import { watchTrouble } from '../chain/trouble.ts';
import type { Context } from '../context.ts';
import { type Watcher, watchScope } from '../db/scope-changes.ts';
import { Places } from '../lib/concurrency/places.ts';
import { isUuid } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { readRequest } from '../requests/read.ts';
import { isStillIn } from '../users/enter.ts';
import { portalRealm } from '../users/realm.ts';
import { maxStreams, maxStreamsOfOne, sendEvents } from '../web/event-stream.ts';
import type { PortalPages } from './route.ts';

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
  const places = new Places(maxStreams, maxOfPartner, maxStreamsOfOne);
  pages.page({ url: '/portal/events', permission: 'read' }, async ({ user, scope, query, request, reply }) => {
    const { request: id, account } = query(['request', 'account']);
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
    // 204 ends an event source for good. Browser code then updates the page, and connects again after growing waits.
    const holder = [scope.partnerId, user.userId];
    if (ending.aborted || !places.take(...holder)) return reply.code(204).send();
    const complain = (error: unknown) => ctx.log.warn({ err: error }, 'cannot listen for changes');
    const begin = (wake: () => void) => {
      watcher.wake = wake;
      const ends = [watchScope(ctx.db, watcher, complain), watchTrouble(ctx, modeOf(scope.testMode), wake)];
      return () => {
        for (const end of ends) end();
      };
    };
    try {
      await sendEvents(reply, ending, begin, async () => {
        if (!(await isStillIn(ctx, portalRealm, request, user))) return false;
        watcher.chains = await isAttached();
        return true;
      });
    } catch (error) {
      complain(error); // the browser reconnects automatically
    } finally {
      places.leave(...holder);
    }
    return reply;
  });
}
