import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { identifiers } from '../../src/db/sql.ts';
import { CreateRequest } from '../../src/requests/contract.ts';
import {
  type Answer,
  type Api,
  type ApiPartner,
  assertInvalid,
  assertRefused,
  startApi,
} from '../support/api/client.ts';
import { makeMerchant } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;
let two: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
  two = await api.partner();
});
after(() => api?.stop());

type Fields = Record<string, unknown>;
const minimal = (): Fields => ({ account_id: one.test.merchant.id, fiat_amount_int: 1250 });
const create = (fields: Fields = {}) => one.test.api.create({ ...minimal(), ...fields });
/** Sends raw JSON text: the member is appended to the minimal ones. */
const createRaw = (member: string) =>
  one.test.api.create(undefined, { raw: `${JSON.stringify(minimal()).slice(0, -1)},${member}}` });

function assertCreated(answer: Answer): Answer['json'] {
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

test('POST create › the whole request object, with every field of the table', async () => {
  const made = assertCreated(await create());
  const { request_id, pay_page_url, created_at, expires_at, asset_id, amount, ...rest } = made;
  assert.match(request_id, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  assert.equal(pay_page_url, `${api.ctx.config.payUrl}/${request_id}`);
  assert.match(created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  assert.equal(Date.parse(expires_at) - Date.parse(created_at), 15 * 60_000);
  assert.match(String(asset_id), /^eip155:31337\/erc20:0x[0-9a-fA-F]{40}$/);
  assert.deepEqual(amount, { fiat_int: 1250, fiat_code: 'EUR', usdc_micro: amount.usdc_micro });
  assert.deepEqual(rest, {
    ok: true,
    status: 'requested',
    proof_status: 'none',
    proof_verified_at: null,
    tx_hash: null,
    account_id: one.test.merchant.id,
    metadata: {},
    fiat_amount: 1250,
    fiat_currency: 'eur',
    memo: null,
    payment_mode: 'pos',
    customer_name: null,
    customer_email: null,
    customer_phone: null,
    test_mode: true,
  });
});

test('POST create › every optional field comes back as it was sent', async () => {
  const fields = {
    fiat_currency_code: 'EUR',
    memo: 'Table 4 — „ü“ 😀',
    metadata: { order: '17', note: '' },
    payment_mode: 'invoice',
    customer_name: ' Ada ',
    customer_email: 'ada@example.com',
    customer_phone: '+49 30 1',
    expiry_minutes: 60,
  };
  const others = ['account_id', 'fiat_amount_int', 'idempotency_key'];
  const missing = Object.keys(CreateRequest.properties).filter((name) => !(name in fields) && !others.includes(name));
  assert.deepEqual(missing, [], 'send this field of the contract here, too');
  const key = await one.test.api.newKey();
  // The first create of a key reads before it stores; the second is stored as assumed.
  for (const way of ['create_request', 'store_as_assumed']) {
    const made = assertCreated(await one.test.api.create({ ...minimal(), ...fields }, { key }));
    for (const answer of [made, (await one.test.api.read(made.request_id)).json]) {
      const { fiat_currency_code, expiry_minutes, ...same } = fields;
      for (const [name, value] of Object.entries(same)) assert.deepEqual(answer[name], value, `${name}, by ${way}`);
      assert.equal(answer.amount.fiat_code, fiat_currency_code);
      assert.equal(Date.parse(answer.expires_at) - Date.parse(answer.created_at), expiry_minutes * 60_000);
    }
  }
});

test('POST create › live key → test_mode false and the live chain', async () => {
  const { json } = await one.live.api.create({ account_id: one.live.merchant.id, fiat_amount_int: 1 });
  assert.equal(json.test_mode, false);
  assert.match(String(json.asset_id), /^eip155:31338\//);
});

test('POST create › usdc_micro is rounded up exactly: EUR, USD, JPY, KWD', async () => {
  const cases: [currency: string, fiat: number, micro: string][] = [
    ['EUR', 1250, '13586957'],
    ['EUR', 1, '10870'],
    ['USD', 1250, '12500000'],
    ['USD', 2_147_483_647, '21474836470000'],
    ['JPY', 1500, '10000000'],
    ['JPY', 1, '6667'],
    ['KWD', 1250, '4078304'],
  ];
  for (const [currency, fiat_amount_int, micro] of cases) {
    const merchant = await makeMerchant(api.db, one.test.scope, { currency });
    const made = assertCreated(await create({ account_id: merchant.id, fiat_amount_int }));
    assert.deepEqual(made.amount, { fiat_int: fiat_amount_int, fiat_code: currency, usdc_micro: micro });
    assert.equal(made.fiat_currency, currency.toLowerCase());
  }
});

test('POST create › amount and rate are fixed: a later rate changes nothing', async () => {
  const merchant = await makeMerchant(api.db, one.test.scope, { currency: 'SEK' });
  await api.db.sql`insert into rate_overrides (code, rate) values ('SEK', '10')`;
  const made = assertCreated(await create({ account_id: merchant.id }));
  await api.db.sql`update rate_overrides set rate = '20' where code = 'SEK'`;
  assert.deepEqual((await one.test.api.read(made.request_id)).json.amount, made.amount);
});

const invalid: Record<string, unknown[]> = {
  account_id: [undefined, null, '', 'x', 7, true, {}, [], randomUUID().replaceAll('-', ''), `{${randomUUID()}}`],
  fiat_amount_int: [undefined, null, 0, -1, 1.5, 2_147_483_648, '1200', '', true, [5], {}],
  fiat_currency_code: ['', 'eur', 'EU', 'EURO', 'EUR ', 'XXX', 'XAU', 'KPW', 978, {}, ['EUR']],
  memo: ['x'.repeat(501), '😀'.repeat(501), 7, true, {}, ['x']],
  metadata: ['x', 7, true, [], [['a', 'b']]],
  payment_mode: ['', 'POS', 'subscription', 7, true],
  customer_name: ['x'.repeat(201), '😀'.repeat(201), 7, {}],
  customer_email: [`${'x'.repeat(250)}@x.de`, 7, []],
  customer_phone: ['1'.repeat(51), 49, {}],
  expiry_minutes: ['15', 15.5, true, [15], {}],
};
for (const [field, values] of Object.entries(invalid)) {
  for (const value of values) {
    const shown = JSON.stringify(value) ?? 'missing';
    test(`POST create › ${field} ${shown.slice(0, 40)} (${shown.length}) → 400 invalid_request`, async () => {
      assertInvalid(await create({ [field]: value }), field);
    });
  }
}

test('POST create › a currency without a rate → 400 that says to use the merchant’s', async () => {
  const answer = await create({ fiat_currency_code: 'KPW' });
  assertInvalid(answer, 'fiat_currency_code');
  assert.match(answer.json.message, /; give the amount in the merchant’s currency, and leave this field out\.$/);
});

test('POST create › a whole number written as a float is an int; one out of range is refused', async () => {
  const raw = (amount: string) =>
    one.test.api.create(undefined, { raw: `{"account_id":"${one.test.merchant.id}","fiat_amount_int":${amount}}` });
  assert.equal(assertCreated(await raw('5.0')).amount.fiat_int, 5);
  assert.match((await raw('5.0')).text, /"fiat_int":5,/);
  for (const amount of ['1e400', '-1e400', '1e-400', '0.0', '-0', '99999999999999999999', '5.0000001']) {
    assertInvalid(await raw(amount), 'fiat_amount_int');
  }
  assert.equal(assertCreated(await createRaw('"expiry_minutes":30.0')).status, 'requested');
});

test('POST create › all faults at once, one entry for each field', async () => {
  const answer = await create({
    fiat_amount_int: 0,
    memo: 7,
    payment_mode: 'x',
    expiry_minutes: '5',
    customer_phone: 1,
  });
  assertInvalid(answer, 'fiat_amount_int', 'memo', 'payment_mode', 'expiry_minutes', 'customer_phone');
});

test('POST create › fields at their limits are taken; lengths count code points', async () => {
  const fields = {
    fiat_amount_int: 2_147_483_647,
    memo: '😀'.repeat(500),
    customer_name: '😀'.repeat(200),
    customer_email: `${'x'.repeat(249)}@x.de`,
    customer_phone: '😀'.repeat(50),
    metadata: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}${'😀'.repeat(38)}`, '😀'.repeat(500)])),
  };
  const made = assertCreated(await create(fields));
  assert.equal(made.memo, fields.memo);
  assert.deepEqual(made.metadata, fields.metadata);
});

test('POST create › account_id in upper case is the same merchant', async () => {
  const made = assertCreated(await create({ account_id: one.test.merchant.id.toUpperCase() }));
  assert.equal(made.account_id, one.test.merchant.id);
});

test('POST create › an optional field given as null counts as absent', async () => {
  const names = ['fiat_currency_code', 'memo', 'idempotency_key', 'metadata', 'payment_mode', 'customer_name'];
  names.push('customer_email', 'customer_phone', 'expiry_minutes');
  const made = assertCreated(await create(Object.fromEntries(names.map((name) => [name, null]))));
  assert.deepEqual(made.metadata, {});
  assert.equal(made.payment_mode, 'pos');
  assert.equal(made.memo, null);
});

test('POST create › unknown fields are ignored and never echoed', async () => {
  const answer = await create({
    status: 'verified',
    test_mode: false,
    surprise: 'xyzzy',
    usdc_micro: '1',
    id: randomUUID(),
  });
  const made = assertCreated(answer);
  assert.equal(made.status, 'requested');
  assert.equal(made.test_mode, true);
  assert.ok(!answer.text.includes('xyzzy'));
});

for (const [shown, metadata] of [
  ['21 keys', Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'v']))],
  ['a key of 41 characters', { ['k'.repeat(41)]: 'v' }],
  ['a key of 41 emoji', { ['😀'.repeat(41)]: 'v' }],
  ['a value of 501 characters', { k: 'v'.repeat(501) }],
  ['a number as value', { k: 7 }],
  ['null as value', { k: null }],
  ['true as value', { k: true }],
  ['an object as value', { k: {} }],
  ['an array as value', { k: ['v'] }],
] as const) {
  test(`POST create › metadata with ${shown} → 400 invalid_request`, async () => {
    const answer = await create({ metadata });
    assert.equal(answer.json.error, 'invalid_request', answer.text);
    assert.equal(answer.status, 400);
    assert.ok(answer.json.details.length >= 1);
    for (const { field } of answer.json.details) assert.match(field, /^metadata/);
  });
}

test('POST create › metadata comes back unchanged, its keys in order, integer-like ones too', async () => {
  const metadata =
    '{"b":"1","10":"2","2":"3","constructor":"4","a":"5","0":"6","":"7","toString":"8","\\"\\\\":"9","é😀":"10"}';
  const made = await createRaw(`"metadata":${metadata}`);
  assertCreated(made);
  assert.ok(made.text.includes(`"metadata":${metadata}`), made.text);
  const got = await one.test.api.read(made.json.request_id);
  assert.ok(got.text.includes(`"metadata":${metadata}`), got.text);
  const listed = await one.test.api.list(`?since=${made.json.created_at}&limit=1`);
  assert.ok(listed.text.includes(`"metadata":${metadata}`), listed.text);
  const cancelled = await one.test.api.cancel(made.json.request_id);
  assert.ok(cancelled.text.includes(`"metadata":${metadata}`), cancelled.text);
});

test('POST create › metadata written with escapes comes back with the same keys and values', async () => {
  const made = assertCreated(await createRaw('"metadata":{"\\u0032":"\\u00e9","\\u0031":"\\ud83d\\ude00\\n\\u0001"}'));
  assert.deepEqual(Object.entries(made.metadata).sort(), [
    ['1', '😀\n\u0001'],
    ['2', 'é'],
  ]);
});

test('POST create › fiat_currency_code that differs → 400 currency_mismatch with expected_fiat_code', async () => {
  assertRefused(await create({ fiat_currency_code: 'USD' }), 400, 'currency_mismatch', { expected_fiat_code: 'EUR' });
  const yen = await makeMerchant(api.db, one.test.scope, { currency: 'JPY' });
  const answer = await create({ account_id: yen.id, fiat_currency_code: 'EUR' });
  assertRefused(answer, 400, 'currency_mismatch', { expected_fiat_code: 'JPY' });
});

test('POST create › invoice without customer_name, or with one that shows nothing → 400 customer_name_required', async () => {
  for (const customer_name of [undefined, null, '', '   ', '\t\n ', ' \u200b ', '\u2060', '\u3164', '\u202e']) {
    assertRefused(await create({ payment_mode: 'invoice', customer_name }), 400, 'customer_name_required');
  }
});

test('POST create › expiry: 15 minutes in pos mode, 10080 in invoice mode, or as asked', async () => {
  const minutes = async (fields: Fields) => {
    const made = assertCreated(await create(fields));
    return (Date.parse(made.expires_at) - Date.parse(made.created_at)) / 60_000;
  };
  assert.equal(await minutes({}), 15);
  assert.equal(await minutes({ payment_mode: 'pos' }), 15);
  assert.equal(await minutes({ payment_mode: 'invoice', customer_name: 'Ada' }), 10_080);
  for (const expiry_minutes of [5, 10, 15, 30, 60, 180, 1440, 4320, 10_080, 43_200]) {
    assert.equal(await minutes({ expiry_minutes }), expiry_minutes);
  }
});

test('POST create › expiry_minutes outside the partner’s values → 400 expiry_not_allowed with the values', async () => {
  const allowed = [5, 10, 15, 30, 60, 180, 1440, 4320, 10_080, 43_200];
  for (const expiry_minutes of [0, -5, 1, 7, 14, 16, 43_201, 2 ** 31, 2 ** 53]) {
    const answer = await create({ expiry_minutes });
    assertRefused(answer, 400, 'expiry_not_allowed', { allowed_expiry_minutes: allowed });
  }
});

test('POST create › a partner’s own subset and default; 10080 is always allowed in invoice mode', async () => {
  const small = await api.partner();
  await api.db.sql`
    update partners set allowed_expiry_minutes = '{5,30}', default_expiry_minutes = 30 where id = ${small.partner.id}`;
  const call = (fields: Fields) =>
    small.test.api.create({ account_id: small.test.merchant.id, fiat_amount_int: 1, ...fields });
  const made = assertCreated(await call({}));
  assert.equal(Date.parse(made.expires_at) - Date.parse(made.created_at), 30 * 60_000);
  const pos = await call({ expiry_minutes: 10_080 });
  assertRefused(pos, 400, 'expiry_not_allowed', { allowed_expiry_minutes: [5, 30] });
  const invoice = { payment_mode: 'invoice', customer_name: 'Ada' };
  assertCreated(await call({ ...invoice, expiry_minutes: 10_080 }));
  assertCreated(await call({ ...invoice, expiry_minutes: 5 }));
  const other = await call({ ...invoice, expiry_minutes: 15 });
  assertRefused(other, 400, 'expiry_not_allowed', { allowed_expiry_minutes: [5, 30, 10_080] });
});

test('POST create › unknown merchant, and one of another partner in either mode → 404 not_found, the same bytes', async () => {
  const ids = [randomUUID(), two.test.merchant.id, two.live.merchant.id];
  const answers = await Promise.all(ids.map((account_id) => create({ account_id })));
  for (const answer of answers) {
    assertRefused(answer, 404, 'not_found');
    assert.match(answer.json.message, /no merchant with this account_id .*GET \/api\/v1\/accounts/);
  }
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
});

test('POST create › an amount that is no integer → 400, with what to send in minor units of the merchant’s currency', async () => {
  const yen = await makeMerchant(api.db, one.test.scope, { currency: 'JPY' });
  const rule = 'must be an integer in the minor units of the currency';
  const plain = `${rule}: cents for EUR, whole yen for JPY`;
  const said: [fields: Fields, message: string][] = [
    [{ fiat_amount_int: 12.5 }, `${rule}: 1250 for EUR 12.50`],
    [{ fiat_amount_int: '0.05' }, `${rule}, without quotes: 5 for EUR 0.05`],
    [{ fiat_amount_int: 12.505 }, plain],
    [{ fiat_amount_int: '1250' }, `${rule}, without quotes: cents for EUR, whole yen for JPY`],
    [{ fiat_amount_int: {} }, plain],
    [{ fiat_amount_int: 12.5, account_id: yen.id }, plain],
    [{ fiat_amount_int: 12.5, account_id: randomUUID() }, plain],
    [{ fiat_amount_int: 12.5, account_id: randomUUID(), fiat_currency_code: 'KWD' }, `${rule}: 12500 for KWD 12.500`],
  ];
  for (const [fields, message] of said) {
    const answer = await create(fields);
    const fault = answer.json.details.find(({ field }) => field === 'fiat_amount_int');
    assert.equal(fault?.message, message, answer.text);
  }
});

test('POST create › an amount with a fraction too small for a double → 400, like any other fraction', async () => {
  const raw = (amount: string) => `{"account_id":"${one.test.merchant.id}","fiat_amount_int":${amount}}`;
  for (const amount of ['1250.00000000000000001', '125000000000000000000001e-20']) {
    const answer = await one.test.api.create(null, { raw: raw(amount) });
    assertInvalid(answer, 'fiat_amount_int');
  }
  assert.equal((await one.test.api.create(null, { raw: raw('1250.00000000000000000') })).json.amount.fiat_int, 1250);
});

test('POST create › the sentence of an error says what is wrong without its other fields', async () => {
  const bodies: [fields: Fields, message: string][] = [
    [{ fiat_amount_int: undefined }, 'fiat_amount_int is required.'],
    [
      { fiat_amount_int: 0, memo: 5, customer_phone: 5 },
      'fiat_amount_int must be at least 1; details lists 2 more faults.',
    ],
    [{ metadata: { order: 7 } }, 'metadata.order must be a string.'],
    [{ metadata: { 'an\norder': 7 } }, 'A field of metadata must be a string.'],
    [
      { metadata: { ['k'.repeat(41)]: '' } },
      `metadata has the key “${'k'.repeat(41)}”, but each must be at most 40 characters long.`,
    ],
    [
      { fiat_currency_code: 'USD' },
      'The currency of this merchant is EUR: give fiat_amount_int in it, and this fiat_currency_code or none.',
    ],
  ];
  for (const [fields, message] of bodies) {
    const answer = await create(fields);
    assert.equal(answer.json.message, message, answer.text);
  }
  assert.match((await create({ expiry_minutes: 7 })).json.message, /: 5, 10, 15, 30, 60, .*43200\.$/);
});

test('POST create › a value of metadata that is no string → 400, also where its key has a line break', async () => {
  for (const key of ['order', 'an\norder', 'an\u2028order', '']) {
    for (const value of [7, { no: ['7'] }, 'x'.repeat(501)]) {
      const answer = await create({ metadata: { [key]: value } });
      assertInvalid(answer, `metadata.${key}`);
    }
  }
});

test('POST create › merchant in the other mode → 400 merchant_mode_mismatch, both ways', async () => {
  assertRefused(await create({ account_id: one.live.merchant.id }), 400, 'merchant_mode_mismatch');
  const live = await one.live.api.create({ account_id: one.test.merchant.id, fiat_amount_int: 1 });
  assertRefused(live, 400, 'merchant_mode_mismatch');
});

test('POST create › merchant still incomplete → 400 merchant_onboarding_incomplete', async () => {
  const shell = await one.test.api.createAccount({ business_name: 'Shell' });
  assertRefused(await create({ account_id: shell.json.account_id }), 400, 'merchant_onboarding_incomplete');
});

test('POST create › merchant disabled by partner or operator → 400 merchant_disabled', async () => {
  for (const column of ['disabled_by_partner', 'disabled_by_operator']) {
    const merchant = await makeMerchant(api.db, one.test.scope);
    await api.db.sql`update merchants set ${identifiers(column)} = true where id = ${merchant.id}`;
    assertRefused(await create({ account_id: merchant.id }), 400, 'merchant_disabled');
  }
});

test('POST create › no rate fresher than 10 minutes → 503 rate_unavailable, and it works again with a fresh one', async () => {
  const merchant = await makeMerchant(api.db, one.test.scope, { currency: 'NOK' });
  const refused = await create({ account_id: merchant.id });
  assertRefused(refused, 503, 'rate_unavailable');
  assert.match(refused.json.message, /^No current exchange rate is available for NOK; try again in a minute\.$/);
  await api.db.sql`
    insert into rates (code, rate, sources, fetched_at) values ('NOK', '10.5', '[]', now() - interval '10 minutes 1 second')`;
  assertRefused(await create({ account_id: merchant.id }), 503, 'rate_unavailable');
  await api.db.sql`update rates set fetched_at = now() - interval '9 minutes 30 seconds' where code = 'NOK'`;
  assertCreated(await create({ account_id: merchant.id }));
});

test('POST create › wallet is copied: a later change of the merchant’s wallet leaves the request alone', async () => {
  const merchant = await makeMerchant(api.db, one.test.scope);
  const made = assertCreated(await create({ account_id: merchant.id }));
  const [row] = await api.db.sql`select wallet_address from requests where id = ${made.request_id}`;
  assert.equal(row?.wallet_address, merchant.wallet);
});
