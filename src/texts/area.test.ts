import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '../ui/language.ts';
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

test('a text in another language → its spaces stay as they are written', () => {
  assert.doesNotMatch(JSON.stringify([payTexts(wordsOf('es')), portalTexts(wordsOf('de'))]), /\u00a0/);
});
