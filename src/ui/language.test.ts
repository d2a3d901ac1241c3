import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allTexts, type Group, isPlural } from '../../test/support/texts.ts';
import { portalTexts } from '../texts/portal.ts';
import { fill, fillCount, type Language, languageFor, languageName, languages, wordsOf } from './language.ts';

/**
 * All texts of a language by path, such as `pay.statusMessage.paid`, each in its plural forms. A text without a count
 * has only `other`.
 */
function flat(texts: Group, path = ''): Map<string, Record<string, string>> {
  return new Map(
    Object.entries(texts).flatMap(([key, value]): [string, Record<string, string>][] => {
      if (typeof value === 'string') return [[`${path}${key}`, { other: value }]];
      return isPlural(value) ? [[`${path}${key}`, value]] : [...flat(value, `${path}${key}.`)];
    }),
  );
}

const english = flat(await allTexts('en'));
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
/** Names, units and words that are the same in many languages. */
const mayStayEnglish = /USDC|WalletConnect|^\{|^E-?[Mm]ail$|^Webhook|^Version \{|^CSV$|^API$|^Live$|^Test$|^0x/;

/**
 * Plural categories that cover exactly one number. “one” does in English, but not in French, where it includes 0.
 */
function exact(language: Language): string[] {
  const rules = new Intl.PluralRules(language);
  const of = Array.from({ length: 200 }, (_, count) => rules.select(count));
  return of.filter((category, count) => of.indexOf(category) === count && of.lastIndexOf(category) === count);
}

for (const language of languages) {
  test(`${language} › each English text → is there, in every form, with the same placeholders`, async () => {
    const own = flat(await allTexts(language));
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
    assert.deepEqual([...own.keys()].sort(), [...english.keys()].sort());
    for (const [key, text] of english) {
      const forms = own.get(key) ?? {};
      const isCounted = text.one !== undefined;
      assert.deepEqual(Object.keys(forms).sort(), isCounted ? pluralCategories.toSorted() : ['other'], key);
      for (const [category, form] of Object.entries(forms)) {
        const needed = placeholders(text.other ?? '');
        const mayOmit = exact(language).includes(category) && !form.includes('{count}');
        assert.deepEqual(placeholders(form), mayOmit ? needed.filter((name) => name !== 'count') : needed, key);
        assert.notEqual(form.trim(), '', key);
      }
    }
  });
}

for (const language of languages.filter((name) => name !== 'en')) {
  test(`${language} › each English sentence → is translated`, async () => {
    const own = flat(await allTexts(language));
    const same = [...english]
      .map(([key, { other = '' }]) => [key, other] as const)
      .filter(
        ([key, text]) => text.split(' ').length > 2 && !mayStayEnglish.test(text) && own.get(key)?.other === text,
      );
    assert.deepEqual(same, []);
  });
}

test('a request for a page → the language chosen, else the one kept, else the first accepted one that we have', () => {
  const ask = (accept: string, cookie?: string, lang?: string) =>
    languageFor({ headers: { 'accept-language': accept, cookie }, query: { lang } });
  assert.equal(ask('fr;q=0.5, de-AT, en;q=0.8'), 'de');
  assert.equal(ask('xx, pt-BR;q=0.7, de;q=0'), 'pt');
  assert.equal(ask('xx'), 'en');
  assert.equal(ask(''), 'en');
  assert.equal(ask('de', 'a=b; lang=ja'), 'ja');
  assert.equal(ask('de', 'lang=ja', 'ar'), 'ar');
  assert.equal(ask('de', 'lang=nonsense', 'nonsense'), 'de');
});

test('a list of languages → each is named in itself, and Arabic runs from right to left', () => {
  assert.deepEqual(languages.map(languageName).slice(0, 4), ['English', 'Deutsch', 'Español', 'Français']);
  assert.equal(wordsOf('ar').direction, 'rtl');
  assert.equal(wordsOf('hi').direction, 'ltr');
});

test('filling a text without a value for its placeholder → throws', () => {
  assert.equal(fill('{a} of {b}', { a: 1, b: '2' }), '1 of 2');
  assert.throws(() => fill('{a} of {b}', { a: 1 }), /needs a value for \{b\}/);
});

test('fillCount › a count → the text’s form for it by the plural rules of the language', () => {
  const texts = (language: Language, count: number, values = {}) =>
    fillCount(wordsOf(language), portalTexts(wordsOf(language)).overview.eventsWaiting, count, values);
  assert.equal(texts('en', 0), '0 events are waiting.');
  assert.equal(texts('en', 1), '1 event is waiting.');
  assert.equal(texts('en', 1234), '1,234 events are waiting.');
  assert.equal(texts('en', 100, { count: '100+' }), '100+ events are waiting.');
  assert.equal(texts('fr', 0), '0 événement est en attente.');
  assert.equal(texts('fr', 1_000_000), '1\u202f000\u202f000 d’événements sont en attente.');
  assert.equal(texts('ja', 1), '1\u00a0件のイベントが待機中です。');
  assert.deepEqual(
    [0, 1, 2, 3, 11, 100].map((count) => texts('ar', count)),
    [
      'لا أحداث منتظرة.',
      'حدث واحد في الانتظار.',
      'حدثان في الانتظار.',
      '3 أحداث في الانتظار.',
      '11 حدثًا في الانتظار.',
      '100 حدث في الانتظار.',
    ],
  );
});
