import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { theService } from '../../src/audit/write.ts';
import { scopeOf } from '../../src/auth/scope.ts';
import { type Change, listenForChanges } from '../../src/db/changes.ts';
import type { Database, Scope } from '../../src/db/connection.ts';
import { type Watcher, watchScope } from '../../src/db/scope-changes.ts';
import { buildServer } from '../../src/http/server.ts';
import { pause } from '../../src/lib/time.ts';
import { cancelRecovery, startRecovery } from '../../src/wallets/recovery.ts';
import { createDeliveryDeps } from '../../src/webhooks/deliver.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { deliverDue } from '../support/deliver-due.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { invitePartnerUser } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';
import { until } from '../support/until.ts';

let fixtures: PayFixtures;
let app: FastifyInstance;
let url: string;

before(async () => {
  fixtures = await payFixtures();
  app = await buildServer(fixtures.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  const woken = watch({ requestId: randomUUID() });
  await until(async () => woken() > 0, 'the process listens');
});
after(async () => {
  for (const end of ends) end();
  await app?.close();
  await fixtures?.stop();
});

const ends: (() => void)[] = [];
/** Watches beside the pages until the end of all tests. Returns how often it was woken. */
function watch(details: Partial<Watcher>): () => number {
  let woken = 0;
  const watcher = { scope: fixtures.scope, chains: false, ...details, wake: () => woken++ };
  ends.push(watchScope(fixtures.ctx.db, watcher, (error) => assert.fail(String(error))));
  return () => woken;
}

const known = new Set<string>();
/** Waits until all earlier changes were announced and the clock is known, so that a new listener gets neither. */
async function settle(scope: Scope, accountId: string | undefined): Promise<void> {
  const marker = randomUUID();
  // Notifications arrive in order.
  const marked = watch({ userId: marker, requestId: marker });
  await fixtures.db.sql`select pg_notify('changes', ${`user ${marker}`})`;
  await until(async () => marked() > 0, 'what was before is told');
  const key = [scope.partnerId, scope.testMode, accountId].join(' ');
  if (known.has(key)) return;
  known.add(key);
  const clock = watch({ scope, ...(accountId && { accountId }) });
  await until(async () => clock() > 0, 'the clock is known');
}

/** Listens as a page does. Counts the messages after the first one, which starts every stream. */
async function listen(partnerId: string, query = '') {
  const { token } = await portalPerson(fixtures.ctx, partnerId, 'viewer');
  const asked = new URLSearchParams(query);
  await settle(scopeOf(partnerId, asked.get('mode') !== 'live'), asked.get('account') ?? undefined);
  const leaving = new AbortController();
  const answer = await fetch(new URL(`/portal/events${query}`, url), {
    headers: { cookie: `portal-session=${token}` },
    signal: leaving.signal,
  });
  const heard = { status: answer.status, type: answer.headers.get('content-type'), messages: 0, over: false };
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? [])
      heard.messages += decoder.decode(chunk).split('data: changed').length - 1;
  })()
    .catch(() => {})
    .finally(() => {
      heard.over = true;
    });
  if (answer.status === 200) await until(async () => heard.messages > 0, 'it has begun');
  heard.messages = 0;
  return {
    heard,
    leave: async () => {
      leaving.abort();
      await reading;
    },
  };
}

test('news › a created request and a payment reach the lists of their partner and mode, and nobody else’s', async () => {
  const { scope } = fixtures;
  const stranger = (await makePartner(fixtures.db)).partner.id;
  const own = await listen(scope.partnerId);
  const live = await listen(scope.partnerId, '?mode=live');
  const other = await listen(stranger);
  assert.equal(own.heard.status, 200);
  assert.match(own.heard.type ?? '', /^text\/event-stream/);
  await until(async () => {
    await fixtures.request();
    return own.heard.messages > 0;
  }, 'the clocks are known');
  const request = await fixtures.request();
  const quiet = await until(async () => {
    const before = own.heard.messages;
    await pause(1500);
    return own.heard.messages === before && { own: before, live: live.heard.messages, other: other.heard.messages };
  }, 'no more is told');
  await fixtures.pay(request);
  await fixtures.turn();
  await until(async () => own.heard.messages > quiet.own, 'the payment is told');
  assert.equal(live.heard.messages, quiet.live);
  assert.equal(other.heard.messages, quiet.other);
  await Promise.all([own.leave(), live.leave(), other.leave()]);
});

test('news of one request › of that one only, and of confirmations only while it is being confirmed', async () => {
  const [mine, another] = [await fixtures.request(), await fixtures.request()];
  const page = await listen(fixtures.scope.partnerId, `?request=${mine.id}`);
  await fixtures.pay(another);
  await fixtures.node.mine(1);
  await fixtures.turn();
  await fixtures.pay(mine);
  await fixtures.turn();
  await until(async () => page.heard.messages > 0, 'the payment is told');
  await until(async () => (await fixtures.read(mine)).proof_status === 'attached', 'the request is attached');
  const before = page.heard.messages;
  await fixtures.node.mine(1);
  await fixtures.caughtUp();
  await until(async () => page.heard.messages > before, 'a confirmation is told');
  await page.leave();
  const stranger = (await makePartner(fixtures.db)).partner.id;
  const refused = await listen(stranger, `?request=${mine.id}`);
  assert.equal(refused.heard.status, 404);
  await refused.leave();
});

test('changes of deliveries › each batch of attempts wakes the page of its request', async () => {
  const changes: Change[] = [];
  const stop = listenForChanges(
    fixtures.db,
    (change) => changes.push(change),
    (error) => assert.fail(String(error)),
  );
  await until(async () => changes.length > 0, 'the process listens');
  const paid = await fixtures.request();
  await fixtures.pay(paid);
  await fixtures.node.mine(4);
  await fixtures.turn();
  await fixtures.turn();
  await setUrl(fixtures.ctx, theService, fixtures.scope, 'http://127.0.0.1:9/hook');
  const page = await listen(fixtures.scope.partnerId, `?request=${paid.id}`);
  // Several events in a batch would be announced as a change of the whole scope.
  await fixtures.db.sql`
    update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where request_id <> ${paid.id}`;
  // Notifications arrive in order, so no earlier one comes after this.
  await fixtures.db.sql`select pg_notify('changes', 'user marker')`;
  const marker = () => changes.findIndex((change) => change.kind === 'user' && change.userId === 'marker');
  await until(async () => marker() >= 0, 'all of before is told');
  const before = page.heard.messages;
  await deliverDue(fixtures.ctx, createDeliveryDeps(fixtures.ctx));
  const since = () => changes.slice(marker() + 1);
  await until(
    async () => since().some((change) => change.kind === 'request' && change.requestId === paid.id),
    'the attempt is told',
  );
  await until(async () => page.heard.messages > before, 'the page is told');
  const others = since().filter((change) => change.kind === 'request' && change.requestId !== paid.id);
  assert.deepEqual([others, since().filter(({ kind }) => kind === 'attempts')], [[], []]);
  stop();
  await page.leave();
});

test('fifty open pages → one listener, and one query of the clocks a second for all; no page → no query', async () => {
  const { test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const asked = { clocks: 0, listens: 0 };
  const counting = new Proxy(fixtures.db.sql, {
    apply: (target, self, args: [TemplateStringsArray]) => {
      if (String(args[0]?.raw).includes('partner_clocks')) asked.clocks++;
      return Reflect.apply(target as never, self, args);
    },
    get: (target, name) => {
      if (name === 'listen') asked.listens++;
      return Reflect.get(target, name);
    },
  });
  const db: Database = { ...fixtures.db, sql: counting };
  let woken = 0;
  const startedMs = performance.now();
  const ends = Array.from({ length: 50 }, () =>
    watchScope(db, { scope, chains: false, wake: () => woken++ }, (error) => assert.fail(String(error))),
  );
  try {
    await until(async () => woken >= 100, 'the listener has begun, and the clock is known');
    woken = 0;
    await until(async () => {
      await makeRequest(fixtures.db, scope, merchant);
      return woken >= 50;
    }, 'everybody is woken by a new request');
    const seconds = (performance.now() - startedMs) / 1000;
    assert.equal(asked.listens, 1);
    assert.ok(asked.clocks <= 1 + Math.ceil(seconds) && asked.clocks > 0, `${asked.clocks} questions in ${seconds} s`);
  } finally {
    for (const end of ends) end();
  }
  const before = asked.clocks;
  await pause(1300);
  assert.equal(asked.clocks, before);
});

test('a user opens a twenty-first stream → refused, until one of the twenty has ended', async () => {
  const { token } = await portalPerson(fixtures.ctx, fixtures.scope.partnerId);
  const open = async () => {
    const leaving = new AbortController();
    const headers = { cookie: `portal-session=${token}` };
    const answer = await fetch(new URL('/portal/events', url), { headers, signal: leaving.signal });
    return { status: answer.status, leave: () => leaving.abort() };
  };
  const streams = await Promise.all(Array.from({ length: 20 }, open));
  assert.ok(streams.every(({ status }) => status === 200));
  assert.equal((await open()).status, 204);
  streams[0]?.leave();
  const again = await until(async () => {
    const next = await open();
    return next.status === 200 && next;
  }, 'a place is free');
  for (const stream of [...streams, again]) stream.leave();
});

test('a stop of the service ends the news at once', async () => {
  const second = await buildServer(fixtures.ctx);
  const address = await second.listen({ host: '127.0.0.1', port: 0 });
  const { token } = await portalPerson(fixtures.ctx, fixtures.scope.partnerId);
  const answer = await fetch(new URL('/portal/events', address), { headers: { cookie: `portal-session=${token}` } });
  const reading = answer.text();
  await second.close();
  assert.match(await reading, /^: here/);
});

test('changes › a merchant that is disabled, or becomes ready, wakes the lists of its partner', async () => {
  const { scope } = fixtures;
  const merchant = await makeMerchant(fixtures.db, scope);
  const stranger = (await makePartner(fixtures.db)).partner.id;
  const own = await listen(scope.partnerId);
  const other = await listen(stranger);
  try {
    await until(async () => {
      await fixtures.db.sql`
        update merchants set disabled_by_partner = not disabled_by_partner where id = ${merchant.id}`;
      return own.heard.messages > 0;
    }, 'it is told');
    assert.equal(other.heard.messages, 0);
  } finally {
    await own.leave();
    await other.leave();
  }
});

test('changes › users’ actions are written to their partner’s log, and wake the lists of that partner alone', async () => {
  const [partner, stranger] = [await makePartner(fixtures.db), await makePartner(fixtures.db)];
  const request = await makeRequest(fixtures.db, partner.test, await makeMerchant(fixtures.db, partner.test));
  const first = await listen(partner.partner.id);
  await until(async () => {
    await invitePartnerUser(fixtures.ctx, partner, 'viewer');
    return first.heard.messages > 0;
  }, 'the process listens');
  const page = await listen(partner.partner.id, `?request=${request.id}`);
  const own = await listen(partner.partner.id);
  const live = await listen(partner.partner.id, '?mode=live');
  const other = await listen(stranger.partner.id);
  try {
    await until(async () => {
      await invitePartnerUser(fixtures.ctx, partner, 'viewer');
      return own.heard.messages > 0 && live.heard.messages > 0;
    }, 'it is told in both modes');
    assert.deepEqual([page.heard.messages, other.heard.messages], [0, 0]);
    await until(async () => {
      await invitePartnerUser(fixtures.ctx, stranger, 'viewer');
      return other.heard.messages > 0;
    }, 'the other one hears of its own');
    assert.equal(page.heard.messages, 0);
  } finally {
    for (const one of [first, page, own, live, other]) await one.leave();
  }
});

test('news of one merchant › its profile, switch and recovery reach its page, and nothing of another merchant does', async () => {
  const { scope } = fixtures;
  const merchant = await makeOnboarded(fixtures.ctx, scope, { email: 'news@example.com' });
  const neighbour = await makeMerchant(fixtures.db, scope);
  const { token } = await portalPerson(fixtures.ctx, scope.partnerId, 'viewer');
  const page = await fetch(new URL(`/portal/merchants/${merchant.id}?mode=test`, url), {
    headers: { cookie: `portal-session=${token}` },
  });
  const address = /data-live="\/portal\/events([^"]+)" data-region="merchant"/.exec(await page.text())?.[1] ?? '';
  assert.match(address, new RegExp(`account=${merchant.id}$`));
  const own = await listen(scope.partnerId, address.replaceAll('&amp;', '&'));
  try {
    const quiet = () =>
      until(async () => {
        const before = own.heard.messages;
        await pause(700);
        return own.heard.messages === before;
      }, 'no more is told');
    const change = async (table: 'merchants' | 'wallet_changes' | null, work: () => Promise<unknown>) => {
      await quiet();
      const before = own.heard.messages;
      await work();
      if (table !== null) return until(async () => own.heard.messages > before, `${table} is told`);
      await quiet();
      assert.equal(own.heard.messages, before);
    };
    const { sql } = fixtures.db;
    await change('merchants', () => sql`update merchants set website = 'https://a.example' where id = ${merchant.id}`);
    await change('merchants', () => sql`update merchants set disabled_by_operator = true where id = ${merchant.id}`);
    await change('wallet_changes', () => startRecovery(fixtures.ctx, theService, scope, merchant.id));
    await change('wallet_changes', () => cancelRecovery(fixtures.ctx, theService, scope, merchant.id));
    await change(null, () => sql`update merchants set website = 'https://b.example' where id = ${neighbour.id}`);
  } finally {
    await own.leave();
  }
});
