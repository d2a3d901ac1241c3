import type { FastifyReply } from 'fastify';
import { createApiKey, maxKeyName, type NewKey, type ScopeName, scopeNames } from '../../auth/api-keys.ts';
import { FormRepeated } from '../../auth/form-repeated.ts';
import { browseKeys, exportKeys, type OwnKey, revokeOwnKey } from '../../auth/own-keys.ts';
import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { dayMs } from '../../lib/durations.ts';
import { isUuid } from '../../lib/ids.ts';
import type { CsvRow } from '../../lib/text/csv.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { badge, card, field, hiddenField, mono, optionList, selectField, stateLine } from '../../ui/components.ts';
import { copyable } from '../../ui/copyable.ts';
import { confirmButton, form } from '../../ui/form.ts';
import { ago, formatUnit, instant } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { csvOf, sendCsv } from '../../web/download.ts';
import { flashOf } from '../../web/flash.ts';
import { formKeyField, formKeyOf } from '../../web/form-key.ts';
import { readQuery } from '../../web/query.ts';
import { notice } from '../../web/shell.ts';
import { actionsColumn, csvLink, emptyState, pager, table } from '../../web/table.ts';
import { portalEventsPath } from '../live.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';
import { sendPortal } from '../shell.ts';

const path = '/portal/keys';
const csvPath = '/portal/keys.csv';

/** `/portal/keys`: the API keys of the mode. Creates keys, each of which is shown only once, and revokes them. */
export function keyPages(pages: PortalPages, ctx: Context): void {
  pages.page({ url: path, permission: 'keys.read' }, (call) => showKeys(ctx, call, null));

  pages.page({ url: csvPath, permission: 'keys.read' }, async ({ scope, mode, reply }) =>
    sendCsv(reply, `keys-${mode}`, csvHeader, csvOf(exportKeys(ctx.db, scope), csvRow)),
  );

  pages.form({ url: path, permission: 'keys', fresh: 'live' }, async (call) => {
    const scopes = scopeNames.filter((name) => call.ticked('scopes').includes(name));
    if (scopes.length === 0) return call.done(path, 'no_scope');
    try {
      const { key } = await createApiKey(ctx, call.actor, call.scope, wantedKey(call, scopes, ctx.clock.now()));
      return await showKeys(ctx, call, key);
    } catch (error) {
      if (error instanceof FormRepeated) return call.done(path, 'repeated');
      throw error;
    }
  });

  pages.form({ url: `${path}/revoke`, permission: 'keys', fresh: 'live' }, async (call) => {
    const { scope } = call;
    const id = call.typed('key').toLowerCase();
    if (!isUuid(id)) throw refuse('not_found');
    const hint = await revokeOwnKey(ctx, call.actor, scope, id);
    return call.done(path, hint === null ? 'not_revoked' : 'revoked');
  });
}

/** After how many days a key can expire. The first choice is never. */
const lifetimes = [30, 90, 365] as const;

function wantedKey(call: PortalCall, scopes: ScopeName[], now: Date): NewKey {
  const name = [...oneLine(call.typed('name'))].slice(0, maxKeyName).join('').trim();
  const days = lifetimes.find((days) => String(days) === call.typed('lifetime'));
  return {
    scopes,
    name: name || null,
    endsAt: days ? new Date(now.getTime() + days * dayMs) : null,
    formKey: formKeyOf(call),
  };
}

async function showKeys(ctx: Context, call: PortalCall, made: string | null): Promise<FastifyReply> {
  const { words, mode, scope, user, request } = call;
  const { keys, places } = portalTexts(words);
  const query = readQuery(request.query, ['after']);
  const { rows, next } = await browseKeys(ctx.db, scope, query.after ?? null);
  const mayChange = may(user, 'keys', mode);
  const list =
    rows.length > 0
      ? keyTable(words, rows, ctx.clock.now(), mayChange ? actionIn(call, `${path}/revoke`) : null)
      : emptyState(keys.none, fill(keys.noneRest, { mode: commonTexts(words).app[mode].toLowerCase() }));
  const flashes = {
    done: { revoked: keys.revoked },
    refused: { no_scope: keys.noScope, not_revoked: keys.notRevoked, repeated: keys.repeated },
  };
  return sendPortal(ctx, call.reply, call, {
    path,
    title: places.keys,
    body: html`
      ${flashOf(call, flashes)}
      ${made !== null && newKey(words, made)}
      ${mayChange ? keyForm(call, rows.length === 0) : notice('attention', keys.ownersOnly)}
      <div class="list" data-live="${portalEventsPath(call.mode)}" data-region="list">
        ${list}
        ${pager(words, path, query, next)}
      </div>
      ${rows.length > 0 && csvLink(words, csvPath)}
    `,
  });
}

/** A new key, which is shown only this once. */
export function newKey(words: Words, key: string): Html {
  const { keys } = portalTexts(words);
  const made = html`<div role="status">${stateLine('paid', keys.made, keys.madeRest)}</div>`;
  return card(made, copyable(words, keys.key, key, keys.copy));
}

/** @param isFirst whether there is no key yet: then the form is what the page is for */
function keyForm(call: PortalCall, isFirst: boolean): Html {
  const { words, mode } = call;
  const { keys } = portalTexts(words);
  const boxes = scopeNames.map(
    (name) =>
      html`
        <label class="check">
          <input type="checkbox" name="scopes" value="${name}" checked>
          <span>${keys.scopes[name]} <code class="quiet">${name}</code></span>
        </label>
      `,
  );
  const title = mode === 'test' ? keys.newTest : keys.newLive;
  return html`
    <details class="card"${isFirst && html` open`}>
      <summary>${title}</summary>
      ${form({
        action: actionIn(call, path),
        inside: html`
          <p class="quiet">${mode === 'test' ? keys.newTestRest : keys.newLiveRest}</p>
          ${formKeyField()}
          ${field({
            name: 'name',
            label: keys.name,
            attributes: `maxlength="${maxKeyName}" autocomplete="off" placeholder="${keys.nameExample}"`,
          })}
          <fieldset class="boxes"><legend>${keys.may}</legend>${boxes}</fieldset>
          ${selectField({
            name: 'lifetime',
            label: keys.ends,
            options: optionList(
              [
                ['', keys.endsNever] as const,
                ...lifetimes.map((days) => [String(days), formatUnit(words, days, 'day')] as const),
              ],
              null,
            ),
          })}
        `,
        submit: keys.make,
      })}
    </details>
  `;
}

/** The scopes of a key in words, and the API's names on hover, because a row of the list has little room. */
function scopesOf(words: Words, scopes: string[]): Html {
  const known = Object.entries(portalTexts(words).keys.scopes).filter(([name]) => scopes.includes(name));
  return html`
    <span class="quiet">
      ${known.map(([name, label], i) => html`${i > 0 && ', '}<span title="${name}">${label}</span>`)}
    </span>
  `;
}

function keyTable(words: Words, rows: OwnKey[], now: Date, revokePath: string | null): Html {
  const { keys, places } = portalTexts(words);
  return table<OwnKey>(
    places.keys,
    [
      {
        name: keys.key,
        cell: ({ name, hint }) => (name === null ? mono(hint) : html`<strong>${name}</strong> ${mono(hint)}`),
      },
      {
        name: keys.may,
        cell: ({ scopes }) => scopesOf(words, scopes),
      },
      {
        name: keys.created,
        cell: ({ created_at, created_by }) =>
          html`${ago(words, created_at, now)}${created_by !== null && html` <span class="quiet">${created_by}</span>`}`,
      },
      {
        name: keys.lastUsed,
        cell: ({ last_used_at }) => (last_used_at === null ? keys.never : ago(words, last_used_at, now)),
      },
      {
        name: keys.state,
        cell: (row) => stateOf(words, row, now),
      },
      actionsColumn(words, ({ id, hint, revoked_at }) =>
        revokePath !== null && revoked_at === null
          ? confirmButton(
              {
                label: keys.revoke,
                title: fill(keys.revokeTitle, { hint }),
                consequence: keys.revokeRest,
                action: revokePath,
                danger: true,
              },
              hiddenField('key', id),
            )
          : null,
      ),
    ],
    rows,
  );
}

function stateOf(words: Words, { revoked_at, ends_at }: OwnKey, now: Date): Html {
  const { keys } = portalTexts(words);
  if (revoked_at !== null) return html`<span>${badge('ended', keys.isRevoked)} ${ago(words, revoked_at, now)}</span>`;
  if (ends_at === null) return badge('paid', keys.inForce);
  if (ends_at <= now) return html`<span>${badge('ended', keys.ended)} ${ago(words, ends_at, now)}</span>`;
  return html`<span>${badge('paid', keys.inForce)} ${fillHtml(keys.until, { date: instant(words, ends_at) })}</span>`;
}

const csvHeader = [
  ...['key_id', 'hint', 'scopes', 'created_at', 'last_used_at', 'revoked_at'],
  ...['name', 'created_by', 'ends_at'],
];

const csvRow = (key: OwnKey): CsvRow => [
  ...[key.id, key.hint, key.scopes.join(' '), key.created_at, key.last_used_at, key.revoked_at],
  ...[key.name, key.created_by, key.ends_at],
];
