import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { leaseName } from '../../src/chain/reader/watcher.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { type Answer, ApiClient, send } from '../support/api/client.ts';
import { assertExactLimit } from '../support/api/minute-edge.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';
import { startBalancer } from '../support/net/haproxy.ts';
import { findPgbouncer, type Pooler, startPooler } from '../support/net/pgbouncer.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** A dead leader's lease has run out after this time; then the next node to look leads. */
const leaseLimitMs = 5_000;
const nodeCount = 3;

let chains: Awaited<ReturnType<typeof twoChains>>;
before(async () => {
  chains = await twoChains();
});
after(async () => {
  await endAll();
  await chains?.stop();
});

const pooled = (fixtures: NodeFixtures, pooler: Pooler) => ({
  DATABASE_URL: pooler.url,
  DATABASE_OWNER_URL: fixtures.env.DATABASE_URL,
  DATABASE_POOL_MODE: 'transaction',
});
const leads = (node: Service) => /"chain":31337,.*"leading the chain"/.test(node.stdout());

describe('three nodes behind haproxy', { concurrency: true }, () => {
  const inTurn = { concurrency: false };
  const noPooler = !findPgbouncer() && 'pgbouncer is not installed';
  describe('on one PostgreSQL', inTurn, () => suite(false));
  describe('on one PostgreSQL through pgbouncer in transaction mode', { ...inTurn, skip: noPooler }, () => suite(true));
});

function suite(isPooled: boolean): void {
  let fixtures: NodeFixtures;
  let pooler: Pooler | undefined;
  let receiver: Receiver;
  let nodes: Service[] = [];
  let balancer: Awaited<ReturnType<typeof startBalancer>>;
  before(async () => {
    fixtures = await nodeFixtures(chains);
    if (isPooled) pooler = await startPooler(fixtures.owner, fixtures.env.DATABASE_URL);
    receiver = await startReceiver();
    await setUrl(fixtures.ctx, theService, fixtures.scope, receiver.url);
    const env = { ...fixtures.env, ...(pooler && pooled(fixtures, pooler)), LOG_LEVEL: 'info' };
    for (let count = 0; count < nodeCount; count++) nodes.push(await startService(env));
    balancer = await startBalancer(nodes.map(({ url }) => Number(new URL(url).port)));
  });
  after(async () => {
    await balancer?.stop();
    for (const node of nodes) assert.equal((await node.stop()).stderr, '');
    await receiver?.close();
    await pooler?.stop();
    await fixtures?.drop();
  });

  test('one key across the boundary of a minute → exactly 60 successes in each minute', async () => {
    const { test: scope } = await makePartner(fixtures.db);
    await assertExactLimit(fixtures.db, await makeKey(fixtures.db, scope), () => balancer.url);
  });

  test('200 creates with one idempotency key at once, over several API keys → one request', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => makeKey(fixtures.db, fixtures.scope)));
    const body = { account_id: fixtures.merchant.id, fiat_amount_int: 1250, idempotency_key: randomUUID() };
    /** Retries calls that a node or the balancer has no time for, as the documentation tells partners to. */
    const create = async ({ key } = { key: '' }): Promise<Answer> => {
      let answer: Answer | undefined;
      const isServed = async () => {
        answer = await send(balancer.url, 'POST', '/api/v1/requests/create', { body, key });
        return answer.status !== 503;
      };
      await until(isServed, 'an answer');
      return answer as Answer;
    };
    const answers = await Promise.all(Array.from({ length: 200 }, (_, at) => create(made[at % made.length])));
    const statuses = Object.groupBy(answers, ({ status }) => status);
    assert.deepEqual([statuses[201]?.length, statuses[200]?.length], [1, 199]);
    assert.equal(new Set(answers.map(({ json }) => json.request_id)).size, 1);
    const { sql } = fixtures.db;
    assert.equal((await sql`select from requests where idempotency_key = ${body.idempotency_key}`).length, 1);
  });

  test('payments while the leader of the chain is killed → its lease runs out within 5 s, another leads, and each payment has one event', async (t) => {
    const leader = await theLeader(nodes);
    const others = nodes.filter((node) => node !== leader);
    const requests = await Promise.all(Array.from({ length: 10 }, () => fixtures.request()));
    const pay = async (some: typeof requests) => {
      for (const request of some) await fixtures.pay(request);
      await chains.test.mine(3);
    };
    await pay(requests.slice(0, 5));
    const killed = leader.stop('SIGKILL');
    const killedAt = performance.now();
    const [lease] = await fixtures.db.sql<{ leftMs: number }[]>`
      select extract(epoch from held_until - now())::float8 * 1000 as "leftMs" from leases
      where name = ${leaseName(chains.test.chain)}`;
    assert.ok(lease && lease.leftMs < leaseLimitMs, `${lease?.leftMs} ms are left`);
    await until(() => others.some(leads), 'another leader');
    t.diagnostic(`another node led ${Math.round(performance.now() - killedAt)} ms after the kill`);
    await killed;
    nodes = others;
    await pay(requests.slice(5));

    const eventOf = ({ body }: { body: string }) => JSON.parse(body) as { request_id: string };
    const told = () => new Set(receiver.received.map((post) => eventOf(post).request_id));
    const all = new Set(requests.map(({ id }) => id));
    await until(() => all.isSubsetOf(told()), 'an event of each payment');
    const bodies = Map.groupBy(receiver.received, (post) => eventOf(post).request_id);
    for (const posts of bodies.values()) {
      assert.equal(new Set(posts.map(({ delivery, body }) => `${delivery} ${body}`)).size, 1);
    }
    const stored = await fixtures.db.sql`
      select request_id from webhook_deliveries where partner_id = ${fixtures.scope.partnerId}`;
    assert.deepEqual(stored.map(({ request_id }) => request_id).sort(), [...all].sort());

    const api = new ApiClient(fixtures.db, balancer.url, fixtures.scope);
    for (const { id } of requests) assert.equal((await api.read(id)).json.proof_status, 'verified');
  });
}

async function theLeader(nodes: Service[]): Promise<Service> {
  await until(() => nodes.some(leads), 'a leader');
  return nodes.find(leads) as Service;
}
