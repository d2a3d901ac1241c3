import { type OnboardingTexts, onboardingTexts } from '../texts/onboarding.ts';
import { type Words, wordsOf } from '../ui/language.ts';

/** The terms a merchant accepts. A changed text needs a new version; each merchant keeps the version it accepted. */
export const terms = { version: '1' } as const;

/** The sections of the terms: the binding ones in English, a translation in other languages. */
export function termsIn(words: Words): OnboardingTexts['terms'][keyof OnboardingTexts['terms']][] {
  const { get, wallet, payments, duties, stored, ending } = onboardingTexts(words).terms;
  return [get, wallet, payments, duties, stored, ending];
}

/** The binding sections. */
export const bindingTerms = () => termsIn(wordsOf('en'));
