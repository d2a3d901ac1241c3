import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, request } from 'undici';
import { connect } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { startApp } from '../support/app.ts';
import { openOne } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { portalPerson } from '../support/people/portal.ts';
import { makePlan } from '../support/plans.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
const dispatcher = new Agent({ connections: null });

before(async () => {
  app = await startApp();
});
after(async () => {
  await dispatcher.destroy();
  await app?.stop();
});

type Places = { path: string; one: string; other: string };
const places: Record<string, () => Promise<Places>> = {
  'GET /portal/plans.csv': async () => {
    const { partner } = await makePartner(app.db);
    const cookie = async () => `portal-session=${(await portalPerson(app.ctx, partner.id, 'viewer')).token}`;
    return { path: '/portal/plans.csv?mode=test', one: await cookie(), other: await cookie() };
  },
  'GET /dashboard/plans.csv': async () => {
    const { test: scope } = await makePartner(app.db);
    const cookie = async () =>
      `dashboard-session=${await sessionOf(app.ctx, scope, await makeOnboarded(app.ctx, scope))}`;
    return { path: '/dashboard/plans.csv', one: await cookie(), other: await cookie() };
  },
};

for (const [name, begin] of Object.entries(places)) {
  test(`${name} › five exports of one reader are under way → the sixth is refused, another reader’s is not`, async () => {
    const { path, one, other } = await begin();
    const open = async (cookie: string) => {
      const { statusCode, body } = await request(app.url + path, { dispatcher, headers: { cookie } });
      return { status: statusCode, end: body.text() };
    };
    const lock = openOne(app.databaseUrl, { idle_in_transaction_session_timeout: 0 });
    await lock`begin`;
    await lock`lock table plans in access exclusive mode`;
    const all = [];
    try {
      for (const cookie of [one, one, one, one, one, one, other]) all.push(await open(cookie));
    } finally {
      await lock`rollback`;
      await lock.end();
    }
    assert.deepEqual(
      all.map(({ status }) => status),
      [200, 200, 200, 200, 200, 429, 200],
    );
    await Promise.all(all.map(({ end }) => end));
    await until(async () => {
      const { status, end } = await open(one);
      await end;
      return status === 200;
    }, 'an export has its place again');
  });
}

const ends: Record<string, () => Promise<unknown>> = {
  'the session is revoked': () => app.db.sql`update sessions set revoked_at = now()`,
  'the user is removed': () => app.db.sql`update users set disabled_at = now()`,
  'the user has another role': () => app.db.sql`update users set role = 'developer'`,
  'the merchant’s wallet changes': () => app.db.sql`update merchants set wallet_signed_at = now() + interval '1 hour'`,
};
for (const [what, end] of Object.entries(ends)) {
  test(`an export is under way and ${what} → it is cut off before it shows a row; another one shows it`, async () => {
    const { partner, test: scope } = await makePartner(app.db);
    const merchant = await makeOnboarded(app.ctx, scope);
    await makePlan(app.ctx, scope, merchant, { name: 'Secret lessons' });
    const isOfUser = !what.includes('merchant');
    const path = isOfUser ? '/portal/plans.csv?mode=test' : '/dashboard/plans.csv';
    const cookie = isOfUser
      ? `portal-session=${(await portalPerson(app.ctx, partner.id, 'viewer')).token}`
      : `dashboard-session=${await sessionOf(app.ctx, scope, merchant)}`;
    const open = () => request(app.url + path, { dispatcher, headers: { cookie } });
    assert.match(await (await open()).body.text(), /Secret lessons/);
    const lock = openOne(app.databaseUrl, { idle_in_transaction_session_timeout: 0 });
    await lock`begin`;
    await lock`lock table plans in access exclusive mode`;
    const { statusCode, body } = await open();
    assert.equal(statusCode, 200);
    let text = '';
    const isCutOff = assert.rejects(async () => {
      for await (const chunk of body) text += chunk;
    });
    await end();
    await lock`rollback`;
    await lock.end();
    await isCutOff;
    assert.doesNotMatch(text, /Secret lessons/);
  });
}

test('GET /dashboard/plans.csv › a partner’s merchants have twenty exports together, a few of them fewer → the next is refused, another partner’s merchant’s is not', async () => {
  const [{ test: scope }, { test: elsewhere }] = [await makePartner(app.db), await makePartner(app.db)];
  const cookieIn = async (where: typeof scope) =>
    `dashboard-session=${await sessionOf(app.ctx, where, await makeOnboarded(app.ctx, where))}`;
  const busy = [];
  for (let i = 0; i < 4; i++) busy.push(...Array<string>(5).fill(await cookieIn(scope)));
  const others = await Promise.all([scope, scope, scope, elsewhere].map(cookieIn));
  const pages = connect(app.access, { service: 8, scoped: 30 }); // each export keeps one while it waits
  const server = await buildServer(app.ctx, pages);
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const open = async (cookie: string) => {
    const { statusCode, body } = await request(`${url}/dashboard/plans.csv`, { dispatcher, headers: { cookie } });
    return { status: statusCode, end: body.text() };
  };
  const lock = openOne(app.databaseUrl, { idle_in_transaction_session_timeout: 0 });
  await lock`begin`;
  await lock`lock table plans in access exclusive mode`;
  const all = [];
  try {
    for (const cookie of [...busy, ...others]) all.push(await open(cookie));
  } finally {
    await lock`rollback`;
    await lock.end();
  }
  await Promise.all(all.map(({ end }) => end));
  await server.close();
  await pages.close();
  const statuses = all.map(({ status }) => status);
  assert.deepEqual(statuses, [...Array<number>(18).fill(200), 429, 429, 200, 200, 429, 200]);
});
