import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checksum62, randomBase62 } from '../../src/lib/text/base62.ts';
import { assertRefused, send } from '../support/api/client.ts';
import { startWithPools, testConfig } from '../support/app.ts';
import { openOne } from '../support/database.ts';
import { movedClock } from '../support/deliveries.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

const clock = movedClock();
let app: Awaited<ReturnType<typeof startWithPools>>;
before(async () => {
  const config = testConfig({ pageLimit: 100, trustProxy: ['127.0.0.0/8'] });
  app = await startWithPools({ clock, config });
});
after(() => app?.stop());

function madeUp(): string {
  const body = `qt_test_${randomBase62(32)}`;
  return body + checksum62(body);
}
const list = (key: string, client: string) =>
  send(app.url, 'GET', '/api/v1/requests', { key, headers: { 'x-forwarded-for': client } });
const newKey = async () => (await makeKey(app.database.db, (await makePartner(app.database.db)).test)).key;

const waiting = async () =>
  (
    await app.database.db.sql`
    select from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database() and query like '%from api_keys%'`
  ).length;

test('many made-up keys at once → looked up in two statements at a time, and keys that somebody has with them', async () => {
  const key = await newKey();
  const lock = openOne(app.database.url);
  await lock`begin`;
  await lock`lock table api_keys in access exclusive mode`;
  const refused = Array.from({ length: 60 }, (_, i) => list(madeUp(), `203.0.113.${i}`));
  const known = list(key, '203.0.113.1');
  await until(async () => (await waiting()) > 0, 'keys are looked up');
  assert.equal((await app.api.sql`select 1 as one`)[0]?.one, 1, 'the other connections are free');
  const most = await waiting();
  await lock`rollback`;
  await lock.end();
  assert.ok(most <= 2, `${most} statements`);
  assert.equal((await known).status, 200);
  for (const answer of await Promise.all(refused)) assertRefused(answer, 401, 'unauthorized');
});

test('a client that shows ever new made-up keys → refused a second later; a new key that somebody has is not', async () => {
  clock.forward(10_000);
  const client = '203.0.113.251';
  const many = await Promise.all(Array.from({ length: 100 }, () => list(madeUp(), client)));
  for (const answer of many) assertRefused(answer, 401, 'unauthorized');
  const key = await newKey();
  const began = performance.now();
  const held = list(madeUp(), client);
  assert.equal((await list(key, client)).status, 200);
  assertRefused(await held, 401, 'unauthorized');
  assert.ok(performance.now() - began > 990, 'it was held back');
});
