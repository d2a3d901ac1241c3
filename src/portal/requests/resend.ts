import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Html } from '../../lib/text/html.ts';
import { portalTexts } from '../../texts/portal.ts';
import { confirmButton } from '../../ui/form.ts';
import { listDeliveries } from '../../webhooks/delivery-log.ts';
import { replayDelivery } from '../../webhooks/replay.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';

const requestPath = (id: string) => `/portal/requests/${id}`;

/** `POST /portal/requests/<request_id>/resend`: sends the request's event again. */
export function resendEvent(pages: PortalPages, ctx: Context): void {
  pages.form(
    { url: '/portal/requests/:request_id/resend', permission: 'deliveries.replay', fresh: 'never' },
    async (call) => {
      const { scope, actor } = call;
      const requestId = call.param('request_id').toLowerCase();
      if (!isUuid(requestId)) throw refuse('not_found');
      const { deliveries } = await listDeliveries(ctx, scope, { requestId, limit: 1, offset: 0 });
      const [delivery] = deliveries;
      if (!delivery) throw refuse('not_found');
      await replayDelivery(ctx, actor, scope, delivery.id);
      return call.done(requestPath(requestId), 'resent');
    },
  );
}

/** The button that resends the event, below its attempts; null for users who may not. */
export function resendButton(call: PortalCall, requestId: string): Html | null {
  const { words, user, mode } = call;
  if (!may(user, 'deliveries.replay', mode)) return null;
  const { webhooks } = portalTexts(words);
  return confirmButton(
    {
      label: webhooks.replay,
      title: webhooks.replayTitle,
      consequence: webhooks.replayRest,
      action: actionIn(call, `${requestPath(requestId)}/resend`),
    },
    null,
  );
}
