import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './plans/ar.ts';
import { de } from './plans/de.ts';
import { en } from './plans/en.ts';
import { es } from './plans/es.ts';
import { fr } from './plans/fr.ts';
import { hi } from './plans/hi.ts';
import { ja } from './plans/ja.ts';
import { pt } from './plans/pt.ts';

export type PlanTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What customers of a plan read: its mails, and the page that stops them. */
export const planTexts = translations<PlanTexts>({ ar, de, en, es, fr, hi, ja, pt });
