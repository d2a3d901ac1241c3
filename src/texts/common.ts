import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './common/ar.ts';
import { de } from './common/de.ts';
import { en } from './common/en.ts';
import { es } from './common/es.ts';
import { fr } from './common/fr.ts';
import { hi } from './common/hi.ts';
import { ja } from './common/ja.ts';
import { pt } from './common/pt.ts';

export type CommonTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What every page is made of: its frame, its tables and its faults. */
export const commonTexts = translations<CommonTexts>({ ar, de, en, es, fr, hi, ja, pt });
