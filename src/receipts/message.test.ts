import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '../ui/language.ts';
import { receiptMessage } from './message.ts';
import type { ReceiptFacts } from './read.ts';

const facts = (merchant: string) =>
  ({
    row: { test_mode: false, fiat_int: '1250', fiat_code: 'EUR' },
    ...{ merchant, number: 'Q-20261101-0123456789', link: 'https://pay.example/pay/1/receipt', words: wordsOf('en') },
  }) as unknown as ReceiptFacts;
/** The text of a message before the amount. */
const nameIn = (merchant: string) => receiptMessage(facts(merchant)).split(': we have')[0];

test('A message has no link but ours, whatever its merchant is called', () => {
  const names = { 'Win at evil.example/x': 'Win at evil example x', 'https://evil.example': 'https evil example' };
  const others = {
    'evil。example': 'evil example',
    'call@evil.example': 'call evil example',
    'evil.\u200bexample': 'evil \u200bexample',
  };
  for (const [name, shown] of Object.entries({ ...names, ...others })) assert.equal(nameIn(name), shown);
});

test('a merchant’s name without a link → in the message as it is, up to 40 characters', () => {
  for (const name of ['Ada’s Bakery', 'Müller & Söhne Ltd.', 'Café No. 5', 'متجر آدا', '東京ラーメン'])
    assert.equal(nameIn(name), name);
  assert.equal(nameIn('a'.repeat(50)), `${'a'.repeat(39)}…`);
});
