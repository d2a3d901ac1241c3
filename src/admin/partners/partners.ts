import type { Context } from '../../context.ts';
import { html } from '../../lib/text/html.ts';
import { browsePartners, exportPartners, type ListedPartner, type PartnerFilter } from '../../partners/browse.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { badge } from '../../ui/components.ts';
import { ago } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminPages } from '../route.ts';

const path = '/admin/partners';
const names = ['q', 'state', 'after'] as const;
const csvHeader = [
  ...['slug', 'name', 'currency', 'allowed_expiry_minutes', 'default_expiry_minutes', 'disabled_at', 'created_at'],
];

/** `GET /admin/partners`, also as CSV. */
export function partnersList(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async ({ words, query, show }) => {
    const t = adminTexts(words);
    const wanted = query(names);
    const { rows, next } = await browsePartners(ctx, filterOf(wanted), wanted.after ?? null);
    const isFiltered = names.some((name) => wanted[name] !== undefined);
    const empty = isFiltered
      ? emptyState(t.nothing, t.nothingRest)
      : emptyState(t.partners.empty, t.partners.emptyRest);
    return show({
      path,
      title: t.places.partners,
      body: html`
        <p class="actions">
          <a class="button" href="/admin/new-partner">${t.partners.add}</a>
        </p>
        ${filters(words, path, wanted, choices(words), `${path}.csv`)}
        <div class="list" data-live="${adminEventsPath}" data-region="list">
          ${rows.length > 0 ? partnerTable(words, rows, ctx.clock.now()) : empty}
          ${pager(words, path, wanted, next)}
        </div>
      `,
    });
  });
  pages.page({ url: `${path}.csv` }, async ({ query, reply }) => {
    const rows = exportPartners(ctx, filterOf(query(names)));
    return sendCsv(
      reply,
      'partners',
      csvHeader,
      csvOf(rows, (row) => [
        ...[row.slug, row.name, row.currency, row.allowed_expiry_minutes.join(' '), row.default_expiry_minutes],
        ...[row.disabled_at, row.created_at],
      ]),
    );
  });
}

function filterOf({ q, state }: Record<string, string>): PartnerFilter {
  return { ...(q && { search: q }), ...((state === 'on' || state === 'off') && { disabled: state === 'off' }) };
}

function choices(words: Words): Filter[] {
  const t = adminTexts(words);
  return [
    { kind: 'text', name: 'q', label: t.search, hint: `${t.partners.slug}, ${t.partners.name}` },
    {
      kind: 'choice',
      name: 'state',
      label: t.state,
      options: [
        ['on', t.on],
        ['off', t.off],
      ],
    },
  ];
}

function partnerTable(words: Words, rows: ListedPartner[], now: Date) {
  const t = adminTexts(words);
  return table<ListedPartner>(
    t.places.partners,
    [
      { name: t.partners.name, cell: ({ slug, name }) => html`<a href="${path}/${slug}">${name}</a>` },
      { name: t.partners.slug, cell: ({ slug }) => slug },
      { name: portalTexts(words).settings.currency, cell: ({ currency }) => currency },
      { name: t.state, cell: ({ disabled_at }) => onOff(words, disabled_at === null) },
      { name: t.created, cell: ({ created_at }) => ago(words, created_at, now) },
    ],
    rows,
  );
}

/** Whether something is enabled, as a word and a shape. */
export function onOff(words: Words, on: boolean) {
  const t = adminTexts(words);
  return on ? badge('paid', t.on) : badge('ended', t.off);
}
