import { type AuditAction, actions } from '../../audit/actions.ts';
import { type ObjectNames, readObjectNames } from '../../audit/names.ts';
import { type AuditRow, type LogFilter, readLog } from '../../audit/read.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { batchesOf, pageSize } from '../../lib/paging.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { auditTexts } from '../../texts/audit.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { auditActor, auditDetails, auditObject } from '../../ui/audit-details.ts';
import { actName } from '../../ui/audit-words.ts';
import { ago } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { instantOf, oneOf, readQuery } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import type { PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

const path = '/portal/audit';
const csvPath = '/portal/audit.csv';
const names = ['action', 'actor', 'since', 'until', 'after'] as const;
const known = Object.keys(actions) as AuditAction[];

/**
 * `/portal/audit`: everything that was done for this partner, in both modes, by whom, when and from where; also as CSV.
 */
export function portalAuditPages(pages: PortalPages, ctx: Context): void {
  pages.page({ url: path, permission: 'read' }, async (call) => {
    const { words, scope, request, reply } = call;
    const audit = auditTexts(words);
    const { places } = portalTexts(words);
    const query = readQuery(request.query, names);
    const { rows, next } = await readLog(ctx, scope, filterOf(query), pageSize);
    const called = await readObjectNames(ctx, scope, rows);
    const list =
      rows.length > 0 ? logTable(words, rows, called, ctx.clock.now()) : emptyState(audit.none, audit.noneRest);
    return sendPortal(ctx, reply, call, {
      path,
      title: places.audit,
      body: html`
        <p class="quiet">${audit.rest}</p>
        ${filters(words, path, query, choices(words), csvPath)}
        <div class="list" data-live="${portalEventsPath(call.mode)}" data-region="list">
          ${list}
          ${pager(words, path, query, next === null ? null : String(next))}
        </div>
      `,
    });
  });

  pages.page({ url: csvPath, permission: 'read' }, async ({ scope, request, reply }) => {
    const wanted = readQuery(request.query, names);
    const read = async (after: string | null, limit: number) =>
      (await readLog(ctx, scope, filterOf({ ...wanted, after: after ?? '' }), limit)).rows;
    const batches = batchesOf(read, ({ number }) => number);
    return sendCsv(reply, 'audit', csvHeader, csvOf(batches, csvRow));
  });
}

function filterOf(query: Record<string, string>): LogFilter {
  const action = oneOf(known, query.action);
  const [since, until] = [instantOf(query.since), instantOf(query.until)];
  const before = /^\d{1,18}$/.test(query.after ?? '') ? BigInt(query.after ?? '') : null;
  return {
    ...(action && { action }),
    ...(query.actor !== undefined && { actor: query.actor }),
    ...(since && { since }),
    ...(until && { until }),
    ...(before !== null && { before }),
  };
}

function choices(words: Words): Filter[] {
  const audit = auditTexts(words);
  const { requests } = portalTexts(words);
  return [
    {
      kind: 'choice',
      name: 'action',
      label: audit.action,
      options: known.map((action) => [action, actName(words, action)]),
    },
    { kind: 'text', name: 'actor', label: audit.who, hint: audit.whoHint },
    { kind: 'date', name: 'since', label: requests.since },
    { kind: 'date', name: 'until', label: requests.until },
  ];
}

/** The pages of objects that audited acts concern. */
const pagesOf: Readonly<Record<string, string>> = {
  merchant: '/portal/merchants',
  request: '/portal/requests',
  plan: '/portal/plans',
  webhook_delivery: '/portal/webhooks/deliveries',
};

/** The page of a row's object, in its mode. */
function pathOf({ object_kind: kind, object_id: id, test_mode: test }: AuditRow): string | null {
  const place = pagesOf[kind];
  return place && isUuid(id) && test !== null ? `${place}/${id}?mode=${modeOf(test)}` : null;
}

function logTable(words: Words, rows: AuditRow[], called: ObjectNames, now: Date): Html {
  const { app } = commonTexts(words);
  const audit = auditTexts(words);
  const { places } = portalTexts(words);
  return table<AuditRow>(
    places.audit,
    [
      { name: audit.action, cell: ({ action }) => actName(words, action) },
      { name: audit.when, cell: ({ at }) => ago(words, at, now) },
      { name: audit.who, cell: (row) => auditActor(words, row) },
      { name: audit.object, cell: (row) => auditObject(words, row, called, pathOf(row)) },
      { name: audit.details, cell: ({ details }) => auditDetails(words, details, called) },
      { name: app.mode, cell: ({ test_mode: test }) => (test === null ? null : test ? app.test : app.live) },
      { name: audit.from, cell: ({ ip }) => ip && html`<span class="mono">${ip}</span>` },
    ],
    rows,
  );
}

const csvHeader = [
  ...['number', 'at', 'action', 'object_kind', 'object_id', 'actor_kind', 'actor', 'ip', 'user_agent', 'mode'],
  ...['details', 'hash'],
];

const csvRow = (row: AuditRow): CsvRow => [
  ...[row.number, row.at, row.action, row.object_kind, row.object_id, row.actor_kind, row.actor_name, row.ip],
  ...[row.user_agent, row.test_mode === null ? null : modeOf(row.test_mode), row.details],
  row.hash.toString('hex'),
];
