import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Api, type ApiPartner, assertInvalid, assertRefused, startApi } from '../support/api/client.ts';
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

const newKey = () => randomBytes(16).toString('hex');
const minimal = (idempotency_key: unknown) => ({
  account_id: one.test.merchant.id,
  fiat_amount_int: 1250,
  idempotency_key,
});

for (const [shown, key] of [
  ['31 characters', 'a'.repeat(31)],
  ['65 characters', 'a'.repeat(65)],
  ['empty', ''],
  ['standard base64', `${'a'.repeat(40)}+/`],
  ['padding', `${'a'.repeat(40)}==`],
  ['a space', `${'a'.repeat(31)} `],
  ['a letter beyond ASCII', 'é'.repeat(32)],
  ['a line end', `${'a'.repeat(32)}\n`],
  ['a number', 1e31],
  ['an object', {}],
] as const) {
  test(`POST create › idempotency_key: ${shown} → 400 invalid_idempotency_key`, async () => {
    assertRefused(await one.test.api.create(minimal(key)), 400, 'invalid_idempotency_key');
  });
}

for (const key of ['a'.repeat(32), 'Z'.repeat(64), '0123456789abcdef0123456789abcdef', `${'-_'.repeat(16)}Az09`]) {
  test(`POST create › idempotency_key ${key.slice(0, 16)}… (${key.length}) is taken`, async () => {
    assert.equal((await one.test.api.create(minimal(key))).status, 201);
  });
}

test('POST create › same key, same merchant → 200, the same request, idempotent_replay true', async () => {
  const body = { ...minimal(newKey()), memo: 'first', metadata: { 2: 'b', 1: 'a' } };
  const made = await one.test.api.create(body);
  assert.equal(made.status, 201);
  assert.equal(Object.hasOwn(made.json, 'idempotent_replay'), false);
  const again = await one.test.api.create(body);
  assert.equal(again.status, 200);
  assert.deepEqual(again.json, { ...made.json, idempotent_replay: true });
});

test('POST create › new values under a replayed key are ignored, valid or not', async () => {
  const key = newKey();
  const made = await one.test.api.create({ ...minimal(key), memo: 'first' });
  const others = [
    { fiat_amount_int: 99 },
    { fiat_amount_int: 0 },
    { fiat_amount_int: undefined },
    { memo: 'x'.repeat(501) },
    { metadata: { k: 7 } },
    { payment_mode: 'invoice' },
    { payment_mode: 7 },
    { fiat_currency_code: 'USD' },
    { fiat_currency_code: 'nonsense' },
    { expiry_minutes: 7 },
    { account_id: one.test.merchant.id.toUpperCase() },
  ];
  for (const other of others) {
    const again = await one.test.api.create({ ...minimal(key), ...other });
    assert.equal(again.status, 200, JSON.stringify(other));
    assert.deepEqual(again.json, { ...made.json, idempotent_replay: true });
  }
});

test('POST create › a replay shows the current state', async () => {
  const body = minimal(newKey());
  const made = await one.test.api.create(body);
  await one.test.api.cancel(made.json.request_id);
  const again = await one.test.api.create(body);
  assert.equal(again.json.status, 'voided');
  assert.equal(again.json.idempotent_replay, true);
});

test('POST create › replays after the merchant was disabled, the rate moved or aged, and the request expired', async () => {
  const merchant = await makeMerchant(api.db, one.test.scope, { currency: 'DKK' });
  await api.db.sql`insert into rates (code, rate, sources, fetched_at) values ('DKK', '6.4', '[]', now())`;
  const body = { ...minimal(newKey()), account_id: merchant.id };
  const made = await one.test.api.create(body);
  assert.equal(made.status, 201);
  await api.db.sql`update merchants set disabled_by_operator = true where id = ${merchant.id}`;
  await api.db.sql`update rates set rate = '7', fetched_at = now() - interval '1 day' where code = 'DKK'`;
  await api.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${made.json.request_id}`;
  const again = await one.test.api.create(body);
  assert.equal(again.status, 200);
  assert.deepEqual(again.json.amount, made.json.amount);
  assert.equal(again.json.status, 'expired');
});

test('POST create › same key on another merchant of the partner → a new request', async () => {
  const other = await makeMerchant(api.db, one.test.scope);
  const key = newKey();
  const [first, second] = [
    await one.test.api.create(minimal(key)),
    await one.test.api.create({ ...minimal(key), account_id: other.id }),
  ];
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.notEqual(first.json.request_id, second.json.request_id);
});

test('POST create › same key in the other mode and at another partner → a new request each', async () => {
  const key = newKey();
  const ids = new Set<string>();
  for (const side of [one.test, one.live, two.test, two.live]) {
    const made = await side.api.create({ ...minimal(key), account_id: side.merchant.id });
    assert.equal(made.status, 201);
    ids.add(made.json.request_id);
  }
  assert.equal(ids.size, 4);
});

test('POST create › a key never replays for another partner or mode naming the merchant', async () => {
  const key = newKey();
  await one.test.api.create(minimal(key));
  assertRefused(await two.test.api.create(minimal(key)), 404, 'not_found');
  assertRefused(await one.live.api.create(minimal(key)), 400, 'merchant_mode_mismatch');
});

test('POST create › without a key there is no replay protection', async () => {
  const [first, second] = [
    await one.test.api.create(minimal(undefined)),
    await one.test.api.create(minimal(undefined)),
  ];
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.notEqual(first.json.request_id, second.json.request_id);
});

test('POST create › a refused create leaves nothing behind: the key is free', async () => {
  const key = newKey();
  assertInvalid(await one.test.api.create({ ...minimal(key), fiat_amount_int: 0 }), 'fiat_amount_int');
  assert.equal((await one.test.api.create(minimal(key))).status, 201);
});

test('POST create › 200 parallel creates under one key, over several API keys, make one request', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => one.test.api.newKey()));
  const body = minimal(newKey());
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => one.test.api.create(body, { key: keys[i % keys.length] })),
  );
  assert.deepEqual(answers.filter(({ status }) => status === 201).length, 1);
  assert.deepEqual(answers.filter(({ status }) => status === 200).length, 199);
  for (const { status, json } of answers) assert.equal(json.idempotent_replay, status === 200 ? true : undefined);
  assert.equal(new Set(answers.map(({ json }) => json.request_id)).size, 1);
  assert.equal(new Set(answers.map(({ json }) => json.amount.usdc_micro)).size, 1);
  const rows = await api.db.sql`
    select id from requests where idempotency_key = ${body.idempotency_key as string}`;
  assert.equal(rows.length, 1);
});
