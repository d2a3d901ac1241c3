import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { portalTexts } from '../../texts/portal.ts';
import { badge, card, descriptionList } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { confirmButton } from '../../ui/form.ts';
import { formatMs, instant } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { flashOf } from '../../web/flash.ts';
import { type AttemptRow, type LoggedDelivery, listDeliveries } from '../../webhooks/delivery-log.ts';
import { readDeliveryHealth } from '../../webhooks/health.ts';
import { replayDelivery } from '../../webhooks/replay.ts';
import { portalEventsPath } from '../live.ts';
import { sendOtherMode } from '../other-mode.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { attemptAnchor, deliveriesPath, deliveryBadge, failureOf } from './deliveries.ts';
import { hindranceOf, shownDelivery } from './url.ts';

/**
 * `/portal/webhooks/deliveries/<delivery_id>`: one event with the request and response of every attempt. Resends it.
 */
export function deliveryDetail(pages: PortalPages, ctx: Context): void {
  pages.page({ url: `${deliveriesPath}/:delivery_id`, permission: 'read' }, async (call) => {
    const { words, scope, user, mode, reply } = call;
    const { webhooks } = portalTexts(words);
    const id = idOf(call);
    const read = async (of: Scope) =>
      (await listDeliveries(ctx, of, { id, limit: 1, offset: 0 })).deliveries[0] ?? null;
    const found = await read(scope);
    if (!found) return sendOtherMode(ctx, call, `${deliveriesPath}/${id}`, read);
    const delivery = shownDelivery(call, found);
    const hindrance = found.state === 'waiting' ? hindranceOf(words, await readDeliveryHealth(ctx, scope)) : null;
    const replay = confirmButton(
      {
        label: webhooks.replay,
        title: webhooks.replayTitle,
        consequence: webhooks.replayRest,
        action: actionIn(call, `${deliveriesPath}/${id}/replay`),
      },
      null,
    );
    return sendPortal(ctx, reply, call, {
      path: `${deliveriesPath}/${id}`,
      otherModePath: deliveriesPath,
      title: fill(webhooks.deliveryTitle, { event: delivery.event }),
      body: html`
        <p><a href="${deliveriesPath}">${webhooks.allEvents}</a></p>
        ${flashOf(call, { done: { replayed: webhooks.replayedOne } })}
        <div class="list" data-live="${portalEventsPath(mode, delivery.request_id)}" data-region="delivery">
          ${deliveryFacts(words, delivery, hindrance, ctx.clock.now())}
          ${delivery.log.map((attempt, i) => attemptCard(words, attempt, i + 1)).reverse()}
        </div>
        ${may(user, 'deliveries.replay', mode) && replay}
      `,
    });
  });

  pages.form(
    { url: `${deliveriesPath}/:delivery_id/replay`, permission: 'deliveries.replay', fresh: 'never' },
    async (call) => {
      const { scope } = call;
      const id = idOf(call);
      await replayDelivery(ctx, call.actor, scope, id);
      return call.done(`${deliveriesPath}/${id}`, 'replayed');
    },
  );
}

function idOf({ param }: PortalCall): string {
  const id = param('delivery_id').toLowerCase();
  if (!isUuid(id)) throw refuse('not_found');
  return id;
}

/**
 * The facts of a delivery.
 *
 * @param hindrance why no attempt is made for now; null if nothing hinders it
 */
function deliveryFacts(words: Words, delivery: LoggedDelivery, hindrance: string | null, now: Date): Html {
  const { webhooks, requests, request } = portalTexts(words);
  const { id, request_id, state, created_at, delivered_at, next_attempt_at, body } = delivery;
  const isTimed = next_attempt_at > now || delivery.log.length > 0;
  const next = isTimed ? instant(words, next_attempt_at, 'medium') : request.events.eventWaits;
  return card(
    descriptionList([
      [requests.state, deliveryBadge(words, delivery)],
      copyableFact(words, webhooks.deliveryNumber, id),
      copyableFact(
        words,
        webhooks.request,
        request_id,
        html`<a class="mono" href="/portal/requests/${request_id}">${request_id}</a>`,
      ),
      [webhooks.written, instant(words, created_at, 'medium')],
      delivered_at ? [webhooks.delivered, instant(words, delivered_at, 'medium')] : null,
      state === 'waiting' ? [webhooks.nextAttempt, hindrance ?? next] : null,
    ]),
    html`<h2>${webhooks.body}</h2>`,
    html`<pre class="code" tabindex="0">${body}</pre>`,
  );
}

function attemptCard(words: Words, attempt: AttemptRow, number: number): Html {
  const { webhooks } = portalTexts(words);
  const { url, started_at, duration_ms: ms, status_code: status, error } = attempt;
  const { request_headers, response_headers, response_body } = attempt;
  const state = badge(
    error === null ? 'paid' : 'attention',
    status === null ? failureOf(words, error ?? '') : fill(webhooks.answered, { status }),
  );
  return html`
    <details class="card">
      <summary>${fill(webhooks.attempt, { number })} ${state}</summary>
      <div id="${attemptAnchor(number)}">
        ${descriptionList([
          [webhooks.sentAt, instant(words, started_at, 'medium')],
          [webhooks.took, formatMs(words, ms)],
          copyableFact(words, webhooks.address, url),
        ])}
      </div>
      <h2>${webhooks.requestHeaders}</h2>
      ${headerText(request_headers)}
      <h2>${webhooks.responseHeaders}</h2>
      ${response_headers === null ? html`<p class="quiet">${webhooks.noHeaders}</p>` : headerText(response_headers)}
      <h2>${webhooks.responseBody}</h2>
      ${
        response_body
          ? html`<pre class="code" tabindex="0">${response_body}</pre>`
          : html`<p class="quiet">${webhooks.noBody}</p>`
      }
    </details>
  `;
}

/** Headers, stored as JSON, one per line. */
function headerText(json: string): Html {
  const lines = Object.entries(JSON.parse(json) as Record<string, string>).map(([name, value]) => `${name}: ${value}`);
  return html`<pre class="code" tabindex="0">${lines.join('\n')}</pre>`;
}
