import { silentChains } from '../../chain/silence.ts';
import type { Context } from '../../context.ts';
import { alarmName, alarmSentence } from '../../db/alarm-kinds.ts';
import { exportAlarms, type KeptAlarm, listAlarms } from '../../db/alarms.ts';
import { modes } from '../../lib/mode.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { mailDepth } from '../../mail/stuck.ts';
import { matchingDepth } from '../../payments/queue-depth.ts';
import { listRates, type RateView } from '../../rates/list.ts';
import { receiptDepth } from '../../receipts/stuck.ts';
import { adminTexts } from '../../texts/admin.ts';
import { badge, card, stateLine } from '../../ui/components.ts';
import { ago, countedUpTo } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { csvLink, table } from '../../web/table.ts';
import { eventDepth } from '../../webhooks/stuck.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminPages } from '../route.ts';
import { adviceOn, alarmWords } from './alarm-words.ts';
import { besideSources, rateState } from './rate-words.ts';
import { isAnythingStuck } from './stuck.ts';

const path = '/admin';
const csvPath = '/admin/alarms.csv';
/** Queues are counted up to this number. */
const maxCounted = 10_000;
const maxAlarms = 30;

type Depth = { name: string; waiting: number; oldest: Date | null };

/**
 * `GET /admin`: whether everything is fine. Shows alarms with instructions (also as CSV), networks in trouble, and the
 * lengths of queues. Queries no provider.
 */
export function adminOverview(pages: AdminPages, ctx: Context): void {
  pages.page({ url: csvPath }, ({ reply }) =>
    sendCsv(
      reply,
      'alarms',
      ['name', 'message', 'raised_at', 'ended_at'],
      csvOf(exportAlarms(ctx.db.sql), (alarm) => [
        ...[alarmName(alarm), alarmSentence(alarm), alarm.raised_at, alarm.cleared_at],
      ]),
    ),
  );
  pages.page({ url: path }, async ({ words, show }) => {
    const admin = adminTexts(words);
    const { overview: t } = admin;
    const [alarms, rates, isStuck, troubled, ...depths] = await Promise.all([
      listAlarms(ctx.db.sql, maxAlarms),
      listRates(ctx),
      isAnythingStuck(ctx),
      Promise.all(modes.map((mode) => silentChains(ctx, mode))),
      eventDepth(ctx, maxCounted),
      mailDepth(ctx, maxCounted),
      receiptDepth(ctx, maxCounted),
      matchingDepth(ctx, maxCounted),
    ]);
    const names = [t.events, t.mails, t.receipts, t.transfers];
    const queues = depths.map((depth, i) => ({ ...depth, name: names[i] ?? '' }));
    const overrides = rates.filter(({ override }) => override);
    const now = ctx.clock.now();
    const silent = troubled
      .flat()
      .map(({ chain }) =>
        stateLine(
          'attention',
          fill(admin.chains.unreachable, { name: chain.name }),
          html`<a href="/admin/chains">${admin.places.chains}</a>`,
        ),
      );
    const rows = await Promise.all(
      alarms.map(async (alarm) => ({ ...alarm, message: await alarmWords(ctx, words, alarm) })),
    );
    const raised = alarms.some(({ cleared_at }) => cleared_at === null);
    const stuck = stateLine('attention', t.stuck, html`<a href="/admin/stuck">${t.toStuck}</a>`);
    const troubles = isStuck ? [...silent, stuck] : silent;
    const fine = troubles.length === 0 && !raised && [stateLine('paid', t.fine, t.fineRest)];
    return show({
      path,
      title: admin.places.overview,
      body: html`
        <div class="list" data-live="${adminEventsPath}" data-region="overview">
          ${(fine || troubles.length > 0) && card(...(fine || troubles))}
          ${alarms.length > 0 && html`<h2>${t.alarms}</h2>${alarmTable(words, rows, now)}${csvLink(words, csvPath)}`}
          ${overrides.length > 0 && html`<h2>${t.overrides}</h2>${overrideTable(words, overrides)}`}
          <h2>${t.queues}</h2>
          ${queueTable(words, queues, now)}
        </div>
      `,
    });
  });
}

type DescribedAlarm = KeptAlarm & { message: Html };

function alarmTable(words: Words, alarms: DescribedAlarm[], now: Date): Html {
  const admin = adminTexts(words);
  const { overview: t } = admin;
  return table<DescribedAlarm>(
    t.alarms,
    [
      { name: t.message, cell: ({ message }) => message },
      { name: t.advice, cell: ({ kind, cleared_at }) => (cleared_at === null ? adviceOn(words, kind) : null) },
      { name: t.raised, cell: ({ raised_at }) => ago(words, raised_at, now) },
      {
        name: admin.state,
        cell: ({ cleared_at: at }) =>
          at === null
            ? badge('attention', t.raised)
            : html`${badge('ended', t.ended)} <span class="quiet">${ago(words, at, now)}</span>`,
      },
    ],
    alarms,
  );
}

function overrideTable(words: Words, overrides: RateView[]): Html {
  const { overview, rates: t } = adminTexts(words);
  return table<RateView>(
    overview.overrides,
    [
      { name: t.code, cell: ({ code }) => html`<a href="/admin/rates">${code}</a>` },
      { name: t.rate, figures: true, cell: (rate) => html`${rate.rate}${besideSources(words, rate)}` },
      { name: t.state, cell: (rate) => rateState(words, rate) },
    ],
    overrides,
  );
}

function queueTable(words: Words, queues: Depth[], now: Date): Html {
  const admin = adminTexts(words);
  const { overview: t } = admin;
  return table<Depth>(
    t.queues,
    [
      { name: t.queue, cell: ({ name }) => name },
      {
        name: t.waiting,
        figures: true,
        cell: ({ waiting }) => countedUpTo(words, waiting, maxCounted),
      },
      { name: t.oldest, cell: ({ oldest }) => (oldest === null ? null : ago(words, oldest, now)) },
    ],
    queues,
  );
}
