import type { IncomingHttpHeaders } from 'node:http';
import { withOwnDirection } from '../lib/text/direction.ts';
import { type Html, html, raw } from '../lib/text/html.ts';

/** Languages that pages are written in. */
export const languages = ['en', 'de', 'es', 'fr', 'pt', 'hi', 'ja', 'ar'] as const;
/** The BCP 47 tag of a language. */
export type Language = (typeof languages)[number];

/**
 * The language of a page, for which each area of `texts` has its texts. `locale`: the language with its reader's
 * region, if that is known, for times of day: `en-GB` has 24 hours, `en-US` twice 12. It asks for Latin digits, because
 * amounts have them: the default of `ar-EG` are Arabic-Indic ones.
 */
export type Words = { language: Language; locale: string; direction: 'ltr' | 'rtl' };

const rightToLeft: string[] = ['ar'];

/** The words of a language, where no HTTP request decides it, such as in mails. */
export function wordsOf(language: Language, locale: string = language): Words {
  return { language, locale: `${locale}-u-nu-latn`, direction: rightToLeft.includes(language) ? 'rtl' : 'ltr' };
}

/** The words of somebody's stored language; `otherwise` if there is none. */
export function wordsKept(language: string | null, otherwise: Words = wordsOf('en')): Words {
  return isLanguage(language) ? wordsOf(language) : otherwise;
}

/** The parts of a request that determine the language. */
export type LanguageRequest = { headers: IncomingHttpHeaders; query?: unknown };

/** The cookie in which a browser keeps the language that was chosen on a page. */
export const languageCookie = 'lang';

/**
 * The language chosen on a page (`?lang=de`, then stored in a cookie), otherwise the first supported one of
 * `Accept-Language`.
 */
export function languageFor({ headers, query }: LanguageRequest): Language {
  const kept = new RegExp(`(?:^|;\\s*)${languageCookie}=([a-z]+)`).exec(headers.cookie ?? '')?.[1];
  const accepted = acceptedLocales(headers['accept-language'] ?? '').map(({ language }) => language);
  return [chosenLanguage(query), kept, ...accepted].find(isLanguage) ?? 'en';
}

/** The words for the response to a request. */
export function wordsFor(asking: LanguageRequest): Words {
  const language = languageFor(asking);
  const accepted = acceptedLocales(asking.headers['accept-language'] ?? '');
  const region = accepted.find((one) => one.language === language && one.region !== undefined)?.region;
  return wordsOf(language, region && `${language}-${region}`);
}

/** The language that a link of the language switch asks for; undefined without one. */
export function chosenLanguage(query: unknown): Language | undefined {
  const chosen = (query as { lang?: unknown } | undefined)?.lang;
  return isLanguage(chosen) ? chosen : undefined;
}

/** Whether a value is the tag of a supported language. */
export function isLanguage(name: unknown): name is Language {
  return languages.some((language) => language === name);
}

/** The languages of an `Accept-Language` header with their regions, the most preferred first. */
function acceptedLocales(header: string): { language: string; region: string | undefined }[] {
  return header
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().toLowerCase().split(';');
      const weight = parameters.map((parameter) => /^\s*q=([\d.]+)/.exec(parameter)?.[1]).find(Boolean);
      const [language = '', ...subtags] = tag.split('-');
      const region = subtags.find((subtag) => /^([a-z]{2}|\d{3})$/.test(subtag))?.toUpperCase();
      return { language, region, weight: Number(weight ?? 1) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
}

/** A language's own name: `Deutsch`. */
export function languageName(language: Language): string {
  const name = new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}

/**
 * Puts values into a text's `{placeholders}`. Values cannot change the direction of the text around them.
 *
 * @throws Error for a placeholder without a value: a programming error
 */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The text "${text}" needs a value for {${name}}.`);
    return withOwnDirection(String(value));
  });
}

/** Puts HTML in place of a text's `{placeholders}`; everything else is escaped. */
export function fillHtml(text: string, values: Record<string, Html | string>): Html {
  const escaped = Object.entries(values).map(([name, value]) => [name, html`${value}`.text] as const);
  return raw(fill(html`${text}`.text, Object.fromEntries(escaped)));
}

/** The forms of a text with a `{count}`, by plural category. */
type Forms = { readonly other: string } & { readonly [C in Intl.LDMLPluralRule]?: string };

/**
 * A text in the plural form that a count needs: `1 event is waiting`, `3 events are waiting`.
 *
 * @param values for the other placeholders, and for `{count}` where another text replaces it, such as `100+`
 */
export function fillCount(
  { language }: Words,
  forms: Forms,
  count: number,
  values: Record<string, string | number> = {},
): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other;
  return fill(form, { count: new Intl.NumberFormat(`${language}-u-nu-latn`).format(count), ...values });
}
