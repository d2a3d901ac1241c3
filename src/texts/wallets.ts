import type { Language } from '../ui/language.ts';
import { type Translated, translations } from './area.ts';
import { ar } from './wallets/ar.ts';
import { de } from './wallets/de.ts';
import { en } from './wallets/en.ts';
import { es } from './wallets/es.ts';
import { fr } from './wallets/fr.ts';
import { hi } from './wallets/hi.ts';
import { ja } from './wallets/ja.ts';
import { pt } from './wallets/pt.ts';

export type WalletTexts<L extends Language = Language> = Translated<typeof en, L>;

/** Signing with a wallet, changing it and recovering it. */
export const walletTexts = translations<WalletTexts>({ ar, de, en, es, fr, hi, ja, pt });
