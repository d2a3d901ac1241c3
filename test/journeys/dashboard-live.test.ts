import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Watcher, watchScope } from '../../src/db/scope-changes.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { sessionOf } from '../support/people/dashboard.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
before(async () => {
  app = await startApp();
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

/** A watcher that counts how often it was woken, and can wait for the next time. */
function look(details: Partial<Watcher> = {}) {
  let [woken, wake] = [0, () => {}];
  const watcher: Watcher = {
    scope: fixtures.test,
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

test('a request is created → its merchant’s page and the partner’s page are notified, other merchants’ pages are not', {
  timeout: patienceMs,
}, async () => {
  const [own, neighbour] = [await makeMerchant(app.db, fixtures.test), await makeMerchant(app.db, fixtures.test)];
  const [merchant, partner] = [look({ accountId: own.id }), look()];
  try {
    // Each is woken once when the listener is there, and once when the clock is known.
    while (merchant.woken() < 2) await merchant.next();
    while (partner.woken() < 2) await partner.next();
    const before = merchant.woken();
    const heard = partner.next();
    await makeRequest(app.db, fixtures.test, neighbour);
    await heard;
    assert.equal(merchant.woken(), before);
    const told = merchant.next();
    await makeRequest(app.db, fixtures.test, own);
    await told;
  } finally {
    merchant.end();
    partner.end();
  }
});

test('a page starts to listen → it is woken once its partner’s clock is known, so it shows what was created meanwhile', {
  timeout: patienceMs,
}, async () => {
  const merchant = await makeMerchant(app.db, fixtures.test);
  const other = look();
  const pages = [other];
  try {
    while (other.woken() < 2) await other.next(); // now the process listens and knows this clock
    const [first, second] = [look({ accountId: merchant.id }), look({ accountId: merchant.id })];
    pages.push(first, second);
    await Promise.all([first.next(), second.next()]);
    const late = look({ accountId: merchant.id });
    pages.push(late);
    const told = Promise.all([first.next(), second.next(), late.next()]);
    await makeRequest(app.db, fixtures.test, merchant);
    await told;
  } finally {
    for (const page of pages) page.end();
  }
});

test('the dashboard’s event stream → only for a signed-in merchant, and without any data', {
  timeout: patienceMs,
}, async () => {
  const merchant = await makeMerchant(app.db, fixtures.test);
  const url = `${app.url}/dashboard/events`;
  const away = await fetch(url, { redirect: 'manual' });
  assert.equal(away.headers.get('location'), '/dashboard/sign-in');
  const cookie = `dashboard-session=${await sessionOf(app.ctx, fixtures.test, merchant)}`;
  const ending = new AbortController();
  const answer = await fetch(url, { headers: { cookie }, signal: ending.signal });
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/);
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('data: changed')) {
    await makeRequest(app.db, fixtures.test, merchant);
    const { value, done } = (await reader?.read()) ?? { done: true };
    assert.ok(!done, 'the stream goes on');
    text += value ?? '';
  }
  assert.match(text.replaceAll(/(?:: here|event: here\ndata: 1)\n\n/g, ''), /^(?:data: changed\n\n)+$/);
  ending.abort();
  const row = await makeRequest(app.db, fixtures.test, await makeMerchant(app.db, fixtures.test));
  const foreign = await fetch(`${url}?request=${row.id}`, { headers: { cookie } });
  assert.equal(foreign.status, 404, 'nobody listens to another merchant’s request');
});
