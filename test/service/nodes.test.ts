import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { revokeApiKey } from '../../src/auth/api-keys.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { pause } from '../../src/lib/time.ts';
import { ApiClient, type ApiJson, send } from '../support/api/client.ts';
import { assertExactLimit } from '../support/api/minute-edge.ts';
import { makeKey, makeMerchant, makePartner } from '../support/fixtures.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { makePlan } from '../support/plans.ts';
import { endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
/** Nodes of one database, shared by all tests. */
let nodes: Service[] = [];

before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
  nodes = await Promise.all(Array.from({ length: 3 }, () => startService(fixtures.env)));
});
after(async () => {
  for (const node of nodes) assert.equal((await node.stop()).stderr, '');
  await endAll();
  await fixtures?.drop();
  await chains?.stop();
});

const nodeAt = (index: number): Service => nodes[index % nodes.length] as Service;
const clientAt = (index: number) => new ApiClient(fixtures.db, nodeAt(index).url, fixtures.scope);
const createBody = () => ({ account_id: fixtures.merchant.id, fiat_amount_int: 1250 });

describe('several services on one database', { concurrency: true }, () => {
  test('one key on all nodes, across the boundary of a minute → exactly 60 successes in each minute', async () => {
    const { test: scope } = await makePartner(fixtures.db);
    await assertExactLimit(fixtures.db, await makeKey(fixtures.db, scope), (client) => nodeAt(client).url);
  });

  test('creates on all nodes while a reader follows `since` → no row lost, created_at strictly increasing', async () => {
    const created: string[] = [];
    let creating = true;
    const creator = async (index: number) => {
      const api = clientAt(index);
      for (let i = 0; i < 50; i++) {
        const { status, json } = await api.create(createBody());
        assert.equal(status, 201);
        created.push(json.request_id);
      }
    };
    const reader = async (index: number) => {
      const api = clientAt(index);
      const seen: ApiJson[] = [];
      for (let last = ''; ; ) {
        const finishing = !creating;
        const { json } = await api.list(last ? `?limit=100&since=${last}` : '?limit=100');
        const fresh = json.requests.filter(({ created_at }) => created_at > last);
        assert.ok(fresh.length >= json.requests.length - 1, 'only the row at the cursor comes again');
        seen.push(...fresh);
        last = fresh.at(-1)?.created_at ?? last;
        if (finishing && fresh.length === 0) return seen;
        await pause(10);
      }
    };
    const reading = [reader(0), reader(1)];
    await Promise.all(Array.from({ length: 6 }, (_, index) => creator(index)));
    creating = false;
    for (const seen of await Promise.all(reading)) {
      const times = seen.map(({ created_at }) => created_at);
      assert.ok(times.every((at, i) => i === 0 || at > (times[i - 1] as string)));
      const ids = new Set(seen.map(({ request_id }) => request_id));
      for (const id of created) assert.ok(ids.has(id), `${id} was never seen`);
    }
  });

  test('a node with a new key in front of SECRET_KEYS → works beside those without it, with its own logins', async () => {
    const secrets = `new:${randomBytes(32).toString('base64')},${fixtures.env.SECRET_KEYS}`;
    const node = await startService({ ...fixtures.env, SECRET_KEYS: secrets });
    const logins = await fixtures.owner`
      select distinct usename from pg_stat_activity where datname = current_database() and usename like 'quittance\\_service\\_%'`;
    assert.equal(logins.length, 2);
    const there = new ApiClient(fixtures.db, node.url, fixtures.scope);
    for (const [making, reading] of [
      [there, clientAt(0)],
      [clientAt(1), there],
    ] as const) {
      const { status, json } = await making.create(createBody());
      assert.equal(status, 201);
      assert.equal((await reading.cancel(json.request_id)).status, 200);
    }
    assert.equal((await node.stop()).stderr, '');
  });

  test('a key revoked → refused by every node at the next call', async () => {
    const { partner, test: scope } = await makePartner(fixtures.db);
    const { key, key_id } = await makeKey(fixtures.db, scope);
    const statuses = () =>
      Promise.all(nodes.map(async ({ url }) => (await send(url, 'GET', '/api/v1/requests', { key })).status));
    assert.deepEqual(await statuses(), [200, 200, 200]);
    await revokeApiKey(fixtures.ctx, theService, key_id);
    assert.deepEqual(await statuses(), [401, 401, 401], partner.slug);
  });

  test('a change on one node → every read on another shows it', async () => {
    const apis = nodes.map((_, index) => clientAt(index));
    for (let round = 0; round < 20; round++) {
      const [one, other] = [apis[round % 3], apis[(round + 1) % 3]];
      assert.ok(one && other);
      const { json } = await one.create({ ...createBody(), metadata: { round: String(round) } });
      const read = await other.read(json.request_id);
      assert.deepEqual(read.json.metadata, { round: String(round) });
      const listed = await other.list(`?since=${json.created_at}`);
      assert.ok(listed.json.requests.some(({ request_id }) => request_id === json.request_id));
      assert.equal((await other.cancel(json.request_id)).json.status, 'voided');
      assert.equal((await one.read(json.request_id)).json.status, 'voided');
    }
  });

  test('plans that are due on all nodes → one request for each, made by their loops', async () => {
    const { test: scope } = await makePartner(fixtures.db);
    const merchant = await makeMerchant(fixtures.db, scope);
    const firstOn = new Date().toISOString().slice(0, 10);
    const plans = 40;
    for (let i = 0; i < plans; i++) await makePlan(fixtures.ctx, scope, merchant, { firstOn, maxCharges: 1 });
    const { sql } = fixtures.db;
    const open = () => sql`select from plans where account_id = ${merchant.id} and state <> 'ended'`;
    await until(async () => (await open()).length === 0, 'all charges');
    const requests = await sql`select memo from requests where account_id = ${merchant.id}`;
    const charges = await sql`select number from plan_charges where partner_id = ${scope.partnerId}`;
    assert.deepEqual([requests.length, charges.length], [plans, plans]);
  });

  test('the leader of a chain is killed or suspended → another one takes over, and payments continue', async () => {
    const own = await nodeFixtures(chains);
    const started = await Promise.all(Array.from({ length: 3 }, () => startService({ ...own.env, LOG_LEVEL: 'info' })));
    const fence = async () => {
      const [lease] = await own.db.sql`select fence from leases where name = 'chain-31337'`;
      return Number(lease?.fence);
    };
    const payAndVerify = async () => {
      const request = await own.request();
      await own.pay(request);
      await chains.test.mine(3);
      const rows = () => own.db.sql`select from requests where id = ${request.id} and proof_status = 'verified'`;
      await until(async () => (await rows()).length === 1, 'a payment to be verified');
    };
    const leaderAmong = async (candidates: Service[], what: string): Promise<Service> => {
      let leader: Service | undefined;
      const look = async () => {
        const last = await fence();
        leader = candidates.find((node) => fencesOf(node).includes(last));
        return leader !== undefined;
      };
      await until(look, what);
      return leader as Service;
    };
    const first = await leaderAmong(started, 'a first leader');
    await payAndVerify();
    const before = await fence();

    await first.stop('SIGKILL');
    const others = started.filter((node) => node !== first);
    const second = await leaderAmong(others, 'another leader');
    assert.ok((await fence()) > before);
    await payAndVerify();

    signalProcess(second.pid, 'SIGSTOP');
    const third = await leaderAmong(
      others.filter((node) => node !== second),
      'a third leader',
    );
    signalProcess(second.pid, 'SIGCONT');
    await payAndVerify();
    await payAndVerify();
    const fences = started.flatMap(fencesOf);
    assert.equal(new Set(fences).size, fences.length, 'one leader at a time');
    for (const node of [second, third]) assert.equal((await node.stop()).code, 0);
    await own.drop();
  });
});

/** Each time that a node has led the chain. On a busy machine a leader may lose it without being stopped. */
const fencesOf = (node: Service): number[] =>
  [...node.stdout().matchAll(/"chain":31337,"fence":(\d+).*"leading the chain"/g)].map(([, fence]) => Number(fence));
