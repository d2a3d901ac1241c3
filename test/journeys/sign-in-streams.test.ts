import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { buildServer } from '../../src/http/server.ts';
import { changeRole, setUserDisabled } from '../../src/users/change.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { makeOnboarded, signInMerchant } from '../support/people/merchants.ts';
import { inviteOperator, signInOperator, signInPartnerUser } from '../support/people/people.ts';
import type { Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
/** Another node on the same database. */
let other: { url: string; stop(): Promise<void> };
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let nowMs = Date.parse('2026-11-21T12:00:00Z');
const minuteMs = 60_000;
const commandLine = { kind: 'command_line' } as const;
const limited = { timeout: patienceMs };

before(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) } });
  const node = await buildServer({ ...app.ctx });
  other = { url: await node.listen({ host: '127.0.0.1', port: 0 }), stop: () => node.close() };
  fixtures = await makePartner(app.db);
});
after(async () => {
  await other.stop();
  await app.stop();
});

const cookieOf = (visitor: Visitor) => [...visitor.cookies].map((pair) => pair.join('=')).join('; ');

/** Listens on the other node until a change is announced; `rest` is everything after it until the stream ends. */
async function listen(visitor: Visitor, path: string) {
  const { statusCode, body } = await request(other.url + path, { headers: { cookie: cookieOf(visitor) } });
  assert.equal(statusCode, 200);
  const reader = body[Symbol.asyncIterator]();
  let text = String((await reader.next()).value);
  assert.match(text, /^: here/);
  while (!text.includes('data: changed')) text += (await reader.next()).value;
  const rest = (async () => {
    let heard = '';
    for (let next = await reader.next(); !next.done; next = await reader.next()) heard += next.value;
    return heard;
  })();
  return { rest };
}

const over = /^(?:event: here\ndata: 1\n\n|data: changed\n\n)*event: over\ndata: 1\n\n$/;

test('the portal’s event stream ends when its session is ended elsewhere, on whichever node', limited, async () => {
  const { visitor, portal } = await signInPartnerUser(app, fixtures);
  const stream = await listen(visitor, '/portal/events');
  await visitor.send(portal, '/portal/sign-out');
  assert.match(await stream.rest, over);
});

test('The portal’s stream ends when the user’s role changes, and when the user is disabled', limited, async () => {
  for (const change of [
    (id: string) => changeRole(app.ctx, commandLine, fixtures.test, { userId: id, role: 'viewer' }),
    (id: string) => setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: id, disabled: true }),
  ]) {
    const { user, visitor } = await signInPartnerUser(app, fixtures, 'developer');
    const { id } = await makeRequest(app.db, fixtures.test, await makeMerchant(app.db, fixtures.test));
    const list = await listen(visitor, '/portal/events');
    const one = await listen(visitor, `/portal/events?request=${id}`);
    await change(user.id);
    assert.match(await list.rest, over);
    assert.match(await one.rest, over);
  }
});

test('the dashboard’s event stream ends with its session', limited, async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor, dashboard } = await signInMerchant(app.url, merchant.account);
  const stream = await listen(visitor, '/dashboard/events');
  await visitor.send(dashboard, '/dashboard/sign-out');
  assert.match(await stream.rest, over);
});

test('the administration’s event stream ends with its session', limited, async () => {
  await inviteOperator(app.ctx);
  const { visitor, admin } = await signInOperator(app);
  const stream = await listen(visitor, '/admin/events');
  await visitor.send(admin, '/admin/sign-out');
  assert.match(await stream.rest, over);
});

test('Each stream begins with one message, because earlier changes were missed', limited, async () => {
  const { account, id: merchantId } = await makeOnboarded(app.ctx, fixtures.test);
  const { id } = await makeRequest(app.db, fixtures.test, await makeMerchant(app.db, fixtures.test));
  const [merchant, partner, operator] = [
    (await signInMerchant(app.url, account)).visitor,
    (await signInPartnerUser(app, fixtures)).visitor,
    (await signInOperator(app)).visitor,
  ];
  for (const [visitor, path] of [
    [merchant, '/dashboard/events'],
    [merchant, '/dashboard/events'],
    [partner, '/portal/events'],
    [partner, '/portal/events'],
    [partner, `/portal/events?request=${id}`],
    [partner, `/portal/events?account=${merchantId}`],
    [operator, '/admin/events'],
    [operator, '/admin/events'],
  ] as const)
    await listen(visitor, path);
});

test('A page’s background requests do not extend a session; its user’s actions do', async () => {
  const merchant = (await makeOnboarded(app.ctx, fixtures.test)).account;
  const cases = [
    { path: '/admin', idleMs: 30 * minuteMs, signIn: () => signInOperator(app) },
    { path: '/dashboard', idleMs: 12 * 60 * minuteMs, signIn: () => signInMerchant(app.url, merchant) },
  ];
  for (const { path, idleMs, signIn } of cases) {
    const { visitor } = await signIn();
    const fetched = async () => {
      const headers = { cookie: cookieOf(visitor), 'sec-fetch-dest': 'empty' };
      const { statusCode, body } = await request(app.url + path, { headers });
      await body.dump();
      return statusCode;
    };
    nowMs += idleMs - 10 * minuteMs;
    assert.equal(await fetched(), 200, path);
    nowMs += 10 * minuteMs;
    assert.equal(await fetched(), 303, path);

    const busy = (await signIn()).visitor;
    for (let calls = 0; calls < 2; calls++) {
      nowMs += idleMs - 10 * minuteMs;
      assert.match((await busy.open(path)).html, /\/sign-out"/, path);
    }
  }
});
