import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currencyLabel, formatDuration, formatRemaining } from './formats.ts';
import { wordsFor } from './language.ts';

const en = wordsFor({ headers: { 'accept-language': 'en' } });

test('a length of time → the largest unit that fits it exactly', () => {
  const texts = [5, 60, 90, 180, 1440, 10_080, 43_200].map((minutes) => formatDuration(en, minutes));
  assert.deepEqual(texts, ['5 minutes', '1 hour', '90 minutes', '3 hours', '1 day', '7 days', '30 days']);
});

test('a time that is left → minutes below two hours, hours below two days, then days', () => {
  const texts = [0.5, 14.9, 60, 125, 47 * 60, 49 * 60].map((minutes) => formatRemaining(en, minutes * 60_000));
  assert.deepEqual(texts, ['less than a minute', '14 minutes', '60 minutes', '2 hours', '47 hours', '2 days']);
});

test('a currency → its code and name; a code without a name, or what is no code, → itself', () => {
  assert.equal(currencyLabel(en, 'EUR'), 'EUR – Euro');
  for (const text of ['QQQ', 'eur', '', '\0', 'x'.repeat(6_000)]) assert.equal(currencyLabel(en, text), text);
});
