import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedCountry, currencyOfCountry } from './country-currency.ts';

test('a country has the currency that its people pay with; one that is not listed has none', () => {
  assert.deepEqual(['DE', 'gb', 'JP', 'SV', 'AQ'].map(currencyOfCountry), ['EUR', 'GBP', 'JPY', 'USD', undefined]);
});

test('a browser names its country with its language, or not at all', () => {
  const headers = ['de-CH,de;q=0.9,en;q=0.8', 'en, pt-BR;q=0.9', 'zh-Hant-TW', 'fr', ''];
  assert.deepEqual(headers.map(acceptedCountry), ['CH', 'BR', 'TW', undefined, undefined]);
});
