import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byLink } from './collection-form.ts';
import { type NewPlan, type PlanFaults, type PlanFields, readPlanChange, readPlanForm } from './form.ts';

const today = '2026-11-21';
const good: PlanFields = {
  name: 'Piano lessons',
  amount: '80',
  customer_name: 'Grace Hopper',
  every: '1',
  period: 'month',
  first_on: '2026-12-01',
  ends: 'never',
};
const read = (typed: PlanFields, currency = 'EUR') =>
  readPlanForm({ ...good, ...typed }, { currency, today }) as { plan?: NewPlan; faults?: PlanFaults };

test('valid fields → a plan', () => {
  const { plan } = read({});
  assert.deepEqual(plan, {
    name: 'Piano lessons',
    fiatInt: 8000,
    customerName: 'Grace Hopper',
    customerEmail: null,
    customerPhone: null,
    every: 1,
    period: 'month',
    firstOn: '2026-12-01',
    maxCharges: null,
    metadata: '{}',
    ...byLink,
  });
});

test('A plan or customer whose name shows nothing → refused; an e-mail address or a phone number that shows nothing is none', () => {
  const blank = '\u200b\u3164';
  assert.deepEqual(read({ name: blank, customer_name: blank }).faults, { name: 'name', customer_name: 'customer' });
  const { plan } = read({ customer_email: blank, customer_phone: blank });
  assert.deepEqual([plan?.customerEmail, plan?.customerPhone], [null, null]);
});

test('A plan that charges automatically takes its amount for the most, and a reserve, a small one in dollars', () => {
  const collection = (typed: PlanFields, currency?: string) => {
    const { plan, faults } = read({ collect: 'automatic', ...typed }, currency);
    return faults ?? [plan?.collect, plan?.capFiatInt, plan?.reservePercent, plan?.afterPastDue];
  };
  assert.deepEqual(collection({}), ['automatic', 8000, 10, 'link']);
  assert.deepEqual(collection({}, 'USD'), ['automatic', 8000, 1, 'link']);
  assert.deepEqual(collection({ cap: '95.50', reserve: '0', past_due: 'end' }), ['automatic', 9550, 0, 'end']);
  assert.deepEqual(collection({ cap: '79.99' }), { cap: 'cap' });
  assert.deepEqual(collection({ cap: 'much' }), { cap: 'cap' });
  assert.deepEqual(collection({ cap: '99999999' }), { cap: 'tooMuch' });
  assert.deepEqual(collection({ reserve: '101' }), { reserve: 'reserve' });
  assert.deepEqual(collection({ reserve: '-1' }), { reserve: 'reserve' });
  assert.deepEqual(collection({ amount: '' }), { amount: 'amount' });
  // By link, what was typed for automatic charges counts for nothing.
  assert.deepEqual(read({ cap: 'much', reserve: 'x' }).plan?.collect, 'link');
});

test('A plan is changed by its amount and the way it is paid, and nothing else', () => {
  assert.deepEqual(readPlanChange({ amount: '90', collect: 'automatic', name: 'Other' }, 'EUR'), {
    change: { fiatInt: 9000, collect: 'automatic', capFiatInt: 9000, reservePercent: 10, afterPastDue: 'link' },
  });
  assert.deepEqual(readPlanChange({ amount: '0' }, 'EUR'), { faults: { amount: 'amount' } });
});

test('Each broken rule is reported under its field', () => {
  for (const [typed, faults] of [
    [{ name: '  ' }, { name: 'name' }],
    [{ name: 'x'.repeat(201) }, { name: 'name' }],
    [{ customer_name: '' }, { customer_name: 'customer' }],
    [{ customer_email: 'grace' }, { customer_email: 'email' }],
    [{ customer_email: 'a@b.example, c@d.example' }, { customer_email: 'email' }],
    [{ customer_phone: '1'.repeat(51) }, { customer_phone: 'phone' }],
    [{ amount: '0' }, { amount: 'amount' }],
    [{ amount: '1.005' }, { amount: 'separators' }],
    [{ amount: '5 USD' }, { amount: 'notOnlyNumber' }],
    [{ amount: '99999999999' }, { amount: 'tooMuch' }],
    [{ every: '0' }, { every: 'every' }],
    [{ every: '25' }, { every: 'every' }],
    [{ every: '6', period: 'year' }, { every: 'every' }],
    [{ every: '1.5' }, { every: 'every' }],
    [{ first_on: '2026-11-20' }, { first_on: 'firstOn' }],
    [{ first_on: '2027-11-22' }, { first_on: 'firstOn' }],
    [{ first_on: '2027-02-29' }, { first_on: 'firstOn' }],
    [{ first_on: 'soon' }, { first_on: 'firstOn' }],
    [{ ends: 'after', charges: '' }, { charges: 'charges' }],
    [{ ends: 'after', charges: '1000' }, { charges: 'charges' }],
    [
      { name: '', amount: '' },
      { name: 'name', amount: 'amount' },
    ],
  ] as const) {
    assert.deepEqual(read(typed).faults, faults, JSON.stringify(typed));
  }
});

test('the smallest and largest allowed values → accepted', () => {
  for (const typed of [
    { first_on: today },
    { first_on: '2027-11-21' },
    { every: '365', period: 'day' },
    { every: '5', period: 'year' },
    { ends: 'after', charges: '999' },
    { ends: 'never', charges: 'any' },
    { name: '🎹'.repeat(200) },
    { customer_phone: '1'.repeat(50) },
  ]) {
    assert.ok(read(typed).plan, JSON.stringify(typed));
  }
});

test('Metadata is read line by line in its order, and by the rules of the API', () => {
  const metadata = (text: string) => {
    const outcome = read({ metadata: text });
    return outcome.plan?.metadata ?? outcome.faults;
  };
  assert.equal(
    metadata('order = A-1042\r\n7=seven\r\n\r\nurl= https://a.example/?b=c\r\nnone ='), //
    '{"order":"A-1042","7":"seven","url":"https://a.example/?b=c","none":""}',
  );
  const fault = { metadata: 'metadata' };
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join('\n');
  assert.equal(typeof metadata(lines(20)), 'string');
  assert.equal(typeof metadata(`${'k'.repeat(40)}=${'v'.repeat(500)}`), 'string');
  for (const text of [
    'order',
    '= A',
    'a=1\na=2',
    '__proto__=x',
    lines(21),
    `${'k'.repeat(41)}=v`,
    `k=${'v'.repeat(501)}`,
    'a=\ud800',
  ]) {
    assert.deepEqual(metadata(text), fault, text.slice(0, 20));
  }
});

test('The amount is read in the digits of the currency', () => {
  const fiat = (amount: string, currency: string) => read({ amount }, currency).plan?.fiatInt;
  assert.deepEqual([fiat('500', 'JPY'), fiat('1,5', 'KWD'), fiat('12.50', 'EUR')], [500, 1500, 1250]);
  assert.deepEqual(read({ amount: '1.5' }, 'JPY').faults, { amount: 'separators' });
});
