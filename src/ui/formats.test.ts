import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minorOf, readAmount } from '../lib/amount.ts';
import {
  amountEvery,
  amountToType,
  countedUpTo,
  currencyLabel,
  dayText,
  formatDuration,
  formatRemaining,
  instantText,
  utcDayText,
} from './formats.ts';
import { languages, wordsFor, wordsOf } from './language.ts';

const en = wordsFor({ headers: { 'accept-language': 'en' } });

test('a length of time → the largest unit that fits it exactly', () => {
  const texts = [5, 60, 90, 180, 1440, 10_080, 43_200].map((minutes) => formatDuration(en, minutes));
  assert.deepEqual(texts, ['5 minutes', '1 hour', '90 minutes', '3 hours', '1 day', '7 days', '30 days']);
});

test('Arabic in any region → Latin digits, as amounts have, in times and in months', () => {
  for (const region of ['ar', 'ar-EG', 'ar-SA']) {
    const words = wordsFor({ headers: { 'accept-language': region } });
    const at = new Date('2026-11-28T15:10:00Z');
    const texts = [instantText(words, at), utcDayText(words, at), dayText(words, at), formatDuration(words, 15)];
    assert.doesNotMatch(texts.join(), /[٠-٩]/);
    assert.match(texts[0] ?? '', /3:10/);
  }
});

test('an amount and its period → in the order of the language, without a comma of another one', () => {
  assert.equal(amountEvery(en, '€12.00', 1, 'month'), '€12.00 every month');
  assert.equal(amountEvery(wordsOf('ja'), '€12.00', 1, 'month'), '毎月 €12.00');
  assert.equal(amountEvery(wordsOf('ar'), '12.00 €', 1, 'month'), '12.00 € كل شهر');
});

test('a time that is left → minutes below two hours, hours below two days, then days', () => {
  const texts = [0.5, 14.9, 60, 125, 47 * 60, 49 * 60].map((minutes) => formatRemaining(en, minutes * 60_000));
  assert.deepEqual(texts, ['less than a minute', '14 minutes', '60 minutes', '2 hours', '47 hours', '2 days']);
});

test('a currency → its code and name; a code without a name, or what is no code, → itself', () => {
  assert.equal(currencyLabel(en, 'EUR'), 'EUR – Euro');
  for (const text of ['QQQ', 'eur', '', '\0', 'x'.repeat(6_000)]) assert.equal(currencyLabel(en, text), text);
});

test('a count that stopped at a limit → grouped as the language does, with a plus sign', () => {
  const texts = [999, 1000, 25_000].map((count) => countedUpTo(en, count, 1000));
  assert.deepEqual(texts, ['999', '1,000+', '1,000+']);
  assert.equal(countedUpTo(wordsOf('de'), 12_345, 20_000), '12.345');
});

test('an amount to type → with the language’s decimal sign, and a field takes it in every language', () => {
  const typed = (language: 'de' | 'en' | 'ar', minor: bigint, code: string) =>
    amountToType(wordsOf(language), minor, code);
  assert.equal(typed('de', 1200n, 'EUR'), '12,00');
  assert.equal(typed('en', 123456n, 'EUR'), '1234.56');
  assert.equal(typed('ar', 1200n, 'EUR'), '12.00');
  assert.equal(typed('de', 12_500n, 'KWD'), '12.500', 'after a comma it could be thousands');
  for (const language of languages) {
    for (const [code, minor] of [
      ['EUR', 5n],
      ['USD', 123_456_789n],
      ['KWD', 12_500n],
      ['KWD', 1_234_567n],
      ['JPY', 1_200n],
    ] as const) {
      assert.equal(
        minorOf(readAmount(amountToType(wordsOf(language), minor, code), code)),
        minor,
        `${code} ${language}`,
      );
    }
  }
});
