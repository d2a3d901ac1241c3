import type { Language } from '../ui/language.ts';

/** The plural categories of each language, as `Intl.PluralRules` names them. */
type Categories = {
  en: 'one' | 'other';
  de: 'one' | 'other';
  es: 'one' | 'many' | 'other';
  fr: 'one' | 'many' | 'other';
  pt: 'one' | 'many' | 'other';
  hi: 'one' | 'other';
  ja: 'other';
  ar: 'zero' | 'one' | 'two' | 'few' | 'many' | 'other';
};

/** A text that says a `{count}`, in each form that a language needs. */
export type Plural<L extends Language = Language> = { [X in L]: { readonly [C in Categories[X]]: string } }[L];

/**
 * The same texts in another language: every key, every form, every `{placeholder}`. German says “Sie”, French “vous”, Spanish
 * “usted” where it must address somebody, Portuguese (of Brazil) “você”, Hindi “आप”, Japanese です・ます; Arabic is formal.
 */
export type Translated<T, L extends Language = Language> = {
  readonly [K in keyof T]: T[K] extends string ? string : T[K] extends Plural<'en'> ? Plural<L> : Translated<T[K], L>;
};

/** Gives the texts of an area in the reader's language. An area is what one kind of page loads. */
export function translations<T>(texts: Record<Language, T>): (reader: { language: Language }) => T {
  const shown = {
    ...texts,
    de: eachText(texts.de, withPercentSigns),
    fr: eachText(texts.fr, withoutBreaksAtMarks),
    ja: eachText(texts.ja, withCounters),
  };
  return ({ language }) => shown[language];
}

/** As `translations`, where amounts must be paid as they are read: none stands on another line than its token. */
export function translationsWithWholeAmounts<T>(texts: Record<Language, T>): (reader: { language: Language }) => T {
  const entries = Object.entries(texts) as [Language, T][];
  return translations(
    Object.fromEntries(entries.map(([code, one]) => [code, eachText(one, withoutBreaksInAmounts)])) as typeof texts,
  );
}

const withoutBreaksInAmounts = (text: string): string => text.replaceAll('{amount} {token}', '{amount}\u00a0{token}');

/** French writes a space before some marks and inside quotation marks. A line must not begin with such a mark. */
const withoutBreaksAtMarks = (text: string): string =>
  text.replace(/ (?=[:;?!»])/g, '\u00a0').replaceAll('« ', '«\u00a0');

/** German separates a percent sign from its number, on the same line. */
const withPercentSigns = (text: string): string => text.replaceAll(' %', '\u00a0%');

/** Japanese texts here separate a number from its counter. A line must not end between them. */
const withCounters = (text: string): string =>
  text.replace(/(?<=[\d}]) (?=分|日|秒|ミリ秒|時間|か月|年|回|桁|件|個|人|つ|文字|米ドル|ブロック)/g, '\u00a0');

/** A copy of nested texts, each of them changed. */
function eachText<T>(texts: T, change: (text: string) => string): T {
  if (typeof texts === 'string') return change(texts) as T;
  return Object.fromEntries(Object.entries(texts as object).map(([key, one]) => [key, eachText(one, change)])) as T;
}
