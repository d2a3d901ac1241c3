import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import type { Words } from '../ui/language.ts';
import { linkWith } from './query.ts';

export type Column<Row> = {
  name: string;
  /** Renders the cell. The first column names the row for people, usually with a link. */
  cell: (row: Row) => Html | string | null;
  /** Right-aligned, with figures of equal width. */
  figures?: true;
  /** Only screen readers say the name. */
  isNameHidden?: true;
};

/** A column of buttons, which need no heading for who sees them. */
export const actionsColumn = <Row>(words: Words, cell: Column<Row>['cell']): Column<Row> => ({
  name: commonTexts(words).app.actions,
  isNameHidden: true,
  cell,
});

const hidden = (text: string) => html`<span class="hidden">${text}</span>`;

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
              ({ name, figures, isNameHidden }) =>
                html`<th scope="col"${figures && html` class="figures"`}>${isNameHidden ? hidden(name) : name}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`
                <tr>
                  ${columns.map(({ name, cell, figures, isNameHidden }, i) => {
                    const content = cell(row);
                    if (i === 0) return html`<th scope="row">${content}</th>`;
                    return html`<td data-name="${isNameHidden ? '' : name}"${figures && html` class="figures"`}>${content}</td>`;
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
