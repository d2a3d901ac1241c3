import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, type Database } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { type Api, type ApiPartner, assertRefused, send, startApi } from '../support/api/client.ts';
import { accessTo } from '../support/database.ts';
import { until } from '../support/until.ts';

let api: Api;
let one: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
});
after(() => api?.stop());

async function withNode(db: Database, work: (url: string) => Promise<void>): Promise<void> {
  const node = await buildServer({ ...api.ctx, db });
  try {
    await work(await node.listen({ host: '127.0.0.1', port: 0 }));
  } finally {
    await node.close();
    await db.close();
  }
}

test('Errors › the database cannot be reached → 503 unavailable, without a word about it', async () => {
  const key = await one.test.api.newKey();
  await withNode(connect(accessTo('postgres://quittance:secret@127.0.0.1:9/nowhere')), async (url) => {
    for (const path of ['/api/v1/requests', '/api/v1/accounts', '/api/v1/requests/x']) {
      const answer = await send(url, 'GET', path, { key });
      assertRefused(answer, 503, 'unavailable');
      assert.doesNotMatch(answer.text, /secret|nowhere|ECONN|127\.0\.0\.1/);
    }
    const wrong = await send(url, 'GET', '/api/v1/requests', { key: 'qt_test_nonsense' });
    assertRefused(wrong, 401, 'unauthorized');
  });
});

test('Errors › connections that the database drops → 503 unavailable at most, then it works again by itself', async () => {
  const key = await one.test.api.newKey();
  const db = connect(api.access, { service: 2, scoped: 2 });
  await withNode(db, async (url) => {
    assert.equal((await send(url, 'GET', '/api/v1/requests', { key })).status, 200);
    const calls = Array.from({ length: 20 }, () => send(url, 'GET', '/api/v1/requests', { key }));
    await api.owner`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    for (const { status } of await Promise.all(calls)) assert.ok(status === 200 || status === 503, String(status));
    // A connection whose end was not noticed yet fails once more.
    const works = async () => (await send(url, 'GET', '/api/v1/requests', { key })).status === 200;
    await until(works, 'it to work again');
  });
});

test('Errors › the database has no room on its disk, or no memory → 503 unavailable, and the same create works later', async () => {
  const body = { account_id: one.test.merchant.id, fiat_amount_int: 1250, idempotency_key: 'r'.repeat(32) };
  for (const code of ['53100', '53200']) {
    await api.owner.unsafe(`
      create function no_room() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file' using errcode = '${code}'; end $$;
      create trigger no_room before insert on requests for each row execute function no_room()`);
    const refused = await one.test.api.create(body);
    await api.owner.unsafe('drop trigger no_room on requests; drop function no_room()');
    assertRefused(refused, 503, 'unavailable');
  }
  assert.equal((await one.test.api.create(body)).status, 201);
});

test('Errors › our own fault → 500 internal_error without anything from the inside', async () => {
  const sql = api.owner;
  const key = await one.test.api.newKey();
  await sql`alter table requests rename to requests_gone`;
  try {
    const answer = await one.test.api.read(one.test.merchant.id, { key });
    assertRefused(answer, 500, 'internal_error');
    assert.doesNotMatch(answer.text, /requests_gone|relation|42P01/);
  } finally {
    await sql`alter table requests_gone rename to requests`;
  }
  assert.equal((await one.test.api.list('', { key })).status, 200);
});
