import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freePort } from '../../src/lib/ports.ts';
import { send } from '../support/api/client.ts';
import { openOne } from '../support/database.ts';
import { makeKey, makeMerchant, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

let chains: Awaited<ReturnType<typeof twoChains>>;
let fixtures: NodeFixtures;
let service: Service;
let metricsPort: number;

before(async () => {
  chains = await twoChains();
  fixtures = await nodeFixtures(chains);
  await setRate(fixtures.db, 'EUR', '0.92');
  metricsPort = await freePort();
  service = await startService({ ...fixtures.env, METRICS_PORT: String(metricsPort) });
});
after(async () => {
  await service?.stop();
  await endAll();
  await fixtures?.drop();
  await chains?.stop();
});

/** How many connections of the service wait for a lock on this table. */
async function waitingFor(table: string): Promise<number> {
  const [row] = await fixtures.db.sql<{ waiting: number }[]>`
    select count(*)::int as waiting from pg_locks where not granted and relation = ${table}::regclass
      and database = (select oid from pg_database where datname = current_database())`;
  return row?.waiting ?? 0;
}

test('Pages of two partners that hold all connections they may have › calls of the API are answered all the same', async () => {
  const { key } = await makeKey(fixtures.db, fixtures.scope);
  const request = await fixtures.request();
  // Two partners leave two connections of five to others.
  const { test: other } = await makePartner(fixtures.db);
  const theirs = await makeRequest(fixtures.db, other, await makeMerchant(fixtures.db, other));
  const locked = openOne(fixtures.env.DATABASE_URL);
  await locked`begin`;
  await locked`lock table payment_hints, mails, plans, webhook_deliveries in access exclusive mode`;
  const visits = Array.from({ length: 20 }, (_, i) =>
    send(service.url, 'GET', `/pay/${(i % 2 ? request : theirs).id}`),
  );
  try {
    await until(async () => (await waitingFor('payment_hints')) >= 3, 'pages to hold all their connections');
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, call) => {
        const read = await send(service.url, 'GET', `/api/v1/requests/${request.id}`, { key });
        const body = { account_id: fixtures.merchant.id, fiat_amount_int: 1250 + call };
        const made = await send(service.url, 'POST', '/api/v1/requests/create', { key, body });
        return [read.status, made.status];
      }),
    );
    assert.deepEqual(answers, Array(10).fill([200, 201]));
    assert.equal(await waitingFor('payment_hints'), 3, 'all that pages of two partners may have');
  } finally {
    await locked`rollback`;
    await locked.end();
    await Promise.allSettled(visits);
  }
});

test('METRICS_PORT › a running service answers operators there', async () => {
  const figures = await send(`http://127.0.0.1:${metricsPort}`, 'GET', '/metrics');
  assert.match(figures.text, /^quittance_chain_lag_blocks\{chain_id="31337"\} \d+$/m);
  assert.match(figures.text, /^quittance_chain_block_age_seconds\{chain_id="31337"\} -?[\d.e-]+$/m);
  assert.equal((await send(service.url, 'GET', '/metrics')).status, 404);
});
