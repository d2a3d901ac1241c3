import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languages, wordsOf } from '../ui/language.ts';
import { mandateTexts } from './mandates.ts';
import { payTexts } from './pay.ts';
import { planTexts } from './plans.ts';
import { portalTexts } from './portal.ts';

test('a French text › a space before a mark or inside quotation marks → no line breaks there', () => {
  const words = wordsOf('fr');
  assert.equal(payTexts(words).paymentMethods.heading, 'Comment voulez-vous payer\u00a0?');
  assert.match(planTexts(words).planStop.asked, /pour «\u00a0\{plan\}\u00a0» à/);
  const spaced = JSON.stringify([payTexts(words), planTexts(words), portalTexts(words)]).match(/.{9}( [:;?!»]|« )/g);
  assert.equal(spaced, null);
});

test('a Japanese number and its counter, a German number and its percent sign → no line break between them', () => {
  const ja = payTexts(wordsOf('ja'));
  assert.match(ja.wallet.tooMany, /1\u00a0分待って/);
  assert.equal(ja.statusMessage.confirmingCount.other, '{network} で {count}\u00a0回中 {seen}\u00a0回承認されました。');
  assert.match(mandateTexts(wordsOf('de')).form.reserveOf, /\{percent\}\u00a0%/);
});

test('a text in another language → its spaces stay as they are written', () => {
  assert.doesNotMatch(JSON.stringify([planTexts(wordsOf('es')), portalTexts(wordsOf('de'))]), /\u00a0/);
});

test('an amount to pay, in every language → no line break before its token', () => {
  for (const language of languages) {
    const { pay, paymentMethods } = payTexts(wordsOf(language));
    for (const text of [pay.dueOn, paymentMethods.sendExactly]) assert.match(text, /\{amount\}\u00a0\{token\}/, text);
  }
});
