import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Config } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import type { Alarm } from '../../src/db/alarm-kinds.ts';
import { clearAlarm, raiseAlarm } from '../../src/db/alarms.ts';
import { connect } from '../../src/db/connection.ts';
import { checkSecretKeys } from '../../src/db/secret-keys.ts';
import { buildMetricsServer } from '../../src/http/health.ts';
import { buildServer } from '../../src/http/server.ts';
import type { SecretKey } from '../../src/lib/encrypt.ts';
import type { Mode } from '../../src/lib/mode.ts';
import { send } from '../support/api/client.ts';
import { idleChain, startApp, testConfig } from '../support/app.ts';
import { accessTo } from '../support/database.ts';
import { movedClock } from '../support/deliveries.ts';
import { makePartner, testSecrets } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
const token = 'a-token-for-the-one-who-scrapes';
const bearer = { headers: { authorization: `Bearer ${token}` } };

before(async () => {
  app = await startApp();
});
after(() => app.stop());

type Node = { url: string; metricsUrl: string };

async function withNode(
  overrides: Partial<Context>,
  metrics: Partial<Config['metrics']>,
  work: (node: Node) => Promise<void>,
) {
  const config = testConfig({ metrics: { host: '127.0.0.1', port: null, token: null, ...metrics } });
  const ctx = { ...app.ctx, ...overrides, config };
  const servers = [await buildServer(ctx), await buildMetricsServer(ctx)];
  try {
    const [url = '', metricsUrl = ''] = await Promise.all(
      servers.map((one) => one.listen({ host: '127.0.0.1', port: 0 })),
    );
    await work({ url, metricsUrl });
  } finally {
    await Promise.all(servers.map((one) => one.close()));
  }
}

test('HEAD /healthz and /readyz › the status of GET without its body, for monitors that ask with HEAD', async () => {
  const nowhere = connect(accessTo('postgres://127.0.0.1:1/none'), { service: 1, scoped: 1 });
  await withNode({ db: nowhere }, {}, async ({ url, metricsUrl }) => {
    for (const base of [url, metricsUrl]) {
      const answers = [await send(base, 'HEAD', '/healthz'), await send(base, 'HEAD', '/readyz')];
      const found = answers.map(({ status, text }) => [status, text]);
      assert.deepEqual(found, [
        [200, ''],
        [503, ''],
      ]);
    }
  });
  await nowhere.close();
  assert.equal((await send(app.url, 'HEAD', '/readyz')).status, 200);
});

test('GET /readyz › anybody hears the verdict alone, ready or not; a silent provider is no reason; /healthz that it lives', async () => {
  const ready = await send(app.url, 'GET', '/readyz');
  assert.deepEqual([ready.status, ready.text], [200, '{"ok":true}'], 'although no chain’s provider answers');
  const nowhere = connect(accessTo('postgres://127.0.0.1:1/none'), { service: 1, scoped: 1 });
  await withNode({ db: nowhere }, {}, async ({ url }) => {
    const unready = await send(url, 'GET', '/readyz');
    assert.deepEqual([unready.status, unready.text], [503, '{"ok":false}']);
  });
  await nowhere.close();
  const alive = await send(app.url, 'GET', '/healthz');
  assert.deepEqual([alive.status, alive.text], [200, '{"ok":true}']);
});

test('GET /metrics › without METRICS_TOKEN and METRICS_PORT → 404, whatever is sent', async () => {
  for (const path of ['/metrics', '/metrics?token=', '/metrics/']) {
    for (const options of [{}, bearer, { headers: { authorization: 'Bearer ' } }]) {
      assert.equal((await send(app.url, 'GET', path, options)).status, 404);
    }
  }
});

test('METRICS_TOKEN › opens /metrics and the details of /readyz; what only resembles it does not', async () => {
  await withNode({}, { token }, async ({ url }) => {
    assert.match((await send(url, 'GET', '/metrics', bearer)).text, /quittance_webhooks_due 0/);
    const details = await send(url, 'GET', '/readyz', bearer);
    assert.equal(details.status, 200);
    assert.deepEqual(details.json, {
      ok: true,
      database: 'ok',
      migrations: 'ok',
      'secret keys': 'ok',
      clock: 'ok',
      'chain 31337': 'no provider answers',
      'chain 31338': 'no provider answers',
    });
    for (const authorization of [null, 'Bearer', `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`]) {
      const refused = await send(url, 'GET', '/metrics', { headers: { authorization } });
      assert.deepEqual([refused.status, refused.headers['www-authenticate']], [401, 'Bearer'], String(authorization));
      assert.doesNotMatch(refused.text, /quittance_/);
      assert.equal((await send(url, 'GET', '/readyz', { headers: { authorization } })).text, '{"ok":true}');
    }
  });
});

test('GET /readyz › another node started with a key in front that this one lacks → named in the details until it has it', async () => {
  const fresh = { id: 'fresh', key: Buffer.alloc(32, 9) };
  await checkSecretKeys(app.db.sql, [fresh, ...testSecrets]);
  const stateWith = async (secretKeys: SecretKey[]) => {
    const ctx = { ...app.ctx, config: testConfig({ secretKeys, metrics: { host: '127.0.0.1', port: null, token } }) };
    const node = await buildMetricsServer(ctx);
    const answer = await node.inject({ url: '/readyz', headers: bearer.headers });
    const { body } = await node.inject({ url: '/metrics', headers: bearer.headers });
    await node.close();
    const lacking = Number(/^quittance_secret_keys_missing (\d+)$/m.exec(body)?.[1]);
    return [answer.statusCode, answer.json()['secret keys'], lacking];
  };
  const [status, state, lacking] = await stateWith(testSecrets);
  assert.deepEqual([status, lacking], [200, 1]);
  assert.match(state, /^another node uses fresh, which this one lacks, .*: restart it with the same SECRET_KEYS$/);
  assert.deepEqual(await stateWith([fresh, ...testSecrets]), [200, 'ok', 0]);
  await app.db.sql`delete from secret_key_marks where key_id = 'fresh'`;
});

test('a disk of the database is full → figures and details say so for five minutes, and the node stays ready', async () => {
  const node = await buildMetricsServer({
    ...app.ctx,
    config: testConfig({ metrics: { host: '', port: null, token } }),
  });
  const read = async () => {
    const { statusCode, json } = await node.inject({ url: '/readyz', headers: bearer.headers });
    const { body } = await node.inject({ url: '/metrics', headers: bearer.headers });
    return [statusCode, json().disk, /^quittance_database_full (\d)$/m.exec(body)?.[1]];
  };
  try {
    const raised = app.db.sql.unsafe(`do $$ begin raise 'could not extend file' using errcode = '53100'; end $$`);
    await assert.rejects(raised, { code: '53100' });
    assert.match(String((await read())[1]), /^a disk of the database was full .*make room/);
    assert.deepEqual((await read()).toSpliced(1, 1), [200, '1']);
    app.db.disk.fullAtMs -= 300_000;
    const later = await buildMetricsServer({
      ...app.ctx,
      config: testConfig({ metrics: { host: '', port: null, token } }),
    });
    assert.match(
      (await later.inject({ url: '/metrics', headers: bearer.headers })).body,
      /^quittance_database_full 0$/m,
    );
    assert.equal((await later.inject({ url: '/readyz', headers: bearer.headers })).json().disk, undefined);
    await later.close();
  } finally {
    await node.close();
  }
});

test('GET /metrics › a session holds a table that another needs → that it is locked, and how long the other has waited', async () => {
  const node = await buildMetricsServer({
    ...app.ctx,
    config: testConfig({ metrics: { host: '', port: null, token } }),
  });
  const read = async () => {
    const { body } = await node.inject({ url: '/metrics', headers: bearer.headers });
    return {
      waitS: Number(/^quittance_lock_wait_seconds (\S+)$/m.exec(body)?.[1]),
      locked: Number(/^quittance_tables_locked (\S+)$/m.exec(body)?.[1]),
    };
  };
  try {
    assert.deepEqual(await read(), { waitS: 0, locked: 0 });
    let waiting: Promise<unknown> | undefined;
    await app.owner.begin(async (tx) => {
      await tx`lock table sign_in_links`;
      assert.deepEqual(await read(), { waitS: 0, locked: 1 });
      waiting = app.db.sql`select from sign_in_links`.then(() => null);
      await until(async () => (await read()).waitS > 1, 'the wait to be seen');
    });
    await waiting;
    assert.deepEqual(await read(), { waitS: 0, locked: 0 });
  } finally {
    await node.close();
  }
});

test('GET /metrics › rates grow old → their age, and how many cannot be used; one that an operator set can', async () => {
  const read = async () => {
    const metrics = { host: '127.0.0.1', port: null, token };
    const node = await buildMetricsServer({ ...app.ctx, config: testConfig({ metrics }) });
    const { body } = await node.inject({ url: '/metrics', headers: bearer.headers });
    await node.close();
    const value = (name: string) => new RegExp(`^quittance_rates_${name} (\\S+)$`, 'm').exec(body)?.[1];
    return { age: value('age_seconds'), unusable: value('unusable') };
  };
  const { sql } = app.db;
  await sql`delete from rates`;
  assert.deepEqual(await read(), { age: '+Inf', unusable: '0' });
  await sql`
    insert into rates (code, rate, sources, fetched_at) values ('EUR', '0.9', '[]', now() - interval '1 minute'),
      ('CHF', '0.9', '[]', now() - interval '11 minutes'), ('GBP', '0.9', '[]', now() - interval '12 minutes')`;
  const { age, unusable } = await read();
  assert.ok(Number(age) >= 60 && Number(age) < 600, `${age} s`);
  assert.equal(unusable, '2');
  await sql`insert into rate_overrides (code, rate) values ('GBP', '0.8')`;
  assert.equal((await read()).unusable, '1');
  await sql`insert into rate_overrides (code, rate, until) values ('EUR', '0.9', null), ('CHF', '0.9', null)`;
  assert.deepEqual(await read(), { age: '0', unusable: '0' }, 'nobody waits for the sources');
  await sql`update rate_overrides set until = now() - interval '1 second' where code = 'CHF'`;
  assert.ok(Number((await read()).age) >= 60);
  await sql`delete from rates`;
  assert.deepEqual(await read(), { age: '0', unusable: '0' }, 'sources that never answered');
});

test('METRICS_PORT › figures and details are there and nowhere else; with a token they ask for it there', async () => {
  await withNode({}, { port: 9464 }, async ({ url, metricsUrl }) => {
    assert.match((await send(metricsUrl, 'GET', '/metrics')).text, /quittance_webhooks_due 0/);
    assert.equal((await send(metricsUrl, 'GET', '/readyz')).json.migrations, 'ok');
    assert.equal((await send(metricsUrl, 'GET', '/healthz')).status, 200);
    assert.equal((await send(metricsUrl, 'GET', '/api/v1/requests')).status, 404);
    assert.equal((await send(url, 'GET', '/metrics')).status, 404);
  });
  await withNode({}, { port: 9464, token }, async ({ url, metricsUrl }) => {
    assert.equal((await send(metricsUrl, 'GET', '/metrics')).status, 401);
    assert.equal((await send(metricsUrl, 'GET', '/metrics', bearer)).status, 200);
    assert.equal((await send(url, 'GET', '/metrics', bearer)).status, 404);
    assert.equal((await send(url, 'GET', '/readyz', bearer)).text, '{"ok":true}');
  });
});

test('GET /readyz › fifty at once are one look at the providers, and so are those of the next five seconds', async () => {
  let asked = 0;
  const provider = createServer((request, response) => {
    asked++;
    request.resume().on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const rpcUrls = [`http://127.0.0.1:${(provider.address() as AddressInfo).port}`];
  const clock = movedClock();
  const fifty = (url: string) => Promise.all(Array.from({ length: 50 }, () => send(url, 'GET', '/readyz', bearer)));
  try {
    const chains = { test: [{ ...idleChain(31337), rpcUrls }], live: [] };
    await withNode({ clock, chains }, { token }, async ({ url }) => {
      await send(url, 'GET', '/readyz');
      assert.equal(asked, 0, 'strangers make it ask nobody');
      await fifty(url);
      assert.equal(asked, 1);
      clock.forward(4_900);
      await fifty(url);
      await Promise.all(Array.from({ length: 50 }, () => send(url, 'GET', '/metrics', bearer)));
      assert.equal(asked, 1);
      clock.forward(200);
      await fifty(url);
      assert.equal(asked, 2);
    });
  } finally {
    provider.close();
  }
});

test('GET /readyz › a check that waits for a connection while the database answers others → still ready', async () => {
  const db = connect(app.access, { service: 1, scoped: 1 });
  const clock = movedClock();
  const held = Promise.withResolvers<void>();
  const { test: scope } = await makePartner(app.db);
  try {
    await withNode({ db, clock }, { token }, async ({ url }) => {
      assert.equal((await send(url, 'GET', '/readyz')).status, 200);
      const holding = db.transaction(() => held.promise);
      clock.forward(6_000);
      let status = 0;
      const asked = send(url, 'GET', '/readyz').then((answer) => (status = answer.status));
      while (status === 0) await db.scoped(scope, (tx) => tx`select from requests limit 1`);
      held.resolve();
      await Promise.all([asked, holding]);
      assert.equal(status, 200);
    });
  } finally {
    held.resolve();
    await db.close();
  }
});

test('GET /readyz and /metrics › without the database → no answer contains its error', async () => {
  const db = connect(accessTo('postgres://quittance:hidden@127.0.0.1:9/nowhere'));
  try {
    await withNode({ db }, { token }, async ({ url, metricsUrl }) => {
      for (const [origin, options] of [
        [url, {}],
        [url, bearer],
        [metricsUrl, bearer],
      ] as const) {
        for (const path of ['/readyz', '/metrics']) {
          const { status, text } = await send(origin, 'GET', path, options);
          const expected = path === '/readyz' ? 503 : options === bearer ? 200 : 401;
          assert.equal(status, expected, `${origin}${path}`);
          assert.doesNotMatch(text, /hidden|nowhere|ECONN|connect|127\.0\.0\.1/i);
        }
      }
      const details = await send(url, 'GET', '/readyz', bearer);
      assert.equal(details.json.database, 'cannot be reached');
    });
  } finally {
    await db.close();
  }
});

test('GET /metrics › without the database → says so beside what the process reports', async () => {
  const db = connect(accessTo('postgres://127.0.0.1:9/nowhere'));
  try {
    await withNode({}, { token }, async ({ url }) => {
      assert.match((await send(url, 'GET', '/metrics', bearer)).text, /quittance_database_up 1\n/);
    });
    await withNode({ db }, { token }, async ({ url }) => {
      const { status, text } = await send(url, 'GET', '/metrics', bearer);
      assert.equal(status, 200);
      assert.match(text, /quittance_database_up 0\n/);
      assert.match(text, /process_cpu_seconds_total \d/);
      assert.doesNotMatch(text, /^quittance_(alarms|chain_lag_blocks|webhooks_due)[{ ]/m);
    });
  } finally {
    await db.close();
  }
});

test('GET /metrics › a chain that was removed while its reader was far behind → is not behind for ever', async () => {
  const kept = 31337;
  for (const id of [kept, 990_001])
    await app.ctx.db.sql`
      insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
      values (${id}, 1, 100, '0x00', now(), 900, 90, now())`;
  const chains = { test: [idleChain(kept)], live: [] };
  try {
    await withNode({ chains }, { token }, async ({ url }) => {
      const { text } = await send(url, 'GET', '/metrics', bearer);
      assert.deepEqual(text.match(/^quittance_chain_lag_blocks\{.*$/gm), [
        `quittance_chain_lag_blocks{chain_id="${kept}"} 800`,
      ]);
    });
  } finally {
    await app.ctx.db.sql`delete from chain_cursors where chain_id in (${kept}, 990001)`;
  }
});

test('GET /metrics › calls are counted, and probes are not, or many of them would hide that calls fail', async () => {
  await withNode({}, { token }, async ({ url }) => {
    const counted = async () => {
      const { text } = await send(url, 'GET', '/metrics', bearer);
      const counts = text.matchAll(/^quittance_call_seconds_count\{.*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await counted();
    for (const path of ['/readyz', '/healthz', '/readyz']) await send(url, 'GET', path);
    await send(url, 'GET', '/api/v1/requests');
    await until(async () => (await counted()) > before, 'the call to be counted');
    assert.equal(await counted(), before + 1);
  });
});

test('GET /metrics › no call has failed → each endpoint’s failures are 0 already, so that Prometheus sees the first one', async () => {
  await withNode({}, { token }, async ({ url }) => {
    const { text } = await send(url, 'GET', '/metrics', bearer);
    for (const route of ['/api/v1/requests/:request_id', '/api/v1/accounts'])
      assert.ok(text.includes(`\nquittance_call_seconds_count{route="${route}",status="5xx"} 0\n`), route);
  });
});

test('GET /metrics › alarms cannot be read in time → those read last are still reported, and end once they can', async () => {
  const db = connect(app.access, { service: 1, scoped: 1 });
  const held = Promise.withResolvers<void>();
  await raiseAlarm(app.db.sql, { kind: 'phone_gateway', subject: '', details: { fault: 'it is silent' } });
  try {
    await withNode({ db }, { token }, async ({ url }) => {
      const scrape = async () => (await send(url, 'GET', '/metrics', bearer)).text;
      const raised = /^quittance_alarms\{kind="phone_gateway",chain_id=""\} 1$/m;
      assert.match(await scrape(), raised);
      const holding = db.transaction(() => held.promise);
      const late = await scrape();
      assert.match(late, raised);
      assert.match(late, /^quittance_database_up 0$/m);
      held.resolve();
      await holding;
      await clearAlarm(app.db.sql, 'phone_gateway');
      assert.doesNotMatch(await scrape(), /kind="phone_gateway"/);
    });
  } finally {
    held.resolve();
    await db.close();
  }
});

test('GET /metrics › alarms are counted by kind and chain; no partner, merchant or request is named', async () => {
  const { partner } = await makePartner(app.db);
  const request = '0191f0a2-7c11-7c3e-8d3a-2f6b5f0f9a11';
  const disabled = (mode: Mode): Alarm => {
    const details = { partnerId: partner.id, mode, why: 'gone' as const };
    return { kind: 'webhook_disabled', subject: `${partner.id}:${mode}`, details };
  };
  const alarms: Alarm[] = [
    disabled('live'),
    disabled('test'),
    { kind: 'verified-reorged', subject: request, details: { requestId: request } },
    { kind: 'chain-unconfirmed', subject: '8453', details: { chainId: 8453, chain: 'Base', since: '2026-01-01' } },
    { kind: 'plans_failing', subject: '', details: { count: 1 } },
    { kind: 'other', subject: `strange ${partner.slug}`, details: { message: 'It happened.' } },
  ];
  for (const alarm of alarms) await raiseAlarm(app.db.sql, alarm);
  await withNode({}, { token }, async ({ url }) => {
    const { text } = await send(url, 'GET', '/metrics', bearer);
    for (const line of [
      'quittance_alarms{kind="webhook_disabled",chain_id=""} 2',
      'quittance_alarms{kind="verified-reorged",chain_id=""} 1',
      'quittance_alarms{kind="chain-unconfirmed",chain_id="8453"} 1',
      'quittance_alarms{kind="plans_failing",chain_id=""} 1',
      'quittance_alarms{kind="other",chain_id=""} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
    }
    for (const id of [partner.id, partner.slug, request]) assert.ok(!text.includes(id), id);
  });
});
