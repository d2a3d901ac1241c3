import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { hiddenField, optionList, selectField } from '../ui/components.ts';
import { fill, type Words } from '../ui/language.ts';
import { instantOf, linkWith } from './query.ts';

/** A filter of a list. Its value is in the query. */
export type Filter =
  | { kind: 'choice'; name: string; label: string; options: [value: string, label: string][] }
  /** A date is a day in UTC, although browser code shows times in the reader's zone; its label says so. */
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
    <form class="filters${used && ' used'}" method="get" action="${path}">
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
  const { name, label } = filter;
  const id = `filter-${name}`;
  if (filter.kind === 'choice') {
    const options: [string, string][] = [['', commonTexts(words).app.all], ...filter.options];
    return selectField({ name, id, label, options: optionList(options, value) });
  }
  const isDate = filter.kind === 'date';
  // The browser shows such a field as empty.
  const isIgnored = isDate && value !== '' && !instantOf(value);
  return html`
    <div class="field">
      <label for="${id}">${isDate ? `${label} (UTC)` : label}</label>
      <input
        id="${id}"
        name="${name}"
        type="${isDate ? 'date' : 'search'}"
        value="${value}"
        placeholder="${filter.hint}"
        ${isIgnored && html` aria-invalid="true" aria-describedby="${id}-fault"`}
      >
      ${isIgnored && html`<p class="fault" id="${id}-fault">${fill(commonTexts(words).app.notADate, { value })}</p>`}
    </div>
  `;
}
