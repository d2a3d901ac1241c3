import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './mandates/ar.ts';
import { de } from './mandates/de.ts';
import { en } from './mandates/en.ts';
import { es } from './mandates/es.ts';
import { fr } from './mandates/fr.ts';
import { hi } from './mandates/hi.ts';
import { ja } from './mandates/ja.ts';
import { pt } from './mandates/pt.ts';

export type MandateTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What merchants and customers read of automatic charges: forms, the customer's page of a plan, and mails. */
export const mandateTexts = translations<MandateTexts>({ ar, de, en, es, fr, hi, ja, pt });
