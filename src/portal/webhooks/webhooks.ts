import type { FastifyReply } from 'fastify';
import type { Actor } from '../../audit/actions.ts';
import { FormRepeated } from '../../auth/form-repeated.ts';
import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { parseInstant } from '../../lib/time.ts';
import { portalTexts } from '../../texts/portal.ts';
import { card, field, hiddenField, stateLine } from '../../ui/components.ts';
import { copyable } from '../../ui/copyable.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { countedUpTo, instant } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { flashOf } from '../../web/flash.ts';
import { formKeyField, formKeyOf } from '../../web/form-key.ts';
import { emptyState } from '../../web/table.ts';
import { browseDeliveries } from '../../webhooks/browse.ts';
import {
  activateSecret,
  type Endpoint,
  enableEndpoint,
  readEndpoint,
  rotateSecret,
  setUrl,
} from '../../webhooks/endpoint.ts';
import { maxDeliveriesCounted, readDeliveryHealth } from '../../webhooks/health.ts';
import type { DeliveryHealth } from '../../webhooks/health-store.ts';
import { EndpointRefusal, UrlRefusal } from '../../webhooks/refusal.ts';
import { portalEventsPath } from '../live.ts';
import { failingText, waitingText } from '../overview/health.ts';
import { actionIn, type FormRule, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { deliveriesPath, deliveryTable } from './deliveries.ts';
import { testEventSection } from './test.ts';
import { shownUrl } from './url.ts';

const path = '/portal/webhooks';
const latest = 5;

/** A new secret, which is shown only this once: from setting the first URL, or from a rotation. */
type Fresh = { kind: 'secret' | 'pending'; secret: string };
/** A URL that was typed but cannot be used. */
type Faulty = { url: string; fault: string };

/** `/portal/webhooks`: the URL for the mode's events, whether they are delivered, and the secret that signs them. */
export function webhookPages(pages: PortalPages, ctx: Context): void {
  // If the response to a form is the page itself, the browser keeps the form's address, so the page must be there too.
  for (const address of [path, `${path}/url`, `${path}/rotate`]) {
    pages.page({ url: address, permission: 'read' }, (call) => showWebhooks(ctx, call));
  }

  pages.form({ url: `${path}/url`, permission: 'webhooks', fresh: 'live' }, async (call) => {
    const { scope, words } = call;
    const url = call.typed('url');
    const before = await readEndpoint(ctx, scope);
    try {
      const { secret, changed } = await setUrl(ctx, call.actor, scope, url);
      if (!changed) return call.done(path, 'url_unchanged');
      if (before || secret === null) return call.done(path, 'url_set');
      return await showWebhooks(ctx, call, { kind: 'secret', secret });
    } catch (error) {
      if (!(error instanceof UrlRefusal)) return refused(call, error);
      return showWebhooks(ctx, call, null, { url, fault: portalTexts(words).webhooks.urlFaults[error.rule] });
    }
  });

  pages.form({ url: `${path}/rotate`, permission: 'webhooks', fresh: 'live' }, async (call) => {
    const { scope } = call;
    try {
      const replaces = parseInstant(call.typed('pending'));
      const secret = await rotateSecret(ctx, call.actor, scope, { formKey: formKeyOf(call), replaces });
      return await showWebhooks(ctx, call, { kind: 'pending', secret });
    } catch (error) {
      return refused(call, error);
    }
  });

  const act = (
    name: string,
    fresh: FormRule['fresh'],
    done: string,
    work: (ctx: Context, actor: Actor, scope: Scope) => Promise<unknown>,
  ) =>
    pages.form({ url: `${path}/${name}`, permission: 'webhooks', fresh }, async (call) => {
      const { scope } = call;
      try {
        await work(ctx, call.actor, scope);
        return call.done(path, done);
      } catch (error) {
        return refused(call, error);
      }
    });
  act('activate', 'live', 'activated', activateSecret);
  act('enable', 'never', 'enabled', enableEndpoint);
}

function refusalOf(error: unknown): string | null {
  if (error instanceof EndpointRefusal) return error.reason;
  if (error instanceof FormRepeated) return 'repeated';
  return error instanceof Refusal && error.code === 'rate_limited' ? error.code : null;
}

/** Shows an expected failure on the page; rethrows all others. */
function refused(call: PortalCall, error: unknown): FastifyReply {
  const reason = refusalOf(error);
  if (reason === null) throw error;
  return call.done(path, reason);
}

async function showWebhooks(
  ctx: Context,
  call: PortalCall,
  fresh: Fresh | null = null,
  faulty: Faulty | null = null,
): Promise<FastifyReply> {
  const { words, scope, mode, user } = call;
  const { webhooks, places } = portalTexts(words);
  const [endpoint, health, { rows }, test] = await Promise.all([
    readEndpoint(ctx, scope),
    readDeliveryHealth(ctx, scope),
    browseDeliveries(ctx, scope, {}, null),
    testEventSection(ctx, call),
  ]);
  const mayChange = may(user, 'webhooks', mode);
  const deliveries =
    rows.length > 0
      ? html`
        ${deliveryTable(words, rows.slice(0, latest), ctx.clock.now())}
        <p><a href="${deliveriesPath}">${webhooks.allEvents}</a></p>
      `
      : emptyState(webhooks.noDeliveries, webhooks.noDeliveriesRest);
  return sendPortal(ctx, call.reply, call, {
    path,
    title: places.webhooks,
    status: faulty ? 400 : 200,
    body: html`
      ${flashOf(call, webhooks)}
      ${fresh && freshSecret(words, fresh)}
      <div data-live="${portalEventsPath(mode)}" data-region="health">${stateCard(call, health, mayChange)}</div>
      ${
        mayChange &&
        html`
          <div class="two">
            <div class="section">${urlCard(call, endpoint, faulty)}${endpoint && test}</div>
            ${endpoint ? secretCard(call, endpoint) : test}
          </div>
        `
      }
      <section class="section">
        <h2>${webhooks.latest}</h2>
        <div class="list" data-region="deliveries">${deliveries}</div>
      </section>
    `,
  });
}

function freshSecret(words: Words, { kind, secret }: Fresh): Html {
  const { webhooks } = portalTexts(words);
  const rest = kind === 'secret' ? webhooks.secretMadeRest : webhooks.pendingMadeRest;
  const shown = copyable(words, webhooks.secret, secret, webhooks.copySecret);
  return card(html`<div role="status">${stateLine('paid', webhooks.secretMade, rest)}</div>`, shown);
}

function stateCard(call: PortalCall, health: DeliveryHealth, mayChange: boolean): Html {
  const { words } = call;
  const { webhooks, overview } = portalTexts(words);
  const { url, failures, disabled_at, disabled_reason, last_success_at } = health;
  const success =
    last_success_at === null ? webhooks.noSuccess : html`${webhooks.lastSuccess} ${instant(words, last_success_at)}`;
  const waiting = waitingText(words, health);
  const exhausted =
    health.exhausted > 0 &&
    stateLine(
      'attention',
      fillCount(words, overview.exhausted, health.exhausted, {
        count: countedUpTo(words, health.exhausted, maxDeliveriesCounted),
      }),
      overview.exhaustedRest,
    );
  if (url === null) {
    return card(stateLine('attention', overview.noUrl, fill(overview.noUrlRest, { waiting }).trim()), exhausted);
  }
  if (disabled_at !== null) {
    const rest = fill(disabled_reason === 'gone' ? overview.disabledGone : overview.disabledSilent, { waiting });
    const enable = form({ action: actionIn(call, `${path}/enable`), submit: webhooks.enable });
    return card(stateLine('failed', overview.disabled, rest), mayChange && enable, exhausted);
  }
  if (failures > 0) {
    return card(
      stateLine('attention', overview.failing, failingText(words, health)),
      html`<p class="quiet">${success}</p>`,
      last_success_at === null && html`<p class="quiet">${webhooks.failingFirst}</p>`,
      exhausted,
    );
  }
  if (last_success_at === null)
    return card(
      stateLine('waiting', webhooks.ready, fill(webhooks.readyRest, { url: shownUrl(call, url) })),
      exhausted,
    );
  return card(stateLine('paid', webhooks.works, html`${success}`), exhausted);
}

function urlCard(call: PortalCall, endpoint: Endpoint | null, faulty: Faulty | null): Html {
  const { words, mode } = call;
  const { webhooks } = portalTexts(words);
  return card(
    html`<h2>${webhooks.url}</h2>`,
    form({
      action: actionIn(call, `${path}/url`),
      inside: field({
        name: 'url',
        label: webhooks.address,
        hint: mode === 'live' ? webhooks.addressLive : webhooks.addressTest,
        value: faulty?.url ?? endpoint?.url ?? null,
        fault: faulty?.fault,
        attributes:
          'type="url" required maxlength="2048" autocomplete="off" spellcheck="false" dir="ltr" placeholder="https://"',
      }),
      submit: webhooks.save,
    }),
  );
}

function secretCard(call: PortalCall, endpoint: Endpoint): Html {
  const { words } = call;
  const { webhooks } = portalTexts(words);
  const rotate = confirmButton(
    {
      label: webhooks.rotate,
      title: webhooks.rotateTitle,
      consequence: webhooks.rotateRest,
      action: actionIn(call, `${path}/rotate`),
    },
    html`${formKeyField()}${hiddenField('pending', endpoint.pendingSince?.toISOString() ?? '')}`,
  );
  const activate = confirmButton(
    {
      label: webhooks.activate,
      title: webhooks.activateTitle,
      consequence: webhooks.activateRest,
      action: actionIn(call, `${path}/activate`),
    },
    null,
  );
  const isPending = endpoint.pendingSecret !== null;
  const state = isPending
    ? stateLine('waiting', webhooks.pending, webhooks.pendingRest)
    : endpoint.secret === null
      ? stateLine('failed', webhooks.unreadable, webhooks.unreadableRest)
      : stateLine('paid', webhooks.inForce, webhooks.inForceRest);
  return card(html`<h2>${webhooks.secret}</h2>`, state, html`<div class="row">${isPending && activate}${rotate}</div>`);
}
