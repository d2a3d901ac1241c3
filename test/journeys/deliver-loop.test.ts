import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, before, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { type Change, listenForChanges } from '../../src/db/changes.ts';
import type { Scope } from '../../src/db/connection.ts';
import { list } from '../../src/db/sql.ts';
import { createDeliveryDeps, startDelivering } from '../../src/webhooks/deliver.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { replayAllSince, replayDelivery, replaySince } from '../../src/webhooks/replay.ts';
import { firstWindow, leaseMs, maxUnproven, maxWindow } from '../../src/webhooks/rules.ts';
import { Scheduler } from '../../src/webhooks/scheduler.ts';
import { testDatabase } from '../support/database.ts';
import { deliverDue } from '../support/deliver-due.ts';
import { attemptRows, deliveryContext, deliveryRow, endpointRow, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { behaviours, type Receiver, startReceiver } from '../support/net/receiver.ts';
import { until } from '../support/until.ts';

/** A receiver that hangs does so for as long as it can, so that a busy machine does all else meanwhile. */
const hangMs = leaseMs - 4_000;

describe('the delivery loop', () => {
  let fixtures: Awaited<ReturnType<typeof testDatabase>>;
  let made: ReturnType<typeof deliveryContext>;
  const receivers: Receiver[] = [];

  before(async () => {
    fixtures = await testDatabase();
    made = deliveryContext(fixtures.db);
  });
  after(async () => {
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await fixtures.drop();
  });

  // Events that one test leaves waiting must not reach the next test.
  afterEach(() => fixtures.db.sql`update webhook_endpoints set disabled_at = now()`);

  async function partnerWithReceiver(options: Parameters<typeof startReceiver>[0] = {}) {
    const receiver = await startReceiver(options);
    receivers.push(receiver);
    const { test: scope } = await makePartner(fixtures.db);
    await setUrl(made.ctx, theService, scope, receiver.url);
    return { receiver, scope };
  }

  /** Runs this many loops, as several processes would, until the work is done. */
  async function delivering(loops: number, work: () => Promise<void>) {
    const stop = new AbortController();
    const running = Array.from({ length: loops }, () =>
      startDelivering(made.ctx, stop.signal, createDeliveryDeps(made.ctx, { timeoutMs: hangMs })),
    );
    try {
      await work();
    } finally {
      stop.abort();
      await Promise.all(running);
    }
  }
  const waitingOf = async (scope: Scope) => {
    const [row] = await fixtures.db.sql`select count(*)::int as n from webhook_deliveries
      where partner_id = ${scope.partnerId} and state = 'waiting'`;
    return row?.n as number;
  };

  test('receivers that hang, reset or fail never delay another partner’s deliveries', async () => {
    const hanging = await partnerWithReceiver({ behave: behaviours.hang });
    const resetting = await partnerWithReceiver({ behave: behaviours.reset });
    await makeEvents(fixtures.db, hanging.scope, 100);
    await makeEvents(fixtures.db, resetting.scope, 50);
    const { receiver, scope } = await partnerWithReceiver();
    await delivering(1, async () => {
      await until(() => hanging.receiver.open() === firstWindow, 'the hanging receiver has all the attempts it gets');
      await makeEvents(fixtures.db, scope, 40);
      await until(() => receiver.received.length === 40, 'the other partner’s events arrive');
      assert.ok(hanging.receiver.open() > 0, 'while the hanging receiver still hangs');
    });
    assert.equal(hanging.receiver.maxOpen(), firstWindow);
    assert.equal(await waitingOf(scope), 0);
  });

  test('forty partners whose receivers hang → another partner’s events arrive meanwhile, its first one too', async () => {
    const hanging = await partnerWithReceiver({ behave: behaviours.hang });
    const others = await Promise.all(Array.from({ length: 39 }, () => makePartner(fixtures.db)));
    for (const { test: other } of others) await setUrl(made.ctx, theService, other, hanging.receiver.url);
    for (const other of [hanging.scope, ...others.map((partner) => partner.test)])
      await makeEvents(fixtures.db, other, firstWindow);
    const { receiver, scope } = await partnerWithReceiver();
    await delivering(1, async () => {
      await until(() => hanging.receiver.open() >= maxUnproven, 'those that hang have all that they get');
      await makeEvents(fixtures.db, scope, 40);
      await until(() => receiver.received.length === 40, 'the other partner’s events arrive');
      assert.ok(hanging.receiver.open() >= maxUnproven, 'while the others hang');
    });
    assert.equal(await waitingOf(scope), 0);
  });

  test('an endpoint that answered and then hangs → deliveries claimed ahead for it are free for other processes', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    await makeEvents(fixtures.db, scope, 60);
    const later = await makeEvents(fixtures.db, scope, 150);
    await fixtures.db.sql`update webhook_deliveries set next_attempt_at = 'infinity' where id in ${list(later)}`;
    const leased = async () => {
      const [row] = await fixtures.db.sql`
        select count(*)::int as n from webhook_deliveries where partner_id = ${scope.partnerId} and lease_until > now()`;
      return row?.n as number;
    };
    await delivering(1, async () => {
      await until(async () => (await waitingOf(scope)) === 150, 'it has answered, so it may have many at once');
      receiver.behave(behaviours.hang);
      await fixtures.db.sql`update webhook_deliveries set next_attempt_at = now() where id in ${list(later)}`;
      await fixtures.db.sql`select pg_notify('changes', 'deliveries')`;
      await until(() => receiver.open() === maxWindow, 'it holds all that it gets');
      await until(async () => (await leased()) === maxWindow, 'no more than that is leased');
    });
  });

  test('the URL changes while events are claimed ahead → only attempts under way go to the earlier one', async () => {
    const { receiver: earlier, scope } = await partnerWithReceiver();
    await makeEvents(fixtures.db, scope, 60);
    const later = await makeEvents(fixtures.db, scope, 150);
    await fixtures.db.sql`update webhook_deliveries set next_attempt_at = 'infinity' where id in ${list(later)}`;
    const { receiver: current } = await partnerWithReceiver();
    const held: ServerResponse[] = [];
    const leases = () => fixtures.db.sql<{ id: string; lease: string }[]>`
      select id, lease from webhook_deliveries where partner_id = ${scope.partnerId} and lease is not null`;
    const stop = new AbortController();
    // Its time stands still, so no attempt is slow, and nothing is given back because it was held for long.
    const scheduler = new Scheduler(firstWindow, () => 0);
    const options = { timeoutMs: hangMs };
    const running = startDelivering(made.ctx, stop.signal, createDeliveryDeps(made.ctx, options), 1_000, scheduler);
    try {
      await until(async () => (await waitingOf(scope)) === 150, 'it has answered, so it may have many at once');
      earlier.behave((response) => void held.push(response));
      await fixtures.db.sql`update webhook_deliveries set next_attempt_at = now() where id in ${list(later)}`;
      await fixtures.db.sql`select pg_notify('changes', 'deliveries')`;
      await until(() => held.length === maxWindow, 'it holds all that it gets');
      await until(async () => (await leases()).length > held.length, 'more are claimed ahead');
      const underWay = new Set(earlier.received.slice(60).map(({ delivery }) => delivery));
      const before = await leases();
      await setUrl(made.ctx, theService, scope, current.url);
      await until(async () => {
        const now = await leases();
        return before.every(
          ({ id, lease }) => underWay.has(id) || !now.some((row) => row.id === id && row.lease === lease),
        );
      }, 'what was claimed ahead is given back');
      for (const response of held) response.end();
      await until(async () => (await waitingOf(scope)) === 0, 'all are delivered');
    } finally {
      stop.abort();
      await running;
    }
    assert.equal(earlier.received.length, 60 + held.length);
    assert.equal(current.received.length, 150 - held.length);
  });

  test('after ten timeouts a hanging receiver sees one attempt at a time', async () => {
    const { receiver, scope } = await partnerWithReceiver({ behave: behaviours.hang });
    await makeEvents(fixtures.db, scope, 70);
    const eager = { ...made.ctx, config: { ...made.ctx.config, webhookScheduleMs: [0, 1, 1, 1] } };
    const stop = new AbortController();
    const running = [1, 2].map(() =>
      startDelivering(eager, stop.signal, createDeliveryDeps(eager, { timeoutMs: 100 })),
    );
    await until(async () => (await endpointRow(fixtures.db, scope)).failures >= 70, 'it has failed often');
    const underWay = async () => {
      const [row] = await fixtures.db.sql`
        select count(*)::int as n from webhook_deliveries where partner_id = ${scope.partnerId} and lease is not null`;
      return row?.n as number;
    };
    await until(async () => (await underWay()) <= 1, 'attempts begun before the tenth failure have ended');
    const before = receiver.received.length;
    let most = 0;
    await until(async () => {
      most = Math.max(most, await underWay());
      return receiver.received.length >= before + 8;
    }, 'probes go on');
    stop.abort();
    await Promise.all(running);
    assert.equal(most, 1);
  });

  test('several loops deliver each event once', async () => {
    const partners = await Promise.all(Array.from({ length: 3 }, () => partnerWithReceiver()));
    for (const { scope } of partners) await makeEvents(fixtures.db, scope, 100);
    await delivering(3, () =>
      until(
        async () =>
          (await Promise.all(partners.map(({ scope }) => waitingOf(scope)))).every((waiting) => waiting === 0),
        'all are delivered',
      ),
    );
    for (const { receiver, scope } of partners) {
      assert.equal(receiver.received.length, 100);
      assert.equal(new Set(receiver.received.map(({ delivery }) => delivery)).size, 100);
      const [row] = await fixtures.db
        .sql`select count(*)::int as n from webhook_attempts where partner_id = ${scope.partnerId}`;
      assert.equal(row?.n, 100);
    }
  });

  test('an event goes out right after it is written', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    await delivering(1, async () => {
      for (let sent = 1; sent <= 3; sent++) {
        await makeEvents(fixtures.db, scope);
        await until(() => receiver.received.length === sent, 'it arrives');
      }
    });
  });

  test('attempts are announced: a single event by its request, several of a partner with one notification', async () => {
    const { scope } = await partnerWithReceiver();
    const told: Change[] = [];
    const listening = Promise.withResolvers<void>();
    const stop = listenForChanges(
      fixtures.db,
      (change) => {
        if (change.kind === 'anything') listening.resolve();
        if ('partnerId' in change && change.partnerId === scope.partnerId) told.push(change);
      },
      listening.reject,
    );
    await listening.promise;
    const [one = ''] = await makeEvents(fixtures.db, scope);
    const deps = createDeliveryDeps(made.ctx);
    told.length = 0;
    await deliverDue(made.ctx, deps);
    await until(() => told.length > 0, 'one attempt is told of');
    const { request_id } = await deliveryRow(fixtures.db, one);
    assert.deepEqual(
      told.map((change) => change.kind === 'request' && change.requestId),
      [request_id],
    );
    await makeEvents(fixtures.db, scope, 20);
    told.length = 0;
    await deliverDue(made.ctx, deps);
    await until(() => told.some(({ kind }) => kind === 'attempts'), 'several are told of together');
    assert.ok(told.length < 20);
    stop();
  });

  test('the lease of a killed process runs out and its delivery is taken over, with the same id and body', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    const [id = ''] = await makeEvents(fixtures.db, scope);
    await fixtures.db
      .sql`update webhook_deliveries set lease = ${crypto.randomUUID()}, lease_until = now() + interval '1 hour'
      where id = ${id}`;
    const [other = ''] = await makeEvents(fixtures.db, scope);
    await delivering(1, async () => {
      await until(() => receiver.received.some(({ delivery }) => delivery === other), 'what is not leased goes out');
      assert.equal((await deliveryRow(fixtures.db, id)).state, 'waiting');
      await fixtures.db.sql`update webhook_deliveries set lease_until = now() where id = ${id}`;
      await until(
        async () => (await deliveryRow(fixtures.db, id)).state === 'delivered',
        'the leased one is taken over',
      );
    });
    const post = receiver.received.find(({ delivery }) => delivery === id);
    assert.equal(post?.body, (await deliveryRow(fixtures.db, id)).body);
  });

  test('a node that lost the lease adds its attempt to the log and decides nothing', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    const [id = ''] = await makeEvents(fixtures.db, scope);
    const lease = crypto.randomUUID();
    const fail = Promise.withResolvers<() => void>();
    receiver.behave((response) => fail.resolve(() => response.destroy()));
    await delivering(1, async () => {
      const end = await fail.promise;
      await fixtures.db
        .sql`update webhook_deliveries set lease = ${lease}, lease_until = now() + interval '1 hour' where id = ${id}`;
      end();
      await until(async () => (await attemptRows(fixtures.db, id)).length === 1, 'the attempt is recorded');
    });
    const row = await deliveryRow(fixtures.db, id);
    assert.deepEqual([row.lease, row.attempts, row.state], [lease, 0, 'waiting']);
  });

  test('a stop after another node took a delivery over → its lease stays', async () => {
    const { receiver, scope } = await partnerWithReceiver({ behave: behaviours.hang });
    const [id = ''] = await makeEvents(fixtures.db, scope);
    const lease = crypto.randomUUID();
    await delivering(1, async () => {
      await until(() => receiver.open() === 1, 'the attempt is under way');
      await fixtures.db
        .sql`update webhook_deliveries set lease = ${lease}, lease_until = now() + interval '1 hour' where id = ${id}`;
    });
    assert.equal((await deliveryRow(fixtures.db, id)).lease, lease);
  });

  test('a stop returns attempts in progress, and the next process makes them at once', async () => {
    const { receiver, scope } = await partnerWithReceiver({ behave: behaviours.hang });
    const [id = ''] = await makeEvents(fixtures.db, scope);
    await delivering(1, () => until(() => receiver.open() === 1, 'the attempt is under way'));
    const row = await deliveryRow(fixtures.db, id);
    assert.deepEqual([row.lease, row.state, row.attempts], [null, 'waiting', 0]);
    receiver.behave(behaviours.status(200));
    await delivering(1, () =>
      until(async () => (await deliveryRow(fixtures.db, id)).state === 'delivered', 'it is made'),
    );
  });

  test('a replay keeps id and body and begins a new round; attempts of all rounds stay in the log', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    const [id = ''] = await makeEvents(fixtures.db, scope);
    await delivering(1, async () => {
      await until(async () => (await deliveryRow(fixtures.db, id)).state === 'delivered', 'it is delivered');
      await replayDelivery(made.ctx, theService, scope, id);
      await until(() => receiver.received.length === 2, 'it is delivered again');
      await until(async () => (await deliveryRow(fixtures.db, id)).state === 'delivered', 'that is recorded');
    });
    const [first, second] = receiver.received;
    assert.equal(first?.body, second?.body);
    assert.equal(second?.delivery, id);
    assert.equal((await attemptRows(fixtures.db, id)).length, 2);
    const { test: stranger } = await makePartner(fixtures.db);
    await assert.rejects(replayDelivery(made.ctx, theService, stranger, id), { code: 'not_found' });
  });

  test('a replay during an attempt → the attempt is logged and decides nothing; the event is due at once, in a new round', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    const { sql } = fixtures.db;
    const since = new Date(Date.now() - 86_400_000);
    const replays = [
      (id: string) => replayDelivery(made.ctx, theService, scope, id),
      () => replaySince(made.ctx, theService, scope, since),
    ];
    for (const replay of replays) {
      const [id = ''] = await makeEvents(fixtures.db, scope);
      await sql`update webhook_deliveries set attempts = 3 where id = ${id}`;
      const fail = Promise.withResolvers<() => void>();
      receiver.behave((response) => fail.resolve(() => response.destroy()));
      const pass = deliverDue(made.ctx, createDeliveryDeps(made.ctx, { timeoutMs: hangMs }));
      const end = await fail.promise;
      await replay(id);
      end();
      await pass;
      assert.equal((await attemptRows(fixtures.db, id)).length, 1);
      const row = await deliveryRow(fixtures.db, id);
      assert.deepEqual([row.state, row.attempts, row.lease, row.lease_until], ['waiting', 0, null, null]);
      assert.ok(row.wait_ms <= 0);
      await sql`update webhook_deliveries set state = 'delivered', delivered_at = now() where id = ${id}`;
      await replayDelivery(made.ctx, theService, scope, id);
      assert.equal((await deliveryRow(fixtures.db, id)).delivered_at, null, 'it waits, so it is not delivered');
      await sql`update webhook_deliveries set state = 'delivered' where id = ${id}`;
    }
  });

  test('more failed events than a batch holds, some of one instant, some failing again meanwhile → each is replayed once', async () => {
    const { scope } = await partnerWithReceiver();
    const events = await makeEvents(fixtures.db, scope, 7);
    const { sql } = fixtures.db;
    await sql`update webhook_deliveries set state = 'exhausted', attempts = 12, created_at = date_trunc('hour', now())
      where id = any(${events})`;
    const told: number[] = [];
    const failAgain = (many: number) => {
      told.push(many);
      return sql`update webhook_deliveries set attempts = 1 where id = any(${events}) and state = 'waiting'`;
    };
    const since = new Date(Date.now() - 86_400_000);
    const replayed = await replayAllSince(made.ctx, theService, scope, { since, report: failAgain, batchSize: 3 });
    assert.deepEqual(replayed, events.toSorted());
    assert.deepEqual(told, [3, 6]);
    const left = await sql`select from webhook_deliveries where id = any(${events}) and state = 'exhausted'`;
    assert.equal(left.length, 0);
  });

  test('everything exhausted or failed since a time is replayed together', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    const [exhausted = '', failed = '', old = '', fresh = ''] = await makeEvents(fixtures.db, scope, 4);
    await fixtures.db
      .sql`update webhook_deliveries set state = 'exhausted', attempts = 12 where id in (${exhausted}, ${old})`;
    await fixtures.db.sql`update webhook_deliveries set created_at = now() - interval '2 days' where id = ${old}`;
    await fixtures.db
      .sql`update webhook_deliveries set attempts = 3, next_attempt_at = now() + interval '1 hour' where id = ${failed}`;
    const { ids, more } = await replaySince(made.ctx, theService, scope, new Date(Date.now() - 86_400_000));
    assert.equal(more, false);
    assert.deepEqual(ids.sort(), [exhausted, failed].sort());
    await delivering(1, () => until(() => receiver.received.length === 3, 'they go out'));
    assert.deepEqual(receiver.received.map(({ delivery }) => delivery).sort(), [exhausted, failed, fresh].sort());
    assert.equal((await deliveryRow(fixtures.db, old)).state, 'exhausted');
  });
});
