import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  type Api,
  type ApiJson,
  type ApiPartner,
  assertInvalid,
  assertRefused,
  startApi,
} from '../support/api/client.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;
let two: ApiPartner;
/** Twelve requests of two merchants, oldest first. */
const requests: ApiJson[] = [];
let second: { id: string; wallet: string };

before(async () => {
  api = await startApi();
  one = await api.partner();
  two = await api.partner();
  second = await makeMerchant(api.db, one.test.scope);
  for (let i = 0; i < 12; i++) {
    const account_id = i % 3 === 0 ? second.id : one.test.merchant.id;
    requests.push((await one.test.api.create({ account_id, fiat_amount_int: 100 + i })).json);
  }
  const { sql } = api.db;
  const id = (i: number) => requests[i]?.request_id as string;
  await sql`update requests set status = 'opened', opened_at = now() where id in (${id(1)}, ${id(2)}, ${id(3)})`;
  await sql`update requests set proof_status = 'attached' where id in (${id(3)}, ${id(4)})`;
  await sql`update requests set status = 'expired' where id = ${id(5)}`;
  await sql`update requests set expires_at = now() - interval '1 second' where id in (${id(2)}, ${id(6)}, ${id(4)})`;
  await one.test.api.cancel(id(7));
  await sql`update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = '0x1', payer_address = '0x2',
    status = 'expired' where id = ${id(8)}`;
  await two.test.api.create({ account_id: two.test.merchant.id, fiat_amount_int: 1 });
  await one.live.api.create({ account_id: one.live.merchant.id, fiat_amount_int: 1 });
});
after(() => api?.stop());

/** Positions of the listed requests among the twelve. */
async function listed(query: string): Promise<number[]> {
  const answer = await one.test.api.list(query);
  assert.equal(answer.status, 200, `${query}: ${answer.text}`);
  return answer.json.requests.map(({ request_id }) => requests.findIndex((r) => r.request_id === request_id));
}
const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const at = (i: number) => requests[i]?.created_at as string;

test('GET requests › ok, requests, has_more, limit and offset, oldest first, only of this partner and mode', async () => {
  const answer = await one.test.api.list();
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json).sort(), ['has_more', 'limit', 'offset', 'ok', 'requests']);
  assert.deepEqual([answer.json.has_more, answer.json.limit, answer.json.offset], [false, 50, 0]);
  assert.deepEqual(await listed(''), all);
});

test('GET requests › each item is what GET of the request returns', async () => {
  const answer = await one.test.api.list();
  for (const item of answer.json.requests) {
    const { ok: _, ...got } = (await one.test.api.read(item.request_id)).json;
    const { ok: __, ...shown } = item;
    assert.deepEqual(shown, got);
  }
});

test('GET requests › created_at strictly increases', async () => {
  const times = (await one.test.api.list()).json.requests.map(({ created_at }) => created_at);
  for (let i = 1; i < times.length; i++) assert.ok((times[i] as string) > (times[i - 1] as string));
});

for (const [status, expected] of [
  ['requested', [0, 4, 9, 10, 11]],
  ['opened', [1, 3]],
  ['expired', [2, 5, 6, 8]],
  ['voided', [7]],
] as const) {
  test(`GET requests › status=${status}; expiry counts from its moment, not while attached`, async () => {
    assert.deepEqual(await listed(`?status=${status}`), expected);
    for (const item of (await one.test.api.list(`?status=${status}`)).json.requests) assert.equal(item.status, status);
  });
}

for (const [proof, expected] of [
  ['none', [0, 1, 2, 5, 6, 7, 9, 10, 11]],
  ['attached', [3, 4]],
  ['verified', [8]],
] as const) {
  test(`GET requests › proof_status=${proof}`, async () =>
    assert.deepEqual(await listed(`?proof_status=${proof}`), expected));
}

test('GET requests › both filters together, and with a merchant and a time', async () => {
  assert.deepEqual(await listed('?status=expired&proof_status=verified'), [8]);
  assert.deepEqual(await listed('?status=expired&proof_status=none'), [2, 5, 6]);
  assert.deepEqual(await listed('?status=opened&proof_status=attached'), [3]);
  assert.deepEqual(await listed('?status=requested&proof_status=verified'), []);
  assert.deepEqual(await listed(`?status=requested&proof_status=none&account_id=${second.id}`), [0, 9]);
  assert.deepEqual(await listed(`?status=requested&proof_status=none&account_id=${second.id}&since=${at(5)}`), [9]);
});

test('GET requests › account_id: one merchant, in either case', async () => {
  assert.deepEqual(await listed(`?account_id=${second.id}`), [0, 3, 6, 9]);
  assert.deepEqual(await listed(`?account_id=${second.id.toUpperCase()}`), [0, 3, 6, 9]);
});

test('GET requests › far into the list, with every kind of filter → continues where the previous page ended', async () => {
  const { test: many } = await api.partner();
  const merchants = [many.merchant, await makeMerchant(api.db, many.scope)];
  for (let i = 0; i < 240; i++) await makeRequest(api.db, many.scope, merchants[i % 2] ?? many.merchant);
  const { sql } = api.db;
  const every = (n: number, rest: number) => sql`
    (select id from (select id, row_number() over (order by created_at) as n from requests
      where partner_id = ${many.scope.partnerId}) r where n % ${n} = ${rest})`;
  await sql`update requests set status = 'expired' where id in ${every(4, 0)}`;
  await sql`update requests set expires_at = now() - interval '1 second' where id in ${every(4, 1)}`;
  await sql`update requests set status = 'voided', voided_at = now() where id in ${every(16, 2)}`;
  const page = async (query: string) => {
    const { json } = await many.api.list(`?${query}`);
    return { has_more: json.has_more, ids: json.requests.map(({ request_id }) => request_id) };
  };
  for (const filter of ['', 'status=expired', 'proof_status=none', `account_id=${many.merchant.id}`]) {
    const ids: string[] = [];
    for (let hasMore = true; hasMore; ) {
      const next = await page(`${filter}&limit=20&offset=${ids.length}`);
      ids.push(...next.ids);
      hasMore = next.has_more;
    }
    assert.equal(new Set(ids).size, filter === '' || filter === 'proof_status=none' ? 240 : 120, filter);
    const rows = await sql<
      { id: string }[]
    >`select id from requests where id = any(${ids}::uuid[]) order by created_at`;
    const inOrder = rows.map(({ id }) => id);
    assert.deepEqual(ids, inOrder, filter);
    assert.deepEqual(await page(`${filter}&limit=7&offset=101`), { has_more: true, ids: ids.slice(101, 108) });
    assert.deepEqual(await page(`${filter}&limit=100&offset=${ids.length - 1}`), {
      has_more: false,
      ids: ids.slice(-1),
    });
    assert.deepEqual(await page(`${filter}&offset=${ids.length}`), { has_more: false, ids: [] });
  }
});

test('GET requests › account_id of nobody, another partner or mode → 404 not_found, the same bytes', async () => {
  const ids = [randomUUID(), two.test.merchant.id, two.live.merchant.id, one.live.merchant.id];
  const answers = await Promise.all(ids.map((id) => one.test.api.list(`?account_id=${id}`)));
  for (const answer of answers) assertRefused(answer, 404, 'not_found');
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
});

test('GET requests › since is inclusive, until exclusive', async () => {
  assert.deepEqual(await listed(`?since=${at(4)}`), all.slice(4));
  assert.deepEqual(await listed(`?until=${at(4)}`), all.slice(0, 4));
  assert.deepEqual(await listed(`?since=${at(4)}&until=${at(6)}`), [4, 5]);
  assert.deepEqual(await listed(`?since=${at(4)}&until=${at(4)}`), []);
  assert.deepEqual(await listed(`?since=${at(6)}&until=${at(4)}`), []);
});

test('GET requests › since and until with an offset, encoded or not, and finer than milliseconds', async () => {
  const moment = new Date(at(4));
  const plusTwo = new Date(moment.getTime() + 2 * 3_600_000).toISOString().replace('Z', '+02:00');
  assert.deepEqual(await listed(`?since=${encodeURIComponent(plusTwo)}`), all.slice(4));
  assert.deepEqual(await listed(`?since=${plusTwo}`), all.slice(4));
  const minus = new Date(moment.getTime() - 5.5 * 3_600_000).toISOString().replace('Z', '-05:30');
  assert.deepEqual(await listed(`?until=${minus}`), all.slice(0, 4));
  assert.deepEqual(await listed(`?since=${at(4).replace('Z', '000000Z')}`), all.slice(4));
  const justAfter = at(4).replace('Z', '000001Z');
  assert.deepEqual(await listed(`?until=${justAfter}`), all.slice(0, 5));
  assert.deepEqual(await listed(`?since=${justAfter}`), all.slice(5));
});

test('GET requests › since and until as plain dates, and far away', async () => {
  const day = at(0).slice(0, 10);
  assert.deepEqual(await listed(`?since=${day}`), all);
  assert.deepEqual(await listed('?since=2020-02-29'), all);
  assert.deepEqual(await listed('?until=2020-02-29'), []);
  assert.deepEqual(await listed('?since=0000-01-01&until=9999-12-31'), all);
  assert.deepEqual(await listed('?since=0001-01-01T00:00:00%2B01:00&until=9999-12-31T23:59:59-01:00'), all);
});

for (const name of ['since', 'until']) {
  for (const value of [
    '',
    'yesterday',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-13-01',
    '1770000000',
    '2026-01-01T24:00:00Z',
  ]) {
    test(`GET requests › ${name}=${value} → 400 invalid_request`, async () => {
      assertInvalid(await one.test.api.list(`?${name}=${value}`), name);
    });
  }
}

test('GET requests › a time without a zone → the sentence asks for one', async () => {
  const answer = await one.test.api.list('?since=2026-01-31T09:30:00');
  assertInvalid(answer, 'since');
  assert.match(answer.json.message, /with Z or an offset/);
});

for (const query of [
  'limit=0',
  'limit=101',
  'limit=-1',
  'limit=',
  'limit=abc',
  'limit=1.5',
  'limit=1e1',
  'limit=0x10',
  'limit=%2010',
  'limit=99999999999999999999',
  'offset=-1',
  'offset=1000001',
  'offset=',
  'offset=abc',
  'offset=1.5',
  'status=',
  'status=Requested',
  'status=open',
  'status=requested,opened',
  'proof_status=',
  'proof_status=proven',
  'account_id=',
  'account_id=x',
  'limit=1&limit=2',
  'limit=1&limit=1',
  'offset=1&offset=1',
  'status=opened&status=opened',
  'since=2026-01-01&since=2026-01-01',
]) {
  test(`GET requests › ?${query} → 400 invalid_request`, async () => {
    assertInvalid(await one.test.api.list(`?${query}`), query.split('=')[0] as string);
  });
}

test('GET requests › several faults are reported at once; unknown parameters are ignored', async () => {
  assertInvalid(
    await one.test.api.list('?limit=0&offset=x&status=foo&since=junk'),
    'limit',
    'offset',
    'status',
    'since',
  );
  assert.deepEqual(await listed('?surprise=1&__proto__=2&constructor=3'), all);
});

test('GET requests › limit and offset step through pages; has_more comes from one row more', async () => {
  const page = async (query: string) => (await one.test.api.list(query)).json;
  const seen: string[] = [];
  for (let offset = 0; offset < 12; offset += 5) {
    const { requests: items, has_more, limit, offset: told } = await page(`?limit=5&offset=${offset}`);
    assert.deepEqual([has_more, limit, told], [offset < 10, 5, offset]);
    seen.push(...items.map(({ request_id }) => request_id));
  }
  assert.deepEqual(
    seen,
    requests.map(({ request_id }) => request_id),
  );
  assert.equal((await page('?limit=12')).has_more, false);
  assert.equal((await page('?limit=11')).has_more, true);
  assert.deepEqual((await page('?limit=1&offset=12')).requests, []);
  assert.deepEqual((await page('?limit=100&offset=1000000')).requests, []);
});

test('GET requests › default limit 50, at most 100', async () => {
  const full = await api.partner();
  for (let i = 0; i < 101; i++) await makeRequest(api.db, full.test.scope, full.test.merchant);
  const [usual, most] = [await full.test.api.list(), await full.test.api.list('?limit=100')];
  assert.deepEqual([usual.json.requests.length, usual.json.has_more, usual.json.limit], [50, true, 50]);
  assert.deepEqual([most.json.requests.length, most.json.has_more, most.json.limit], [100, true, 100]);
});

test('GET requests › a repeated parameter, or a negative number → a sentence that says so', async () => {
  const said = async (query: string) => (await one.test.api.list(query)).json.message;
  assert.equal(await said('?status=requested&status=opened'), 'status must be given only once.');
  assert.equal(await said('?limit=1&limit=2'), 'limit must be given only once.');
  assert.equal(await said('?offset=-1'), 'offset must be at least 0.');
});

test('GET requests › with limit=1 a reader steps on with offset=1', async () => {
  const seen: number[] = [];
  let since = at(0);
  for (let i = 0; i < 20; i++) {
    const { requests: items } = (await one.test.api.list(`?limit=1&offset=${i === 0 ? 0 : 1}&since=${since}`)).json;
    const [item] = items;
    if (!item) break;
    since = item.created_at;
    seen.push(requests.findIndex(({ request_id }) => request_id === item.request_id));
  }
  assert.deepEqual(seen, all);
});
