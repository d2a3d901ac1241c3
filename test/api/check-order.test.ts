import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Answer, type Api, type ApiPartner, type CallOptions, startApi } from '../support/api/client.ts';
import { makeMerchant } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;
let two: ApiPartner;
let off: ApiPartner;
const merchants: Record<string, string> = {};

before(async () => {
  api = await startApi();
  [one, two, off] = [await api.partner(), await api.partner(), await api.partner()];
  const { sql } = api.db;
  await sql`update partners set disabled_at = now() where id = ${off.partner.id}`;
  merchants.incomplete = (await one.test.api.createAccount({})).json.account_id;
  merchants.disabled = (await makeMerchant(api.db, one.test.scope)).id;
  merchants.incompleteDisabled = (await one.test.api.createAccount({})).json.account_id;
  merchants.incompleteLive = (await one.live.api.createAccount({})).json.account_id;
  merchants.rateless = (await makeMerchant(api.db, one.test.scope, { currency: 'KPW' })).id;
  await sql`update merchants set disabled_by_partner = true
    where id in (${merchants.disabled}, ${merchants.incompleteDisabled}, ${merchants.incompleteLive})`;
});
after(() => api?.stop());

const fiat = { fiat_amount_int: 1 };
async function expect(call: Promise<Answer>, status: number, code: string): Promise<void> {
  const answer = await call;
  assert.deepEqual([answer.status, answer.json.error], [status, code], answer.text);
}
const create = (fields: object, options?: CallOptions) => one.test.api.create(fields, options);
const raw = (text: string, options: CallOptions = {}) => create({}, { raw: text, ...options });

test('Order › unknown route before a missing key', () =>
  expect(one.test.api.get('/api/v1/x', { key: null }), 404, 'not_found'));

test('Order › wrong method before a missing key', () =>
  expect(one.test.api.call('DELETE', '/api/v1/requests', { key: null }), 405, 'method_not_allowed'));

test('Order › key before host, partner, limit, scope and body', async () => {
  await expect(create({}, { key: null, headers: { host: 'example.com' } }), 401, 'unauthorized');
  await expect(raw('{', { key: null }), 401, 'unauthorized');
  await expect(raw(' '.repeat(131_073), { key: 'nonsense' }), 401, 'unauthorized');
  await expect(raw('x', { key: null, headers: { 'content-type': 'text/plain' } }), 401, 'unauthorized');
});

test('Order › host before a disabled partner', async () => {
  await expect(off.test.api.list('', { headers: { host: 'example.com' } }), 404, 'not_found');
  await expect(off.test.api.list('', { headers: { host: `${one.partner.slug}.localhost` } }), 401, 'unauthorized');
});

test('Order › host before scope and body', async () => {
  const key = await one.test.api.newKey(['accounts:read']);
  await expect(raw('{', { key, headers: { host: 'example.com' } }), 404, 'not_found');
});

test('Order › a disabled partner before limit, scope and body', async () => {
  const own = await api.partner();
  const key = await own.test.api.newKey(['accounts:read']);
  await Promise.all(Array.from({ length: 61 }, () => own.test.api.list('', { key })));
  await api.db.sql`update partners set disabled_at = now() where id = ${own.partner.id}`;
  await expect(own.test.api.list('', { key }), 403, 'partner_disabled');
  await expect(own.test.api.create({}, { key, raw: '{' }), 403, 'partner_disabled');
});

test('Order › limit before scope and body', async () => {
  const key = await one.test.api.newKey(['accounts:read']);
  await Promise.all(Array.from({ length: 60 }, () => create({}, { key })));
  await api.db
    .sql`update rate_counters set minute = date_trunc('minute', clock_timestamp()) + interval '1 minute', calls = 60
    where partner_id = ${one.partner.id} and calls >= 60`;
  await expect(create({}, { key }), 429, 'rate_limited');
  await expect(raw('{', { key }), 429, 'rate_limited');
});

test('Order › scope before body and fields', async () => {
  const key = await one.test.api.newKey(['requests:read']);
  await expect(raw('{', { key }), 403, 'insufficient_scope');
  await expect(raw(' '.repeat(131_073), { key }), 403, 'insufficient_scope');
  await expect(create({}, { key, headers: { 'content-type': 'text/plain' } }), 403, 'insufficient_scope');
  await expect(create({ idempotency_key: 'x' }, { key }), 403, 'insufficient_scope');
  const reader = await one.test.api.newKey(['requests:write']);
  await expect(one.test.api.list('?limit=0', { key: reader }), 403, 'insufficient_scope');
  await expect(one.test.api.read('x', { key: reader }), 403, 'insufficient_scope');
});

test('Order › size before type, type before JSON', async () => {
  const plain = { headers: { 'content-type': 'text/plain' } };
  await expect(raw(' '.repeat(131_073), plain), 413, 'body_too_large');
  await expect(raw('{', plain), 415, 'unsupported_media_type');
  await expect(raw('{'.padEnd(131_073)), 413, 'body_too_large');
});

test('Order › JSON before a malformed idempotency_key', () =>
  expect(raw('{"idempotency_key":"x","idempotency_key":"x"}'), 400, 'invalid_json'));

test('Order › a malformed idempotency_key before fields and merchant', async () => {
  await expect(create({ idempotency_key: 'x', fiat_amount_int: 0 }), 400, 'invalid_idempotency_key');
  await expect(create({ ...fiat, idempotency_key: 'x', account_id: randomUUID() }), 400, 'invalid_idempotency_key');
  await expect(create({ idempotency_key: 'x', payment_mode: 'invoice' }), 400, 'invalid_idempotency_key');
});

test('Order › replay before fields, merchant and rate', async () => {
  const merchant = await makeMerchant(api.db, one.test.scope);
  const body = { ...fiat, account_id: merchant.id, idempotency_key: 'k'.repeat(32) };
  await create(body);
  await api.db.sql`update merchants set disabled_by_partner = true, display_currency = 'KPW' where id = ${merchant.id}`;
  const answer = await create({ ...body, fiat_amount_int: 'x', payment_mode: 'invoice', expiry_minutes: 7 });
  assert.equal(answer.status, 200, answer.text);
});

test('Order › fields before customer_name_required', () =>
  expect(
    create({ account_id: one.test.merchant.id, fiat_amount_int: 0, payment_mode: 'invoice' }),
    400,
    'invalid_request',
  ));

test('Order › fields before merchant, mode, onboarding and disabled', async () => {
  const bad = { fiat_amount_int: 0 };
  const ids = [randomUUID(), two.test.merchant.id, one.live.merchant.id, merchants.incomplete, merchants.disabled];
  for (const account_id of ids) {
    await expect(create({ ...bad, account_id }), 400, 'invalid_request');
    await expect(create({ ...fiat, account_id, payment_mode: 'invoice' }), 400, 'customer_name_required');
  }
});

test('Order › merchant exists before currency and expiry', () =>
  expect(
    create({ ...fiat, account_id: randomUUID(), fiat_currency_code: 'USD', expiry_minutes: 7 }),
    404,
    'not_found',
  ));

test('Order › mode before onboarding, disabled, currency and expiry', async () => {
  const rest = { fiat_currency_code: 'USD', expiry_minutes: 7 };
  for (const account_id of [one.live.merchant.id, merchants.incompleteLive]) {
    await expect(create({ ...fiat, ...rest, account_id }), 400, 'merchant_mode_mismatch');
  }
});

test('Order › onboarding before disabled, currency and expiry', async () => {
  const rest = { fiat_currency_code: 'USD', expiry_minutes: 7 };
  for (const account_id of [merchants.incomplete, merchants.incompleteDisabled]) {
    await expect(create({ ...fiat, ...rest, account_id }), 400, 'merchant_onboarding_incomplete');
  }
});

test('Order › disabled before currency and expiry', () =>
  expect(
    create({ ...fiat, account_id: merchants.disabled, fiat_currency_code: 'USD', expiry_minutes: 7 }),
    400,
    'merchant_disabled',
  ));

test('Order › currency before expiry', () =>
  expect(
    create({ ...fiat, account_id: one.test.merchant.id, fiat_currency_code: 'USD', expiry_minutes: 7 }),
    400,
    'currency_mismatch',
  ));

test('Order › everything the caller can mend before the rate', async () => {
  const body = { ...fiat, account_id: merchants.rateless };
  await expect(create({ ...body, fiat_currency_code: 'USD' }), 400, 'currency_mismatch');
  await expect(create({ ...body, expiry_minutes: 7 }), 400, 'expiry_not_allowed');
  await expect(create(body), 503, 'rate_unavailable');
});

test('Order › list: fields before the merchant of the filter', () =>
  expect(one.test.api.list(`?account_id=${randomUUID()}&limit=0`), 400, 'invalid_request'));
