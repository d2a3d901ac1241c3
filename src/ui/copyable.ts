import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { descriptionList, mono } from './components.ts';
import type { Words } from './language.ts';

/** A text to pass on, in full, with a copy button; without script only the text. */
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
