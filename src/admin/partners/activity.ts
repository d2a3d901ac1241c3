import { browseKeys, type OwnKey } from '../../auth/own-keys.ts';
import { scopeOfPartner } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { modes } from '../../lib/mode.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readPartner } from '../../partners/read.ts';
import { type Figures, readFigures } from '../../requests/lists/figures.ts';
import { totalsByCurrency } from '../../requests/lists/totals.ts';
import { adminTexts } from '../../texts/admin.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { badge, card, descriptionList } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { ago, countedUpTo, instant } from '../../ui/formats.ts';
import { fillCount, type Words } from '../../ui/language.ts';
import { recordView } from '../../users/record-view.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { linkWith, oneOf } from '../../web/query.ts';
import { table } from '../../web/table.ts';
import { viewSwitch } from '../../web/view-switch.ts';
import { maxDeliveriesCounted, readDeliveryHealth } from '../../webhooks/health.ts';
import type { DeliveryHealth } from '../../webhooks/health-store.ts';
import type { AdminPages } from '../route.ts';

const countedDays = 30;

/**
 * `GET /admin/partners/:slug/activity`: a partner's volume, webhook and keys in one mode, read only. Never shows a
 * secret.
 */
export function partnerActivity(pages: AdminPages, ctx: Context): void {
  const pathOf = (slug: string) => `/admin/partners/${slug}/activity`;
  pages.page({ url: pathOf(':slug') }, async (call) => {
    const { words } = call;
    const mode = oneOf(modes, call.query(['mode']).mode) ?? (ctx.config.sandbox ? 'test' : 'live');
    const partner = await readPartner(ctx.db, call.param('slug'));
    const scope = partner && (await scopeOfPartner(ctx.db, partner.slug, mode === 'test'));
    if (!partner || !scope) return sendNotFound(call.reply);
    await recordView(ctx, call.actor, scope, { kind: 'partner', id: partner.id });
    const [figures, health, keys] = await Promise.all([
      readFigures(ctx, scope, countedDays),
      readDeliveryHealth(ctx, scope),
      browseKeys(ctx.db, scope, null),
    ]);
    const { app } = commonTexts(words);
    const links = modes.map((one) => ({
      name: app[one],
      href: linkWith(pathOf(partner.slug), {}, { mode: one }),
      current: one === mode,
    }));
    return call.show({
      path: `/admin/partners/${partner.slug}`,
      title: `${partner.name} · ${adminTexts(words).partners.activity}`,
      body: html`
        ${viewSwitch(app.mode, links)}
        ${volume(words, figures)}
        ${webhook(words, health)}
        ${keyList(words, keys.rows, ctx.clock.now())}
        <p><a href="/admin/partners/${partner.slug}">${adminTexts(words).partners.settings}</a></p>
      `,
    });
  });
}

function volume(words: Words, { volume: days }: Figures): Html {
  const { overview } = portalTexts(words);
  const { common } = commonTexts(words);
  const byCode = totalsByCurrency(days).map(({ code, fiatInt, payments }): [string, string] => [
    formatFiat(fiatInt, code, words.language),
    fillCount(words, common.payments, payments),
  ]);
  return card(
    html`<h2>${fillCount(words, overview.paidIn, countedDays)}</h2>`,
    byCode.length > 0 ? descriptionList(byCode) : html`<p class="quiet">${overview.none}</p>`,
  );
}

function webhook(words: Words, health: DeliveryHealth): Html {
  const { webhooks, overview } = portalTexts(words);
  const admin = adminTexts(words);
  const { partners: t } = admin;
  const { url, disabled_at: disabledAt, last_success_at: lastAt } = health;
  return card(
    html`<h2>${webhooks.url}</h2>`,
    descriptionList([
      url === null ? [webhooks.address, overview.none] : copyableFact(words, webhooks.address, url),
      url === null ? null : [admin.state, disabledAt === null ? admin.on : admin.off],
      url === null ? null : [t.failures, `${health.failures}`],
      [t.waiting, countedUpTo(words, health.waiting, maxDeliveriesCounted)],
      lastAt === null ? null : [t.lastSuccess, instant(words, lastAt)],
    ]),
  );
}

function keyList(words: Words, keys: OwnKey[], now: Date): Html {
  const { keys: t, places, overview } = portalTexts(words);
  if (keys.length === 0) return card(html`<h2>${places.keys}</h2>`, html`<p class="quiet">${overview.none}</p>`);
  const state = ({ revoked_at, ends_at }: OwnKey) =>
    revoked_at !== null
      ? badge('ended', t.isRevoked)
      : ends_at !== null && ends_at <= now
        ? badge('ended', t.ended)
        : badge('paid', t.inForce);
  return html`
    <h2>${places.keys}</h2>
    ${table<OwnKey>(
      places.keys,
      [
        { name: t.name, cell: ({ name, hint }) => html`${name} <span class="mono">${hint}</span>` },
        {
          name: t.may,
          cell: ({ scopes }) => html`<div>${scopes.map((scope) => html`<p><code>${scope}</code></p>`)}</div>`,
        },
        { name: t.created, cell: ({ created_at }) => ago(words, created_at, now) },
        { name: t.lastUsed, cell: ({ last_used_at: at }) => (at === null ? t.never : ago(words, at, now)) },
        { name: t.state, cell: state },
      ],
      keys,
    )}
  `;
}
