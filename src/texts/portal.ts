import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './portal/ar.ts';
import { de } from './portal/de.ts';
import { en } from './portal/en.ts';
import { es } from './portal/es.ts';
import { fr } from './portal/fr.ts';
import { hi } from './portal/hi.ts';
import { ja } from './portal/ja.ts';
import { pt } from './portal/pt.ts';

export type PortalTexts<L extends Language = Language> = Translated<typeof en, L>;

/** What people of a partner read in the portal. */
export const portalTexts = translations<PortalTexts>({ ar, de, en, es, fr, hi, ja, pt });
