import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';
import pino from 'pino';
import { theService } from '../../src/audit/write.ts';
import { attemptCommands } from '../../src/cli/attempts.ts';
import { type Database, openOwner, type Scope, type Tx } from '../../src/db/connection.ts';
import { migrate } from '../../src/db/migrate.ts';
import { identifiers } from '../../src/db/sql.ts';
import { dayMs, hourMs, minuteMs } from '../../src/lib/durations.ts';
import { createPartitions, detachBefore, listPartitions, monthsAhead } from '../../src/webhooks/attempt-partitions.ts';
import { browseDeliveries } from '../../src/webhooks/browse.ts';
import { createDeliveryDeps } from '../../src/webhooks/deliver.ts';
import { listDeliveries } from '../../src/webhooks/delivery-log.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { testDatabase } from '../support/database.ts';
import { deliverDue } from '../support/deliver-due.ts';
import { attemptRows, deliveryContext, deliveryRow, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { startReceiver } from '../support/net/receiver.ts';
import { openExplainer, sentDuring } from '../support/query-plans.ts';

let fixtures: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  fixtures = await testDatabase();
});
after(() => fixtures?.drop());

const columns = `partner_id, test_mode, delivery_id, id, url, started_at, duration_ms, status_code, error, request_headers,
  response_headers, response_body`;
const migrations = join(import.meta.dirname, '../../migrations');

test('migrated under a node of the previous version → every attempt is kept, and that node’s statements still work', async () => {
  const name = `before_months_${process.pid}`;
  const folder = mkdtempSync(join(tmpdir(), 'quittance-before-'));
  await fixtures.owner`create database ${identifiers(name)}`;
  const url = Object.assign(new URL(fixtures.url), { pathname: `/${name}` }).href;
  const [owner, node] = [openOwner(url), openOwner(url)];
  try {
    cpSync(migrations, folder, { recursive: true });
    for (const file of readdirSync(folder)) if (/^00(68|69)_/.test(file)) rmSync(join(folder, file));
    await migrate(owner, { folder });
    await node.unsafe("set session_replication_role = 'replica'"); // attempts without their events
    await node.unsafe(`prepare record as insert into webhook_attempts (${columns})
      select gen_random_uuid(), true, gen_random_uuid(), gen_random_uuid(), 'https://a.example', now() - n * interval '1 day', 1,
        200, null, '{}', null, null from generate_series(0, 999) n`);
    await node.unsafe('prepare look as select count(*)::int as n from webhook_attempts');
    await node.unsafe('execute record');
    await migrate(owner);
    await node.unsafe('execute record');
    assert.deepEqual([...(await node.unsafe('execute look'))], [{ n: 2_000 }]);
    const [first, ...later] = await listPartitions(owner);
    assert.equal(first?.name, 'webhook_attempts_first');
    assert.ok(first.until > new Date(Date.now() + 9 * 86_400_000));
    const last = later.at(-1)?.until ?? new Date(0);
    assert.ok(
      last > new Date(Date.now() + (monthsAhead - 1) * 28 * 86_400_000),
      `the last part ends ${last.toISOString()}`,
    );
  } finally {
    await Promise.all([owner.end(), node.end()]);
    await fixtures.owner`drop database ${identifiers(name)} with (force)`;
    rmSync(folder, { recursive: true });
  }
});

const names = async () => (await listPartitions(fixtures.owner)).map(({ name }) => name);

test('months that are missing ahead → made once by nodes that come at the same time, while one waits for the other', async () => {
  const all = await names();
  const last = all.slice(-2);
  for (const name of last) await fixtures.owner`drop table ${identifiers(name)}`;
  const { ctx } = deliveryContext(fixtures.db);
  const made = await Promise.all([createPartitions(ctx), createPartitions(ctx), createPartitions(ctx)]);
  assert.deepEqual(made.sort(), [0, 0, 2]);
  assert.deepEqual(await names(), all);
});

test('this month has no part, or a node’s clock is months off → its attempts are recorded, in a month that there is', async () => {
  const { db, owner, drop } = await testDatabase();
  const receiver = await startReceiver();
  const { ctx, clock } = deliveryContext(db);
  const deps = createDeliveryDeps(ctx);
  try {
    const { test: scope } = await makePartner(db);
    await setUrl(ctx, theService, scope, receiver.url);
    const started = async (id = '') => {
      const { deliveries } = await listDeliveries(ctx, scope, { id, limit: 1, offset: 0 });
      assert.deepEqual([deliveries[0]?.state, deliveries[0]?.log.length], ['delivered', 1]);
      return deliveries[0]?.log[0]?.started_at.getTime() ?? 0;
    };
    // As if nobody had made months for a long time.
    for (const { name } of await listPartitions(owner)) await owner`drop table ${identifiers(name)}`;
    await owner.unsafe(`create table webhook_attempts_old (like webhook_attempts including defaults);
      alter table webhook_attempts attach partition webhook_attempts_old for values from (minvalue) to ('2026-01-01 00:00:00+00')`);
    const [event] = await makeEvents(db, scope);
    assert.equal(await deliverDue(ctx, deps), 1);
    assert.equal(await started(event), clock.now().getTime());
    assert.ok((await listPartitions(owner)).length > monthsAhead);

    for (const awayMs of [-90 * dayMs, 3_650 * dayMs]) {
      clock.forward(awayMs);
      const [id] = await makeEvents(db, scope);
      assert.equal(await deliverDue(ctx, deps), 1);
      assert.ok(Math.abs((await started(id)) - Date.now()) <= hourMs + minuteMs);
    }
  } finally {
    await Promise.all([receiver.close(), deps.posters.test.close(), deps.posters.live.close()]);
    await drop();
  }
});

/** The database, but the answer to the first commit that stores attempts is lost. */
function losingOneAnswer(db: Database): { db: Database; lost: () => number } {
  let lost = 0;
  const loseIf = async <T>(answer: Promise<T>, stores: () => boolean): Promise<T> => {
    const value = await answer;
    if (lost > 0 || !stores()) return value;
    lost++;
    throw Object.assign(new Error('lost'), { code: 'ECONNRESET' });
  };
  const watchedFor = <T extends Tx | Database['sql']>(tag: T, told: (answer: Promise<unknown>) => unknown): T =>
    new Proxy(tag, {
      apply: (target, self, given) => {
        const answer = Reflect.apply(target, self, given);
        return given[0].join('').includes('insert into webhook_attempts') ? told(answer) : answer;
      },
    });
  const sql = watchedFor(db.sql, (answer) => loseIf(answer, () => true));
  const transaction: Database['transaction'] = (work) => {
    let stores = false;
    const noted = (answer: Promise<unknown>) => {
      stores = true;
      return answer;
    };
    return loseIf(
      db.transaction((tx) => work(watchedFor(tx, noted))),
      () => stores,
    );
  };
  return { db: { ...db, sql, transaction }, lost: () => lost };
}

test('the answer to the record of an attempt is lost, on a node whose clock is right or wrong → recorded once, without another error', async () => {
  const own = await testDatabase();
  const receiver = await startReceiver();
  const deps = createDeliveryDeps(deliveryContext(own.db).ctx);
  try {
    const { test: scope } = await makePartner(own.db);
    await setUrl(deliveryContext(own.db).ctx, theService, scope, receiver.url);
    // The first attempt at each time changes the endpoint, in one transaction with it; the second does not.
    for (const awayMs of [0, 0, 2 * hourMs, 2 * hourMs, -dayMs, -dayMs]) {
      const { db, lost } = losingOneAnswer(own.db);
      const { ctx, clock } = deliveryContext(db);
      clock.forward(awayMs);
      const said: string[] = [];
      ctx.log = pino({ level: 'error' }, { write: (line: string) => said.push(JSON.parse(line).msg) });
      const [id = ''] = await makeEvents(own.db, scope);
      assert.equal(await deliverDue(ctx, deps), 1);
      assert.equal(lost(), 1);
      const { state, attempts } = await deliveryRow(own.db, id);
      assert.deepEqual([state, attempts, (await attemptRows(own.db, id)).length], ['delivered', 1, 1]);
      assert.deepEqual(said, ['attempts could not be recorded']);
    }
    assert.equal(receiver.received.length, 6);
  } finally {
    await Promise.all([receiver.close(), deps.posters.test.close(), deps.posters.live.close()]);
    await own.drop();
  }
});

/** Divides the time before now into parts as years of service would: 2025-01 to 2025-04, and what is since. */
async function divideThePast(): Promise<void> {
  const { owner } = fixtures;
  const [first] = await listPartitions(owner);
  await owner.unsafe(`alter table webhook_attempts detach partition webhook_attempts_first`);
  const until = first?.until.toISOString() ?? '';
  const bounds = ['2025-01-01', '2025-02-01', '2025-03-01', '2025-04-01', until];
  for (const [at, to] of bounds.entries()) {
    const part = at === 0 ? 'webhook_attempts_first' : `webhook_attempts_past_${at}`;
    const from = at === 0 ? 'minvalue' : `'${bounds[at - 1]}'`;
    if (at > 0) await owner.unsafe(`create table ${part} (like webhook_attempts including defaults)`);
    await owner.unsafe(`alter table webhook_attempts attach partition ${part} for values from (${from}) to ('${to}')`);
  }
}

/** An event of that day that was delivered at its third attempt within two hours. */
async function deliveredOn(scope: Scope, day: string): Promise<string> {
  const [id = ''] = await makeEvents(fixtures.db, scope);
  await fixtures.owner`
    update webhook_deliveries set created_at = ${day}::text::timestamptz, state = 'delivered', attempts = 3,
      delivered_at = ${day}::text::timestamptz + interval '2 hours' where id = ${id}`;
  for (const hours of [0, 1, 2]) {
    await fixtures.owner.unsafe(`insert into webhook_attempts (${columns}) values ('${scope.partnerId}', true, '${id}',
      '${randomUUID()}', 'https://a.example', timestamptz '${day}' + ${hours} * interval '1 hour', 1,
      ${hours === 2 ? 200 : 500}, null, '{}', null, null)`);
  }
  return id;
}

type Node = { Plans?: Node[] } & Record<string, unknown>;
/** The parts that a plan really reads or writes. */
const partsOf = (node: Node): string[] => [
  ...(String(node['Relation Name'] ?? '').startsWith('webhook_attempts_') && Number(node['Actual Loops']) > 0
    ? [String(node['Relation Name'])]
    : []),
  ...(node.Plans ?? []).flatMap(partsOf),
];

test('each statement about attempts → reads only the partition of its event’s time, with custom and generic plans', async () => {
  await divideThePast();
  const { test: scope } = await makePartner(fixtures.db);
  const { ctx } = deliveryContext(fixtures.db);
  const id = await deliveredOn(scope, '2025-02-10T12:00:00Z');
  for (let i = 0; i < 40; i++) await deliveredOn(scope, `2025-0${1 + (i % 3)}-1${i % 9}T08:00:00Z`);
  await fixtures.owner.unsafe('analyze');
  const explainer = openExplainer(fixtures.url);
  try {
    const [log, page] = [
      await sentDuring(ctx.db, () => listDeliveries(ctx, scope, { id, limit: 1, offset: 0 })),
      await sentDuring(ctx.db, () =>
        browseDeliveries(ctx, scope, { since: new Date('2025-03-01'), state: 'delivered' }, null),
      ),
    ];
    for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
      const parts = async (sent: typeof log) => [...new Set((await explainer.explain(sent, mode)).flatMap(partsOf))];
      assert.deepEqual(await parts(log), ['webhook_attempts_past_2'], mode);
      assert.deepEqual(await parts(page), ['webhook_attempts_past_3'], mode);
    }
  } finally {
    await explainer.end();
  }
  const { deliveries } = await listDeliveries(ctx, scope, { id, limit: 1, offset: 0 });
  assert.deepEqual(
    deliveries[0]?.log.map(({ status_code }) => status_code),
    [500, 500, 200],
  );
});

test('months that ended before a day are detached while attempts are written → the others stay, and detached ones are kept', async () => {
  const { test: scope } = await makePartner(fixtures.db);
  const { ctx } = deliveryContext(fixtures.db, { databaseUrl: fixtures.url });
  const old = await deliveredOn(scope, '2025-01-20T12:00:00Z');
  const recent = await deliveredOn(scope, '2025-03-20T12:00:00Z');
  const all = await names();
  const run = (name: string, options: Record<string, string | true>) => {
    const command = attemptCommands.find((candidate) => candidate.name === name);
    assert.ok(command);
    return command.run(ctx, { words: [], options });
  };
  let writing = true;
  const writes = (async () => {
    let made = 0;
    for (; writing; made++) await deliveredOn(scope, new Date().toISOString());
    return made;
  })();
  assert.deepEqual(await run('attempts detach', { before: '2025-02-15' }), {
    detached: ['webhook_attempts_first', 'webhook_attempts_past_1'],
  });
  writing = false;
  assert.ok((await writes) >= 0);
  assert.deepEqual(await names(), all.slice(2));
  const logOf = async (id: string) => (await listDeliveries(ctx, scope, { id, limit: 1, offset: 0 })).deliveries[0];
  assert.deepEqual([(await logOf(old))?.state, (await logOf(old))?.log.length], ['delivered', 0]);
  assert.equal((await logOf(recent))?.log.length, 3);
  const kept = await fixtures.owner.unsafe(
    `select count(*)::int as n from webhook_attempts_past_1 where delivery_id = '${old}'`,
  );
  assert.deepEqual([...kept], [{ n: 3 }]);

  assert.deepEqual(await run('attempts detach', { before: '2025-03-01', drop: true }), {
    detached: ['webhook_attempts_past_2'],
  });
  const [gone] = await fixtures.owner`select to_regclass('webhook_attempts_past_2') as name`;
  assert.equal(gone?.name, null);
  // Also where the machine's clock is months ahead.
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 100 * dayMs });
  const detached = await detachBefore(fixtures.owner, new Date('2999-01-01'), false).finally(() => mock.timers.reset());
  assert.deepEqual(detached, ['webhook_attempts_past_3']);
  const { partitions } = (await run('attempts list', {})) as { partitions: { name: string }[] };
  assert.equal(partitions[0]?.name, 'webhook_attempts_past_4', 'the month that has not ended stays');
});
