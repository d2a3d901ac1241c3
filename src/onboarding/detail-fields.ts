import { countryNames } from '../lib/text/countries.ts';
import { type Html, html } from '../lib/text/html.ts';
import { dashboardTexts } from '../texts/dashboard.ts';
import { onboardingTexts } from '../texts/onboarding.ts';
import { optionList, selectField } from '../ui/components.ts';
import { currencyLabel } from '../ui/formats.ts';
import { fill, type Words } from '../ui/language.ts';
import type { StepPage } from './page.ts';

/** The currencies that have a rate, and that of the merchant's country; null if it is unknown or has no rate. */
export type CurrencyChoice = { currencies: string[]; suggested: string | null };

/** The currency field. The partner's currency is preselected. That of the merchant's country comes next in the list. */
export function currencyField(
  { words, row, typed }: StepPage,
  { currencies, suggested }: CurrencyChoice,
  fault: string | undefined,
): Html {
  const { onboard } = onboardingTexts(words);
  const { profile } = dashboardTexts(words);
  const chosen = typed.display_currency ?? row.display_currency;
  const options = (codes: string[]) =>
    optionList(
      codes.map((code) => [code, currencyLabel(words, code)]),
      chosen,
    );
  const first = [...new Set([row.display_currency, suggested ?? row.display_currency])];
  const others = currencies.filter((code) => !first.includes(code)).sort();
  return selectField({
    name: 'display_currency',
    label: profile.currency,
    hint: fill(onboard.currencyHint, { partner: row.partner_name }),
    fault,
    options: [
      html`<optgroup label="${onboard.suggested}">${options(first)}</optgroup>`,
      others.length > 0 && html`<optgroup label="${onboard.allCurrencies}">${options(others)}</optgroup>`,
    ],
  });
}

/** The country field. A country that the partner gave stays selectable even if the list does not contain it. */
export function countryField(words: Words, value: string, fault: string | undefined): Html {
  const { onboard } = onboardingTexts(words);
  const countries = countryNames(words.language);
  const known = value === '' || countries.some(({ code }) => code === value);
  const all = known ? countries : [{ code: value, name: value }, ...countries];
  const options = [['', onboard.noCountry] as const, ...all.map(({ code, name }) => [code, name] as const)];
  return selectField({
    name: 'country',
    label: onboard.country,
    fault,
    attributes: 'autocomplete="country"',
    options: optionList(options, value),
  });
}
