import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { connect } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { makeLog } from '../../src/lib/log.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import type { Situation } from '../support/api/changed-merchants.ts';
import { type Api, startApi } from '../support/api/client.ts';
import {
  atOnce,
  type Call,
  create,
  type Node,
  sendAll,
  several,
  type Told,
  watchCreates,
} from '../support/api/concurrent-creates.ts';
import { testContext } from '../support/app.ts';
import { openOne } from '../support/database.ts';
import { until } from '../support/until.ts';

/** A failure of a group must not change the answers to its creates, or store one twice. */
let api: Api;
let node: Node & { close(): Promise<unknown> };
let lines: Record<string, unknown>[];
before(async () => {
  api = await startApi();
  node = await startNode();
});
after(async () => {
  await node?.close();
  await api?.stop();
});

async function startNode() {
  lines = [];
  const into = new Writable({
    write: (text, _encoding, done) => {
      lines.push(JSON.parse(String(text)));
      done();
    },
  });
  const db = connect(api.access);
  const app = await buildServer(testContext(db, { log: makeLog('info', into) }));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const seen = { arrived: 0 };
  app.server.on('request', () => {
    seen.arrived++;
  });
  return { db, url, seen, stop: () => app.close(), close: () => app.close().then(() => db.close()) };
}

const statusesOf = (answers: Told[]) => answers.map(({ status }) => status);
const storedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from requests where account_id = ${merchant.id}`).length;
const callsOf = async ({ keyId }: Situation) =>
  (
    await api.db.sql<{ calls: number }[]>`
    select sum(calls)::int as calls from rate_counters where subject = ${keyId}`
  )[0]?.calls;
const keyed = (one: Situation): Call => [one, { idempotency_key: randomUUID().replaceAll('-', '') }];

test('a row of one partner fails → it fails by itself with its own line, the others are stored, and each is counted once', async () => {
  const [first, ...all] = (await several(node, 6)) as [Situation, ...Situation[]];
  const failing = all[2] as Situation;
  // Counts since the first one; a new minute would begin at one again.
  const ofFirst = new Map(await Promise.all(all.map(async (one) => [one, await callsOf(one)] as const)));
  await api.owner.unsafe(`
    create function fail_one() returns trigger language plpgsql as $$
      begin raise exception 'one fails' using errcode = 'XX001'; end $$;
    create trigger fail_one before insert on requests for each row when (new.account_id = '${failing.merchant.id}')
      execute function fail_one()`);
  const from = lines.length;
  const { answers, seen } = await atOnce(
    node,
    first,
    all.map((one): Call => [one]),
  );
  const again = await atOnce(
    node,
    first,
    all.map((one): Call => [one]),
  );
  await api.owner.unsafe('drop trigger fail_one on requests; drop function fail_one()');
  assert.deepEqual([seen.sizes(), seen.alone], [[5], 6]);
  for (const told of [answers, again.answers]) assert.deepEqual(statusesOf(told), [201, 201, 500, 201, 201]);
  assert.deepEqual(await Promise.all(all.map(storedBy)), [3, 3, 1, 3, 3]);
  for (const one of all) {
    const calls = (await callsOf(one)) ?? 0;
    const failed = one === failing ? 0 : 2;
    assert.ok(calls === (ofFirst.get(one) ?? 0) + failed || calls <= 2, `${calls} calls`);
  }
  const said = lines.slice(from);
  const errors = said.filter(({ level }) => level === 50);
  assert.deepEqual(
    errors.map(({ x_request_id }) => x_request_id),
    [answers[2]?.id, again.answers[2]?.id],
  );
  const together = said.filter(({ sqlState }) => sqlState);
  assert.deepEqual(
    together.map(({ sqlState, level, x_request_id }) => [sqlState, level, x_request_id]),
    [['XX001', 40, undefined]],
    'told once, and as nobody’s',
  );
  for (const { id, status } of answers) {
    const own = said.filter(({ x_request_id }) => x_request_id === id);
    assert.ok(status === 201 || own.length > 0, 'lines that are its own');
  }
});

test('the connection of a group is lost → 503 for each of it, and nothing is doubled when they are sent again', async () => {
  const [first, ...all] = (await several(node, 5)) as [Situation, ...Situation[]];
  const calls = all.map(keyed);
  const seen = watchCreates(node);
  const { observer } = node.db.sql;
  node.db.sql.observer = (session, statement) => {
    observer?.(session, statement);
    if (/store_together/.test(statement.text)) signalProcess(session, 'SIGTERM');
  };
  const [alone, ...lost] = await Promise.all(sendAll(node, [[first], ...calls]));
  seen.end();
  assert.deepEqual([alone?.status, seen.sizes(), seen.alone], [201, [4], 1], 'nothing was sent again');
  assert.deepEqual(statusesOf(lost), [503, 503, 503, 503]);
  for (const call of calls) assert.ok([200, 201].includes((await create(node, call)).status));
  assert.deepEqual(await Promise.all(all.map(storedBy)), [2, 2, 2, 2]);
});

test('a server that stops while groups wait in the database → each create is answered, and stored once', async () => {
  const own = await startNode();
  const all = await several(own, 12);
  const calls = all.map(keyed);
  const holder = openOne(api.databaseUrl);
  const seen = watchCreates(own);
  const answers: Promise<Told>[] = [];
  const arrived = own.seen.arrived + calls.length;
  let stopped: Promise<unknown> = Promise.resolve();
  await holder.begin(async (tx) => {
    await tx`lock table partner_clocks in exclusive mode`;
    for (const call of calls) answers.push(create(own, call));
    await until(async () => {
      const rows = await api.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length > 1 && seen.groups.length > 0 && own.seen.arrived === arrived;
    }, 'groups wait');
    stopped = own.stop();
  });
  assert.deepEqual(statusesOf(await Promise.all(answers)), Array(12).fill(201));
  await stopped;
  assert.deepEqual(await Promise.all(all.map(storedBy)), Array(12).fill(2));
  await holder.end();
  await own.db.close();
});

test('store_together › only the service may call it, and a wallet, merchant or key of another partner stores nothing', async () => {
  const [one, other] = (await several(node, 2)) as [Situation, Situation];
  const [rights] = await api.owner`
    select p.prosecdef as as_owner, coalesce(array_agg(a.grantee::regrole::text order by 1)
        filter (where a.grantee <> p.proowner), '{}') as may
    from pg_proc p left join lateral aclexplode(p.proacl) a on true
    where p.proname = 'store_together' group by p.oid`;
  assert.deepEqual([rights?.as_owner, rights?.may], [false, ['quittance_service']]);
  const store = (partner: Situation, { merchant }: Situation, wallet: string) => api.db.sql<{ id: string }[]>`
    select id from store_together('{1}', true, ${[partner.one.partner.id]}, ${[randomUUID()]}, ${[merchant.id]}, '{null}',
      '{1250}', '{USD}', '{12500000}', '{1}', '{null}', '{override}', '{null}', '{pos}', '{null}', '{null}', '{null}',
      ${['{}']}, ${[wallet]}, '{null}', ${[Buffer.alloc(16)]}, '{31337}', '{15 minutes}')`;
  assert.equal((await store(one, one, one.merchant.wallet)).length, 1, 'its own');
  const before = await Promise.all([one, other].map(storedBy));
  const countAll = async () => (await api.db.sql`select from amount_reservations`).length;
  const reserved = await countAll();
  assert.equal((await store(one, other, other.merchant.wallet)).length, 0);
  assert.equal((await store(one, one, other.merchant.wallet)).length, 0);
  assert.equal((await store(one, other, one.merchant.wallet)).length, 0);
  assert.deepEqual([await Promise.all([one, other].map(storedBy)), await countAll()], [before, reserved]);
  const refused = await api.db
    .scoped(
      one.one.test.scope,
      (tx) => tx`select store_together('{1}', true, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
      '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`,
    )
    .catch(({ code }: { code: string }) => code);
  assert.equal(refused, '42501', 'a scope may not call it');
});
