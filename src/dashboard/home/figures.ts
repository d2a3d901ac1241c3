import { dayMs } from '../../lib/durations.ts';
import { formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { dayOf } from '../../lib/time.ts';
import type { DaySum } from '../../requests/lists/by-merchant.ts';
import { type CurrencyTotal, totalsByCurrency } from '../../requests/lists/totals.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { chart } from '../../ui/chart.ts';
import { tileValue } from '../../ui/components.ts';
import { formatUnit, groupMicro } from '../../ui/formats.ts';
import { fill, fillCount, fillHtml, type Words } from '../../ui/language.ts';
import { linkWith } from '../../web/query.ts';
import { viewSwitch } from '../../web/view-switch.ts';
import { dayCounts, latestMonths, monthName, type Period } from './period.ts';

/** All payments of a month as CSV. */
export const paidCsvPath = '/dashboard/paid.csv';

export type FiguresInput = {
  sums: DaySum[];
  /** Address of the page, for the links of the choices. */
  path: string;
  query: Record<string, string>;
  period: Period;
  /** When the merchant was created. */
  since: Date;
  now: Date;
};

/**
 * What the paid requests of a period asked for: totals by currency, and one currency by day. The days are those of UTC.
 * Browser code shows times in the reader's zone, so titles say so.
 */
export function figures(words: Words, input: FiguresInput): Html {
  const { sums, path, query, period, since, now } = input;
  const { home } = dashboardTexts(words);
  const totals = totalsByCurrency(sums);
  const shown = totals.find(({ code }) => code === query.currency) ?? totals[0];
  const days = viewSwitch(
    home.period,
    dayCounts.map((one) => ({
      name: formatUnit(words, Number(one), 'day'),
      href: linkWith(path, query, { days: one, month: null }),
      current: one === period.days,
    })),
  );
  const months = viewSwitch(
    home.month,
    latestMonths(since, now).map((one) => ({
      name: monthName(words, one),
      href: linkWith(path, query, { month: one, days: null }),
      current: one === period.month,
    })),
  );
  const currencies =
    totals.length > 1 &&
    viewSwitch(
      dashboardTexts(words).currency,
      totals.map(({ code }) => ({
        name: code,
        href: linkWith(path, query, { currency: code }),
        current: code === shown?.code,
      })),
    );
  return html`
    <section class="list">
      <div class="row">${days}${months}${currencies}</div>
      ${
        shown
          ? html`
            <div class="tiles">${totals.map((total) => tile(words, total))}</div>
            ${dayChart(words, input, shown.code)}
            ${period.month !== null && monthCsv(words, period.month)}
          `
          : html`<p class="quiet">${home.none}</p>`
      }
    </section>
  `;
}

function tile(words: Words, { code, fiatInt, payments, rows }: CurrencyTotal<DaySum>): Html {
  const { home } = dashboardTexts(words);
  const usdcMicro = rows.reduce((sum, row) => sum + BigInt(row.usdc_micro), 0n);
  const usdc = html`<bdi>${groupMicro(words, usdcMicro)} USDC</bdi>`;
  const count = fillCount(words, commonTexts(words).common.payments, payments);
  return html`
    <div class="tile">
      <p class="quiet">${fill(home.paidIn, { currency: code })}</p>
      ${tileValue(formatFiat(fiatInt, code, words.language))}
      <p class="quiet">${count} · ${fillHtml(home.requested, { amount: usdc })}</p>
    </div>
  `;
}

function monthCsv(words: Words, month: string): Html {
  const text = fill(dashboardTexts(words).home.monthCsv, { month: `${monthName(words, month)} (UTC)` });
  return html`<p><a href="${paidCsvPath}?month=${month}" download>${text}</a></p>`;
}

function dayChart(words: Words, { sums, period }: FiguresInput, code: string): Html {
  const { home } = dashboardTexts(words);
  const paid = new Map(sums.filter(({ fiat_code }) => fiat_code === code).map((row) => [row.day, row]));
  const label = new Intl.DateTimeFormat(words.locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  const bars = Array.from({ length: period.dayCount }, (_, i) => {
    const at = new Date(period.since.getTime() + i * dayMs);
    // A bar's height may lose precision to floating point; the totals above are exact.
    return { label: label.format(at), values: [Number(paid.get(dayOf(at))?.fiat_int ?? 0)] };
  });
  return chart(words, {
    title: `${fill(home.perDay, { currency: code })} (UTC)`,
    series: [home.paid],
    bars,
    format: (value) => formatFiat(BigInt(Math.round(value)), code, words.language),
  });
}
