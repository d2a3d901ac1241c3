import { type ChainLeader, chainLeaders } from '../../chain/reader/leaders.ts';
import { type ChainStatus, chainStatus } from '../../chain/status.ts';
import { allChains } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { adminTexts } from '../../texts/admin.ts';
import { badge, card, stateLine } from '../../ui/components.ts';
import { ago } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { csvOf, inOneBatch, sendCsv } from '../../web/download.ts';
import { csvLink, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminPages } from '../route.ts';

const path = '/admin/chains';
const csvPath = `${path}.csv`;
/** A reader can be this many blocks behind without anything being wrong. */
const usualLag = 10;

/** Providers are queried at most this often, however many pages are open. */
const pollEveryMs = 5_000;

type Row = ChainStatus & { leader: ChainLeader | undefined };

/**
 * `GET /admin/chains`: every network with its head, the last block read, its providers and its leader; also as CSV.
 * Queries the providers.
 */
export function chainsPage(pages: AdminPages, ctx: Context): void {
  let asked = { at: -pollEveryMs, statuses: Promise.resolve<ChainStatus[]>([]) };
  const statusesNow = () => {
    const now = performance.now();
    if (now - asked.at >= pollEveryMs) asked = { at: now, statuses: chainStatus(ctx) };
    return asked.statuses;
  };
  const readRows = async () => {
    const [statuses, leaders] = await Promise.all([statusesNow(), chainLeaders(ctx, allChains(ctx.chains))]);
    return statuses.map((status) => ({
      ...status,
      leader: leaders.find(({ chainId }) => chainId === status.chainId),
    }));
  };
  pages.page({ url: csvPath }, async ({ reply }) =>
    sendCsv(reply, 'networks', csvHeader, csvOf(inOneBatch(await readRows()), csvRow)),
  );
  pages.page({ url: path }, async ({ words, show }) => {
    const rows = await readRows();
    const { chains: t, places } = adminTexts(words);
    const troubles = rows.flatMap((row) => troublesOf(words, row));
    const summary = troubles.length > 0 ? troubles : [stateLine('paid', t.fine, t.fineRest)];
    return show({
      path,
      title: places.chains,
      body: html`
        <div class="list" data-live="${adminEventsPath}" data-region="chains">
          ${card(...summary)}
          ${chainTable(words, rows, ctx.clock.now())}
        </div>
        ${csvLink(words, csvPath)}
      `,
    });
  });
}

const csvHeader = [
  ...['chain_id', 'name', 'mode', 'head', 'read', 'lag_blocks', 'leader', 'leader_changes', 'last_read_at'],
  'providers',
];

function csvRow({ chainId, name, mode, head, read, lag, leader, endpoints }: Row): CsvRow {
  const providers = endpoints.map(({ host, head: at, error }) => `${host} ${at ?? error}`);
  return [
    ...[chainId, name, mode, head, read, lag, leader?.alive ? leader.holder : null],
    ...[leader ? leader.fence - 1 : null, leader?.readAt ?? null, providers.join(', ')],
  ];
}

/** The problems of a network, each with what helps. */
function troublesOf(words: Words, row: Row): Html[] {
  const admin = adminTexts(words);
  const { chains: t } = admin;
  const say = (title: string, rest: string) => stateLine('attention', fill(title, { name: row.name }), rest);
  const silent = row.endpoints.filter(({ head }) => head === null);
  return [
    ...(row.reachable ? [] : [say(t.unreachable, t.unreachableRest)]),
    ...(row.reachable && silent.length > 0 ? [say(t.half, t.halfRest)] : []),
    ...(row.lag !== null && row.lag > usualLag ? [say(t.lagging, t.laggingRest)] : []),
    ...(row.leader?.alive ? [] : [say(t.leaderless, t.leaderlessRest)]),
  ];
}

function chainTable(words: Words, rows: Row[], now: Date): Html {
  const admin = adminTexts(words);
  const { chains: t } = admin;
  const number = (value: number | null) => (value === null ? '–' : String(value));
  return table<Row>(
    admin.places.chains,
    [
      {
        name: t.name,
        cell: ({ name, chainId }) => html`<span>${name} <span class="quiet short">${chainId}</span></span>`,
      },
      { name: admin.mode, cell: ({ mode }) => admin[mode] },
      { name: t.head, figures: true, cell: ({ head }) => number(head) },
      { name: t.read, figures: true, cell: ({ read }) => number(read) },
      {
        name: t.lag,
        cell: ({ lag }) =>
          lag === null
            ? badge('attention', '–')
            : badge(lag > usualLag ? 'attention' : 'paid', fillCount(words, t.blocks, lag)),
      },
      { name: t.leader, cell: ({ leader }) => leaderCell(words, leader) },
      {
        name: t.lastRead,
        cell: ({ leader }) => (leader?.readAt ? ago(words, leader.readAt, now) : null),
      },
      {
        name: t.providers,
        cell: ({ endpoints }) => html`${endpoints.map((endpoint) => providerLine(words, endpoint))}`,
      },
    ],
    rows,
  );
}

function leaderCell(words: Words, leader: ChainLeader | undefined): Html {
  const admin = adminTexts(words);
  const { chains: t } = admin;
  if (!leader?.alive) return badge('attention', t.leaderNone);
  return html`
    <span class="mono" title="${leader.holder}">${leader.holder.slice(0, 8)}</span>
    ${' '}
    <span class="quiet">${t.changes}: ${leader.fence - 1}</span>
  `;
}

function providerLine(words: Words, { host, head, error }: ChainStatus['endpoints'][number]): Html {
  const admin = adminTexts(words);
  const { chains: t } = admin;
  // The error is the provider's own message, or the network's.
  const state =
    head === null
      ? html`${badge('failed', t.silent)} <code lang="en" dir="ltr">${error}</code>`
      : badge('paid', fill(t.answers, { head }));
  return html`<p>${host} ${state}</p>`;
}
