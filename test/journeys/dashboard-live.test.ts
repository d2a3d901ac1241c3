import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Watcher, watchScope } from '../../src/db/scope-changes.ts';
import { pause } from '../../src/lib/time.ts';
import { startApp } from '../support/app.ts';
import { sessionOf } from '../support/dashboard.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/world.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let world: Awaited<ReturnType<typeof makePartner>>;
before(async () => {
  app = await startApp();
  world = await makePartner(app.db);
});
after(() => app.stop());

/** Somebody who watches: how often they were woken, and the next time they are. */
function look(details: Partial<Watcher> = {}) {
  let [woken, wake] = [0, () => {}];
  const watcher: Watcher = {
    scope: world.test,
    chains: false,
    wake: () => {
      woken++;
      wake();
    },
    ...details,
  };
  const end = watchScope(app.db, watcher, (error) => assert.fail(String(error)));
  return {
    end,
    woken: () => woken,
    next: () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      }),
  };
}

test('A merchant hears of a request made for it, and not of its neighbours’, while the partner hears of both', {
  timeout: 30_000,
}, async () => {
  const [own, neighbour] = [await makeMerchant(app.db, world.test), await makeMerchant(app.db, world.test)];
  const [merchant, partner] = [look({ accountId: own.id }), look()];
  try {
    await merchant.next(); // the listener is there: anything may have changed before
    const before = merchant.woken();
    // The first look at a clock only remembers it; the partner is woken by a later one.
    const start = partner.woken();
    while (partner.woken() < start + 2) {
      const heard = partner.next();
      await makeRequest(app.db, world.test, neighbour);
      await Promise.race([heard, pause(200)]);
    }
    assert.equal(merchant.woken(), before);
    const told = merchant.next();
    await makeRequest(app.db, world.test, own);
    await told;
  } finally {
    merchant.end();
    partner.end();
  }
});

test('The events of the dashboard begin for who is signed in, and name nothing', { timeout: 30_000 }, async () => {
  const merchant = await makeMerchant(app.db, world.test);
  const url = `${app.url}/dashboard/events`;
  const away = await fetch(url, { redirect: 'manual' });
  assert.equal(away.headers.get('location'), '/dashboard/sign-in');
  const cookie = `dashboard-session=${await sessionOf(app.ctx, world.test, merchant)}`;
  const ending = new AbortController();
  const answer = await fetch(url, { headers: { cookie }, signal: ending.signal });
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('data:')) {
    await makeRequest(app.db, world.test, merchant);
    const { value, done } = (await reader?.read()) ?? { done: true };
    assert.ok(!done, 'the stream goes on');
    text += value ?? '';
  }
  assert.equal(text.replaceAll(': here\n\n', ''), 'data: changed\n\n');
  ending.abort();
  const row = await makeRequest(app.db, world.test, await makeMerchant(app.db, world.test));
  const foreign = await fetch(`${url}?request=${row.id}`, { headers: { cookie } });
  assert.equal(foreign.status, 404, 'nobody listens to another merchant’s request');
});
