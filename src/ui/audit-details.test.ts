import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../audit/actions.ts';
import { auditTexts } from '../texts/audit.ts';
import { checksummed } from './address.ts';
import { auditDetails, auditObject } from './audit-details.ts';
import { languages, wordsOf } from './language.ts';

const address = `0x${'ab'.repeat(20)}`;
const hash = `0x${'cd'.repeat(32)}`;
const shown = (details: object, language: (typeof languages)[number] = 'en') =>
  auditDetails(wordsOf(language), JSON.stringify(details), new Map())?.text ?? null;
/** The text only, with no-break spaces as plain spaces. */
const read = (details: object, language?: (typeof languages)[number]) =>
  shown(details, language)
    ?.replace(/<[^>]*>/g, '')
    .replace(/[\u00a0\u202f]/g, ' ');

test('money, times, roles and lists in the log → formatted in the reader’s language', () => {
  const cases: [details: object, en: string, de: string][] = [
    [{ usdc_micro: '12500000' }, 'Amount 12.50 USDC', 'Betrag 12,50 USDC'],
    [
      { amount: 1250, currency: 'EUR', payment_mode: 'pos' },
      'Amount €12.50 · Mode In person',
      'Betrag 12,50 € · Modus Vor Ort',
    ],
    [
      { amount: 900, currency: 'JPY', every: 2, period: 'week', charges: null },
      'Amount ¥900 · Repeated every 2 weeks · Charges no limit',
      'Betrag 900 ¥ · Wiederholt alle 2 Wochen · Zahlungen unbegrenzt',
    ],
    [{ expiry_minutes: ['5', '10080'] }, 'Expiry times 5 minutes, 7 days', 'Ablaufzeiten 5 Minuten, 7 Tage'],
    [
      { email: 'a@b.example', from: 'viewer', to: 'owner' },
      'E-mail a@b.example · Before Viewer · After Owner',
      'E-Mail a@b.example · Vorher Betrachter · Nachher Inhaber',
    ],
    [
      { scopes: ['requests:read', 'new:scope'] },
      'Permissions Read requests, new:scope',
      'Berechtigungen Anforderungen lesen, new:scope',
    ],
    [
      { fields: ['business_name', 'website'], currency: null },
      'Changed Business name, Website',
      'Geändert Firmenname, Website',
    ],
    [{ logo: true, accent: null }, 'Logo yes · Colour none', 'Logo ja · Farbe keine'],
    [
      { rate: '0.92', until: '2026-11-21T10:00:00.000Z' },
      'Rate 0.92 · Until Nov 21, 2026, 10:00 AM UTC',
      'Kurs 0.92 · Bis 21.11.2026, 10:00 UTC',
    ],
    [{ made_up: 7 }, 'made_up 7', 'made_up 7'],
  ];
  for (const [details, en, de] of cases) assert.deepEqual([read(details), read(details, 'de')], [en, de]);
  assert.equal(shown({}), null);
  assert.equal(shown({ currency: null }), null);
});

test('addresses, hashes and IDs in the log → shortened, with the whole in the title; nothing of them is markup', () => {
  const cells = shown({ from: address, transaction: hash }) ?? '';
  for (const whole of [checksummed(address), hash]) assert.ok(cells.includes(`title="${whole}"`), whole);
  assert.match(read({ from: address }) ?? '', /^Before 0xABaBaB…aBABaB$/);
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  assert.match(
    auditObject(wordsOf('en'), { object_kind: 'request', object_id: id }, new Map(), null).text,
    new RegExp(`title="${id}"[^>]*>0f8fad5b…<`),
  );
  assert.doesNotMatch(shown({ name: '<img src=x>' }) ?? '', /<img/);
});

test('the object of a rate’s entry → its currency; of a refresh → Rates', () => {
  const target = (id: string) =>
    auditObject(wordsOf('en'), { object_kind: 'rate', object_id: id }, new Map(), null).text.replace(/<[^>]*>/g, '');
  assert.equal(target('CHF'), 'Rate CHF');
  assert.equal(target('all'), 'Rates');
});

test('each detail that the log can hold → has a name in every language', () => {
  const names = new Set<string>(Object.values(actions).flat());
  // Shown together with the amount and the frequency, as one detail.
  for (const together of ['period']) names.delete(together);
  for (const language of languages) {
    const known = auditTexts(wordsOf(language)).detailNames;
    assert.deepEqual(
      [...names].filter((name) => !Object.hasOwn(known, name)),
      [],
      language,
    );
  }
});
