import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import {
  type Answer,
  type Api,
  type ApiPartner,
  assertRefused,
  send,
  startApi,
  withinOneMinute,
} from '../support/api/client.ts';
import { callEndpoint, type Endpoint, endpoints, type Target } from '../support/api/endpoints.ts';

let api: Api;
let one: ApiPartner;
let target: Target;

before(async () => {
  api = await startApi();
  one = await api.partner();
  const made = await one.test.api.create({ account_id: one.test.merchant.id, fiat_amount_int: 1 });
  target = { accountId: one.test.merchant.id, requestId: made.json.request_id };
});
after(() => api?.stop());

const limited = (answers: Answer[]) => answers.filter(({ status }) => status === 429);

for (const endpoint of endpoints) {
  test(`${endpoint.name} › exactly ${endpoint.perMinute} calls a minute and key, then 429 rate_limited; others have their own`, async () => {
    await withinOneMinute(api.db, async () => {
      const [key, other] = [await one.test.api.newKey(), await one.test.api.newKey()];
      const calls = Array.from({ length: endpoint.perMinute + 7 }, () =>
        callEndpoint(one.test.api, endpoint, { key }, target),
      );
      const refused = limited(await Promise.all(calls));
      assert.equal(refused.length, 7);
      for (const answer of refused) assertRefused(answer, 429, 'rate_limited');
      assert.notEqual((await callEndpoint(one.test.api, endpoint, { key: other }, target)).status, 429);
      for (const next of endpoints) {
        const answer = await callEndpoint(one.test.api, next, { key }, target);
        assert.equal(answer.status === 429, next === endpoint, `${next.name}: ${answer.status}`);
      }
    });
  });
}

/** Calls that are refused for other reasons than a limit. */
const faulty: [string, number, (options: { key: string }) => Promise<Answer>][] = [
  ['insufficient_scope', 403, (options) => one.test.api.list('', options)],
  ['invalid_json', 400, (options) => one.test.api.create(undefined, { ...options, raw: '{' })],
  ['body_too_large', 413, (options) => one.test.api.create(undefined, { ...options, raw: ' '.repeat(131_073) })],
  [
    'unsupported_media_type',
    415,
    (options) => one.test.api.create({}, { ...options, headers: { 'content-type': 'text/plain' } }),
  ],
  ['invalid_idempotency_key', 400, (options) => one.test.api.create({ idempotency_key: 'x' }, options)],
  ['invalid_request', 400, (options) => one.test.api.create({}, options)],
  ['not_found', 404, (options) => one.test.api.read('x', options)],
  ['cannot_cancel', 409, (options) => one.test.api.cancel(target.requestId, options)],
];
for (const [code, status, call] of faulty) {
  test(`Limits › a call refused with ${status} ${code} counts`, async () => {
    await one.test.api.cancel(target.requestId);
    await withinOneMinute(api.db, async () => {
      const key = await one.test.api.newKey(code === 'insufficient_scope' ? ['accounts:read'] : undefined);
      const answers: Answer[] = [];
      for (let i = 0; i < 62; i++) answers.push(await call({ key }));
      for (const answer of answers.slice(0, 60)) assert.equal(answer.json.error, code);
      for (const answer of answers.slice(60)) assert.equal(answer.json.error, 'rate_limited');
    });
  });
}

test('Limits › calls of one minute do not count in the next', async () => {
  const endpoint = endpoints[4] as Endpoint;
  const key = await one.test.api.newKey();
  await Promise.all(Array.from({ length: 40 }, () => callEndpoint(one.test.api, endpoint, { key })));
  await api.db.sql`update rate_counters set minute = minute - interval '1 minute', calls = 1000
    where partner_id = ${one.partner.id}`;
  assert.equal((await callEndpoint(one.test.api, endpoint, { key })).status, 201);
});

test('Limits › exact over two nodes at once', async () => {
  const db = connect(api.access);
  const node = await buildServer({ ...api.ctx, db });
  try {
    const urls = [api.url, await node.listen({ host: '127.0.0.1', port: 0 })];
    await withinOneMinute(api.db, async () => {
      const key = await one.test.api.newKey();
      const answers = await Promise.all(
        Array.from({ length: 90 }, (_, i) => send(urls[i % 2] as string, 'GET', '/api/v1/requests', { key })),
      );
      assert.equal(limited(answers).length, 30);
    });
  } finally {
    await node.close();
    await db.close();
  }
});

test('Limits › calls that are refused before the count use up nothing: a wrong or unknown host, a disabled partner', async () => {
  const off = await api.partner();
  await withinOneMinute(api.db, async () => {
    const key = await off.test.api.newKey();
    await api.db.sql`update partners set disabled_at = now() where id = ${off.partner.id}`;
    for (let i = 0; i < 65; i++) assert.equal((await off.test.api.list('', { key })).status, 403);
    await api.db.sql`update partners set disabled_at = null where id = ${off.partner.id}`;
    const headers = { host: `${one.partner.slug}.localhost` };
    for (let i = 0; i < 65; i++) assert.equal((await off.test.api.list('', { key, headers })).status, 401);
    const unknown = { host: 'nobody.example' };
    for (let i = 0; i < 65; i++) assert.equal((await off.test.api.list('', { key, headers: unknown })).status, 404);
    assert.equal((await off.test.api.list('', { key })).status, 200);
  });
});
