import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allTexts } from '../../test/support/texts.ts';
import { fill, languageFor, languageName, languages, wordsOf } from './language.ts';

/** Every text of a language by its path: `pay.title`. */
function flat(texts: object, path = ''): Map<string, string> {
  return new Map(
    Object.entries(texts).flatMap(([key, value]) =>
      typeof value === 'string' ? [[`${path}${key}`, value] as const] : [...flat(value, `${path}${key}.`)],
    ),
  );
}

const english = flat(await allTexts('en'));
const placeholders = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
/** Names, units and words that are the same in many languages. */
const mayStayEnglish = /USDC|WalletConnect|^\{|^E-?[Mm]ail$|^Webhook|^Version \{|^CSV$|^API$|^Live$|^Test$|^0x/;

for (const language of languages.filter((name) => name !== 'en')) {
  test(`${language}: every text is there, with the same placeholders`, async () => {
    const own = flat(await allTexts(language));
    assert.deepEqual([...own.keys()].sort(), [...english.keys()].sort());
    for (const [key, text] of english) {
      assert.deepEqual(placeholders(own.get(key) ?? ''), placeholders(text), key);
      assert.notEqual(own.get(key)?.trim(), '', key);
    }
  });

  test(`${language}: sentences are translated`, async () => {
    const own = flat(await allTexts(language));
    const same = [...english].filter(
      ([key, text]) => text.split(' ').length > 2 && !mayStayEnglish.test(text) && own.get(key) === text,
    );
    assert.deepEqual(same, []);
  });
}

test('the language is the one chosen, then the one kept, then the first accepted one that we have', () => {
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

test('each language is named in itself, and Arabic runs from right to left', () => {
  assert.deepEqual(languages.map(languageName).slice(0, 4), ['English', 'Deutsch', 'Español', 'Français']);
  assert.equal(wordsOf('ar').direction, 'rtl');
  assert.equal(wordsOf('hi').direction, 'ltr');
});

test('a text without a value for its placeholder is a fault of ours', () => {
  assert.equal(fill('{a} of {b}', { a: 1, b: '2' }), '1 of 2');
  assert.throws(() => fill('{a} of {b}', { a: 1 }), /needs a value for \{b\}/);
});
