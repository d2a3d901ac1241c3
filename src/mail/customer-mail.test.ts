import assert from 'node:assert/strict';
import { test } from 'node:test';
import { houseName } from '../ui/branding.ts';
import { wordsOf } from '../ui/language.ts';
import { type CustomerMail, writeCustomerMail } from './customer-mail.ts';

const mail = (memo: string, merchant = 'Ada’s Bakery'): CustomerMail => ({
  words: wordsOf('en'),
  branding: { name: houseName, logoUrl: null, accent: '#2769b7', onAccent: '#ffffff' },
  subject: 'Receipt',
  heading: `Paid to ${merchant}`,
  test: null,
  facts: [['For', memo]],
  link: { url: 'https://pay.example/1', label: 'Open', sentence: 'Your receipt: https://pay.example/1' },
  why: `${merchant} gave this address.`,
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

/** What mail programs make a link of, by themselves. */
const address = /\w+:\/\/|[\p{L}\d-][.。][\p{L}]|\S@[\p{L}\d]/u;

test('a name or memo that is an address → no mail program makes a link of it; our own addresses stay', () => {
  for (const name of [
    'https://evil.example/login',
    'evil.example',
    'www.evil。example',
    'help@evil',
    'http://1.2.3.4/',
  ]) {
    const { body, html, subject } = writeCustomerMail('ada@example.com', {
      ...mail(name, name),
      branding: { name, logoUrl: null, accent: '#2769b7', onAccent: '#ffffff' },
    });
    assert.ok(body.includes('https://pay.example/1') && html?.includes('href="https://pay.example/1"'));
    assert.equal(subject, 'Receipt');
    assert.doesNotMatch(body.replaceAll('https://pay.example/1', ''), address);
    const shown = (html ?? '').replace(/<head>.*<\/head>/s, '').replace(/<[^>]*>/g, ' ');
    assert.doesNotMatch(shown, address);
    assert.ok(body.replaceAll('\u200c', '').includes(`For: ${name}`), 'looks the same');
  }
});
