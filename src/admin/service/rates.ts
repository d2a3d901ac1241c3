import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { parseInstant } from '../../lib/time.ts';
import { readPartner } from '../../partners/read.ts';
import { listRates, type RateView } from '../../rates/list.ts';
import { clearOverride, setOverride } from '../../rates/override.ts';
import { rateSources } from '../../rates/providers.ts';
import { manualRefresh, type RefreshResult } from '../../rates/refresh.ts';
import { type Deviation, RateRefusal } from '../../rates/refusal.ts';
import { adminTexts } from '../../texts/admin.ts';
import { commonTexts } from '../../texts/common.ts';
import { card, field, hiddenField } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { ago } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { csvDecimal } from '../../web/csv-amounts.ts';
import { csvOf, inOneBatch, sendCsv } from '../../web/download.ts';
import { flashOf } from '../../web/flash.ts';
import { notice } from '../../web/shell.ts';
import { actionsColumn, csvLink, emptyState, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminCall, AdminPages } from '../route.ts';
import { besideSources, percentText, rateState } from './rate-words.ts';

const path = '/admin/rates';

/** The input of the form that sets a rate. */
type RateForm = { code: string; rate: string; until: string; shown: string };
const nothingTyped: RateForm = { code: '', rate: '', until: '', shown: '' };

/** Why the rate was not set. `deviation`: how far it is from the sources, if the operator can confirm it. */
type Fault = { text: string; deviation: Deviation | null };

/**
 * `GET /admin/rates`: all rates with their age and sources. Sets a rate, with or without an end, clears it, and
 * fetches rates at once.
 */
export function ratesPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, (call) => show(ctx, call, 200, nothingTyped, null));
  pages.page({ url: `${path}.csv` }, async ({ reply }) =>
    sendCsv(reply, 'rates', csvHeader, csvOf(inOneBatch(await listRates(ctx)), csvRow)),
  );
  pages.form({ url: `${path}/set`, fresh: 'always' }, async (call) => {
    const [rate, until, shown] = [call.typed('rate'), call.typed('until'), call.typed('shown')];
    const typed = { code: call.typed('code').toUpperCase(), rate, until, shown };
    const fault = await setRate(ctx, call, typed);
    return fault === null ? call.done(path, 'set') : show(ctx, call, 400, typed, fault);
  });
  pages.form({ url: `${path}/clear`, fresh: 'always' }, async (call) => {
    const code = call.typed('code').toUpperCase();
    const cleared = await clearOverride(ctx, call.actor, code).catch(asNothing);
    return call.done(path, cleared ? 'cleared' : 'none_set');
  });
  pages.form({ url: `${path}/refresh`, fresh: 'never' }, async (call) => call.done(path, await refresh(ctx, call)));
}

const csvHeader = [
  ...['currency', 'rate', 'fetched_at', 'sources', 'usable', 'override', 'override_until'],
  ...['sources_rate', 'override_percent'],
];

const csvRow = ({ code, rate, fetched_at, sources, usable, override, ...beside }: RateView): CsvRow => [
  ...[code, csvDecimal(rate), fetched_at, sources.map((one) => `${one.source} ${one.rate}`).join(', ')],
  ...[usable ? 'yes' : 'no', override ? 'yes' : 'no', beside.override_until],
  ...[beside.sources_rate && csvDecimal(beside.sources_rate), beside.override_percent],
];

function asNothing(error: unknown): false {
  if (error instanceof RateRefusal) return false;
  throw error;
}

async function setRate(ctx: Context, call: AdminCall, { code, rate, until, shown }: RateForm): Promise<Fault | null> {
  // The browser's field for an instant has neither seconds nor a time zone. The form asks for UTC.
  const end = until === '' ? null : parseInstant(/T\d\d:\d\d$/.test(until) ? `${until}:00Z` : until);
  const { rates: t } = adminTexts(call.words);
  if (until !== '' && end === null) return { text: fill(t.fault, { why: t.untilRule }), deviation: null };
  try {
    await setOverride(ctx, call.actor, { code, rate, until: end, shownDeviation: shown === '' ? null : shown });
    return null;
  } catch (error) {
    if (!(error instanceof RateRefusal)) throw error;
    const { reason, deviation } = error;
    const far = { percent: percentText(call.words, deviation?.percent), reported: deviation?.sourcesRate ?? '' };
    return { text: fill(t.fault, { why: fill(t.faults[reason], { code, rate, ...far }) }), deviation };
  }
}

/** Fetches the rates. Returns a word for the result. */
async function refresh(ctx: Context, call: AdminCall): Promise<string> {
  const partner = await readPartner(ctx.db, call.typed('partner').toLowerCase());
  if (!partner) return 'no_partner';
  let result: RefreshResult;
  try {
    result = await manualRefresh(ctx, call.actor, rateSources(ctx.config.rateProviders), partner);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'rate_limited') return 'limited';
    throw error;
  }
  return result.refreshed.length > 0 ? 'refreshed' : 'nothing';
}

async function show(ctx: Context, call: AdminCall, status: number, typed: RateForm, fault: Fault | null) {
  const { words } = call;
  const { rates: t, places } = adminTexts(words);
  const rates = await listRates(ctx);
  const old = rates.filter(({ usable }) => !usable);
  // Rates that need attention come first, then overrides.
  const ours = rates.filter(({ usable, override }) => usable && override);
  const sorted = [...old, ...ours, ...rates.filter(({ usable, override }) => usable && !override)];
  const notices = { set: t.saved, cleared: t.cleared, refreshed: t.refreshed };
  const refused = { limited: t.limited, no_partner: t.noPartner, nothing: t.nothingFetched, none_set: t.noneSet };
  return call.show({
    path,
    status,
    title: places.rates,
    body: html`
      ${fault === null ? flashOf(call, { done: notices, refused }) : notice('attention', fault.text)}
      ${old.length > 0 && notice('attention', oldRates(words, old))}
      ${setForm(words, typed, fault)}
      ${refreshForm(words)}
      <div class="list" data-live="${adminEventsPath}" data-region="rates">
        ${
          rates.length > 0
            ? html`${csvLink(words, `${path}.csv`)}${rateTable(words, sorted, ctx.clock.now())}`
            : emptyState(t.empty, t.emptyRest)
        }
      </div>
    `,
  });
}

function oldRates(words: Words, old: RateView[]): string {
  const { common } = commonTexts(words);
  const admin = adminTexts(words);
  const title = `${old.map(({ code }) => code).join(', ')}: ${admin.rates.tooOld}`;
  return fill(common.titleAndRest, { title, rest: admin.rates.tooOldRest });
}

function rateTable(words: Words, rates: RateView[], now: Date): Html {
  const { rates: t } = adminTexts(words);
  return table<RateView>(
    adminTexts(words).places.rates,
    [
      { name: t.code, cell: ({ code }) => code },
      { name: t.rate, figures: true, cell: (rate) => html`${rate.rate}${besideSources(words, rate)}` },
      {
        name: t.age,
        cell: ({ fetched_at: at }) => (at === null ? t.never : ago(words, new Date(at), now)),
      },
      {
        name: t.sources,
        cell: ({ sources }) =>
          sources.length === 0
            ? null
            : html`
              <details>
                <summary>${sources.map(({ source }) => source).join(', ')}</summary>
                ${sources.map(({ source, rate }) => html`<p>${source}: <span class="figures">${rate}</span></p>`)}
              </details>
            `,
      },
      { name: t.state, cell: (rate) => rateState(words, rate) },
      actionsColumn(words, (rate) => (rate.override ? clearForm(words, rate.code) : null)),
    ],
    rates,
  );
}

function clearForm(words: Words, code: string): Html {
  const { rates: t } = adminTexts(words);
  const question = {
    label: t.clear,
    title: fill(t.clearTitle, { code }),
    consequence: t.clearRest,
    action: `${path}/clear`,
  };
  return confirmButton(question, hiddenField('code', code));
}

/**
 * The form that sets a rate. A rate far from the sources must be confirmed: the same form again, with the deviation
 * that was shown.
 */
function setForm(words: Words, typed: RateForm, fault: Fault | null): Html {
  const open = fault !== null;
  const deviation = fault?.deviation ?? null;
  const { rates: t } = adminTexts(words);
  return card(html`
    <details${open && html` open`}>
      <summary>${t.set}</summary>
      <div class="stack">
        <p class="quiet">${t.setRest}</p>
        ${form({
          action: `${path}/set`,
          inside: html`
            ${field({
              name: 'code',
              label: t.code,
              value: typed.code,
              attributes: 'required maxlength="3" autocapitalize="characters"',
            })}
            ${field({
              name: 'rate',
              label: t.setRate,
              value: typed.rate,
              hint: t.setRateRule,
              attributes: 'required inputmode="decimal" maxlength="60"',
            })}
            ${field({
              name: 'until',
              label: t.until,
              value: typed.until,
              hint: t.untilRule,
              attributes: 'type="datetime-local"',
            })}
            ${deviation && hiddenField('shown', deviation.percent)}
          `,
          submit: deviation ? t.setAnyway : t.setDo,
        })}
      </div>
    </details>
  `);
}

function refreshForm(words: Words): Html {
  const { rates: t, allPartners } = adminTexts(words);
  return card(html`
    <details>
      <summary>${t.refresh}</summary>
      <div class="stack">
        <p class="quiet">${t.refreshRest}</p>
        ${form({
          action: `${path}/refresh`,
          inside: field({
            name: 'partner',
            label: t.refreshFor,
            hint: allPartners,
            attributes: 'required maxlength="40" autocapitalize="none"',
          }),
          submit: t.refreshDo,
        })}
      </div>
    </details>
  `);
}
