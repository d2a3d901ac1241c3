import { actions } from '../../audit/actions.ts';
import { type ObjectNames, readObjectNames } from '../../audit/names.ts';
import { type AuditRow, type LogFilter, readLog } from '../../audit/read.ts';
import { type ChainCheck, isHash, verifyChains } from '../../audit/verify.ts';
import { noPartner } from '../../audit/write.ts';
import { scopeOfPartner } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { modeOf } from '../../lib/mode.ts';
import { batchesOf } from '../../lib/paging.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { adminTexts } from '../../texts/admin.ts';
import { auditActor, auditDetails, auditObject } from '../../ui/audit-details.ts';
import { actName } from '../../ui/audit-words.ts';
import { card, field, hiddenField, mono, stateLine } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { ago } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { instantOf, oneOf } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminCall, AdminPages } from '../route.ts';

const path = '/admin/audit';
const names = ['partner', 'action', 'actor', 'since', 'until', 'after'] as const;
const pageSize = 50;
const known = Object.keys(actions);
const csvHeader = [
  ...['number', 'at', 'mode', 'actor_kind', 'actor', 'action', 'object_kind', 'object', 'ip', 'user_agent'],
  ...['details', 'hash'],
];

type Whose = Scope | 'operators';
/** The hash to compare, and the result of the check; null: the input was not a hash, and nothing was checked. */
type Checked = { typed: string; check: ChainCheck | null };

/**
 * `GET /admin/audit`: the operators' log, or a partner's; also as CSV. Checks a log's hash chain from its beginning.
 */
export function adminAuditPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async (call) => {
    const whose = await whoseLog(ctx, call.query(names).partner);
    return show(ctx, call, whose);
  });
  pages.page({ url: `${path}.csv` }, async ({ query, reply }) => {
    const wanted = query(names);
    const whose = await whoseLog(ctx, wanted.partner);
    if (!whose) return sendNotFound(reply);
    const read = async (after: string | null, limit: number) =>
      (await readLog(ctx, whose, filterOf({ ...wanted, after: after ?? '' }), limit)).rows;
    return sendCsv(
      reply,
      `audit-${wanted.partner ?? 'operators'}`,
      csvHeader,
      csvOf(
        batchesOf(read, ({ number }) => number),
        (row) => [
          ...[
            row.number,
            row.at,
            modeOfRow(row),
            row.actor_kind,
            row.actor_name,
            row.action,
            row.object_kind,
            row.object_id,
          ],
          ...[row.ip, row.user_agent, row.details, row.hash.toString('hex')],
        ],
      ),
    );
  });
  pages.form({ url: `${path}/check`, fresh: 'never' }, async (call) => {
    const whose = await whoseLog(ctx, call.typed('partner') || undefined);
    if (!whose) return sendNotFound(call.reply);
    const typed = call.typed('kept').toLowerCase();
    if (typed !== '' && !isHash(typed)) return show(ctx, call, whose, { typed, check: null });
    const kept = typed === '' ? null : typed;
    const [check] = await verifyChains(ctx, whose === 'operators' ? noPartner : whose.partnerId, kept);
    return show(ctx, call, whose, { typed, check: check ?? null });
  });
}

const whoseLog = (ctx: Context, slug: string | undefined): Promise<Whose | null> =>
  slug === undefined ? Promise.resolve('operators') : scopeOfPartner(ctx.db, slug.toLowerCase(), true);

const modeOfRow = ({ test_mode }: AuditRow) => (test_mode === null ? null : modeOf(test_mode));

function filterOf({ action, actor, since, until, after }: Record<string, string>): LogFilter {
  const [from, to, named] = [instantOf(since), instantOf(until), oneOf(known, action)];
  return {
    ...(named && { action: named }),
    ...(actor && { actor }),
    ...(from && { since: from }),
    ...(to && { until: to }),
    ...(/^\d{1,18}$/.test(after ?? '') && { before: BigInt(after ?? 0) }),
  };
}

/** @param whose null: the log's partner does not exist */
async function show(ctx: Context, call: AdminCall, whose: Whose | null, checked?: Checked) {
  const { words } = call;
  const { audit: t, places, nothing, nothingRest } = adminTexts(words);
  // In the response to the form that checks a log, the partner is a field of that form.
  const partner = call.typed('partner') || call.query(names).partner;
  const wanted: Record<string, string> = { ...call.query(names), ...(partner && { partner }) };
  const { rows, next } = whose ? await readLog(ctx, whose, filterOf(wanted), pageSize) : { rows: [], next: null };
  const called = await readObjectNames(ctx, whose ?? 'operators', rows);
  const isFiltered = names.some((name) => name !== 'partner' && wanted[name] !== undefined);
  const empty = whose && !isFiltered ? emptyState(t.empty, t.emptyRest) : emptyState(nothing, nothingRest);
  // The response to a form shows the result of the check. The page must not reload itself, because that would lose the
  // result.
  const live = !checked && html` data-live="${adminEventsPath}"`;
  const list = rows.length > 0 ? logTable(words, rows, called, ctx.clock.now()) : empty;
  return call.show({
    path,
    title: places.audit,
    status: whose === null ? 404 : checked && !checked.check ? 400 : 200,
    body: html`
      ${checked?.check && card(found(words, checked.check), checked.typed !== '' && compared(words, checked.check))}
      ${filters(words, path, wanted, choices(words), `${path}.csv`)}
      <div class="list"${live} data-region="list">
        ${list}
        ${pager(words, path, wanted, next === null ? null : String(next))}
      </div>
      ${whose && checkForm(words, partner, checked)}
    `,
  });
}

function checkForm(words: Words, partner: string | undefined, checked: Checked | undefined): Html {
  const admin = adminTexts(words);
  const { audit: t } = admin;
  return card(html`
    <h2>${t.check}</h2>
    <p class="quiet">${t.checkRest}</p>
    ${form({
      action: `${path}/check`,
      inside: html`
        ${partner && hiddenField('partner', partner)}
        ${field({
          name: 'kept',
          label: t.kept,
          value: checked?.typed ?? null,
          hint: t.keptHint,
          fault: checked && !checked.check ? t.keptMalformed : undefined,
          attributes: 'maxlength="64" autocomplete="off" autocapitalize="none" spellcheck="false" dir="ltr"',
        })}
      `,
      submit: t.check,
      second: true,
    })}
  `);
}

function found(words: Words, { rows, hash, broken }: ChainCheck): Html {
  const admin = adminTexts(words);
  const { audit: t } = admin;
  if (broken !== null) {
    return stateLine('failed', fill(t.broken, { number: broken.number, why: t.breaches[broken.why] }));
  }
  return stateLine('paid', fillCount(words, t.whole, rows), html`${mono(hash)}<br>${t.keep}`);
}

/** Whether the hash that was noted earlier is still in the log. */
function compared(words: Words, { keptAt }: ChainCheck): Html {
  const admin = adminTexts(words);
  const { audit: t } = admin;
  return keptAt === null
    ? stateLine('failed', t.keptMissing)
    : stateLine('paid', fill(t.keptFound, { number: keptAt }));
}

function choices(words: Words): Filter[] {
  const { audit: t } = adminTexts(words);
  return [
    { kind: 'text', name: 'partner', label: t.log, hint: t.logHint },
    { kind: 'choice', name: 'action', label: t.what, options: known.map((name) => [name, actName(words, name)]) },
    { kind: 'text', name: 'actor', label: t.who },
    { kind: 'date', name: 'since', label: t.since },
    { kind: 'date', name: 'until', label: t.until },
  ];
}

/** The page of a row's object, if operators have one. */
function pathOf({ object_kind: kind, object_id: id }: AuditRow, called: ObjectNames): string | null {
  if (kind === 'partner') {
    const slug = called.get(`partner ${id}`)?.slug;
    return slug === undefined ? null : `/admin/partners/${slug}`;
  }
  if (kind === 'user') return called.has(`user ${id}`) ? `/admin/users/${id}` : null;
  if (kind === 'merchant' || kind === 'request' || kind === 'payment') return `/admin/${kind}s/${id}`;
  return null;
}

function logTable(words: Words, rows: AuditRow[], called: ObjectNames, now: Date): Html {
  const { audit: t, mode, test, live } = adminTexts(words);
  return table<AuditRow>(
    adminTexts(words).places.audit,
    [
      { name: t.what, cell: ({ action }) => actName(words, action) },
      { name: t.when, cell: ({ at }) => ago(words, at, now) },
      { name: t.who, cell: (row) => auditActor(words, row) },
      {
        name: t.on,
        cell: (row) => (row.object_id === noPartner ? null : auditObject(words, row, called, pathOf(row, called))),
      },
      { name: t.details, cell: ({ details }) => auditDetails(words, details, called) },
      { name: mode, cell: ({ test_mode: is }) => (is === null ? null : is ? test : live) },
      { name: t.from, cell: ({ ip, user_agent }) => ip && html`<span class="mono" title="${user_agent}">${ip}</span>` },
      { name: t.number, figures: true, cell: ({ number }) => number },
    ],
    rows,
  );
}
