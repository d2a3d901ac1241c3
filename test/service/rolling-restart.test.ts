import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { freePort } from '../../src/lib/ports.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { type Answer, ApiClient, send } from '../support/api/client.ts';
import { startBalancer } from '../support/net/haproxy.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
});
after(async () => {
  await endAll();
  await fixtures?.drop();
  await chains?.stop();
});

/** @param drainSeconds how long a node that stops still answers: a busy machine must notice it meanwhile */
const startNode = (port: number, drainSeconds = 3) =>
  startService({ ...fixtures.env, PORT: String(port), DRAIN_SECONDS: String(drainSeconds) });
const statusOf = (url: string, path: string) => send(url, 'GET', path).then(({ status }) => status);

test('nodes behind a load balancer, stopped and started one after the other under load → every create is answered, and made once', async (t) => {
  const ports = [await freePort(), await freePort()];
  const nodes = await Promise.all(ports.map((port) => startNode(port)));
  const balancer = await startBalancer(ports);
  try {
    const answers: Answer[] = [];
    let creating = true;
    const creator = async () => {
      const api = new ApiClient(fixtures.db, balancer.url, fixtures.scope);
      while (creating) {
        const body = { account_id: fixtures.merchant.id, fiat_amount_int: 1250, idempotency_key: randomUUID() };
        answers.push(await api.create(body));
      }
    };
    const creators = Promise.all(Array.from({ length: 4 }, creator));
    for (const [index, port] of ports.entries()) {
      await untilCreated(answers, 50);
      const ended = await (nodes[index] as Service).stop();
      assert.deepEqual([ended.code, ended.stderr], [0, '']);
      await untilCreated(answers, 50);
      nodes[index] = await startNode(port);
      await until(async () => (await statusOf(nodes[index]?.url ?? '', '/readyz')) === 200, 'the node to be ready');
    }
    await untilCreated(answers, 50);
    creating = false;
    await creators;

    t.diagnostic(`${answers.length} creates`);
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
    const [stored] = await fixtures.db.sql`
      select count(*)::int as rows, count(distinct idempotency_key)::int as keys from requests
      where account_id = ${fixtures.merchant.id}`;
    assert.deepEqual({ ...stored }, { rows: answers.length, keys: answers.length });
  } finally {
    await balancer.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  }
});

const untilCreated = (answers: Answer[], more: number) => {
  const goal = answers.length + more;
  return until(() => answers.length >= goal, `${more} more creates`);
};

test('a node is told to stop → not ready at once, still answering, and each answer closes its connection', async () => {
  const node = await startNode(await freePort(), 10);
  const port = Number(new URL(node.url).port);
  const kept = connect(port, '127.0.0.1').setEncoding('utf8');
  await once(kept, 'connect');
  const ask = async (path: string) => {
    kept.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const [text] = (await once(kept, 'data')) as [string];
    return text.toLowerCase();
  };
  assert.match(await ask('/readyz'), /^http\/1\.1 200 [\s\S]*connection: keep-alive/);
  signalProcess(node.pid, 'SIGTERM');
  await until(async () => (await statusOf(node.url, '/readyz')) === 503, 'the node to say that it stops');
  const closed = once(kept, 'close');
  assert.match(await ask('/healthz'), /^http\/1\.1 200 [\s\S]*connection: close/);
  await closed;
  assert.deepEqual((await node.ended).code, 0);
});
