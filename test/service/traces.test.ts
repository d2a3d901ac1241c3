import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { ApiClient, send } from '../support/api/client.ts';
import { sendAll, several } from '../support/api/concurrent-creates.ts';
import { makeKey, setRate } from '../support/fixtures.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

type Value = { stringValue?: string; intValue?: number };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status?: { code?: number };
  attributes: { key: string; value: Value }[];
};
type Body = { resourceSpans: { resource: Span; scopeSpans: { spans: Span[] }[] }[] };

/** A collector that takes OTLP over HTTP, as JSON; or takes everything in and never answers, or never ends its answer. */
async function startCollector() {
  const posts: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  const held = new Set<ServerResponse>();
  const dripping = new Set<ServerResponse>();
  let manner: 'answers' | 'hangs' | 'drips' = 'answers';
  const drip = (response: ServerResponse) => {
    dripping.add(response.writeHead(200, { 'content-type': 'application/json' }));
    const timer = setInterval(() => response.write(' '), 100);
    response.once('close', () => {
      clearInterval(timer);
      dripping.delete(response);
    });
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    posts.push({ path: request.url ?? '', headers: request.headers, text: Buffer.concat(chunks).toString('utf8') });
    if (manner === 'hangs') held.add(response);
    else if (manner === 'drips') drip(response);
    else response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    held,
    dripping,
    behave: (as: typeof manner) => {
      manner = as;
    },
    spans: (): Span[] =>
      posts
        .flatMap(({ text }) => (JSON.parse(text) as Body).resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const canaries = {
  name: 'Canary Customer',
  email: 'canary@customer.example',
  metadata: 'canary-in-metadata',
  path: 'canary-in-webhook-path',
  rpcUser: 'canary-user-of-rpc',
  rpcSecret: 'canary-secret-of-rpc',
  header: 'canary-in-otlp-header',
};

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
let receiver: Receiver;
let collector: Awaited<ReturnType<typeof startCollector>>;
let service: Service;
let api: ApiClient;
let env: Record<string, string>;
before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
  receiver = await startReceiver();
  collector = await startCollector();
  await setUrl(fixtures.ctx, theService, fixtures.scope, `${receiver.url}/${canaries.path}`);
  const chainsFile = join(dataFolder(), 'chains.json');
  const told = readFileSync(fixtures.env.CHAINS_FILE, 'utf8');
  const secret = `http://${canaries.rpcUser}:${canaries.rpcSecret}@`;
  writeFileSync(chainsFile, told.replaceAll('http://', secret));
  env = {
    ...fixtures.env,
    CHAINS_FILE: chainsFile,
    TRUST_PROXY: '127.0.0.0/8',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-token=${canaries.header}`,
    OTEL_SERVICE_NAME: 'tills',
  };
  service = await startService(env);
  api = new ApiClient(fixtures.db, service.url, fixtures.scope);
});
after(async () => {
  await endAll();
  collector?.close();
  await receiver?.close();
  await fixtures?.drop();
  await chains?.stop();
});

const attributeOf = ({ attributes }: Span, name: string): string | number | undefined => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
};
const [server, client] = [2, 3];
const failed = 2;
/** The root of the tree that a span is in. */
function rootOf(span: Span): Span {
  const parent = collector.spans().find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? rootOf(parent) : span;
}
async function spanOf(what: string, isIt: (span: Span) => boolean): Promise<Span> {
  await until(() => collector.spans().some(isIt), `the span ${what}`);
  return collector.spans().find(isIt) as Span;
}

test('a create that is paid and delivered → one tree for the call with its statements, and for verifying and delivering', async () => {
  const { key } = await makeKey(fixtures.db, fixtures.scope);
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const created = await api.create(
    {
      account_id: fixtures.merchant.id,
      fiat_amount_int: 1250,
      customer_name: canaries.name,
      customer_email: canaries.email,
      metadata: { order: canaries.metadata },
    },
    { key, headers: { traceparent: `00-${traceId}-${spanId}-01` } },
  );
  const id = created.json.request_id;
  const [row] = await fixtures.db.sql`select wallet_address, usdc_micro, reference from requests where id = ${id}`;
  await fixtures.pay(row as Parameters<NodeFixtures['pay']>[0]);
  await chains.test.mine(2);
  await until(() => receiver.received.length > 0, 'the event');

  const call = await spanOf('of the call', (span) => attributeOf(span, 'quittance.x_request_id') === id);
  assert.deepEqual(
    [call.name, call.kind, call.traceId, call.parentSpanId],
    ['POST /api/v1/requests/create', server, traceId, spanId],
  );
  assert.equal(Number(attributeOf(call, 'http.response.status_code')), 201);
  const statements = collector.spans().filter(({ parentSpanId }) => parentSpanId === call.spanId);
  assert.ok(statements.length >= 2, 'the gate and the write');
  for (const statement of statements) {
    assert.equal(attributeOf(statement, 'db.system.name'), 'postgresql');
    assert.deepEqual([statement.kind, statement.traceId], [client, traceId]);
    assert.match(statement.name, /^[a-z]+ [^'$]+$/);
  }

  const delivered = await spanOf('of the delivery', (span) => attributeOf(span, 'quittance.request_id') === id);
  assert.deepEqual(
    [delivered.name, attributeOf(delivered, 'quittance.state'), attributeOf(delivered, 'quittance.delivery_id')],
    ['deliver webhook', 'delivered', receiver.received[0]?.delivery],
  );
  const rpc = await spanOf('of an RPC call', ({ name }) => name === 'eth_getBlockByNumber');
  assert.equal(Number(attributeOf(rpc, 'quittance.chain_id')) > 0, true);
  await until(() => rootOf(rpc).name.startsWith('loop: '), 'the loop that it is of, which ends later');
  await spanOf('of verifying', (span) => span.name.startsWith('loop: verify payments on '));

  const sent = collector.posts.map(({ text }) => text).join('');
  for (const secret of [...Object.values(canaries), key]) assert.ok(!sent.includes(secret), secret);
  const [post] = collector.posts;
  assert.deepEqual([post?.path, post?.headers['x-token']], ['/v1/traces', canaries.header]);
  assert.match(post?.text ?? '', /"service\.name","value":\{"stringValue":"tills"\}/);
  for (const { headers } of receiver.received) assert.equal(headers.traceparent, undefined);
});

test('creates that are stored together → each has its own trace, which says how long storing took', async () => {
  await setRate(fixtures.db, 'USD', '1');
  const node = { db: fixtures.db, url: service.url };
  const all = await several(node, 4);
  const answers = await Promise.all(
    sendAll(
      node,
      all.map((one) => [one]),
    ),
  );
  const stores: Span[] = [];
  for (const { id, status } of answers) {
    assert.equal(status, 201);
    const call = await spanOf('of the call', (span) => attributeOf(span, 'quittance.x_request_id') === id);
    const isOfCall = ({ name, parentSpanId, traceId }: Span) =>
      name === 'store a request' && parentSpanId === call.spanId && traceId === call.traceId;
    stores.push(await spanOf('of storing', isOfCall));
    assert.equal(collector.spans().filter(isOfCall).length, 1);
  }
  const own = collector.spans().filter(({ parentSpanId }) => stores.some(({ spanId }) => spanId === parentSpanId));
  assert.equal(own.length, 1, 'of the one that went alone');
  const group = await spanOf('of the group', ({ name }) => name === 'store requests together');
  assert.ok(!group.parentSpanId, 'it is part of no call: a trace of its own');
  assert.ok(Number(attributeOf(group, 'quittance.requests')) > 1);
  await spanOf('of its statement', ({ parentSpanId }) => parentSpanId === group.spanId);
});

test('a statement that fails → its span and the call’s are marked, with the SQLSTATE and no message', async () => {
  await fixtures.owner`revoke select on requests from quittance_app, quittance_service`;
  try {
    const answer = await api.list();
    assert.equal(answer.status, 500);
    const id = answer.headers['x-request-id'];
    const call = await spanOf('of the call', (span) => attributeOf(span, 'quittance.x_request_id') === id);
    assert.equal(call.status?.code, failed);
    // The loops' statements fail as well.
    const isItsOwn = (span: Span) => span.traceId === call.traceId && attributeOf(span, 'error.type') === '42501';
    const statement = await spanOf('of the statement', isItsOwn);
    assert.equal(rootOf(statement).spanId, call.spanId);
  } finally {
    await fixtures.owner`grant select on requests to quittance_app, quittance_service`;
  }
});

test('a collector that never ends its answers → its connections are closed, and later spans arrive', async () => {
  collector.behave('drips');
  const knock = () => send(service.url, 'GET', '/healthz');
  await until(async () => {
    await knock();
    return collector.dripping.size > 0;
  }, 'the collector to drip');
  const [first] = collector.dripping;
  await until(() => first?.destroyed, 'the connection to be closed');
  collector.behave('answers');
  const before = collector.posts.length;
  await until(async () => {
    await knock();
    return collector.posts.length > before && collector.dripping.size === 0;
  }, 'spans to be sent again');
});

test('a collector that hangs → calls are answered as ever, and the process ends', async () => {
  collector.behave('hangs');
  await until(async () => {
    await send(service.url, 'GET', '/healthz');
    return collector.held.size > 0;
  }, 'the collector to hold spans');
  for (let i = 0; i < 20; i++) assert.equal((await api.list()).status, 200);
  const reason = () => /"reason":"(.+?)","msg":"traces could not be sent"/.exec(service.stdout())?.[1];
  await until(() => reason() !== undefined, 'the line about the collector');
  assert.match(reason() as string, /timed out/);
  const { code, stderr } = await service.stop();
  assert.deepEqual([code, stderr], [0, '']);
  assert.ok(collector.held.size > 0, 'nothing was answered meanwhile');
});

test('a collector that is not there → one line says so, and calls are answered', async () => {
  collector.close();
  const other = await startService({ ...env, LOG_LEVEL: 'warn' });
  const calls = new ApiClient(fixtures.db, other.url, fixtures.scope);
  const told = () =>
    other
      .stdout()
      .split('\n')
      .filter((line) => line.includes('traces could not be sent'));
  await until(async () => (await calls.list()).status === 200 && told().length > 0, 'the line');
  const { code } = await other.stop();
  assert.equal(code, 0);
  assert.equal(told().length, 1);
});
