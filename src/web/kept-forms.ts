import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { signInTexts } from '../texts/sign-in.ts';
import type { Words } from '../ui/language.ts';

/**
 * On a page for signing in: that a form which was sent without a session saved nothing. Browser code shows the sentence
 * about what it has kept (`islands/lib/kept-forms.ts`).
 */
export function keptNotice(words: Words, isUnsaved: boolean): Html {
  const { unsaved, kept } = signInTexts(words).signIn;
  return html`
    ${isUnsaved && html`<p class="warning" role="status">${unsaved}</p>`}
    <p class="quiet" role="status" data-typed-kept hidden>${kept}</p>
  `;
}

/** On a page behind the sign-in: the notice that browser code shows where it has filled in a form again. */
export const typedAgainNotice = (words: Words): Html =>
  html`<p class="notice attention" role="status" data-typed-again hidden>${commonTexts(words).app.typedAgain}</p>`;
