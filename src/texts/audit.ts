import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './audit/ar.ts';
import { de } from './audit/de.ts';
import { en } from './audit/en.ts';
import { es } from './audit/es.ts';
import { fr } from './audit/fr.ts';
import { hi } from './audit/hi.ts';
import { ja } from './audit/ja.ts';
import { pt } from './audit/pt.ts';

export type AuditTexts<L extends Language = Language> = Translated<typeof en, L>;

/** The audit log in words, for partners and operators. */
export const auditTexts = translations<AuditTexts>({ ar, de, en, es, fr, hi, ja, pt });
