import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Arguments } from '../../src/cli/command.ts';
import { listen } from '../../src/cli/listen.ts';
import { webhookCommands } from '../../src/cli/webhooks.ts';
import { createDeliveryDeps, startDelivering } from '../../src/webhooks/deliver.ts';
import { readEndpoint, restoreUrl, setUrl } from '../../src/webhooks/endpoint.ts';
import { signedHeaders } from '../../src/webhooks/sign.ts';
import { testDatabase } from '../support/database.ts';
import { deliverDue } from '../support/deliver-due.ts';
import { deliveryContext, deliveryRow, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { behaviours, type Receiver, startReceiver } from '../support/net/receiver.ts';
import { until } from '../support/until.ts';

describe('webhook commands', () => {
  let fixtures: Awaited<ReturnType<typeof testDatabase>>;
  let made: ReturnType<typeof deliveryContext>;
  const receivers: Receiver[] = [];

  before(async () => {
    fixtures = await testDatabase();
    made = deliveryContext(fixtures.db);
  });
  after(async () => {
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await fixtures.drop();
  });

  const run = (name: string, options: Arguments['options'], words: string[] = []) => {
    const command = webhookCommands.find((candidate) => candidate.name === name);
    assert.ok(command, name);
    return command.run(made.ctx, { words, options });
  };

  test('webhook set returns the secret and keeps it; rotate creates a pending one; activate makes it the active one', async () => {
    const { partner, test: scope } = await makePartner(fixtures.db);
    const at = { partner: partner.slug, mode: 'test' };
    const first = await run('webhook set', { ...at, url: 'http://127.0.0.1:9/a' });
    assert.match(String(first.secret), /^whsec_/);
    assert.deepEqual(await run('webhook set', { ...at, url: 'http://127.0.0.1:9/b' }), first);
    const second = await run('webhook rotate', at);
    assert.equal((await readEndpoint(made.ctx, scope))?.pendingSecret, second.secret);
    await run('webhook activate', at);
    assert.equal((await readEndpoint(made.ctx, scope))?.secret, second.secret);
    const [row] = await fixtures.db.sql`select secret from webhook_endpoints where partner_id = ${partner.id}`;
    assert.equal(Buffer.from(row?.secret).includes(String(second.secret)), false, 'secrets are encrypted at rest');
  });

  test('a webhook command that cannot be done → a sentence that says why', async () => {
    const { partner } = await makePartner(fixtures.db);
    const at = { partner: partner.slug, mode: 'test' };
    await assert.rejects(run('webhook rotate', at), /No webhook URL is set/);
    await assert.rejects(run('webhook enable', at), /No webhook URL is set/);
    await assert.rejects(run('webhook set', { ...at, url: 'http://10.0.0.1/' }), /may not send to/);
    await assert.rejects(
      run('webhook set', { ...at, partner: 'nobody', url: 'http://127.0.0.1/' }),
      /no partner "nobody"/,
    );
    await assert.rejects(run('webhook replay', {}, ['x']), /There is no delivery "x"/);
    await assert.rejects(run('webhook replay', { partner: 'any', mode: 'test' }), /--since is missing/);
    await assert.rejects(run('webhook replay', { partner: 'any' }, ['x']), /Give either a delivery ID, or --partner/);
    await assert.rejects(run('webhook deliveries', { ...at, limit: '0' }), /--limit must be/);
  });

  test('outside a sandbox › an http URL in live mode, or a private address in test mode → refused', async () => {
    const { ctx } = deliveryContext(fixtures.db, { sandbox: false, webhookAllowCidrs: [] });
    const { test: scope, live } = await makePartner(fixtures.db);
    await assert.rejects(setUrl(ctx, theService, live, 'http://example.com/'), /must be an https address/);
    for (const each of [scope, live])
      await assert.rejects(setUrl(ctx, theService, each, 'https://127.0.0.1/'), /may not send to/);
    await setUrl(ctx, theService, live, 'https://example.com/');
    await setUrl(ctx, theService, scope, 'http://example.com/');
  });

  test('outside a sandbox › an attempt to a name that resolves to a private address → refused', async () => {
    const { ctx } = deliveryContext(fixtures.db, { sandbox: false, webhookAllowCidrs: [] });
    const { live } = await makePartner(fixtures.db);
    await setUrl(ctx, theService, live, 'https://inside.example/');
    const [id = ''] = await makeEvents(fixtures.db, live);
    const deps = createDeliveryDeps(ctx, { resolve: async () => ['169.254.169.254'] });
    await deliverDue(ctx, deps);
    await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
    const [attempt] = await fixtures.db.sql`select error from webhook_attempts where delivery_id = ${id}`;
    assert.equal(attempt?.error, 'refused_address');
  });

  test('outside a sandbox › an attempt of live mode over http to a name outside the configured networks → refused', async () => {
    const { ctx } = deliveryContext(fixtures.db, { sandbox: false, webhookAllowCidrs: ['10.0.0.0/8'] });
    const { live } = await makePartner(fixtures.db);
    await setUrl(ctx, theService, live, 'http://till.example/');
    const [id = ''] = await makeEvents(fixtures.db, live);
    const deps = createDeliveryDeps(ctx, { resolve: async () => ['93.184.216.34'] });
    await deliverDue(ctx, deps);
    await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
    const [attempt] = await fixtures.db.sql`select error from webhook_attempts where delivery_id = ${id}`;
    assert.equal(attempt?.error, 'refused_address');
  });

  test('URL and secret are updated at most ten times a minute per partner, both modes together', async () => {
    const minute = async () =>
      (await fixtures.db.sql`select date_trunc('minute', clock_timestamp()) as at`)[0]?.at.getTime();
    // A new minute may begin meanwhile, which resets the counter.
    for (let round = 0; ; round++) {
      const began = await minute();
      const { partner } = await makePartner(fixtures.db);
      const at = (index: number) => ({ partner: partner.slug, mode: index % 2 ? 'test' : 'live' });
      await Promise.all([0, 1].map((index) => run('webhook set', { ...at(index), url: 'http://127.0.0.1:9/' })));
      const updates = Array.from({ length: 9 }, (_, index) =>
        index < 7
          ? run('webhook set', { ...at(index), url: `http://127.0.0.1:9/${index}` })
          : run('webhook rotate', at(index)),
      );
      const results = await Promise.allSettled(updates);
      if ((await minute()) !== began && round === 0) continue;
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      assert.deepEqual(
        reasons.map(({ code, message }) => [code, message]),
        [['rate_limited', 'Webhook URLs and secrets can be changed 10 times a minute; try again in a minute.']],
      );
      break;
    }
    const { partner: other } = await makePartner(fixtures.db);
    await run('webhook set', { partner: other.slug, mode: 'test', url: 'http://127.0.0.1:9/' });
  });

  test('events of a partner without a URL, or with a disabled endpoint → no next attempt, and why', async () => {
    const { partner, test: scope } = await makePartner(fixtures.db);
    const at = { partner: partner.slug, mode: 'test' };
    await makeEvents(fixtures.db, scope);
    const list = async () => {
      const { deliveries, advice } = await run('webhook deliveries', at);
      return { next: (deliveries as { next_attempt_at: string | null }[])[0]?.next_attempt_at, advice };
    };
    const unset = await list();
    assert.equal(unset.next, null);
    assert.match(String(unset.advice), /webhook set/);
    await run('webhook set', { ...at, url: 'http://127.0.0.1:9/' });
    const sent = await list();
    assert.ok(sent.next);
    assert.equal(sent.advice, undefined);
    await fixtures.db.sql`update webhook_endpoints set disabled_at = now() where partner_id = ${partner.id}`;
    const disabled = await list();
    assert.equal(disabled.next, null);
    assert.match(String(disabled.advice), /webhook enable/);
  });

  test('deliveries shows each event with its attempts, newest first, in pages', async () => {
    const receiver = await startReceiver({ behave: behaviours.status(500) });
    receivers.push(receiver);
    const { partner, test: scope } = await makePartner(fixtures.db);
    const at = { partner: partner.slug, mode: 'test' };
    await run('webhook set', { ...at, url: receiver.url });
    const ids = await makeEvents(fixtures.db, scope, 3);
    const deps = createDeliveryDeps(made.ctx);
    await deliverDue(made.ctx, deps);
    await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
    type Shown = {
      delivery_id: string;
      state: string;
      last_answer: unknown;
      log: { status_code: number; error: string }[];
    };
    const list = async (options: Arguments['options']) => {
      const answer = await run('webhook deliveries', { ...at, ...options });
      return { rows: answer.deliveries as Shown[], more: answer.has_more };
    };
    const all = await list({});
    assert.deepEqual(
      all.rows.map((row) => row.delivery_id),
      ids.toReversed(),
    );
    assert.deepEqual(
      all.rows[0]?.log.map(({ status_code, error }) => [status_code, error]),
      [[500, 'status']],
    );
    assert.equal(all.rows[0]?.last_answer, 500);
    const page = await list({ limit: '2', offset: '0' });
    assert.deepEqual([page.rows.length, page.more], [2, true]);
    const rest = await list({ limit: '2', offset: '2' });
    assert.deepEqual([rest.rows.length, rest.more], [1, false]);
    assert.deepEqual((await list({ state: 'delivered' })).rows, []);
    const { partner: stranger } = await makePartner(fixtures.db);
    assert.deepEqual((await run('webhook deliveries', { partner: stranger.slug, mode: 'test' })).deliveries, []);
    await run('webhook replay', {}, [String(ids[0])]);
    assert.equal((await deliveryRow(fixtures.db, String(ids[0]))).attempts, 0);
  });

  test('listen prints each event once its signature is right, refuses the others, then puts the URL back', async () => {
    const { ctx } = deliveryContext(fixtures.db);
    const { test: scope } = await makePartner(fixtures.db);
    await setUrl(ctx, theService, scope, 'http://127.0.0.1:9/mine');
    const stop = new AbortController();
    const running = startDelivering({ ...ctx, clock: { now: () => new Date() } }, stop.signal);
    const [lines, notes]: [string[], string[]] = [[], []];
    const listening = listen(ctx, scope, {
      count: 1,
      json: true,
      print: (line) => lines.push(line),
      note: (line) => notes.push(line),
    });
    await until(async () => (await readEndpoint(ctx, scope))?.url !== 'http://127.0.0.1:9/mine', 'it listens');
    const url = String((await readEndpoint(ctx, scope))?.url);
    const wrong: Record<string, string> = {
      'x-service-signature': `v1=${'0'.repeat(64)},t=${Math.floor(Date.now() / 1000)}`,
    };
    for (const headers of [undefined, wrong]) {
      assert.equal((await fetch(url, { method: 'POST', body: '{"event":"\u009b31mforged"}', headers })).status, 400);
    }
    assert.deepEqual(lines, []);
    assert.equal(notes.filter((line) => /^Rejected: the signature is missing, wrong or older/.test(line)).length, 2);
    const [id] = await makeEvents(fixtures.db, scope);
    assert.deepEqual(await listening, { received: 1 });
    stop.abort();
    await running;
    const [event] = lines.map((line) => JSON.parse(line));
    assert.deepEqual([event.delivery_id, event.event, event.signature], [id, 'payment.proof_verified', 'valid']);
    assert.equal((await readEndpoint(ctx, scope))?.url, 'http://127.0.0.1:9/mine');
    assert.equal((await deliveryRow(fixtures.db, String(id))).state, 'delivered');
  });

  test('another URL is set while a temporary one is in use › it stays; otherwise the one before is put back', async () => {
    const { ctx } = deliveryContext(fixtures.db);
    const { test: scope } = await makePartner(fixtures.db);
    const [mine, temporary, other] = ['http://127.0.0.1:9/1', 'http://127.0.0.1:9/2', 'http://127.0.0.1:9/3'] as const;
    for (const url of [mine, temporary, other]) await setUrl(ctx, theService, scope, url);
    await restoreUrl(ctx, theService, scope, temporary, mine);
    assert.equal((await readEndpoint(ctx, scope))?.url, other);
    await setUrl(ctx, theService, scope, temporary);
    await restoreUrl(ctx, theService, scope, temporary, mine);
    assert.equal((await readEndpoint(ctx, scope))?.url, mine);
  });

  test('listen whose output nobody reads any more › ends and puts the URL back', async () => {
    const { ctx } = deliveryContext(fixtures.db);
    const { test: scope } = await makePartner(fixtures.db);
    await setUrl(ctx, theService, scope, 'http://127.0.0.1:9/mine');
    const others = process.stdout.listeners('error');
    const listening = listen(ctx, scope, { count: 9, json: true, print: () => {}, note: () => {} });
    await until(async () => (await readEndpoint(ctx, scope))?.url !== 'http://127.0.0.1:9/mine', 'it listens');
    // Not emitted: the test runner, which listens too, would report nothing any more.
    const [ended = assert.fail('it does not notice')] = process.stdout
      .listeners('error')
      .filter((one) => !others.includes(one));
    ended(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    assert.deepEqual(await listening, { received: 0 });
    assert.equal((await readEndpoint(ctx, scope))?.url, 'http://127.0.0.1:9/mine');
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    test(`${signal} while listen waits, as when ${signal === 'SIGHUP' ? 'its terminal is closed' : 'it is stopped'} → it puts the URL back`, async (t) => {
      const { ctx } = deliveryContext(fixtures.db);
      const { test: scope } = await makePartner(fixtures.db);
      await setUrl(ctx, theService, scope, 'http://127.0.0.1:9/mine');
      const others = process.listeners(signal);
      const end = new AbortController();
      t.after(() => end.abort());
      const options = { count: 9, json: false, print: () => {}, note: () => {}, signal: end.signal };
      const listening = listen(ctx, scope, options);
      await until(async () => (await readEndpoint(ctx, scope))?.url !== 'http://127.0.0.1:9/mine', 'it listens');
      const [stop = assert.fail('the signal would end the process')] = process
        .listeners(signal)
        .filter((one) => !others.includes(one));
      stop(signal);
      assert.deepEqual(await listening, { received: 0 });
      assert.equal((await readEndpoint(ctx, scope))?.url, 'http://127.0.0.1:9/mine');
      assert.deepEqual(process.listeners(signal), others);
    });
  }

  for (const json of [true, false]) {
    test(`listen prints control characters of an event escaped${json ? ', and the same JSON' : ''}`, async () => {
      const { ctx } = deliveryContext(fixtures.db);
      const { test: scope } = await makePartner(fixtures.db);
      const secret = String((await setUrl(ctx, theService, scope, 'http://127.0.0.1:9/mine')).secret);
      const lines: string[] = [];
      const listening = listen(ctx, scope, { count: 1, json, print: (line) => lines.push(line), note: () => {} });
      await until(async () => (await readEndpoint(ctx, scope))?.url !== 'http://127.0.0.1:9/mine', 'it listens');
      const event = {
        event: '\u001b[2J\u009b31m\u202e\u007f',
        request_id: 'r',
        tx_hash: 't',
        metadata: { '7': 'é👍🏽' },
      };
      const body = JSON.stringify(event);
      const headers = signedHeaders({ deliveryId: 'd', event: 'e', body }, secret, null, new Date());
      const url = String((await readEndpoint(ctx, scope))?.url);
      assert.equal((await fetch(url, { method: 'POST', body, headers })).status, 200);
      await listening;
      assert.equal(/[\p{Cc}\u202e]/u.test(String(lines[0])), false);
      if (json) assert.deepEqual(JSON.parse(String(lines[0])), { ...event, signature: 'valid' });
      else assert.match(String(lines[0]), /\\u001b\[2J\\u009b31m\\u202e\\u007f/);
    });
  }
});
