import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './receipts/ar.ts';
import { de } from './receipts/de.ts';
import { en } from './receipts/en.ts';
import { es } from './receipts/es.ts';
import { fr } from './receipts/fr.ts';
import { hi } from './receipts/hi.ts';
import { ja } from './receipts/ja.ts';
import { pt } from './receipts/pt.ts';

export type ReceiptTexts<L extends Language = Language> = Translated<typeof en, L>;

/** The receipt as a page, as a mail, and as a message to a phone. */
export const receiptTexts = translations<ReceiptTexts>({ ar, de, en, es, fr, hi, ja, pt });
