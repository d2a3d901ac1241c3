import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { list } from '../../src/db/sql.ts';
import { freePort } from '../../src/lib/ports.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { pause } from '../../src/lib/time.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { type NodeFixtures, nodeFixtures, twoChains } from '../support/nodes.ts';
import { randomFrom } from '../support/random.ts';
import { crashService, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

after(endAll);

const rounds = 20;
const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));

/** Pays one request after another until stopped. Every fifth stays unpaid, and another gets a partial payment. */
function keepPaying(fixtures: NodeFixtures) {
  const paid: RequestRow[] = [];
  const unpaid: RequestRow[] = [];
  let going = true;
  const working = (async () => {
    while (going) {
      const request = await fixtures.request();
      const turn = (paid.length + unpaid.length) % 5;
      if (turn === 4) await fixtures.pay({ ...request, usdc_micro: '1000' });
      (turn >= 3 ? unpaid : paid).push(request);
      if (turn < 3) await fixtures.pay(request);
      await pause(50); // each payment's block confirms the previous one
    }
  })();
  return {
    paid,
    unpaid,
    stop: () => {
      going = false;
      return working;
    },
  };
}

type Moment = (service: Service, fixtures: NodeFixtures, receiver: Receiver) => Promise<unknown>;

/** Some moments are short. If one is missed, the kill comes at an arbitrary time. */
const momentLimitMs = 3000;

async function rowsAppear(
  fixtures: NodeFixtures,
  look: (at: NodeFixtures) => Promise<readonly unknown[]>,
): Promise<void> {
  const deadline = performance.now() + momentLimitMs;
  while ((await look(fixtures)).length === 0 && performance.now() < deadline) await pause(2);
}

/** When the service is killed: between any two steps that can be seen from outside, and at arbitrary times. */
const moments: Record<string, Moment> = {
  'any time': async () => {},
  'a transfer was found': (_service, fixtures) =>
    rowsAppear(fixtures, ({ db }) => db.sql`select from transfers where judged_at is null`),
  'a request is attached': (_service, fixtures) =>
    rowsAppear(fixtures, ({ db }) => db.sql`select from requests where proof_status = 'attached'`),
  'an event is under lease': (_service, fixtures) =>
    rowsAppear(fixtures, ({ db }) => db.sql`select from webhook_deliveries where lease is not null`),
  'an event arrived, not answered': (service, _fixtures, receiver) =>
    new Promise<void>((resolve) => {
      receiver.behave((response) => {
        signalProcess(service.pid, 'SIGKILL');
        receiver.behave(answer);
        answer(response);
        resolve();
      });
    }),
  'an event was answered': (_service, _fixtures, receiver) =>
    new Promise<void>((resolve) => {
      receiver.behave(async (response) => {
        receiver.behave(answer);
        answer(response);
        await once(response, 'close');
        resolve();
      });
    }),
};

let answers = 0;
const answer = (response: ServerResponse) => void response.writeHead(++answers % 7 === 0 ? 500 : 200).end();

/** Releases the leases of a dead process, in place of the seconds that would otherwise pass before the next start. */
async function forgetLeases({ db }: NodeFixtures): Promise<void> {
  await db.sql`update leases set held_until = now()`;
  await db.sql`update webhook_deliveries set lease_until = now() where lease_until > now()`;
}

async function assertSettled(fixtures: NodeFixtures, receiver: Receiver, paid: RequestRow[], unpaid: RequestRow[]) {
  const { sql } = fixtures.db;
  const ids = paid.map(({ id }) => id);
  const verified = await sql`select id from requests where proof_status = 'verified' order by id`;
  assert.deepEqual(
    verified.map(({ id }) => id),
    ids.toSorted(),
  );
  const events = await sql`select id, request_id, body, state from webhook_deliveries order by request_id`;
  assert.deepEqual(
    events.map((event) => event.request_id),
    ids.toSorted(),
    'one event for each, none for others',
  );

  const bodies = Map.groupBy(receiver.received, (post) => JSON.parse(post.body).request_id as string);
  for (const event of events) {
    assert.equal(event.state, 'delivered');
    const posts = bodies.get(event.request_id) ?? [];
    assert.ok(posts.length > 0, `the event of ${event.request_id} never arrived`);
    for (const post of posts) {
      assert.equal(post.body, event.body);
      assert.equal(post.delivery, event.id);
      assert.equal(post.headers['webhook-id'], event.id);
    }
    assert.equal(JSON.parse(event.body).delivery_id, event.id);
  }
  assert.equal(bodies.size, events.length);
  for (const { id } of unpaid) assert.equal(bodies.has(id), false);
}

/** The first service sets the cursors, so that payments come after them. */
async function start(fixtures: NodeFixtures, env: Record<string, string>) {
  const first = await startService(env);
  const paying = keepPaying(fixtures);
  await first.stop('SIGKILL');
  return paying;
}

async function crash(fixtures: NodeFixtures, receiver: Receiver, env: Record<string, string>, random: () => number) {
  const names = Object.keys(moments);
  for (let round = 0; round < rounds; round++) {
    await forgetLeases(fixtures);
    const name = names[round % (names.length + 1)];
    if (name === undefined) {
      await crashService({ ...env, PORT: String(await freePort()) }, 200 + random() * 1500); // while it starts
      continue;
    }
    const service = await startService(env);
    await Promise.race([moments[name]?.(service, fixtures, receiver), pause(momentLimitMs)]);
    receiver.behave(answer);
    await pause(random() * (name === 'any time' ? 1200 : 30));
    assert.equal((await service.stop('SIGKILL')).signal, 'SIGKILL', `${name}: ${service.stdout()}`);
  }
}

async function allDelivered({ db }: NodeFixtures, paid: RequestRow[]): Promise<void> {
  const ids = paid.map(({ id }) => id);
  const open = () => db.sql`
    select id from requests r where id in ${list(ids)} and not exists (
      select from webhook_deliveries d where d.request_id = r.id and d.state = 'delivered')`;
  await until(async () => (await open()).length === 0, 'all events to be delivered');
}

test(`SIGKILL between any two steps of verify and deliver, ${rounds} times → each paid request verified, told once`, async (t) => {
  t.diagnostic(`CRASH_SEED=${seed}`);
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  const receiver = await startReceiver({ behave: answer });
  await setUrl(fixtures.ctx, theService, fixtures.scope, receiver.url);
  const env = {
    ...fixtures.env,
    WEBHOOK_SCHEDULE_SECONDS: Array(50).fill('0.2').fill('0', 0, 1).join(),
    LOG_LEVEL: 'error',
  };
  const paying = await start(fixtures, env);
  try {
    await crash(fixtures, receiver, env, randomFrom(seed));
    await forgetLeases(fixtures);
    const last = await startService(env);
    await paying.stop();
    await chains.test.mine(3);
    await allDelivered(fixtures, paying.paid);
    await assertSettled(fixtures, receiver, paying.paid, paying.unpaid);
    const repeated = receiver.received.length - paying.paid.length;
    t.diagnostic(`${paying.paid.length} paid, ${paying.unpaid.length} not, ${repeated} events arrived again`);
    assert.equal((await last.stop()).code, 0);
  } finally {
    await paying.stop();
    await endAll();
    await receiver.close();
    await fixtures.drop();
    await chains.stop();
  }
});
