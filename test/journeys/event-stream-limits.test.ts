import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, request } from 'undici';
import { createUserSession } from '../../src/auth/user-session.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';

let app: Awaited<ReturnType<typeof startApp>>;
const dispatcher = new Agent({ connections: null });

before(async () => {
  app = await startApp({ config: testConfig({ trustProxy: ['127.0.0.1/32'] }) });
});
after(async () => {
  await dispatcher.destroy();
  await app?.stop();
});

/** Opens streams with one cookie and keeps them open; returns their statuses. */
function open(path: string, cookie: string, count: number): Promise<number[]> {
  const one = async () => {
    const { statusCode, body } = await request(app.url + path, { dispatcher, headers: { cookie } });
    body.on('error', () => {});
    return statusCode;
  };
  return Promise.all(Array.from({ length: count }, one));
}
const client = { ip: '127.0.0.1', userAgent: 'test' };

test('GET /dashboard/events › a merchant has twenty streams, however many sessions it has', async () => {
  const { test: scope } = await makePartner(app.db);
  const [busy, calm] = [await makeOnboarded(app.ctx, scope), await makeOnboarded(app.ctx, scope)];
  const cookie = async (merchant: typeof busy) => `dashboard-session=${await sessionOf(app.ctx, scope, merchant)}`;
  assert.deepEqual(new Set(await open('/dashboard/events', await cookie(busy), 20)), new Set([200]));
  assert.deepEqual(await open('/dashboard/events', await cookie(busy), 1), [204]);
  assert.deepEqual(await open('/dashboard/events', await cookie(calm), 1), [200]);
});

test('GET /portal/events › a person has twenty streams over all sessions, a partner two hundred; who has many leaves some to the others', async () => {
  const { partner } = await makePartner(app.db);
  for (let people = 0; people < 9; people++) {
    const { userId, token } = await portalPerson(app.ctx, partner.id);
    const user = { id: userId, partnerId: partner.id };
    const second = await createUserSession(app.ctx, app.db.sql, user, client, null);
    assert.deepEqual(new Set(await open('/portal/events', `portal-session=${token}`, 20)), new Set([200]));
    assert.deepEqual(await open('/portal/events', `portal-session=${second}`, 1), [204]);
  }
  for (const left of [10, 5, 3, 1, 1, 0]) {
    const { token } = await portalPerson(app.ctx, partner.id);
    const statuses = await open('/portal/events', `portal-session=${token}`, 20);
    assert.equal(statuses.filter((status) => status === 200).length, left);
  }
  const other = await portalPerson(app.ctx, (await makePartner(app.db)).partner.id);
  assert.deepEqual(await open('/portal/events', `portal-session=${other.token}`, 1), [200]);
});

test('GET /admin/events › an operator has twenty streams', async () => {
  const { visitor } = await signInOperator(app);
  const cookie = `admin-session=${visitor.cookies.get('admin-session')}`;
  assert.deepEqual(new Set(await open('/admin/events', cookie, 20)), new Set([200]));
  assert.deepEqual(await open('/admin/events', cookie, 1), [204]);
});

test('GET /pay/:id/events › one request has fifty pages, however many addresses open them; another has its own', async () => {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const [busy, calm] = [await makeRequest(app.db, scope, merchant), await makeRequest(app.db, scope, merchant)];
  const openFrom = async (id: string, address: string) => {
    const headers = { 'x-forwarded-for': address };
    const { statusCode, body } = await request(`${app.url}/pay/${id}/events`, { dispatcher, headers });
    body.on('error', () => {});
    return statusCode;
  };
  const statuses = new Set<number>();
  for (let page = 0; page < 50; page++) statuses.add(await openFrom(busy.id, `192.0.2.${page + 1}`));
  assert.deepEqual(statuses, new Set([200]));
  assert.equal(await openFrom(busy.id, '198.51.100.1'), 204);
  assert.equal(await openFrom(calm.id, '198.51.100.1'), 200);
});

test('GET /pay/:id/events › one network has three hundred pages, however many addresses of it open them; another has its own', async () => {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const ids = [];
  for (let i = 0; i < 7; i++) ids.push((await makeRequest(app.db, scope, merchant)).id);
  const openFrom = async (id: string | undefined, address: string) => {
    const headers = { 'x-forwarded-for': address };
    const { statusCode, body } = await request(`${app.url}/pay/${id}/events`, { dispatcher, headers });
    body.on('error', () => {});
    return statusCode;
  };
  const statuses = new Set<number>();
  for (const id of ids.slice(0, 6)) {
    const pages = Array.from({ length: 50 }, (_, page) => openFrom(id, `2001:db8:7:${page}::1`));
    for (const status of await Promise.all(pages)) statuses.add(status);
  }
  assert.deepEqual(statuses, new Set([200]));
  assert.equal(await openFrom(ids[6], '2001:db8:7:ffff::1'), 204);
  assert.equal(await openFrom(ids[6], '2001:db8:8::1'), 200);
});
