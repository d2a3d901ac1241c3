import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './charges/ar.ts';
import { de } from './charges/de.ts';
import { en } from './charges/en.ts';
import { es } from './charges/es.ts';
import { fr } from './charges/fr.ts';
import { hi } from './charges/hi.ts';
import { ja } from './charges/ja.ts';
import { pt } from './charges/pt.ts';

export type ChargesTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What is said of automatic charges: to customers in mails, and to merchants on a plan's page. */
export const chargesTexts = translations<ChargesTexts>({ ar, de, en, es, fr, hi, ja, pt });
