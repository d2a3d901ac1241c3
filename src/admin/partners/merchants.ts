import { scopeOfMerchant } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { isUuid } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { type Html, html } from '../../lib/text/html.ts';
import {
  type AllMerchantsFilter,
  browseAllMerchants,
  exportAllMerchants,
  type ListedMerchant,
} from '../../merchants/all-partners.ts';
import { setMerchantDisabled } from '../../merchants/disable.ts';
import { adminTexts } from '../../texts/admin.ts';
import { portalTexts } from '../../texts/portal.ts';
import { badge, hiddenField, shortAddress, shortId } from '../../ui/components.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { ago } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { sendNotFound } from '../../web/error-page.ts';
import { type Filter, filters } from '../../web/filters.ts';
import { flashOf } from '../../web/flash.ts';
import { oneOf } from '../../web/query.ts';
import { emptyState, pager, table } from '../../web/table.ts';
import { adminEventsPath } from '../live.ts';
import type { AdminPages } from '../route.ts';

const path = '/admin/merchants';
const names = ['q', 'partner', 'mode', 'switch', 'onboarding', 'terms', 'after'] as const;
const switches = ['partner', 'operator', 'none'] as const;
const csvHeader = [
  ...['account_id', 'partner', 'mode', 'name', 'email', 'wallet_address', 'onboarding_status', 'terms_version'],
  ...['terms_accepted_at', 'disabled_by_partner', 'disabled_by_operator', 'created_at'],
];

/** `GET /admin/merchants`: the merchants of all partners in both modes. Operators disable and enable them here. */
export function merchantsPages(pages: AdminPages, ctx: Context): void {
  pages.page({ url: path }, async (call) => {
    const { words, query } = call;
    const admin = adminTexts(words);
    const wanted = query(names);
    const { rows, next } = await browseAllMerchants(ctx, filterOf(wanted), wanted.after ?? null);
    const notices = { off: admin.merchants.switchedOff, on: admin.merchants.switchedOn };
    const isFiltered = names.some((name) => wanted[name] !== undefined);
    const empty = isFiltered
      ? emptyState(admin.nothing, admin.nothingRest)
      : emptyState(admin.merchants.empty, admin.merchants.emptyRest);
    const list = rows.length > 0 ? merchantTable(words, rows, ctx.clock.now()) : empty;
    return call.show({
      path,
      title: admin.places.merchants,
      body: html`
        ${flashOf(call, { done: notices })}
        ${filters(words, path, wanted, choices(words), `${path}.csv`)}
        <div class="list" data-live="${adminEventsPath}" data-region="list">
          ${list}
          ${pager(words, path, wanted, next)}
        </div>
      `,
    });
  });
  pages.page({ url: `${path}.csv` }, async ({ query, reply }) =>
    sendCsv(
      reply,
      'merchants',
      csvHeader,
      csvOf(exportAllMerchants(ctx, filterOf(query(names))), (row) => [
        ...[row.id, row.partner_slug, modeOf(row.test_mode), row.name, row.email, row.wallet_address],
        ...[row.onboarded_at === null ? 'incomplete' : 'complete', row.terms_version, row.terms_accepted_at],
        ...[String(row.disabled_by_partner), String(row.disabled_by_operator), row.created_at],
      ]),
    ),
  );
  pages.form({ url: `${path}/switch`, fresh: 'always' }, async (call) => {
    const [id, to] = [call.typed('account'), oneOf(switchStates, call.typed('to'))];
    const scope = isUuid(id) ? await scopeOfMerchant(ctx.db, id) : null;
    const off = to === 'off';
    if (!scope || !to) return sendNotFound(call.reply);
    await setMerchantDisabled(ctx, call.actor, scope, { accountId: id, by: 'operator', disabled: off });
    return call.done(`${path}?q=${id}`, off ? 'off' : 'on');
  });
}

const switchStates = ['off', 'on'] as const;

function filterOf(query: Record<string, string>): AllMerchantsFilter {
  const { q, partner, mode, terms, onboarding } = query;
  const disabled = oneOf(switches, query.switch);
  return {
    ...(q && { search: q }),
    ...(partner && { partner: partner.toLowerCase() }),
    ...((mode === 'test' || mode === 'live') && { testMode: mode === 'test' }),
    ...(disabled && { disabled }),
    ...((onboarding === 'complete' || onboarding === 'incomplete') && { onboarded: onboarding === 'complete' }),
    ...(terms && { termsVersion: terms }),
  };
}

function choices(words: Words): Filter[] {
  const admin = adminTexts(words);
  const { merchants: t } = admin;
  return [
    { kind: 'text', name: 'q', label: admin.search, hint: t.searchHint },
    { kind: 'text', name: 'partner', label: admin.partner, hint: admin.allPartners },
    {
      kind: 'choice',
      name: 'mode',
      label: admin.mode,
      options: [
        ['live', admin.live],
        ['test', admin.test],
      ],
    },
    {
      kind: 'choice',
      name: 'switch',
      label: t.switch,
      options: [
        ['none', t.none],
        ['partner', t.byPartner],
        ['operator', t.byOperator],
      ],
    },
    {
      kind: 'choice',
      name: 'onboarding',
      label: t.onboarding,
      options: [
        ['complete', t.complete],
        ['incomplete', t.incomplete],
      ],
    },
  ];
}

function merchantTable(words: Words, rows: ListedMerchant[], now: Date): Html {
  const admin = adminTexts(words);
  const { merchants: t } = admin;
  return table<ListedMerchant>(
    admin.places.merchants,
    [
      {
        name: t.name,
        cell: ({ id, name }) =>
          html`
            <a href="${path}/${id}" dir="auto">${name ?? portalTexts(words).requests.unnamed}</a>
            ${' '}
            <span class="quiet mono" title="${id}">${shortId(id)}</span>
          `,
      },
      {
        name: admin.partner,
        cell: ({ partner_slug: slug, partner_name: name, test_mode: isTest }) =>
          html`
            <div>
              <a href="/admin/partners/${slug}" dir="auto">${name}</a>
              <p class="quiet">${slug} · ${isTest ? admin.test : admin.live}</p>
            </div>
          `,
      },
      {
        name: t.wallet,
        cell: ({ wallet_address: wallet }) => wallet && shortAddress(wallet),
      },
      {
        name: t.onboarding,
        cell: ({ onboarded_at }) =>
          onboarded_at === null ? badge('waiting', t.incomplete) : badge('paid', t.complete),
      },
      {
        name: t.terms,
        cell: ({ terms_version: version, terms_accepted_at: at }) =>
          version && html`<span title="${at?.toISOString()}">${fill(t.version, { version })}</span>`,
      },
      { name: t.switch, cell: (row) => switchCell(words, row) },
      { name: admin.created, cell: ({ created_at }) => ago(words, created_at, now) },
    ],
    rows,
  );
}

function switchCell(words: Words, row: ListedMerchant): Html {
  const admin = adminTexts(words);
  const { merchants: t } = admin;
  const action = `${path}/switch`;
  const carry = (to: string) => html`${hiddenField('account', row.id)}${hiddenField('to', to)}`;
  const state = html`
    ${row.disabled_by_operator && badge('ended', t.byOperator)}
    ${' '}
    ${row.disabled_by_partner && badge('ended', t.byPartner)}
  `;
  if (row.disabled_by_operator) {
    return html`${state}${form({ action, inside: carry('on'), submit: admin.switchOn, second: true })}`;
  }
  const question = {
    label: admin.switchOff,
    title: fill(t.offTitle, { name: row.name ?? portalTexts(words).requests.unnamed }),
    consequence: t.offRest,
    action,
    danger: true as const,
  };
  return html`${state}${confirmButton(question, carry('off'))}`;
}
