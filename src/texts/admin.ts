import type { Language } from '../ui/language.ts';
import { ar } from './admin/ar.ts';
import { de } from './admin/de.ts';
import { en } from './admin/en.ts';
import { es } from './admin/es.ts';
import { fr } from './admin/fr.ts';
import { hi } from './admin/hi.ts';
import { ja } from './admin/ja.ts';
import { pt } from './admin/pt.ts';
import { type Translated, translations } from './area.ts';

export type AdminTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What those who run the service read. */
export const adminTexts = translations<AdminTexts>({ ar, de, en, es, fr, hi, ja, pt });
