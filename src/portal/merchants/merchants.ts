import type { FastifyReply } from 'fastify';
import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { firstVisible } from '../../lib/text/visible.ts';
import {
  browseMerchants,
  exportMerchants,
  type MerchantBrowseFilter,
  onboardingStates,
  switches,
} from '../../merchants/browse.ts';
import { detailLimits } from '../../merchants/details.ts';
import { createMerchantManually } from '../../merchants/manual.ts';
import type { MerchantRow } from '../../merchants/read.ts';
import { countryField } from '../../onboarding/detail-fields.ts';
import { readPartner } from '../../partners/read.ts';
import { listCurrencies } from '../../rates/list.ts';
import { onboardingTexts } from '../../texts/onboarding.ts';
import { portalTexts } from '../../texts/portal.ts';
import { badge, field, optionList, selectField, shortAddress } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { ago, currencyLabel } from '../../ui/formats.ts';
import type { Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { formKeyField, formKeyOf } from '../../web/form-key.ts';
import { oneOf, readQuery } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

const path = '/portal/merchants';
const csvPath = '/portal/merchants.csv';
const names = ['q', 'onboarding', 'disabled', 'after'] as const;
const typedNames = ['business_name', 'display_name', 'email', 'country', 'app_mode', 'display_currency'] as const;
const appModes = ['business', 'personal'] as const;

/** `/portal/merchants`: the merchants of the mode, also as CSV, and the form that creates one. */
export function merchantsList(pages: PortalPages, ctx: Context): void {
  pages.page({ url: path, permission: 'read' }, (call) => showMerchants(ctx, call, {}, []));

  pages.page({ url: csvPath, permission: 'read' }, async ({ scope, mode, request, reply }) => {
    const filter = filterOf(readQuery(request.query, names));
    return sendCsv(reply, `merchants-${mode}`, csvHeader, csvOf(exportMerchants(ctx, scope, filter), csvRow));
  });

  pages.form({ url: path, permission: 'merchants.invite', fresh: 'never' }, async (call) => {
    const { scope } = call;
    const typed = Object.fromEntries(typedNames.map((name) => [name, call.typed(name)]));
    const { display_currency = '', app_mode, country = '', ...texts } = typed;
    const given = Object.entries({ ...texts, country: country.toUpperCase() }).filter(([, text]) => text !== '');
    const mode = oneOf(appModes, app_mode) ?? 'business';
    const fields = { ...Object.fromEntries(given), app_mode: mode, display_currency };
    const made = await createMerchantManually(ctx, call.actor, scope, fields, formKeyOf(call));
    if ('faults' in made) return showMerchants(ctx, call, typed, made.faults);
    return call.done(`${path}/${made.row.id}`, made.repeated ? 'repeated' : 'created');
  });
}

async function showMerchants(
  ctx: Context,
  call: PortalCall,
  typed: Record<string, string>,
  faults: string[],
): Promise<FastifyReply> {
  const { words, scope, mode, user, request, reply } = call;
  const { merchants, places } = portalTexts(words);
  const query = readQuery(request.query, names);
  const { rows, next } = await browseMerchants(ctx, scope, filterOf(query), query.after ?? null);
  const isFiltered = names.some((name) => query[name] !== undefined);
  const isFirst = rows.length === 0 && !isFiltered;
  const empty = isFiltered
    ? emptyState(merchants.noneLike, merchants.noneLikeRest)
    : emptyState(merchants.none, merchants.noneRest);
  const list = rows.length > 0 ? merchantTable(words, rows, ctx.clock.now()) : empty;
  return sendPortal(ctx, reply, call, {
    path,
    title: places.merchants,
    status: faults.length > 0 ? 400 : 200,
    body: html`
      ${may(user, 'merchants.invite', mode) && (await createForm(ctx, call, typed, faults, isFirst))}
      ${filters(words, path, query, choices(words), csvPath)}
      <div class="list" data-live="${portalEventsPath(mode)}" data-region="list">
        ${list}
        ${pager(words, path, query, next)}
      </div>
    `,
  });
}

function filterOf(query: Record<string, string>): MerchantBrowseFilter {
  const onboarding = oneOf(onboardingStates, query.onboarding);
  const disabled = oneOf(switches, query.disabled);
  return { ...(query.q && { search: query.q }), ...(onboarding && { onboarding }), ...(disabled && { disabled }) };
}

function choices(words: Words): Filter[] {
  const { merchants, requests } = portalTexts(words);
  return [
    { kind: 'text', name: 'q', label: requests.search, hint: merchants.searchHint },
    {
      kind: 'choice',
      name: 'onboarding',
      label: merchants.onboarding,
      options: onboardingStates.map((state) => [state, merchants.onboardingStates[state]]),
    },
    {
      kind: 'choice',
      name: 'disabled',
      label: merchants.disabled,
      options: switches.map((one) => [one, merchants.switches[one]]),
    },
  ];
}

/** The name under which people know a merchant. */
export function merchantName(words: Words, row: Pick<MerchantRow, 'business_name' | 'display_name'>): string {
  return firstVisible(row.business_name, row.display_name) ?? portalTexts(words).requests.unnamed;
}

/** A merchant's status, as words and shapes. */
export function merchantBadges(words: Words, row: MerchantRow): Html {
  const { merchants } = portalTexts(words);
  const isReady = row.onboarded_at !== null;
  return html`
    <span class="row">
      ${badge(isReady ? 'paid' : 'waiting', merchants.onboardingStates[isReady ? 'complete' : 'incomplete'])}
      ${row.disabled_by_partner && badge('attention', merchants.switches.partner)}
      ${row.disabled_by_operator && badge('failed', merchants.switches.operator)}
    </span>
  `;
}

function merchantTable(words: Words, rows: MerchantRow[], now: Date): Html {
  const { merchants, requests, places } = portalTexts(words);
  return table<MerchantRow>(
    places.merchants,
    [
      {
        name: merchants.name,
        cell: (row) => html`<a href="${path}/${row.id}"><span dir="auto">${merchantName(words, row)}</span></a>`,
      },
      { name: requests.state, cell: (row) => merchantBadges(words, row) },
      {
        name: merchants.wallet,
        cell: ({ wallet_address: wallet }) => wallet && shortAddress(wallet),
      },
      { name: merchants.email, cell: ({ email }) => email && html`<span dir="auto">${email}</span>` },
      { name: merchants.currency, cell: ({ display_currency }) => display_currency },
      { name: requests.created, cell: ({ created_at }) => ago(words, created_at, now) },
    ],
    rows,
  );
}

async function createForm(
  ctx: Context,
  call: PortalCall,
  typed: Record<string, string>,
  faults: string[],
  isFirst: boolean,
): Promise<Html> {
  const { words, user } = call;
  const { merchants } = portalTexts(words);
  const [partner, codes] = await Promise.all([readPartner(ctx.db, user.partner.slug), listCurrencies(ctx)]);
  const chosen = typed.display_currency || partner?.currency || '';
  const currencies = [...new Set([...codes, chosen])].filter(Boolean).sort();
  const text = (name: 'business_name' | 'display_name' | 'email', hint: string, attributes: string) =>
    field({
      name,
      label: merchants.fields[name],
      hint,
      value: typed[name] ?? null,
      fault: faults.includes(name) ? merchants.faults[name] : undefined,
      attributes,
    });
  const select = (name: string, label: string, options: [value: string, label: string][], value: string | undefined) =>
    selectField({ name, label, options: optionList(options, value) });
  return html`
    <details class="card"${(isFirst || faults.length > 0) && html` open`}>
      <summary>${merchants.create}</summary>
      ${form({
        action: actionIn(call, path),
        inside: html`
          <p class="quiet">${merchants.createRest}</p>
          ${formKeyField()}
          ${text('business_name', merchants.hints.business_name, `maxlength="${detailLimits.business_name}"`)}
          ${text('display_name', merchants.hints.display_name, `maxlength="${detailLimits.display_name}"`)}
          ${text('email', merchants.hints.email, 'type="email" maxlength="254" autocomplete="off"')}
          ${countryField(
            words,
            typed.country ?? '',
            faults.includes('country') ? onboardingTexts(words).onboard.notACountry : undefined,
          )}
          ${select(
            'app_mode',
            merchants.fields.app_mode,
            appModes.map((mode) => [mode, merchants.appModes[mode]]),
            typed.app_mode,
          )}
          ${select(
            'display_currency',
            merchants.currency,
            currencies.map((code) => [code, currencyLabel(words, code)]),
            chosen,
          )}
          ${
            faults.includes('display_currency') &&
            html`<p class="fault" role="alert">${portalTexts(words).settings.faults.currency}</p>`
          }
        `,
        submit: merchants.createDo,
      })}
    </details>
  `;
}

const csvHeader = [
  ...['account_id', 'business_name', 'display_name', 'email', 'country', 'phone', 'app_mode', 'display_currency'],
  ...[
    'onboarding_status',
    'onboarded_at',
    'wallet_address',
    'disabled_by_partner',
    'disabled_by_operator',
    'created_at',
  ],
];

const csvRow = (row: MerchantRow): CsvRow => [
  ...[row.id, row.business_name, row.display_name, row.email, row.country, row.phone, row.app_mode],
  ...[row.display_currency, row.onboarded_at === null ? 'incomplete' : 'complete', row.onboarded_at],
  ...[row.wallet_address, String(row.disabled_by_partner), String(row.disabled_by_operator), row.created_at],
];
