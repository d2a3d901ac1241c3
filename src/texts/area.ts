import type { Language } from '../ui/language.ts';

/**
 * The same texts in another language: every key, every `{placeholder}`. German says “Sie”, French “vous”, Spanish “usted”
 * where it must address somebody, Portuguese (of Brazil) “você”, Hindi “आप”, Japanese です・ます; Arabic is formal.
 */
export type Translated<T> = { readonly [K in keyof T]: T[K] extends string ? string : Translated<T[K]> };

/** Gives the texts of an area in the reader's language. An area is what one kind of page loads. */
export function translations<T>(texts: Record<Language, T>): (reader: { language: Language }) => T {
  return ({ language }) => texts[language];
}
