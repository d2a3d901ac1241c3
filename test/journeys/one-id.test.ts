import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { ApiClient } from '../support/api/client.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

type Line = Record<string, unknown>;

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
let receiver: Receiver;
let service: Service;
let api: ApiClient;
before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
  receiver = await startReceiver();
  await setUrl(fixtures.ctx, theService, fixtures.scope, receiver.url);
  service = await startService({ ...fixtures.env, LOG_LEVEL: 'debug', TRUST_PROXY: '127.0.0.0/8' });
  api = new ApiClient(fixtures.db, service.url, fixtures.scope);
});
after(async () => {
  await endAll();
  await receiver?.close();
  await fixtures?.drop();
  await chains?.stop();
});

const lines = (): Line[] =>
  service
    .stdout()
    .split('\n')
    .slice(0, -1) // What follows the last line break is not whole yet.
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

const createBody = () => ({ account_id: fixtures.merchant.id, fiat_amount_int: 1250 });
const proxyId = 'edge-7f3a/42';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

test('a create → its x-request-id is the id of the request, of its row, of its log lines, of the event and its delivery', async () => {
  const created = await api.create(createBody(), {
    headers: { 'x-request-id': proxyId, traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
  });
  const id = created.headers['x-request-id'] as string;
  assert.equal(created.json.request_id, id);
  const [row] = await fixtures.db.sql`select wallet_address, usdc_micro, reference from requests where id = ${id}`;
  assert.ok(row, 'the row');
  await fixtures.pay(row as Parameters<NodeFixtures['pay']>[0]);
  await chains.test.mine(2);
  await until(() => receiver.received.length > 0, 'the event to arrive');
  const [event] = receiver.received;
  assert.equal(JSON.parse(event?.body ?? '').request_id, id);

  const answered = () => lines().find((line) => line.x_request_id === id && line.msg === 'a call was answered');
  const attempted = () => lines().find((line) => line.request_id === id && line.msg === 'a delivery was attempted');
  await until(() => answered() !== undefined && attempted() !== undefined, 'both log lines');
  const call = answered() as Line;
  assert.deepEqual(
    [call.method, call.route, call.status, call.proxy_request_id, call.trace_id],
    ['POST', '/api/v1/requests/create', 201, proxyId, traceId],
  );
  const attempt = attempted() as Line;
  assert.deepEqual([attempt.delivery_id, attempt.state], [event?.delivery, 'delivered']);

  const sent = JSON.stringify(event);
  for (const foreign of [proxyId, traceId, 'traceparent'])
    assert.ok(!sent.includes(foreign), 'what a proxy said stays inside');
});

test('requests of one second → ids in the order of time to the millisecond, and no two alike', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const before = Date.now();
    const { json } = await api.create(createBody());
    const id = json.request_id as string;
    const madeAt = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    assert.ok(before <= madeAt && madeAt <= Date.now(), 'it begins with the time at which it was made');
    assert.match(id, /^.{14}7.{4}[89ab]/, 'version 7');
    ids.push(id);
  }
  assert.equal(new Set(ids.map((id) => id.slice(20))).size, ids.length, 'its end is random');
});

test('a replay → its own x-request-id, and the id of the request that was created first', async () => {
  const body = { ...createBody(), idempotency_key: 'k'.repeat(40) };
  const [first, again] = [await api.create(body), await api.create(body)];
  assert.equal(again.json.request_id, first.headers['x-request-id']);
  assert.notEqual(again.headers['x-request-id'], first.headers['x-request-id']);
});

test('a merchant that is created → its account_id is the x-request-id, and so is the object in the audit log', async () => {
  const made = await api.createAccount({});
  const id = made.headers['x-request-id'] as string;
  assert.equal(made.json.account_id, id);
  const [entry] = await fixtures.db.sql`select action from audit_log where object_id = ${id}`;
  assert.equal(entry?.action, 'merchant.created');
});

test('a statement that is slow, and one that fails → lines of ours with the call’s id and the server’s process', async () => {
  let slow: string | undefined;
  await fixtures.owner.begin(async (tx) => {
    await tx`lock table requests in access exclusive mode`;
    const held = api.list();
    await until(async () => {
      const waiting = await fixtures.db.sql`
        select 1 from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and l.waitstart < clock_timestamp() - interval '1.1 s' and a.datname = current_database()
          and a.usename like 'quittance\\_scoped\\_%'`; // the loops wait, too
      return waiting.length > 0;
    }, 'the call to wait for a second');
    void held.then(({ headers }) => {
      slow = headers['x-request-id'] as string;
    });
  });
  const told = () => lines().find((line) => line.msg === 'a statement was slow' && line.x_request_id === slow);
  await until(() => slow !== undefined && told() !== undefined, 'the line about the slow statement');
  assert.equal(typeof told()?.session, 'number');
  assert.match(String(told()?.statement), /^select /);

  await fixtures.owner`revoke select on requests from quittance_app, quittance_service`;
  try {
    const failed = await api.list();
    assert.equal(failed.status, 500);
    const line = () =>
      lines().find(({ x_request_id, err }) => x_request_id === failed.headers['x-request-id'] && err !== undefined);
    await until(() => line() !== undefined, 'the line about the statement that failed');
    const err = line()?.err as Line;
    assert.deepEqual([err.code, typeof err.session], ['42501', 'number']);
    assert.match(String(err.statement), /^select /);
  } finally {
    await fixtures.owner`grant select on requests to quittance_app, quittance_service`;
  }
});

test('a create that the database holds up for longer than a call may take → 503, and its late end is no further fault', async () => {
  const id = await fixtures.owner.begin(async (tx) => {
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`lock table requests in access exclusive mode`;
    const { status, headers } = await api.create(createBody());
    assert.equal(status, 503);
    return headers['x-request-id'] as string;
  });
  const isStored = async () => (await fixtures.db.sql`select from requests where id = ${id}`).length > 0;
  await until(isStored, 'the create to end');
  const itsLines = () => lines().filter((line) => line.x_request_id === id);
  await until(() => itsLines().some(({ msg }) => msg === 'a statement was slow'), 'the line about its statement');
  await api.list();
  const faults = itsLines().filter(({ err }) => err !== undefined);
  assert.deepEqual(
    faults.map(({ msg }) => msg),
    ['unavailable'],
  );
});
