import { permissions } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { findPayableMerchant } from '../../merchants/read.ts';
import { browseRequests } from '../../requests/lists/browse.ts';
import { type DayVolume, type Figures, readFigures } from '../../requests/lists/figures.ts';
import { type CurrencyTotal, totalsByCurrency } from '../../requests/lists/totals.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { chart } from '../../ui/chart.ts';
import { tileValue } from '../../ui/components.ts';
import { formatRemaining, formatUnit } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { linkWith, oneOf, readQuery } from '../../web/query.ts';
import { emptyState } from '../../web/table.ts';
import { viewSwitch } from '../../web/view-switch.ts';
import { portalEventsPath } from '../live.ts';
import { requestTable } from '../requests/requests.ts';
import type { PortalCall, PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';
import { healthOf } from './health.ts';

const path = '/portal';
const periods = ['14', '30', '90'] as const;
const shownRequests = 8;

/** `GET /portal`: whether everything is fine, the figures of a period, and the latest requests. */
export function portalOverview(pages: PortalPages, ctx: Context): void {
  pages.page({ url: path, permission: 'read' }, async (call) => {
    const { words, scope, mode, request, reply } = call;
    const portal = portalTexts(words);
    const query = readQuery(request.query, ['days', 'currency']);
    const days = oneOf(periods, query.days) ?? '14';
    const [figures, latest] = await Promise.all([
      readFigures(ctx, scope, Number(days)),
      browseRequests(ctx, scope, {}, null),
    ]);
    const isNew = latest.rows.length === 0;
    const body = isNew
      ? await firstSteps(ctx, call)
      : html`
        ${await healthOf(ctx, scope, mode, words, figures.concerns)}
        ${figuresSection(words, figures, { days, currency: query.currency })}
        <section class="section">
          <h2>${portal.overview.latest}</h2>
          ${requestTable(words, latest.rows.slice(0, shownRequests), ctx.clock.now())}
          <p><a href="/portal/requests">${portal.overview.allRequests}</a></p>
        </section>
      `;
    return sendPortal(ctx, reply, call, {
      path,
      title: portal.places.overview,
      body: html`<div class="list" data-live="${portalEventsPath(mode)}" data-region="overview">${body}</div>`,
    });
  });
}

/**
 * Shown before the first request: a link to the first steps, and a call that works once the key is filled in. A user
 * who may not read keys is told who creates them.
 */
async function firstSteps(ctx: Context, { words, scope, mode, user }: PortalCall): Promise<Html> {
  const { overview, places } = portalTexts(words);
  const start = html`<p><a class="button primary" href="/portal/start">${places.start}</a></p>`;
  if (!permissions['keys.read'][mode].includes(user.role)) {
    const rest = fill(overview.emptyViewer, { partner: user.partner.name });
    return emptyState(overview.empty, html`<p>${rest}</p>${start}`);
  }
  const merchant = await findPayableMerchant(ctx, scope);
  const call = merchant
    ? { path: '/api/v1/requests/create', body: { account_id: merchant, fiat_amount_int: 1250, memo: 'Table 4' } }
    : { path: '/api/v1/accounts', body: { business_name: 'Ada’s Bakery', country: 'DE' } };
  const curl = `curl ${ctx.config.baseUrl}${call.path} \\
  -H 'Authorization: Bearer qt_${mode}_…' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(call.body)}'`;
  const rest = fill(merchant ? overview.emptyRest : overview.emptyMerchant, {
    mode: commonTexts(words).app[mode].toLowerCase(),
  });
  return emptyState(overview.empty, html`${start}<p>${rest}</p><pre class="code" tabindex="0">${curl}</pre>`);
}

type Chosen = { days: string; currency: string | undefined };

function figuresSection(words: Words, figures: Figures, { days, currency: wanted }: Chosen): Html {
  const { overview } = portalTexts(words);
  const totals = totalsByCurrency(figures.volume);
  const currency = totals.find(({ code }) => code === wanted)?.code ?? totals[0]?.code;
  const query = { days, ...(wanted !== undefined && { currency: wanted }) };
  const period = viewSwitch(
    overview.period,
    periods.map((one) => ({
      name: formatUnit(words, Number(one), 'day'),
      href: linkWith(path, query, { days: one }),
      current: one === days,
    })),
  );
  const currencies =
    totals.length > 1 &&
    viewSwitch(
      overview.currency,
      totals.map(({ code }) => ({
        name: code,
        href: linkWith(path, query, { currency: code }),
        current: code === currency,
      })),
    );
  return html`
    <div class="row">${period}${currencies}</div>
    ${tiles(words, figures, totals, days)}
    ${currency !== undefined && html`<section class="card">${volumeChart(words, figures, currency)}</section>`}
  `;
}

function tiles(words: Words, { sample }: Figures, totals: CurrencyTotal<DayVolume>[], days: string): Html {
  const { overview } = portalTexts(words);
  const tile = (name: string, value: string, rest: string | false) =>
    html`
      <div class="tile">
        <p class="quiet">${name}</p>
        ${tileValue(value)}
        ${rest && html`<p class="quiet">${rest}</p>`}
      </div>
    `;
  const paidIn = fillCount(words, overview.paidIn, Number(days));
  const share = new Intl.NumberFormat(words.language, { style: 'percent', maximumFractionDigits: 1 });
  return html`
    <div class="tiles">
      ${
        totals.length === 0
          ? tile(paidIn, overview.none, false)
          : totals.map(({ code, payments, fiatInt }) =>
              tile(
                paidIn,
                formatFiat(fiatInt, code, words.language),
                fillCount(words, commonTexts(words).common.payments, payments),
              ),
            )
      }
      ${tile(
        overview.share,
        sample.ended > 0 ? share.format(sample.paid / sample.ended) : overview.none,
        sample.ended > 0 && fillCount(words, overview.shareRest, sample.ended),
      )}
      ${tile(
        overview.speed,
        sample.median_ms === null ? overview.none : spanOf(words, sample.median_ms),
        sample.median_ms !== null && overview.speedRest,
      )}
    </div>
  `;
}

/** Seconds up to two minutes, then minutes or hours in words. */
function spanOf(words: Words, ms: number): string {
  if (ms >= 120_000) return formatRemaining(words, ms);
  const seconds = Math.max(1, Math.round(ms / 1000));
  return new Intl.NumberFormat(words.language, { style: 'unit', unit: 'second', unitDisplay: 'long' }).format(seconds);
}

/** The heights of bars come from floating-point numbers. The figures shown come from whole minor units. */
function volumeChart(words: Words, { days, volume }: Figures, currency: string): Html {
  const { overview } = portalTexts(words);
  const byDay = new Map(volume.filter((row) => row.fiat_code === currency).map((row) => [row.day, row.fiat_int]));
  const label = new Intl.DateTimeFormat(words.locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return chart(words, {
    title: `${fill(overview.volume, { currency })} (UTC)`,
    series: [overview.paid],
    bars: days.map((day) => ({
      label: label.format(new Date(`${day}T00:00:00Z`)),
      values: [Number(byDay.get(day) ?? 0)],
    })),
    format: (value) => formatFiat(BigInt(Math.round(value)), currency, words.language),
  });
}
