import { renderSVG } from 'uqr';
import { type Html, html, raw } from '../lib/text/html.ts';
import { checksummed } from './address.ts';

/** The kinds of states. Each is shown with a word, a colour and a shape, never by colour alone. */
export type StateKind = 'waiting' | 'confirming' | 'paid' | 'attention' | 'failed' | 'ended';

const shapes: Record<StateKind, string> = {
  waiting: '<circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2.5"/>',
  confirming:
    '<circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2.5" opacity=".35"/>' +
    '<path d="M12 4a8 8 0 0 1 0 16" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round"/>',
  paid:
    '<circle cx="12" cy="12" r="10" fill="currentColor"/>' +
    '<path class="tick" d="m7.5 12.5 3 3 6-6.5" fill="none" stroke="Canvas" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>',
  attention:
    '<path d="M12 3.5 22 20.5H2Z" fill="currentColor" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round"/>' +
    '<path d="M12 10v5m0 2.4v.1" stroke="Canvas" stroke-width="2" stroke-linecap="round"/>',
  failed:
    '<circle cx="12" cy="12" r="10" fill="currentColor"/>' +
    '<path d="m8.5 8.5 7 7m0-7-7 7" stroke="Canvas" stroke-width="2.2" stroke-linecap="round"/>',
  ended: '<path d="M5 12h14" stroke="currentColor" stroke-width="3" stroke-linecap="round"/>',
};

/** The shape of a state without its word, for places that have one already. */
export function shapeOf(kind: StateKind): Html {
  return drawn(shapes[kind]);
}

const drawn = (shape: string) => raw(`<svg class="shape" viewBox="0 0 24 24" aria-hidden="true">${shape}</svg>`);

/** A ring that fills, from 0 to 1. */
const ring = (done: number) =>
  '<circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2.5" opacity=".3"/>' +
  `<circle class="fill" cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" pathLength="100" stroke-dasharray="${Math.round(done * 100)} 100" transform="rotate(-90 12 12)"/>`;

/** A state as a word with a shape. */
export function badge(kind: StateKind, word: string): Html {
  return html`<span class="badge ${kind}">${shapeOf(kind)}${word}</span>`;
}

/**
 * The current state, in words, with the shape of its kind.
 *
 * @param as `h1` if it is the page's heading
 * @param done 0 to 1, for a state with measurable progress
 */
export function stateLine(
  kind: StateKind,
  headline: string,
  rest: string | Html | null = null,
  as: 'strong' | 'h1' = 'strong',
  done?: number,
): Html {
  const shape = done === undefined ? shapeOf(kind) : drawn(ring(done));
  const title = as === 'h1' ? html`<h1>${headline}</h1>` : html`<p><strong>${headline}</strong></p>`;
  return html`<div class="state ${kind}">${shape}${title}${rest !== null && html`<p class="quiet">${rest}</p>`}</div>`;
}

/** One block of the column. */
export function card(...parts: (Html | false | null)[]): Html {
  return html`<section class="card">${parts}</section>`;
}

/** A list of names and values; null entries are left out. */
export function descriptionList(list: ([name: string, value: Html | string] | null)[]): Html {
  return html`
    <dl class="facts">${list.map((fact) => fact && html`<div><dt>${fact[0]}</dt><dd>${fact[1]}</dd></div>`)}</dl>
  `;
}

/** A text in monospace that people copy: an address, a hash, an exact amount. */
export function mono(text: string): Html {
  return html`<span class="mono">${text}</span>`;
}

/** A text that a narrow column breaks before the sign @, so that an e-mail address is not broken within its domain. */
export const breakable = (text: string): (Html | string)[] =>
  text.split(/(?=@)/).map((part, i) => (i === 0 ? part : html`<wbr>${part}`));

/** The number of visible characters, without the direction marks of right-to-left languages. */
const visibleLength = (text: string) => text.replace(/\p{Cf}/gu, '').length;

/** The main amount of a page, as large as fits on one line of a phone. */
export function largeAmount(text: string | Html): Html {
  const length = visibleLength(typeof text === 'string' ? text : text.text);
  return html`<p class="amount${length > 14 ? ' longest' : length > 11 && ' long'}"><bdi>${text}</bdi></p>`;
}

/** The figure of a tile, as large as fits on one line of a narrow one. */
export function tileValue(text: string): Html {
  const length = visibleLength(text);
  return html`<p class="value${length > 14 ? ' longest' : length > 11 && ' long'}">${text}</p>`;
}

/** A full address, for copying and comparing. */
export const fullAddress = (address: string): Html => mono(checksummed(address));

/** A shortened address or hash. The full one shows on hover, and is what copying copies. */
export function shortAddress(address: string): Html {
  const shown = checksummed(address);
  return html`
    <span class="mono short" dir="ltr" title="${shown}">${`${shown.slice(0, 8)}…${shown.slice(-6)}`}</span>
  `;
}

/** A shortened id. Its beginning can be searched for; its end distinguishes ids of the same minute. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`;

/** A QR code with a caption. Screen readers read `label` and the text itself. */
export function qr(text: string, label: string, caption: string): Html {
  const svg = renderSVG(text, { border: 3, ecc: 'M' }).replace('<svg ', '<svg aria-hidden="true" ');
  return html`
    <figure class="qr">
      <div role="img" aria-label="${label}: ${text}">${raw(svg)}</div>
      <figcaption class="quiet">${caption}</figcaption>
    </figure>
  `;
}

/**
 * On a field with a fault. The browser goes to the first of them when the page opens, with or without script, so that
 * nobody has to look for what was wrong.
 */
export const isWrong = raw(' aria-invalid="true" autofocus');

type Labelled = {
  name: string;
  /** By default the name. For forms that stand beside others with a field of the same name. */
  id?: string;
  label: string;
  /** The field's rule, shown before its fault. */
  hint?: string | undefined;
  fault?: string | undefined;
  /** Further attributes, from our own code only: `required maxlength="120"`. */
  attributes?: string;
};
export type Field = Labelled & { value?: string | null; rows?: number };

/** A labelled input with its rule and its fault. It keeps what was typed. With `rows` it is a text area. */
export function field({ value, rows, ...field }: Field): Html {
  return labelled(field, (named, attributes) =>
    rows
      ? html`<textarea ${named} rows="${rows}"${attributes}>${value}</textarea>`
      : html`<input ${named} value="${value}"${attributes}>`,
  );
}

/** A labelled `<select>` with its rule and its fault. */
export function selectField({ options, ...field }: Labelled & { options: Html | (Html | false)[] }): Html {
  return labelled(field, (named, attributes) => html`<select ${named}${attributes}>${options}</select>`);
}

function labelled(
  { name, id = name, label, hint, fault, attributes }: Labelled,
  control: (named: Html, attributes: Html) => Html,
): Html {
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  const more = [attributes && ` ${attributes}`, described && ` aria-describedby="${described}"`, fault && isWrong.text];
  return html`
    <div class="field">
      <label for="${id}">${label}</label>
      ${hint && html`<p class="quiet" id="${id}-hint">${hint}</p>`}
      ${control(html`id="${id}" name="${name}"`, raw(more.filter(Boolean).join('')))}
      ${fault && html`<p class="fault" id="${id}-fault">${fault}</p>`}
    </div>
  `;
}

/** The options of a `<select>`, of which one may be chosen. */
export function optionList(
  options: readonly (readonly [value: string, label: string])[],
  chosen: string | null | undefined,
): Html[] {
  return options.map(
    ([value, label]) => html`<option value="${value}"${value === chosen && html` selected`}>${label}</option>`,
  );
}

/** A hidden value that the next step needs. */
export function hiddenField(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}">`;
}
