import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { hiddenField, type StateKind, shapeOf } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import type { Words } from '../ui/language.ts';

export type Column<Row> = {
  name: string;
  /** Renders the cell. The first column names the row for people, usually with a link. */
  cell: (row: Row) => Html | string | null;
  /** Right-aligned, with figures of equal width. */
  figures?: true;
};

/**
 * Rows with a header. On a phone each row becomes a card whose cells name their columns. A wide table scrolls, by
 * keyboard too.
 */
export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[]): Html {
  return html`
    <div class="table" role="group" aria-label="${caption}" tabindex="0">
      <table>
        <caption class="hidden">${caption}</caption>
        <thead>
          <tr>
            ${columns.map(
              ({ name, figures }) => html`<th scope="col"${figures && html` class="figures"`}>${name}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`
                <tr>
                  ${columns.map(({ name, cell, figures }, i) => {
                    const content = cell(row);
                    if (i === 0) return html`<th scope="row">${content}</th>`;
                    return html`<td data-name="${name}"${figures && html` class="figures"`}>${content}</td>`;
                  })}
                </tr>
              `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** What an empty list shows: the next step, with a working example if there is one. */
export function emptyState(title: string, next: Html | string): Html {
  return html`
    <div class="empty">
      <p><strong>${title}</strong></p>
      <div class="quiet">${next}</div>
    </div>
  `;
}

/** A state as a word with a shape. */
export function badge(kind: StateKind, word: string): Html {
  return html`<span class="badge ${kind}">${shapeOf(kind)}${word}</span>`;
}

/** A link to a path with the query changed; null removes a value. */
export function linkWith(path: string, query: Record<string, string>, change: Record<string, string | null>): string {
  const next = Object.entries({ ...query, ...change }).filter(([, value]) => value !== null && value !== '');
  const text = new URLSearchParams(next as [string, string][]).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Links to choose one of several views, of which the current one is marked. */
export function viewSwitch(label: string, links: { name: string; href: string; current: boolean }[]): Html {
  return html`
    <nav class="switch" aria-label="${label}">
      ${links.map(
        ({ name, href, current }) => html`<a href="${href}"${current && html` aria-current="true"`}>${name}</a>`,
      )}
    </nav>
  `;
}

/** Links to the next page and back to the first. `after` is the cursor after which a page begins. */
export function pager(words: Words, path: string, query: Record<string, string>, next: string | null): Html | null {
  const { app } = commonTexts(words);
  const first = query.after !== undefined && html`<a href="${linkWith(path, query, { after: null })}">${app.first}</a>`;
  const more = next !== null && html`<a href="${linkWith(path, query, { after: next })}" rel="next">${app.next}</a>`;
  return first || more ? html`<nav class="pager" aria-label="${app.pages}">${first}${more}</nav>` : null;
}

/** The link to the whole list as CSV, for a list without filters. */
export function csvLink(words: Words, path: string): Html {
  return html`<p><a href="${path}" download>${commonTexts(words).app.csv}</a></p>`;
}

/** A filter of a list. Its value is in the query. */
export type Filter =
  | { kind: 'choice'; name: string; label: string; options: [value: string, label: string][] }
  | { kind: 'text' | 'date'; name: string; label: string; hint?: string }
  /** A filter by an ID that was chosen on another page, with a name for people. It can only be removed. */
  | { kind: 'chosen'; name: string; label: string; shown: string };

/** The filters above a list, as a form that sets the query, with a link to the whole list as CSV. */
export function filters(
  words: Words,
  path: string,
  query: Record<string, string>,
  list: Filter[],
  csvPath: string | null,
): Html {
  const { app } = commonTexts(words);
  const used = list.some(({ name }) => query[name]);
  return html`
    <form class="filters" method="get" action="${path}">
      ${list.map((filter) =>
        filter.kind === 'chosen'
          ? chosenField(
              words,
              filter,
              query[filter.name] ?? '',
              linkWith(path, query, { [filter.name]: null, after: null }),
            )
          : filterField(words, filter, query[filter.name] ?? ''),
      )}
      <div class="do">
        <button class="second">${app.apply}</button>
        ${used && html`<a href="${path}">${app.reset}</a>`}
        ${csvPath !== null && html`<a href="${linkWith(csvPath, query, { after: null })}" download>${app.csv}</a>`}
      </div>
    </form>
  `;
}

function chosenField(
  words: Words,
  { name, label, shown }: Filter & { kind: 'chosen' },
  id: string,
  without: string,
): Html {
  return html`
    <div class="field">
      <span>${label}</span>
      <span class="chosen">
        ${hiddenField(name, id)}
        <bdi title="${id}">${shown}</bdi>
        <a href="${without}" aria-label="${commonTexts(words).app.reset}: ${label}">×</a>
      </span>
    </div>
  `;
}

function filterField(words: Words, filter: Exclude<Filter, { kind: 'chosen' }>, value: string): Html {
  const id = `filter-${filter.name}`;
  const label = html`<label for="${id}">${filter.label}</label>`;
  if (filter.kind === 'choice') {
    const options: [string, string][] = [['', commonTexts(words).app.all], ...filter.options];
    return html`
      <div class="field">
        ${label}
        <select id="${id}" name="${filter.name}">
          ${options.map(
            ([option, name]) => html`<option value="${option}"${option === value && html` selected`}>${name}</option>`,
          )}
        </select>
      </div>
    `;
  }
  return html`
    <div class="field">
      ${label}
      <input
        id="${id}"
        name="${filter.name}"
        type="${filter.kind === 'date' ? 'date' : 'search'}"
        value="${value}"
        placeholder="${filter.hint}"
      >
    </div>
  `;
}

/**
 * The button of a destructive action. A confirmation names the action and its consequences first. Without script, the
 * confirmation unfolds.
 *
 * @param fields hidden values of the form
 */
export function confirmButton(
  act: { label: string; title: string; consequence: string; action: string; danger?: true },
  fields: Html | null,
): Html {
  return html`
    <details class="confirm${act.danger && ' danger'}">
      <summary>${act.label}</summary>
      <div class="question">
        <p><strong>${act.title}</strong></p>
        <p class="quiet">${act.consequence}</p>
        ${form({ action: act.action, inside: fields, submit: act.label })}
      </div>
    </details>
  `;
}
