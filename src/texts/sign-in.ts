import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './sign-in/ar.ts';
import { de } from './sign-in/de.ts';
import { en } from './sign-in/en.ts';
import { es } from './sign-in/es.ts';
import { fr } from './sign-in/fr.ts';
import { hi } from './sign-in/hi.ts';
import { ja } from './sign-in/ja.ts';
import { pt } from './sign-in/pt.ts';

export type SignInTexts<L extends Language = Language> = Translated<typeof en, L>;

/** Signing in, passkeys and sessions. */
export const signInTexts = translations<SignInTexts>({ ar, de, en, es, fr, hi, ja, pt });
