import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { descriptionList, mono } from './components.ts';
import type { Words } from './language.ts';

/** A text to be passed on, whole, with a button that copies it; without script there is the text alone. */
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
