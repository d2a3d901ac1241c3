import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './mails/ar.ts';
import { de } from './mails/de.ts';
import { en } from './mails/en.ts';
import { es } from './mails/es.ts';
import { fr } from './mails/fr.ts';
import { hi } from './mails/hi.ts';
import { ja } from './mails/ja.ts';
import { pt } from './mails/pt.ts';

export type MailTexts<L extends Language = Language> = Translated<typeof en, L>;

/** Mails to merchants and partners about codes, wallets and webhooks. */
export const mailTexts = translations<MailTexts>({ ar, de, en, es, fr, hi, ja, pt });
