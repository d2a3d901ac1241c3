import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { theService } from '../../src/audit/write.ts';
import {
  activateDueSecrets,
  activateSecret,
  enableEndpoint,
  readEndpoint,
  rotateSecret,
  setUrl,
} from '../../src/webhooks/endpoint.ts';
import { enqueueProofVerified } from '../../src/webhooks/enqueue.ts';
import { verifySignature } from '../../src/webhooks/sign.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { deliverDue } from '../support/deliver-due.ts';
import {
  attemptRows,
  deliveryContext,
  deliveryRow,
  deliveryStage,
  endpointRow,
  firstRotation,
  makeDue,
  makeEvents,
} from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { behaviours, type startReceiver } from '../support/net/receiver.ts';

describe('delivering', () => {
  const hour = 3_600_000;
  let stage: Awaited<ReturnType<typeof deliveryStage>>;
  before(async () => {
    stage = await deliveryStage();
  });
  after(() => stage?.stop());

  // Events that one test leaves waiting must not reach the next test, however long it takes.
  afterEach(() => stage.db.sql`update webhook_endpoints set disabled_at = now()`);

  async function partnerWithReceiver(options: Parameters<typeof startReceiver>[0] = {}) {
    const receiver = await stage.receiver(options);
    const { partner, test: scope, live } = await makePartner(stage.db);
    const secret = String((await setUrl(stage.ctx, theService, scope, receiver.url)).secret);
    return { receiver, scope, live, secret, partner };
  }
  const pass = () => stage.pass();

  test('a verified request’s event arrives signed, with the payload of the OpenAPI document in its order', async () => {
    const { receiver, scope, secret } = await partnerWithReceiver();
    const [id] = await makeEvents(stage.db, scope, 1, '{"order":"A-1","7":"b"}');
    assert.equal(await pass(), 1);
    const [post] = receiver.received;
    assert.ok(post && id);
    const payload = JSON.parse(post.body);
    assert.deepEqual(Object.keys(payload), [
      'event',
      'delivery_id',
      'request_id',
      'account_id',
      'proof_status',
      'tx_hash',
      'payer_address',
      'metadata',
      'timestamp',
    ]);
    assert.equal(payload.event, 'payment.proof_verified');
    assert.equal(payload.delivery_id, id);
    assert.equal(payload.proof_status, 'verified');
    assert.match(payload.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(post.body.includes('"metadata":{"order":"A-1","7":"b"}'), 'metadata keeps its order of keys');
    assert.equal(post.headers['x-service-event'], 'payment.proof_verified');
    assert.equal(post.headers['x-service-delivery'], id);
    assert.equal(post.headers['content-type'], 'application/json');
    assert.ok(verifySignature(secret, String(post.headers['x-service-signature']), post.body, stage.clock.now()));
    new Webhook(secret).verify(post.body, post.headers as Record<string, string>);
    const row = await deliveryRow(stage.db, id);
    assert.equal(row.state, 'delivered');
    const [attempt] = await attemptRows(stage.db, id);
    assert.equal(attempt?.status_code, 200);
    assert.equal(attempt?.error, null);
    assert.equal(await pass(), 0);
  });

  test('a request has one event, however often it is enqueued', async () => {
    const { scope } = await partnerWithReceiver();
    const [id] = await makeEvents(stage.db, scope);
    const row = await deliveryRow(stage.db, String(id));
    await stage.db.scoped(scope, (tx) =>
      enqueueProofVerified(tx, [
        {
          scope,
          requestId: row.request_id,
          accountId: row.request_id,
          txHash: '0x',
          payerAddress: '0x',
          metadata: '{}',
          verifiedAt: new Date(),
        },
      ]),
    );
    const rows = await stage.db.sql`select body from webhook_deliveries where request_id = ${row.request_id}`;
    assert.deepEqual(
      rows.map(({ body }) => body),
      [row.body],
    );
    await pass();
  });

  test('failed attempts follow the schedule within 20 %, then the event waits for a replay', async () => {
    const { receiver, scope } = await partnerWithReceiver({ behave: behaviours.status(500) });
    const [id = ''] = await makeEvents(stage.db, scope);
    const schedule = stage.ctx.config.webhookScheduleMs;
    for (let attempt = 1; attempt <= schedule.length; attempt++) {
      const beforeMs = Date.now();
      assert.equal(await pass(), 1);
      const row = await deliveryRow(stage.db, id);
      assert.equal(row.attempts, attempt);
      const planned = schedule[attempt];
      if (planned === undefined) assert.equal(row.state, 'exhausted');
      else {
        assert.equal(row.state, 'waiting');
        const waitMs = row.next_attempt_at.getTime() - beforeMs;
        assert.ok(waitMs > planned * 0.8 - 100 && Number(row.wait_ms) <= planned * 1.2, `${waitMs}`);
        // As long as a busy machine may need for the next pass.
        await stage.db.sql`
          update webhook_deliveries set next_attempt_at = next_attempt_at + interval '1 hour' where id = ${id}`;
        assert.equal(await pass(), 0, 'nothing is sent before its time');
        await makeDue(stage.db, scope);
      }
    }
    assert.equal(receiver.received.length, 12);
    assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
    await makeDue(stage.db, scope);
    assert.equal(await pass(), 0);
  });

  test('an event whose attempts are used up, beside one that has been due for longer → only the other is sent', async () => {
    const { receiver, scope } = await partnerWithReceiver();
    const [used = '', due = ''] = await makeEvents(stage.db, scope, 2);
    await stage.db.sql`
      update webhook_deliveries set state = 'exhausted', attempts = 12, next_attempt_at = now() - interval '1 minute'
      where id = ${used}`;
    await stage.db.sql`update webhook_deliveries set next_attempt_at = now() - interval '1 hour' where id = ${due}`;
    assert.equal(await pass(), 1);
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['x-service-delivery']),
      [due],
    );
  });

  for (const [name, behave, error, status] of [
    ['a redirect', behaviours.status(302, { location: 'http://127.0.0.1:1/' }), 'status', 302],
    ['a 500', behaviours.status(500), 'status', 500],
    ['a receiver that hangs', behaviours.hang, 'timeout', null],
    ['a reset connection', behaviours.reset, 'connection', null],
    ['an answer that is no HTTP', behaviours.nonsense, 'invalid_response', null],
  ] as const) {
    test(`${name} is a failed attempt: ${error}`, async () => {
      const { receiver, scope } = await partnerWithReceiver({ behave });
      const [id = ''] = await makeEvents(stage.db, scope);
      await pass();
      const [attempt] = await attemptRows(stage.db, id);
      assert.equal(attempt?.error, error);
      assert.equal(attempt?.status_code, status);
      assert.equal(receiver.received.length, 1);
      assert.equal((await deliveryRow(stage.db, id)).state, 'waiting');
      assert.equal((await endpointRow(stage.db, scope)).failures, 1);
    });
  }

  test('a certificate that nobody signed is a failed attempt: tls', async () => {
    const { scope, receiver } = await partnerWithReceiver({ secure: true });
    const [id = ''] = await makeEvents(stage.db, scope);
    await pass();
    const [attempt] = await attemptRows(stage.db, id);
    assert.equal(attempt?.error, 'tls');
    assert.equal(receiver.received.length, 0);
  });

  test('a 2xx status is success whatever its body does; at most 4 KiB are kept', async () => {
    for (const behave of [behaviours.endlessBody, behaviours.hugeBody, behaviours.status(204)]) {
      const { scope } = await partnerWithReceiver({ behave });
      const [id = ''] = await makeEvents(stage.db, scope);
      await pass();
      assert.equal((await deliveryRow(stage.db, id)).state, 'delivered');
      const [attempt] = await attemptRows(stage.db, id);
      assert.ok(attempt?.response_body.length <= 4096);
    }
  });

  test('Retry-After stretches a wait up to twofold', async () => {
    const { receiver, scope } = await partnerWithReceiver({ behave: behaviours.status(503, { 'retry-after': '7' }) });
    const [id = ''] = await makeEvents(stage.db, scope);
    const steady = { ...stage.deps, random: () => 0.5 };
    /** Delivers once. The wait is stored at some time between before and after. */
    const assertWaits = async (waitMs: number) => {
      const beforeMs = Date.now();
      await deliverDue(stage.ctx, steady);
      const { wait_ms: leftMs, next_attempt_at: next } = await deliveryRow(stage.db, id);
      assert.ok(leftMs <= waitMs && next.getTime() - beforeMs > waitMs - 100, `${leftMs}`);
    };
    await assertWaits(7_000);
    await makeDue(stage.db, scope);
    receiver.behave(behaviours.status(503, { 'retry-after': '3600' }));
    await assertWaits(60_000);
  });

  test('without a URL events wait and go out when one is set; attempts go to the current URL', async () => {
    const { test: scope } = await makePartner(stage.db);
    const [id = ''] = await makeEvents(stage.db, scope);
    assert.equal(await pass(), 0);
    const failing = await stage.receiver({ behave: behaviours.status(500) });
    const working = await stage.receiver();
    await setUrl(stage.ctx, theService, scope, failing.url);
    assert.equal(await pass(), 1);
    await setUrl(stage.ctx, theService, scope, working.url);
    assert.equal(await pass(), 1, 'a new URL is tried at once');
    assert.deepEqual([failing.received.length, working.received.length], [1, 1]);
    assert.equal((await deliveryRow(stage.db, id)).state, 'delivered');
  });

  test('the URL set again unchanged → waiting events keep their times; set again while disabled → they are due', async () => {
    const { scope, receiver } = await partnerWithReceiver();
    const [id = ''] = await makeEvents(stage.db, scope);
    await stage.db.sql`update webhook_deliveries set next_attempt_at = now() + interval '1 hour' where id = ${id}`;
    assert.equal((await setUrl(stage.ctx, theService, scope, receiver.url)).changed, false);
    assert.equal(await pass(), 0);
    await stage.db.sql`
      update webhook_endpoints set disabled_at = now(), disabled_reason = 'gone' where partner_id = ${scope.partnerId}`;
    assert.equal((await setUrl(stage.ctx, theService, scope, receiver.url)).changed, true);
    assert.equal(await pass(), 1);
  });

  test('webhook endpoints of test and live mode → a URL and secret each; setting a URL keeps the secret', async () => {
    const { scope, live, secret, receiver } = await partnerWithReceiver();
    const other = String((await setUrl(stage.ctx, theService, live, receiver.url.replace('/hook', '/live'))).secret);
    assert.notEqual(other, secret);
    assert.equal((await setUrl(stage.ctx, theService, scope, `${receiver.url}/new`)).secret, secret);
    await makeEvents(stage.db, live);
    await makeEvents(stage.db, scope);
    await pass();
    assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/hook/new', '/live']);
    const atLive = receiver.received.find(({ path }) => path === '/live');
    assert.ok(
      verifySignature(other, String(atLive?.headers['x-service-signature']), atLive?.body ?? '', stage.clock.now()),
    );
  });

  test('events of several partners that are due at once → each goes to its partner’s URL, signed with its secret', async () => {
    const made = [];
    for (let n = 0; n < 3; n++) made.push(await partnerWithReceiver());
    for (const { scope } of made) await makeEvents(stage.db, scope, 3);
    assert.equal(await pass(), 9);
    for (const { receiver, scope, secret } of made) {
      assert.equal(receiver.received.length, 3);
      for (const { headers, body } of receiver.received) {
        assert.ok(verifySignature(secret, String(headers['x-service-signature']), body, new Date()));
        const [attempt] = await attemptRows(stage.db, String(headers['x-service-delivery']));
        assert.equal(attempt?.url, receiver.url);
        const delivery = await deliveryRow(stage.db, String(headers['x-service-delivery']));
        assert.equal(delivery.partner_id, scope.partnerId);
      }
    }
  });

  test('a rotated secret is pending until activated: v1 is made with the old one, webhook-signature with both', async () => {
    const { scope, secret, receiver } = await partnerWithReceiver();
    const next = await rotateSecret(stage.ctx, theService, scope, firstRotation);
    const send = async () => {
      await makeEvents(stage.db, scope);
      await pass();
      const post = receiver.received.at(-1);
      assert.ok(post);
      const v1 = (key: string) =>
        verifySignature(key, String(post.headers['x-service-signature']), post.body, stage.clock.now());
      const standard = (key: string) => {
        try {
          new Webhook(key).verify(post.body, post.headers as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      };
      return [v1(secret), v1(next), standard(secret), standard(next)];
    };
    assert.deepEqual(await send(), [true, false, true, true]);
    await activateSecret(stage.ctx, theService, scope);
    assert.deepEqual(await send(), [false, true, false, true]);
    await assert.rejects(activateSecret(stage.ctx, theService, scope), /No secret is pending/);
  });

  test('a secret pending for 24 h that cannot be stored as the active one → signs nevertheless', async () => {
    const { partner, receiver, scope, secret } = await partnerWithReceiver();
    const next = await rotateSecret(stage.ctx, theService, scope, firstRotation);
    await stage.db.sql`
      update webhook_endpoints set pending_since = pending_since - interval '24 hours'
      where partner_id = ${scope.partnerId}`;
    await stage.owner.unsafe(`alter table webhook_endpoints add constraint stuck
      check (partner_id <> '${partner.id}' or not test_mode or pending_secret is not null) not valid`);
    try {
      await makeEvents(stage.db, scope);
      assert.equal(await pass(), 1);
    } finally {
      await stage.owner`alter table webhook_endpoints drop constraint stuck`;
    }
    const [sent] = receiver.received;
    const isSignedBy = (key: string) =>
      verifySignature(key, String(sent?.headers['x-service-signature']), sent?.body ?? '', new Date());
    assert.deepEqual([isSignedBy(secret), isSignedBy(next)], [false, true]);
  });

  test('a secret pending for 24 h → becomes active automatically', async () => {
    const { scope, secret } = await partnerWithReceiver();
    const { ctx } = deliveryContext(stage.db);
    const next = await rotateSecret(ctx, theService, scope, firstRotation);
    const age = (ms: number) => stage.db.sql`
      update webhook_endpoints set pending_since = pending_since - ${ms} * interval '1 ms'
      where partner_id = ${scope.partnerId}`;
    await age(23 * hour);
    await activateDueSecrets(ctx);
    assert.deepEqual(await readEndpoint(ctx, scope).then((row) => [row?.secret, row?.pendingSecret]), [secret, next]);
    await age(hour);
    assert.deepEqual(await readEndpoint(ctx, scope).then((row) => [row?.secret, row?.pendingSecret]), [next, null]);
    await activateDueSecrets(ctx);
    assert.equal((await endpointRow(stage.db, scope)).pending_secret, null);
    assert.equal((await readEndpoint(ctx, scope))?.secret, next);

    const last = await rotateSecret(ctx, theService, scope, firstRotation);
    await age(24 * hour);
    const [rotated] = await Promise.all([rotateSecret(ctx, theService, scope, firstRotation), activateDueSecrets(ctx)]);
    assert.deepEqual(await readEndpoint(ctx, scope).then((row) => [row?.secret, row?.pendingSecret]), [last, rotated]);
    const acts = await stage.db.sql`
      select actor_kind, action from audit_log
      where partner_id = ${scope.partnerId} and action = 'webhook.secret_activated' order by number`;
    const byItself = { actor_kind: 'service', action: 'webhook.secret_activated' };
    assert.deepEqual(
      acts.map((act) => ({ ...act })),
      [byItself, byItself],
      'once for each, whoever noticed',
    );
  });

  for (const ahead of [25 * hour, -25 * hour]) {
    test(`a node whose clock is ${ahead / hour} h off → signs with the real time, and no pending secret takes over early`, async () => {
      const { scope, secret, receiver } = await partnerWithReceiver();
      const { ctx, clock } = deliveryContext(stage.db);
      const next = await rotateSecret(ctx, theService, scope, firstRotation);
      clock.forward(ahead);
      await activateDueSecrets(ctx);
      assert.deepEqual(await readEndpoint(ctx, scope).then((row) => [row?.secret, row?.pendingSecret]), [secret, next]);
      await makeEvents(stage.db, scope);
      await deliverDue(ctx, stage.deps);
      const post = receiver.received.at(-1);
      assert.ok(verifySignature(secret, String(post?.headers['x-service-signature']), post?.body ?? '', new Date()));
    });
  }

  test('ten failures in a row → one probe at a time; after a success → all events are sent', async () => {
    const { scope, receiver } = await partnerWithReceiver({ behave: behaviours.status(500) });
    await makeEvents(stage.db, scope, 12);
    assert.equal(await pass(), 12);
    const row = await endpointRow(stage.db, scope);
    assert.equal(row.failures, 12);
    assert.ok(Number(row.probe_in_ms) > 0);
    await stage.db.sql`update webhook_deliveries set next_attempt_at = now() where partner_id = ${scope.partnerId}`;
    assert.equal(await pass(), 0, 'no attempt before the probe');
    await makeDue(stage.db, scope);
    assert.equal(await pass(), 1);
    assert.equal(await pass(), 0);
    receiver.behave(behaviours.status(200));
    await makeDue(stage.db, scope);
    assert.equal(await pass(), 1);
    assert.equal(await pass(), 11);
    const after = await endpointRow(stage.db, scope);
    assert.deepEqual([after.failures, after.probe_at, after.failing_since], [0, null, null]);
  });

  test('410 disables the endpoint; its events wait and go out when it is enabled again', async () => {
    const { scope, receiver, partner } = await partnerWithReceiver({ behave: behaviours.status(410) });
    await makeEvents(stage.db, scope, 2);
    await pass();
    const row = await endpointRow(stage.db, scope);
    assert.ok(row.disabled_at);
    assert.equal(row.disabled_reason, 'gone');
    const alarm = async () => (await raisedAlarms(stage.db.sql)).get(`webhook_disabled:${partner.id}:test`);
    assert.match((await alarm()) ?? '', /410/);
    await makeDue(stage.db, scope);
    assert.equal(await pass(), 0);
    receiver.behave(behaviours.status(200));
    await enableEndpoint(stage.ctx, theService, scope);
    assert.equal(await pass(), 2);
    assert.equal(await alarm(), undefined);
  });

  test('an endpoint without success for 120 h is disabled', async () => {
    const { ctx, clock } = deliveryContext(stage.db);
    const { scope } = await partnerWithReceiver({ behave: behaviours.status(500) });
    await makeEvents(stage.db, scope);
    await deliverDue(ctx, stage.deps);
    clock.forward(120 * hour - 1);
    await makeDue(stage.db, scope);
    await deliverDue(ctx, stage.deps);
    assert.equal((await endpointRow(stage.db, scope)).disabled_at, null);
    clock.forward(1);
    await makeDue(stage.db, scope);
    await deliverDue(ctx, stage.deps);
    assert.equal((await endpointRow(stage.db, scope)).disabled_reason, 'no_success_for_120_hours');
  });
});
