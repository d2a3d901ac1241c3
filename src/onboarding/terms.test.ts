import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { languages, wordsOf } from '../ui/language.ts';
import { bindingTerms, terms, termsIn } from './terms.ts';

/** The SHA-256 of the text of each version. A changed text needs a new version, and a new line here. */
const accepted: Record<string, string> = {
  1: '7efc7a9d335a8dade6ff1f64fd697a037c2c58d524d0dd4270e22e69f47a6bf3',
};

test('a change to the binding terms without a new version → noticed, to the letter', () => {
  const hash = createHash('sha256').update(JSON.stringify(bindingTerms())).digest('hex');
  assert.equal(hash, accepted[terms.version]);
});

test('the terms in another language → every section, in its own words', () => {
  const [english, ...others] = languages.map((language) => termsIn(wordsOf(language)));
  for (const sections of others) {
    assert.equal(sections.length, english?.length);
    sections.forEach(({ title, text }, i) => {
      assert.notEqual(title, english?.[i]?.title);
      assert.notEqual(text, english?.[i]?.text);
    });
  }
});
