import { minorOf, readAmount } from '../lib/amount.ts';
import { minuteMs } from '../lib/durations.ts';
import { decimalOf, formatMicro } from '../lib/money.ts';
import { type Html, html } from '../lib/text/html.ts';
import { dayOf } from '../lib/time.ts';
import { type CommonTexts, commonTexts } from '../texts/common.ts';
import { fill, type Words } from './language.ts';

/**
 * An instant for people, in UTC, with the exact value for machines and for conversion to the reader's time zone.
 *
 * @param timeStyle `medium` shows seconds, for lists in which the order of events matters
 */
export function instant(words: Words, at: Date, timeStyle: 'short' | 'medium' = 'short'): Html {
  const seconds = timeStyle === 'medium' && html` data-seconds`;
  return html`<time datetime="${at.toISOString()}"${seconds}>${instantText(words, at, timeStyle)}</time>`;
}

/** An instant on a document that others read too: browser code converts it to local time and adds the time zone. */
export function zonedInstant(words: Words, at: Date): Html {
  return html`<time datetime="${at.toISOString()}" data-zone>${instantText(words, at)}</time>`;
}

/** An instant, without its date if it is today: `12:10 UTC`. Browser code converts it to local time. */
export function nearInstant(words: Words, at: Date, now: Date): Html {
  if (dayOf(at) !== dayOf(now)) return instant(words, at);
  const format = new Intl.DateTimeFormat(words.locale, { timeStyle: 'short', timeZone: 'UTC' });
  return html`<time datetime="${at.toISOString()}">${format.format(at)} UTC</time>`;
}

/** An instant as plain text, for example for a mail. */
export function instantText({ locale }: Words, at: Date, timeStyle: 'short' | 'medium' = 'short'): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle, timeZone: 'UTC' });
  return `${format.format(at)} UTC`;
}

/**
 * A day for people, in UTC. It is not a `<time>`, because browser code would show it in local time, which may be the day
 * before.
 */
export function dayText({ locale }: Words, at: Date): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(at);
}

/** A day for customers: `November 27, 2026 (UTC)`. Far from UTC it is another day. */
export function utcDayText({ locale }: Words, at: Date): string {
  return `${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(at)} (UTC)`;
}

/** How long ago, with the exact instant on hover and for machines: `3 minutes ago`. */
export function ago({ language, locale }: Words, at: Date, now: Date): Html {
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const);
  const text = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.trunc(seconds / size), unit);
  return html`<time datetime="${at.toISOString()}" title="${exact.format(at)} UTC">${text}</time>`;
}

/** The time until an instant, rounded down to everyday units: `2 days`, `14 minutes`, `less than a minute`. */
export function formatRemaining(words: Words, ms: number): string {
  const minutes = Math.floor(ms / minuteMs);
  if (minutes < 1) return commonTexts(words).common.lessThanAMinute;
  if (minutes < 120) return formatUnit(words, minutes, 'minute');
  if (minutes < 48 * 60) return formatUnit(words, Math.floor(minutes / 60), 'hour');
  return formatUnit(words, Math.floor(minutes / (24 * 60)), 'day');
}

/** A length of time in the largest unit that fits it exactly: `90 minutes`, `1 hour`, `7 days`. */
export function formatDuration(words: Words, minutes: number): string {
  if (minutes % (24 * 60) === 0) return formatUnit(words, minutes / (24 * 60), 'day');
  return minutes % 60 === 0 ? formatUnit(words, minutes / 60, 'hour') : formatUnit(words, minutes, 'minute');
}

/** `3 days`. */
export function formatUnit({ language }: Words, count: number, unit: 'minute' | 'hour' | 'day'): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

/** How long something took: `35 ms`. */
export function formatMs({ language }: Words, ms: number): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit: 'millisecond' }).format(ms);
}

/**
 * Micro units for reading, grouped for the language, with every digit: whole cents have two, others all six, so that
 * none looks trimmed: `12.50`, `1,234,567.500010`. For copying or typing use formatMicro: wallets accept no grouping
 * and no digits of other scripts.
 */
export function groupMicro(words: Words, micro: bigint): string {
  return grouped(words, micro, micro % 10_000n === 0n ? 2 : 6);
}

/** As `groupMicro`, for a column: always six fraction digits, so that the decimal points are aligned. */
export function columnMicro(words: Words, micro: bigint): string {
  return grouped(words, micro, 6);
}

const grouped = (words: Words, micro: bigint, minimumFractionDigits: number): string =>
  formatDecimal(words, formatMicro(micro), minimumFractionDigits);

/** A decimal number, given as text, with every digit: grouped as the language does, in Latin digits. */
export function formatDecimal({ language }: Words, decimal: string, minimumFractionDigits = 0): string {
  const format = new Intl.NumberFormat(`${language}-u-nu-latn`, { minimumFractionDigits, maximumFractionDigits: 20 });
  return format.format(decimal as Intl.StringNumericLiteral);
}

/**
 * Minor units as an amount in a field, or as an example of what to type: with the language's decimal sign, ungrouped
 * and in Latin digits. Three decimals after a comma could be thousands, which fields refuse, so they follow a point.
 */
export function amountToType({ language }: Words, minor: bigint, currency: string): string {
  const point = decimalOf(minor, currency);
  const parts = new Intl.NumberFormat(`${language}-u-nu-latn`, { minimumFractionDigits: 1 }).formatToParts(0);
  const text = point.replace('.', parts.find(({ type }) => type === 'decimal')?.value ?? '.');
  return minorOf(readAmount(text, currency)) === minor ? text : point;
}

type Period = keyof CommonTexts['common']['every'];

/** Whether a value is a period of plans. */
export function isPeriod(text: unknown): text is Period {
  return text === 'day' || text === 'week' || text === 'month' || text === 'year';
}

/** `every month`, `every 2 weeks`. */
export function everyText(words: Words, every: number, period: Period): string {
  const { common } = commonTexts(words);
  if (every === 1) return common.every[period];
  const unit = new Intl.NumberFormat(words.language, { style: 'unit', unit: period, unitDisplay: 'long' }).format(
    every,
  );
  return fill(common.everyMany[period], { period: unit });
}

/** `€12.00 every month`. */
export function amountEvery(words: Words, amount: string, every: number, period: Period): string {
  return fill(commonTexts(words).common.amountEvery, { amount, every: everyText(words, every, period) });
}

/** The price of one USDC, with every digit: `1 USDC = 0.92 EUR`. Left to right in every language, like a formula. */
export function rateOf(words: Words, { rate, fiat_code }: { rate: string; fiat_code: string }): Html {
  const cost = `${formatDecimal(words, rate)} ${fiat_code}`;
  return html`<bdi dir="ltr">${fill(commonTexts(words).common.rate, { rate: cost })}</bdi>`;
}

/** Joins texts with “and”: `2 requests, 1 plan, and 1 partner`. */
export function allOf({ language }: Words, parts: string[]): string {
  return new Intl.ListFormat(language).format(parts);
}

/** A count that stopped at a limit: `1,000+` if the limit was reached. */
export function countedUpTo({ language }: Words, count: number, limit: number): string {
  const number = new Intl.NumberFormat(`${language}-u-nu-latn`).format(Math.min(count, limit));
  return count >= limit ? `${number}+` : number;
}

/** Joins names with “or”: `Base, Polygon, or Arbitrum`. */
export function joinWithOr({ language }: Words, names: string[]): string {
  return new Intl.ListFormat(language, { type: 'disjunction' }).format(names);
}

/** A currency as its code and name, for a list to choose from. What is no code, as a form can send it, is itself. */
export function currencyLabel({ language }: Words, code: string): string {
  const name =
    /^[A-Z]{3}$/.test(code) && new Intl.DisplayNames(language, { type: 'currency', fallback: 'none' }).of(code);
  return name ? `${code} – ${name}` : code;
}
