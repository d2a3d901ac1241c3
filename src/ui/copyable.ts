import { type Html, html, raw } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { descriptionList, mono } from './components.ts';
import type { Words } from './language.ts';

/** The icon of buttons that copy the text beside them. */
export const copyShape: Html = raw(
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8"><rect x="8" y="8" width="12" height="12" rx="2.5"/><path d="M16 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h2"/></svg>',
);

/** A full text with a copy button; without script, only the text. */
export function copyable(words: Words, name: string, text: string, label: string): Html {
  return html`
    <div class="copyable stack">
      ${descriptionList([[name, mono(text)]])}
      <button type="button" class="second" data-copy="${text}" data-copied="${commonTexts(words).common.copied}" hidden>
        ${label}
      </button>
    </div>
  `;
}

/**
 * A text with a button that copies it: an ID, a hash, an address, a URL.
 *
 * @param name the name of the text, for screen readers
 * @param shown replaces the shown text, for example by a link
 */
export function copyableText(words: Words, name: string, text: string, shown: Html = mono(text)): Html {
  const { copy, copied } = commonTexts(words).common;
  return html`
    <span class="copyable line">
      ${shown}
      <button
        type="button"
        class="copy"
        data-copy="${text}"
        data-copied="${copied}"
        aria-label="${copy}: ${name}"
        hidden
      >
        ${copyShape}
      </button>
    </span>
  `;
}

/** As `copyableText`, with the text's name, for a list of names and values. */
export function copyableFact(words: Words, name: string, text: string, shown?: Html): [string, Html] {
  return [name, copyableText(words, name, text, shown)];
}
