import type { Language } from '../ui/language.ts';
import { type Translated, translationsWithWholeAmounts } from './area.ts';
import { ar } from './pay/ar.ts';
import { de } from './pay/de.ts';
import { en } from './pay/en.ts';
import { es } from './pay/es.ts';
import { fr } from './pay/fr.ts';
import { hi } from './pay/hi.ts';
import { ja } from './pay/ja.ts';
import { pt } from './pay/pt.ts';

export type PayTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What customers read on the pay page. */
export const payTexts = translationsWithWholeAmounts<PayTexts>({ ar, de, en, es, fr, hi, ja, pt });
