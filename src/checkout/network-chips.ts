import { type Html, html } from '../lib/text/html.ts';
import { payTexts } from '../texts/pay.ts';
import type { Words } from '../ui/language.ts';

/**
 * One chip for each network and token; the first is chosen.
 *
 * @param isHidden for a choice that only works with browser code, which shows it
 */
export function networkChips(
  words: Words,
  options: { chain: { name: string }; token: { symbol: string } }[],
  isHidden: boolean,
): Html {
  const symbols = new Set(options.map(({ token }) => token.symbol));
  return html`
    <fieldset class="chips"${isHidden && html` hidden`}>
      <legend class="quiet">${payTexts(words).paymentMethods.network}</legend>
      ${options.map(
        ({ chain, token }, index) =>
          html`
            <label>
              <input type="radio" name="option" value="${index}"${index === 0 && html` checked`}>
              <span>${symbols.size > 1 ? `${chain.name} · ${token.symbol}` : chain.name}</span>
            </label>
          `,
      )}
    </fieldset>
  `;
}
