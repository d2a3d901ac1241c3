import { scopeOfDelivery, scopeOfPartner, scopeOfPlan, scopeOfRequest } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type GivenUpMail, givenUpMails, retryMail } from '../../mail/stuck.ts';
import { listStuckPlans, retryPlan } from '../../plans/stuck.ts';
import type { StuckPlan } from '../../plans/stuck-store.ts';
import { listGivenUpReceipts, retryReceipt } from '../../receipts/stuck.ts';
import type { GivenUpReceipt } from '../../receipts/stuck-store.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { card, hiddenField, mono, stateLine } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { ago } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { flashOf } from '../../web/flash.ts';
import { linkWith } from '../../web/query.ts';
import { actionsColumn, csvLink, pager, table } from '../../web/table.ts';
import { enableEndpoint } from '../../webhooks/endpoint.ts';
import { EndpointRefusal } from '../../webhooks/refusal.ts';
import { replayDelivery } from '../../webhooks/replay.ts';
import { browseExhausted, exportExhausted, listDisabledEndpoints } from '../../webhooks/stuck.ts';
import type { DisabledEndpoint, StuckDelivery } from '../../webhooks/stuck-store.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminCall, AdminPages } from '../route.ts';

const path = '/admin/stuck';
const maxMails = 100;

/** `GET /admin/stuck`: what stays stuck until an operator acts, each with the button that helps. */
export function stuckPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async (call) => {
    const { words } = call;
    const { stuck: t, places } = adminTexts(words);
    const wanted = call.query(['after']);
    const [events, endpoints, mails, receipts, plans] = await Promise.all([
      browseExhausted(ctx, wanted.after ?? null),
      listDisabledEndpoints(ctx),
      givenUpMails(ctx.db.sql, maxMails),
      listGivenUpReceipts(ctx),
      listStuckPlans(ctx),
    ]);
    const now = ctx.clock.now();
    const parts = [
      endpoints.length > 0 && endpointTable(words, endpoints, now),
      events.rows.length > 0 &&
        html`
          ${eventTable(words, events.rows, now)}
          ${pager(words, path, wanted, events.next)}
          ${csvLink(words, `${path}.csv`)}
        `,
      mails.length > 0 && mailTable(words, mails, now),
      receipts.length > 0 && receiptTable(words, receipts, now),
      plans.length > 0 && planTable(words, plans, now),
    ].filter((part) => part !== false);
    const notices = { replayed: t.replayed, enabled: t.enabled, retried: t.retried };
    return call.show({
      path,
      title: places.stuck,
      body: html`
        ${flashOf(call, { done: notices, refused: { mended: t.mended } })}
        <div class="list" data-live="${adminEventsPath}" data-region="stuck">
          ${parts.length > 0 ? parts : card(stateLine('paid', t.fine, t.fineRest))}
        </div>
      `,
    });
  });
  pages.page({ url: `${path}.csv` }, async ({ reply }) =>
    sendCsv(
      reply,
      'stuck-events',
      ['event', 'partner', 'mode', 'request', 'created_at'],
      csvOf(exportExhausted(ctx), (row) => [
        ...[row.id, row.partner_slug, modeOf(row.test_mode), row.request_id, row.created_at],
      ]),
    ),
  );
  pages.form({ url: `${path}/replay`, fresh: 'never' }, async (call) => call.done(path, await replay(ctx, call)));
  pages.form({ url: `${path}/enable`, fresh: 'never' }, async (call) => call.done(path, await enable(ctx, call)));
  pages.form({ url: `${path}/mail`, fresh: 'never' }, async (call) => call.done(path, await mailAgain(ctx, call)));
  pages.form({ url: `${path}/receipt`, fresh: 'never' }, async (call) =>
    call.done(path, await receiptAgain(ctx, call)),
  );
  pages.form({ url: `${path}/plan`, fresh: 'never' }, async (call) => call.done(path, await planAgain(ctx, call)));
}

/** Whether the page of stuck items would show any. */
export async function isAnythingStuck(ctx: Context): Promise<boolean> {
  const lists = await Promise.all([
    browseExhausted(ctx, null).then(({ rows }) => rows),
    listDisabledEndpoints(ctx),
    givenUpMails(ctx.db.sql, 1),
    listGivenUpReceipts(ctx),
    listStuckPlans(ctx),
  ]);
  return lists.some((list) => list.length > 0);
}

async function replay(ctx: Context, call: AdminCall): Promise<string> {
  const id = call.typed('delivery');
  const scope = isUuid(id) ? await scopeOfDelivery(ctx.db, id) : null;
  if (!scope) return 'mended';
  await replayDelivery(ctx, call.actor, scope, id);
  return 'replayed';
}

async function enable(ctx: Context, call: AdminCall): Promise<string> {
  const [slug, testMode] = [call.typed('partner'), call.typed('mode') === 'test'];
  const scope = await scopeOfPartner(ctx.db, slug, testMode);
  if (!scope) return 'mended';
  const done = await enableEndpoint(ctx, call.actor, scope).catch(asNotDone);
  return done ? 'enabled' : 'mended';
}

/** A refusal means that there was nothing to enable: no webhook URL is set. */
function asNotDone(error: unknown): false {
  if (error instanceof EndpointRefusal) return false;
  throw error;
}

async function mailAgain(ctx: Context, call: AdminCall): Promise<string> {
  const id = call.typed('mail');
  if (!isUuid(id)) return 'mended';
  const done = await retryMail(ctx, call.actor, id);
  return done ? 'retried' : 'mended';
}

async function receiptAgain(ctx: Context, call: AdminCall): Promise<string> {
  const id = call.typed('request');
  const channel = call.typed('channel') === 'phone' ? 'phone' : 'mail';
  const scope = isUuid(id) ? await scopeOfRequest(ctx.db, id) : null;
  if (!scope) return 'mended';
  const done = await retryReceipt(ctx, call.actor, scope, id, channel);
  return done ? 'retried' : 'mended';
}

async function planAgain(ctx: Context, call: AdminCall): Promise<string> {
  const id = call.typed('plan');
  const scope = isUuid(id) ? await scopeOfPlan(ctx.db, id) : null;
  if (!scope) return 'mended';
  const done = await retryPlan(ctx, call.actor, scope, id);
  return done ? 'retried' : 'mended';
}

const button = (action: string, fields: Html, label: string) =>
  form({ action: `${path}/${action}`, inside: fields, submit: label, second: true });

const partnerLink = ({ partner_slug: slug, partner_name: name }: { partner_slug: string; partner_name: string }) =>
  html`<a href="/admin/partners/${slug}" title="${slug}" dir="auto">${name}</a>`;

function endpointTable(words: Words, rows: DisabledEndpoint[], now: Date): Html {
  const admin = adminTexts(words);
  const { stuck: t } = admin;
  const again = (row: DisabledEndpoint) =>
    confirmButton(
      { label: t.enable, title: t.enableTitle, consequence: t.enableRest, action: `${path}/enable` },
      html`${hiddenField('partner', row.partner_slug)}${hiddenField('mode', modeOf(row.test_mode))}`,
    );
  return html`
    <h2>${t.endpoints}</h2>
    ${table<DisabledEndpoint>(
      t.endpoints,
      [
        { name: admin.partner, cell: partnerLink },
        { name: admin.mode, cell: ({ test_mode }) => (test_mode ? admin.test : admin.live) },
        { name: t.endpoint, cell: ({ url }) => url && html`<span class="clip">${url}</span>` },
        { name: t.why, cell: ({ disabled_reason: why }) => (why === 'gone' ? t.gone : t.silent) },
        { name: t.since, cell: ({ disabled_at }) => ago(words, disabled_at, now) },
        actionsColumn(words, again),
      ],
      rows,
    )}
  `;
}

function eventTable(words: Words, rows: StuckDelivery[], now: Date): Html {
  const admin = adminTexts(words);
  const { stuck: t } = admin;
  return html`
    <h2>${t.events}</h2>
    <p class="quiet">${t.eventsRest}</p>
    ${table<StuckDelivery>(
      t.events,
      [
        { name: t.event, cell: ({ id }) => html`<span class="mono clip">${id}</span>` },
        { name: admin.partner, cell: partnerLink },
        { name: admin.mode, cell: ({ test_mode }) => (test_mode ? admin.test : admin.live) },
        { name: t.request, cell: ({ request_id }) => html`<span class="mono clip">${request_id}</span>` },
        { name: t.since, cell: ({ created_at }) => ago(words, created_at, now) },
        actionsColumn(words, ({ id }) => button('replay', hiddenField('delivery', id), t.replay)),
      ],
      rows,
    )}
  `;
}

function mailTable(words: Words, rows: GivenUpMail[], now: Date): Html {
  const { stuck: t } = adminTexts(words);
  return html`
    <h2>${t.mails}</h2>
    ${table<GivenUpMail>(
      t.mails,
      [
        { name: t.mail, cell: ({ subject }) => html`<span dir="auto">${subject}</span>` },
        { name: t.to, cell: ({ recipient }) => recipient },
        { name: t.attempts, figures: true, cell: ({ attempts }) => String(attempts) },
        { name: t.since, cell: ({ created_at }) => ago(words, created_at, now) },
        actionsColumn(words, ({ id }) => button('mail', hiddenField('mail', id), t.retry)),
      ],
      rows,
    )}
  `;
}

function receiptTable(words: Words, rows: GivenUpReceipt[], now: Date): Html {
  const admin = adminTexts(words);
  const { stuck: t } = admin;
  return html`
    <h2>${t.receipts}</h2>
    ${table<GivenUpReceipt>(
      t.receipts,
      [
        { name: t.request, cell: ({ request_id }) => mono(request_id) },
        { name: admin.partner, cell: partnerLink },
        { name: t.channel, cell: ({ channel }) => t.channels[channel] },
        { name: t.why, cell: ({ error }) => error },
        { name: t.since, cell: ({ created_at }) => ago(words, created_at, now) },
        actionsColumn(words, (row) =>
          button(
            'receipt',
            html`${hiddenField('request', row.request_id)}${hiddenField('channel', row.channel)}`,
            t.retry,
          ),
        ),
      ],
      rows,
    )}
  `;
}

function planTable(words: Words, rows: StuckPlan[], now: Date): Html {
  const admin = adminTexts(words);
  const { stuck: t, merchants } = admin;
  return html`
    <h2>${t.plans}</h2>
    <p class="quiet">${t.plansRest}</p>
    ${table<StuckPlan>(
      t.plans,
      [
        { name: t.plan, cell: ({ id }) => mono(id) },
        { name: admin.partner, cell: partnerLink },
        { name: admin.mode, cell: ({ test_mode }) => (test_mode ? admin.test : admin.live) },
        {
          name: merchants.name,
          cell: (row) =>
            html`
              <a class="clip" dir="auto" href="${linkWith('/admin/merchants', {}, { q: row.account_id })}">
                ${row.merchant_name ?? portalTexts(words).requests.unnamed}
              </a>
            `,
        },
        { name: t.why, cell: ({ failure }) => t.planFailures[failure] },
        { name: t.since, cell: ({ failed_at }) => ago(words, failed_at, now) },
        actionsColumn(words, ({ id }) => button('plan', hiddenField('plan', id), t.retry)),
      ],
      rows,
    )}
  `;
}
