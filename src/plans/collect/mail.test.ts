import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../context.ts';
import { chargesTexts } from '../../texts/charges.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { checksummed } from '../../ui/address.ts';
import { instantText } from '../../ui/formats.ts';
import { languages, wordsOf } from '../../ui/language.ts';
import type { NamedPlan } from '../store.ts';
import { chargeMail, lowFundsMail, type MailedReason } from './mail.ts';

const ctx = {
  config: {
    baseUrl: 'https://pay.example',
    payUrl: 'https://pay.example/pay',
    secretKeys: [{ id: 'k', key: Buffer.alloc(32, 1) }],
  },
} as unknown as Context;
const branding = { name: 'Corner Shops', accent: null, logoUrl: null } as never;
const planIn = (language: string) =>
  ({
    ...{ id: '5e1f2a3b-0000-4000-8000-000000000001', name: 'Piano lessons', language, test_mode: true },
    ...{ merchant_name: 'Ada’s Bakery', partner_name: 'Corner Shops', fiat_int: '1200', fiat_code: 'USD' },
  }) as unknown as NamedPlan;
const request = {
  id: '5e1f2a3b-0000-4000-8000-000000000002',
  fiat_int: '1200',
  fiat_code: 'USD',
  expires_at: new Date('2027-03-02T00:00:00Z'),
};
const payer = `0x${'ab'.repeat(20)}`;
const to = 'grace@example.com';

const time = (language: (typeof languages)[number], iso: string) => instantText(wordsOf(language), new Date(iso));

test('The text of a mail writes times as its language does, with their zone', () => {
  const kind = { name: 'failed', next: new Date('2027-02-02T08:30:00Z') } as const;
  const mail = chargeMail(ctx, { plan: planIn('de'), request, branding, to, reason: 'balance_low', payer, kind });
  assert.match(mail.body, /02\.02\.2027, 08:30 UTC/);
  assert.match(mail.body, /02\.03\.2027, 00:00 UTC/);
});

test('Each mail about a charge says in each language why, what comes next and where to pay, with nothing left to fill in', () => {
  for (const language of languages) {
    const plan = planIn(language);
    const { yours } = chargesTexts(wordsOf(language));
    for (const reason of Object.keys(yours) as MailedReason[]) {
      for (const kind of [
        { name: 'failed', next: new Date('2027-02-02T00:00:00Z') },
        { name: 'past_due' },
        { name: 'ask' },
      ] as const) {
        const mail = chargeMail(ctx, { plan, request, branding, to, reason, payer, kind });
        const text = `${mail.subject}\n${mail.body}`;
        assert.doesNotMatch(text, /[{}]/, `${language} ${reason} ${kind.name}`);
        assert.ok(
          text.includes('Ada’s Bakery') && text.includes(`/pay/${request.id}`) && text.includes(checksummed(payer)),
        );
        assert.equal(kind.name === 'failed', text.includes(time(language, '2027-02-02T00:00:00Z')));
        assert.ok(text.includes(time(language, '2027-03-02T00:00:00Z')));
        assert.ok(mail.unsubscribeUrl?.includes('/stop-mails/'));
      }
    }
    const dueAt = new Date('2027-02-01T00:00:00Z');
    for (const [reason, fix] of [
      ['balance_low', chargesTexts(wordsOf(language)).mail.fixes.balance_low],
      ['allowance_low', mandateTexts(wordsOf(language)).page.raise],
    ] as const) {
      const { subject, body } = lowFundsMail(ctx, { plan, branding, to, reason, payer, dueAt });
      assert.doesNotMatch(`${subject}\n${body}`, /[{}]/, language);
      for (const said of [yours[reason], fix, time(language, '2027-02-01T00:00:00Z')])
        assert.ok(body.includes(said), `${body} should say ${said}`);
    }
  }
});

test('A merchant’s name that turns the text around it, or adds lines → says neither another amount nor a line of ours', () => {
  const plan = { ...planIn('en'), merchant_name: 'Ada\u202e\nAmount: $1.00' };
  for (const kind of [{ name: 'past_due' }, { name: 'ask' }] as const) {
    const mail = chargeMail(ctx, { plan, request, branding, to, reason: 'balance_low', payer, kind });
    assert.doesNotMatch(mail.subject + mail.body, /\u202e/);
    assert.doesNotMatch(mail.body, /^Amount: \$1\.00/m);
    assert.match(mail.body.split('\n')[0] ?? '', /Ada Amount: \$1\.00/, 'the heading is one line');
  }
});
