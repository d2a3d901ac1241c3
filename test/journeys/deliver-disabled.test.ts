import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyChains } from '../../src/audit/verify.ts';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { disableDead } from '../../src/webhooks/disabled.ts';
import { enableEndpoint, setUrl } from '../../src/webhooks/endpoint.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { deliveryRow, deliveryStage, endpointRow, makeDue, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { type Behaviour, behaviours } from '../support/net/receiver.ts';

const hour = 3_600_000;
let stage: Awaited<ReturnType<typeof deliveryStage>>;
before(async () => {
  stage = await deliveryStage();
});
after(() => stage?.stop());

async function partnerWithReceiver(behave: Behaviour, email?: string) {
  const receiver = await stage.receiver({ behave });
  const { partner, test: scope, live } = await makePartner(stage.db, email ? { email } : {});
  await setUrl(stage.ctx, theService, scope, receiver.url);
  const alarms = async () =>
    [...(await raisedAlarms(stage.db.sql)).keys()].filter((name) => name.startsWith(`webhook_disabled:${partner.id}:`));
  return { receiver, scope, live, alarms };
}
const mailsTo = (recipient: string) => stage.db.sql`select subject, body from mails where recipient = ${recipient}`;
const pass = () => stage.pass();

test('410 → the partner is mailed once and the operator alarmed; nothing is lost', async () => {
  const email = 'gone@partner.example';
  const { receiver, scope, alarms } = await partnerWithReceiver(behaviours.status(410), email);
  await makeEvents(stage.db, scope, 3);
  await pass();
  await pass();
  const mails = await mailsTo(email);
  assert.equal(mails.length, 1);
  assert.equal(mails[0]?.subject, 'Your test webhook was disabled');
  assert.ok(mails[0]?.body.includes(`${receiver.url}\n\nIt answered 410 Gone.`), mails[0]?.body);
  assert.ok(mails[0]?.body.includes('http://localhost:3000/portal/webhooks?mode=test'));
  assert.match(mails[0]?.body, /No payment is affected and no event is lost/);
  assert.equal((await alarms()).length, 1);
  receiver.behave(behaviours.status(200));
  await enableEndpoint(stage.ctx, theService, scope);
  assert.equal(await pass(), 3);
  assert.equal((await mailsTo(email)).length, 1);
  assert.equal((await alarms()).length, 0);
});

/** The service's actions in the partner's audit log, oldest first. */
async function logged(scope: Scope) {
  const rows = await stage.db.sql<{ action: string; details: string; object_id: string }[]>`
    select action, details, object_id from audit_log
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and actor_kind = 'service' and action <> 'webhook.url_set'
    order by number`;
  return rows.map(({ action, details, object_id }) => [action, JSON.parse(details), object_id]);
}

test('Endpoints that are disabled at the same time are each in the log of their partner, whoever notices first', async () => {
  const partners = await Promise.all(
    Array.from({ length: 6 }, () => partnerWithReceiver(behaviours.status(410), 'many@partner.example')),
  );
  await Promise.all(partners.map(({ scope }) => makeEvents(stage.db, scope, 3)));
  await Promise.all([pass(), pass(), pass()]);
  await pass();
  for (const { scope, receiver } of partners) {
    const { host } = new URL(receiver.url);
    const id = `${scope.partnerId}/test`;
    assert.deepEqual(await logged(scope), [['webhook.disabled', { host, why: 'gone' }, id]]);
    const [check] = await verifyChains(stage.ctx, scope.partnerId);
    assert.equal(check?.broken, null);
  }
});

test('disabled a second time → mailed a second time', async () => {
  const email = 'twice@partner.example';
  const { scope } = await partnerWithReceiver(behaviours.status(410), email);
  await makeEvents(stage.db, scope);
  await pass();
  await enableEndpoint(stage.ctx, theService, scope);
  await pass();
  assert.equal((await mailsTo(email)).length, 2);
});

test('disabled and enabled again and again → mailed ten times a day in each mode, then only the log and the alarm say so', async () => {
  const email = 'again@partner.example';
  const { receiver, scope, live, alarms } = await partnerWithReceiver(behaviours.status(410), email);
  await makeEvents(stage.db, scope);
  for (let turn = 0; turn < 12; turn++) {
    await enableEndpoint(stage.ctx, theService, scope);
    await pass();
  }
  assert.equal((await mailsTo(email)).length, 10);
  assert.equal((await logged(scope)).filter(([action]) => action === 'webhook.disabled').length, 12);
  assert.equal((await alarms()).length, 1);
  await setUrl(stage.ctx, theService, live, receiver.url);
  await makeEvents(stage.db, live);
  await pass();
  const subjects = (await mailsTo(email)).map(({ subject }) => subject);
  assert.equal(subjects.filter((subject) => subject === 'Your live webhook was disabled').length, 1);
});

test('a partner without an e-mail address → only the operator’s alarm', async () => {
  const before = await stage.db.sql`select from mails`;
  const { scope, alarms } = await partnerWithReceiver(behaviours.status(410));
  await makeEvents(stage.db, scope);
  await pass();
  assert.equal((await alarms()).length, 1);
  assert.equal((await stage.db.sql`select from mails`).length, before.length);
});

test('120 h without success and no attempt due → disabled and mailed nevertheless; later events wait', async () => {
  const email = 'dead@partner.example';
  const { receiver, scope, alarms } = await partnerWithReceiver(behaviours.status(500), email);
  const healthy = await partnerWithReceiver(behaviours.status(200));
  await makeEvents(stage.db, scope);
  await makeEvents(stage.db, healthy.scope);
  await pass();
  stage.clock.forward(120 * hour - 1);
  assert.equal(await disableDead(stage.ctx), 0);
  stage.clock.forward(1);
  const counts = await Promise.all([disableDead(stage.ctx), disableDead(stage.ctx)]);
  assert.equal(counts[0] + counts[1], 1, 'one of several nodes disables it');
  assert.equal((await endpointRow(stage.db, scope)).disabled_reason, 'no_success_for_120_hours');
  assert.equal((await endpointRow(stage.db, healthy.scope)).disabled_at, null);
  assert.equal((await alarms()).length, 1);
  const mails = await mailsTo(email);
  assert.equal(mails.length, 1);
  assert.match(mails[0]?.body, /No delivery has succeeded for 120 hours\./);
  const { host } = new URL(receiver.url);
  assert.deepEqual(await logged(scope), [['webhook.disabled', { host, why: 'dead' }, `${scope.partnerId}/test`]]);
  assert.deepEqual(await logged(healthy.scope), []);

  const [id = ''] = await makeEvents(stage.db, scope);
  await makeDue(stage.db, scope);
  assert.equal(await pass(), 0);
  assert.deepEqual([(await deliveryRow(stage.db, id)).state, receiver.received.length], ['waiting', 1]);
  receiver.behave(behaviours.status(200));
  await enableEndpoint(stage.ctx, theService, scope);
  assert.equal(await pass(), 2);
  assert.equal(await disableDead(stage.ctx), 0);
});

test('One endpoint that cannot be disabled, the longest failing one → that of another partner is, in the same pass', async () => {
  const [stuck, other] = [
    await partnerWithReceiver(behaviours.status(500), 'stuck@partner.example'),
    await partnerWithReceiver(behaviours.status(500), 'behind@partner.example'),
  ];
  for (const [hours, { scope }] of [[300, stuck] as const, [200, other] as const])
    await stage.db.sql`
      update webhook_endpoints set failing_since = ${new Date(stage.clock.now().getTime() - hours * hour)}
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  await stage.owner`
    create function stand_in_the_way() returns trigger language plpgsql as
      'begin raise exception ''this one cannot be mailed''; end'`;
  await stage.owner`
    create trigger stand_in_the_way before insert on mails for each row
      when (new.recipient = 'stuck@partner.example') execute function stand_in_the_way()`;
  try {
    assert.equal(await disableDead(stage.ctx), 1);
  } finally {
    await stage.owner`drop function stand_in_the_way() cascade`;
  }
  assert.ok((await endpointRow(stage.db, other.scope)).disabled_at);
  assert.equal((await mailsTo('behind@partner.example')).length, 1);
  assert.equal((await endpointRow(stage.db, stuck.scope)).disabled_at, null);
  assert.equal(await disableDead(stage.ctx), 1);
  assert.equal((await mailsTo('stuck@partner.example')).length, 1);
});

test('A failing endpoint is locked by another transaction → that of another partner is disabled meanwhile', async () => {
  const [locked, other] = [
    await partnerWithReceiver(behaviours.status(500), 'locked@partner.example'),
    await partnerWithReceiver(behaviours.status(500), 'free@partner.example'),
  ];
  for (const { scope } of [locked, other])
    await stage.db.sql`
      update webhook_endpoints set failing_since = ${new Date(stage.clock.now().getTime() - 200 * hour)}
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  await stage.db.transaction(async (tx) => {
    await tx`select from webhook_endpoints where partner_id = ${locked.scope.partnerId} for update`;
    assert.equal(await disableDead(stage.ctx), 1);
  });
  assert.ok((await endpointRow(stage.db, other.scope)).disabled_at);
  assert.equal(await disableDead(stage.ctx), 1);
});
