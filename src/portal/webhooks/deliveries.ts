import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type PortalTexts, portalTexts } from '../../texts/portal.ts';
import { badge, card, type StateKind, shortId } from '../../ui/components.ts';
import { ago, formatMs } from '../../ui/formats.ts';
import { fillCount, type Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { flashOf } from '../../web/flash.ts';
import { instantOf, oneOf, readQuery } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import {
  type BrowsedDelivery,
  browseDeliveries,
  type DeliveryBrowseFilter,
  exportDeliveries,
} from '../../webhooks/browse.ts';
import { replaySince } from '../../webhooks/replay.ts';
import { portalEventsPath } from '../live.ts';
import { actionIn, noAccount, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

/** The address of the delivery log. */
export const deliveriesPath = '/portal/webhooks/deliveries';
const csvPath = `${deliveriesPath}.csv`;
const names = ['state', 'request_id', 'since', 'until', 'after'] as const;
const states = ['failed', 'waiting', 'delivered', 'exhausted'] as const;

/** `/portal/webhooks/deliveries`: every event of the mode, also as CSV. Resends all that failed. */
export function deliveryPages(pages: PortalPages, ctx: Context): void {
  pages.page({ url: deliveriesPath, permission: 'read' }, async (call) => {
    const { words, scope, mode, user, request, reply } = call;
    const portal = portalTexts(words);
    const query = readQuery(request.query, names);
    const isFiltered = names.some((name) => query[name] !== undefined);
    const { rows, next } = await browseDeliveries(ctx, scope, filterOf(query), query.after ?? null);
    const isEmpty = rows.length === 0 && !isFiltered;
    const list =
      rows.length > 0
        ? deliveryTable(words, rows, ctx.clock.now())
        : isFiltered
          ? emptyState(portal.webhooks.noneLike, portal.webhooks.noneLikeRest)
          : emptyState(portal.webhooks.noDeliveries, portal.webhooks.noDeliveriesRest);
    return sendPortal(ctx, reply, call, {
      path: deliveriesPath,
      title: portal.webhooks.events,
      body: html`
        <p><a href="/portal/webhooks">${portal.places.webhooks}</a></p>
        ${flash(call)}
        ${filters(words, deliveriesPath, query, choices(words), csvPath)}
        <div class="list" data-live="${portalEventsPath(mode)}" data-region="list">
          ${list}
          ${pager(words, deliveriesPath, query, next)}
        </div>
        ${!isEmpty && may(user, 'deliveries.replay', mode) && replayForm(call)}
      `,
    });
  });

  pages.page({ url: csvPath, permission: 'read' }, async ({ scope, mode, request, reply }) => {
    const filter = filterOf(readQuery(request.query, names));
    return sendCsv(reply, `deliveries-${mode}`, csvHeader, csvOf(exportDeliveries(ctx, scope, filter), csvRow));
  });

  pages.form({ url: `${deliveriesPath}/replay`, permission: 'deliveries.replay', fresh: 'never' }, async (call) => {
    const { scope, reply, typed } = call;
    // The page's field has minutes and no time zone. The label beside it says UTC.
    const since = instantOf(`${typed('since')}:00Z`);
    if (!since) return call.done(deliveriesPath, 'no_time');
    const { ids, more } = await replaySince(ctx, call.actor, scope, since);
    return reply.redirect(`${deliveriesPath}?done=${more ? 'replayed_some' : 'replayed'}&count=${ids.length}`, 303);
  });
}

function flash(call: PortalCall): Html | null {
  const { replayed, moreFailed, noTime } = portalTexts(call.words).webhooks;
  const { count } = readQuery(call.request.query, ['count']);
  const known = count !== undefined && /^\d{1,5}$/.test(count) ? Number(count) : 0;
  const text = fillCount(call.words, replayed, known);
  return flashOf(call, {
    done: { replayed: text },
    refused: { no_time: noTime, replayed_some: `${text} ${moreFailed}` },
  });
}

function filterOf(query: Record<string, string>): DeliveryBrowseFilter {
  const state = oneOf(states, query.state);
  const request = query.request_id;
  const [since, until] = [instantOf(query.since), instantOf(query.until)];
  return {
    ...(state && { state }),
    ...(request !== undefined && { requestId: isUuid(request) ? request : noAccount }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

function choices(words: Words): Filter[] {
  const { webhooks, requests } = portalTexts(words);
  return [
    {
      kind: 'choice',
      name: 'state',
      label: requests.state,
      options: states.map((name) => [name, webhooks.states[name]]),
    },
    { kind: 'text', name: 'request_id', label: webhooks.request },
    { kind: 'date', name: 'since', label: requests.since },
    { kind: 'date', name: 'until', label: requests.until },
  ];
}

function replayForm(call: PortalCall): Html {
  const { words } = call;
  const { webhooks } = portalTexts(words);
  return card(
    html`<h2>${webhooks.replayAll}</h2>`,
    html`<p class="quiet">${webhooks.replayAllRest}</p>`,
    html`
      <form class="filters" method="post" action="${actionIn(call, `${deliveriesPath}/replay`)}">
        <div class="field">
          <label for="since">${webhooks.replaySince}</label>
          <input id="since" name="since" type="datetime-local" required>
        </div>
        <div class="do"><button class="second">${webhooks.replayAllDo}</button></div>
      </form>
    `,
  );
}

type DisplayStatus = keyof PortalTexts['webhooks']['displayStatuses'];
const shapes: Record<DisplayStatus, StateKind> = {
  fresh: 'waiting',
  failing: 'attention',
  delivered: 'paid',
  exhausted: 'failed',
};

/** The anchor of an attempt on its delivery's page. */
export const attemptAnchor = (number: number) => `attempt-${number}`;

/** The state of a delivery, as a word and a shape. */
export function deliveryBadge(words: Words, { state, attempts }: Pick<BrowsedDelivery, 'state' | 'attempts'>): Html {
  const displayStatus: DisplayStatus = state === 'waiting' ? (attempts > 0 ? 'failing' : 'fresh') : state;
  return badge(shapes[displayStatus], portalTexts(words).webhooks.displayStatuses[displayStatus]);
}

/** Deliveries as a table, in the order of `rows`. */
export function deliveryTable(words: Words, rows: BrowsedDelivery[], now: Date): Html {
  const { webhooks, requests } = portalTexts(words);
  return table<BrowsedDelivery>(
    webhooks.events,
    [
      {
        name: webhooks.event,
        cell: ({ id }) => html`<a class="mono" href="${deliveriesPath}/${id}">${shortId(id)}</a>`,
      },
      {
        name: webhooks.request,
        cell: ({ request_id: id }) => html`<a class="mono" href="/portal/requests/${id}">${shortId(id)}</a>`,
      },
      { name: requests.state, cell: (row) => deliveryBadge(words, row) },
      { name: webhooks.attempts, figures: true, cell: ({ attempts }) => String(attempts) },
      { name: webhooks.lastAnswer, cell: (row) => answerOf(words, row) },
      { name: requests.created, cell: ({ created_at }) => ago(words, created_at, now) },
    ],
    rows,
  );
}

/** The result of the last attempt: `200 · 35 ms`. */
function answerOf(words: Words, { last_at, last_status, last_error, last_ms }: BrowsedDelivery): string | null {
  if (last_at === null) return null;
  const time = formatMs(words, last_ms ?? 0);
  return `${last_status ?? failureOf(words, last_error ?? '')} · ${time}`;
}

/** Why an attempt got no response, in a few words. */
export function failureOf(words: Words, error: string): string {
  const { noAnswer } = portalTexts(words).webhooks;
  return Object.entries(noAnswer).find(([name]) => name === error)?.[1] ?? error;
}

const csvHeader = [
  ...['delivery_id', 'event', 'request_id', 'state', 'attempts', 'created_at', 'delivered_at', 'next_attempt_at'],
  ...['last_attempt_at', 'last_status', 'last_error', 'last_ms'],
];

const csvRow = (row: BrowsedDelivery): CsvRow => [
  ...[row.id, row.event, row.request_id, row.state, row.attempts, row.created_at, row.delivered_at],
  ...[row.state === 'waiting' ? row.next_attempt_at : null, row.last_at, row.last_status, row.last_error],
  row.last_ms,
];
