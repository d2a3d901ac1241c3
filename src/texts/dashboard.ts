import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './dashboard/ar.ts';
import { de } from './dashboard/de.ts';
import { en } from './dashboard/en.ts';
import { es } from './dashboard/es.ts';
import { fr } from './dashboard/fr.ts';
import { hi } from './dashboard/hi.ts';
import { ja } from './dashboard/ja.ts';
import { pt } from './dashboard/pt.ts';

export type DashboardTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What merchants read in their dashboard. */
export const dashboardTexts = translations<DashboardTexts>({ ar, de, en, es, fr, hi, ja, pt });
