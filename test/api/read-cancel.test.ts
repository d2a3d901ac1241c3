import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Api, type ApiPartner, assertRefused, startApi } from '../support/api/client.ts';

let api: Api;
let one: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
});
after(() => api?.stop());

async function made() {
  const answer = await one.test.api.create({
    account_id: one.test.merchant.id,
    fiat_amount_int: 1250,
    memo: 'Table 4',
    metadata: { order: '1' },
  });
  assert.equal(answer.status, 201);
  return answer.json;
}

type Change = 'opened' | 'expired' | 'due' | 'attached' | 'verified' | 'expired and verified';
async function change(id: string, to: Change): Promise<void> {
  const { sql } = api.db;
  const hash = `0x${'ab'.repeat(32)}`;
  const payer = `0x${'cd'.repeat(20)}`;
  if (to === 'opened') await sql`update requests set status = 'opened', opened_at = now() where id = ${id}`;
  if (to === 'expired') await sql`update requests set status = 'expired', expires_at = now() where id = ${id}`;
  if (to === 'due') await sql`update requests set expires_at = now() - interval '1 millisecond' where id = ${id}`;
  if (to === 'attached') await sql`update requests set proof_status = 'attached' where id = ${id}`;
  if (to.endsWith('verified')) {
    await sql`update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = ${hash},
      payer_address = ${payer}, asset_id = 'eip155:1/erc20:0x0000000000000000000000000000000000000001',
      status = ${to === 'verified' ? 'opened' : 'expired'} where id = ${id}`;
  }
}

test('GET request › returns the object that create returned', async () => {
  const request = await made();
  const got = await one.test.api.read(request.request_id);
  assert.equal(got.status, 200);
  assert.deepEqual(got.json, request);
});

test('GET request › the id is taken in upper case too', async () => {
  const request = await made();
  assert.deepEqual((await one.test.api.read(request.request_id.toUpperCase())).json, request);
});

test('GET request › opened is shown at once', async () => {
  const request = await made();
  await change(request.request_id, 'opened');
  assert.equal((await one.test.api.read(request.request_id)).json.status, 'opened');
});

test('GET request › expired is true the moment expires_at has passed, stored or not, from requested and opened', async () => {
  for (const opened of [false, true]) {
    const request = await made();
    if (opened) await change(request.request_id, 'opened');
    await change(request.request_id, 'due');
    const got = await one.test.api.read(request.request_id);
    assert.deepEqual([got.json.status, got.json.proof_status], ['expired', 'none']);
  }
});

test('GET request › expiry waits while a proof is attached', async () => {
  const request = await made();
  await change(request.request_id, 'attached');
  await change(request.request_id, 'due');
  const got = await one.test.api.read(request.request_id);
  assert.deepEqual([got.json.status, got.json.proof_status], ['requested', 'attached']);
});

test('GET request › a voided request stays voided after its expiry', async () => {
  const request = await made();
  await one.test.api.cancel(request.request_id);
  await change(request.request_id, 'due');
  assert.equal((await one.test.api.read(request.request_id)).json.status, 'voided');
});

test('GET request › verified: tx_hash, proof_verified_at and the asset that was paid with', async () => {
  const request = await made();
  await change(request.request_id, 'verified');
  const { json } = await one.test.api.read(request.request_id);
  assert.equal(json.proof_status, 'verified');
  assert.equal(json.tx_hash, `0x${'ab'.repeat(32)}`);
  assert.match(String(json.proof_verified_at), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  assert.equal(json.asset_id, 'eip155:1/erc20:0x0000000000000000000000000000000000000001');
  assert.ok(!('payer_address' in json));
});

test('GET request › unknown and malformed ids → 404 not_found', async () => {
  for (const id of [
    randomUUID(),
    'x',
    '0',
    '%00',
    '%ff',
    `${randomUUID()}x`,
    randomUUID().replaceAll('-', ''),
    "';--",
  ]) {
    assertRefused(await one.test.api.read(id), 404, 'not_found');
  }
});

test('POST cancel › requested and none → 200 with status voided, nothing else changed', async () => {
  const request = await made();
  const answer = await one.test.api.cancel(request.request_id);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, { ...request, status: 'voided' });
  assert.deepEqual((await one.test.api.read(request.request_id)).json, answer.json);
  const [kept] = await api.db.sql`
    select reserved_until - now() between interval '23 hours' and interval '24 hours' as for_a_day
    from amount_reservations where request_id = ${request.request_id}`;
  assert.equal(kept?.for_a_day, true, 'from now, whenever it would have expired');
});

for (const state of ['opened', 'expired', 'due', 'attached', 'verified', 'expired and verified'] as const) {
  test(`POST cancel › ${state} request → 409 cannot_cancel with the current request, unchanged`, async () => {
    const { request_id } = await made();
    await change(request_id, state);
    const before = await one.test.api.read(request_id);
    const answer = await one.test.api.cancel(request_id);
    const { ok: _, ...request } = before.json;
    assert.equal(answer.status, 409);
    assert.deepEqual(Object.keys(answer.json), ['ok', 'error', 'message', 'request']);
    assert.equal(answer.json.error, 'cannot_cancel');
    const { ok: __, ...inside } = answer.json.request;
    assert.deepEqual(inside, request);
    assert.deepEqual((await one.test.api.read(request_id)).json, before.json);
  });
}

test('POST cancel › a second time → 409 cannot_cancel, the request under `request` is voided', async () => {
  const { request_id } = await made();
  await one.test.api.cancel(request_id);
  const again = await one.test.api.cancel(request_id);
  assert.equal(again.status, 409);
  assert.equal(again.json.request.status, 'voided');
  assert.match(again.json.message, /with status requested/, 'nobody has opened or paid it');
});

test('POST cancel › a body is ignored, whatever it is', async () => {
  const bodies: [string, string | null][] = [
    ['', 'application/json'],
    ['{}', 'application/json'],
    ['{"status":', 'application/json'],
    ['\xff\xfe', 'application/json'],
    ['hello', 'text/plain'],
    ['a=1', 'application/x-www-form-urlencoded'],
    ['x', null],
    ['--b\r\n', 'multipart/form-data; boundary=b'],
  ];
  for (const [raw, type] of bodies) {
    const { request_id } = await made();
    const answer = await one.test.api.cancel(request_id, { raw, headers: { 'content-type': type } });
    assert.equal(answer.status, 200, `${type}: ${answer.text}`);
  }
});

test('POST cancel › unknown and malformed ids → 404 not_found', async () => {
  for (const id of [randomUUID(), 'x', '%00', 'create']) assertRefused(await one.test.api.cancel(id), 404, 'not_found');
});

test('POST cancel › twenty at once void once', async () => {
  const { request_id } = await made();
  const answers = await Promise.all(Array.from({ length: 20 }, () => one.test.api.cancel(request_id)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 19);
});

test('POST cancel › the audit log names the key, once, and says nothing of what was refused', async () => {
  const request = await made();
  await Promise.all(Array.from({ length: 5 }, () => one.test.api.cancel(request.request_id)));
  const rows = await api.db.sql`
    select actor_kind, actor_name, test_mode, ip, details from audit_log
    where partner_id = ${one.partner.id} and action = 'request.cancelled' and object_id = ${request.request_id}`;
  assert.equal(rows.length, 1);
  const keys = await api.db.sql`select hint from api_keys where partner_id = ${one.partner.id} and test_mode`;
  const { actor_name: name, ...row } = rows[0] ?? {};
  assert.deepEqual(row, { actor_kind: 'api_key', test_mode: true, ip: '127.0.0.1', details: '{}' });
  assert.ok(keys.some(({ hint }) => name === `API key ${hint}`));
});
