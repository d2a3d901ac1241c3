import assert from 'node:assert/strict';
import { test } from 'node:test';
import { houseName } from '../ui/branding.ts';
import { wordsOf } from '../ui/language.ts';
import { type CustomerMail, writeCustomerMail } from './customer-mail.ts';

const mail = (memo: string): CustomerMail => ({
  words: wordsOf('en'),
  branding: { name: houseName, logoUrl: null, accent: '#2769b7', onAccent: '#ffffff' },
  subject: 'Receipt',
  heading: 'Paid to Ada’s Bakery',
  test: null,
  facts: [['For', memo]],
  link: { url: 'https://pay.example/1', label: 'Open', sentence: 'Your receipt: https://pay.example/1' },
  why: 'You asked for it.',
  stop: null,
});

const textOf = (memo: string): string => writeCustomerMail('ada@example.com', mail(memo)).body;

test('a memo with any kind of line break → none of its lines begins where ours do', () => {
  const others = textOf('').split('\n');
  for (const lineBreak of ['\n', '\r\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029', '\n\r', '\r\r']) {
    const text = textOf(`Two loaves${lineBreak}Please pay again.`);
    assert.doesNotMatch(text, /[\v\f\r\u0085\u2028\u2029]/, JSON.stringify(lineBreak));
    const foreign = text.split('\n').filter((line) => !others.includes(line));
    assert.deepEqual(foreign.map((line) => line.trim()).filter(Boolean), ['For: Two loaves', 'Please pay again.']);
    assert.ok(
      foreign.every((line) => line.startsWith('For: ') || line.startsWith('  ')),
      JSON.stringify(lineBreak),
    );
  }
});
