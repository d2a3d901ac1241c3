import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './onboarding/ar.ts';
import { de } from './onboarding/de.ts';
import { en } from './onboarding/en.ts';
import { es } from './onboarding/es.ts';
import { fr } from './onboarding/fr.ts';
import { hi } from './onboarding/hi.ts';
import { ja } from './onboarding/ja.ts';
import { pt } from './onboarding/pt.ts';

export type OnboardingTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What merchants read while they onboard, and the terms. */
export const onboardingTexts = translations<OnboardingTexts>({ ar, de, en, es, fr, hi, ja, pt });
