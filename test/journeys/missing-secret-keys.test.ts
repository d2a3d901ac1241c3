import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { alarmMissingKeys } from '../../src/db/missing-keys-alarm.ts';
import { checkSecretKeys, forgetSecretKey } from '../../src/db/secret-keys.ts';
import type { SecretKey } from '../../src/lib/encrypt.ts';
import { queueMail } from '../../src/mail/outbox.ts';
import { sendDueMails } from '../../src/mail/transport.ts';
import { rotateSecret, setUrl } from '../../src/webhooks/endpoint.ts';
import { verifySignature } from '../../src/webhooks/sign.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { deliverDue } from '../support/deliver-due.ts';
import {
  deliveryContext,
  deliveryRow,
  deliveryStage,
  endpointRow,
  firstRotation,
  makeDue,
  makeEvents,
} from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { behaviours } from '../support/net/receiver.ts';

const [old, fresh]: SecretKey[] = ['old', 'new'].map((id, i) => ({ id, key: Buffer.alloc(32, 1 + i) }));
assert.ok(old && fresh);
/** The nodes of a rotation in the wrong order: one has the new key in front, the other lacks it. */
const [ahead, behind, onlyNew] = [[fresh, old], [old], [fresh]];

describe('nodes with different keys', () => {
  let stage: Awaited<ReturnType<typeof deliveryStage>>;
  before(async () => {
    stage = await deliveryStage();
  });
  after(() => stage?.stop());
  beforeEach(() => stage.db.sql`delete from secret_key_marks`);
  afterEach(async () => {
    await stage.db.sql`update webhook_endpoints set disabled_at = now()`;
    await stage.db.sql`delete from mails`;
    await stage.db.sql`delete from alarms`;
  });

  const nodeWith = (secretKeys: SecretKey[]) => deliveryContext(stage.db, { secretKeys }).ctx;
  const deliver = (keys: SecretKey[]) => deliverDue(nodeWith(keys), stage.deps);
  const alarm = async (id: string) => (await raisedAlarms(stage.db.sql)).get(`secret_key_missing:${id}`);
  async function endpointOf(keys: SecretKey[], options: Parameters<typeof stage.receiver>[0] = {}) {
    const receiver = await stage.receiver(options);
    const { test: scope } = await makePartner(stage.db);
    const secret = String((await setUrl(nodeWith(keys), theService, scope, receiver.url)).secret);
    return { receiver, scope, secret };
  }

  test('A node without the key of a webhook’s secret → it leases nothing of it, and a node with the key delivers at once', async () => {
    const { scope, receiver } = await endpointOf(ahead);
    const [id = ''] = await makeEvents(stage.db, scope);
    assert.equal(await deliver(behind), 0);
    const { lease, attempts } = await deliveryRow(stage.db, id);
    assert.deepEqual([lease, attempts], [null, 0]);
    assert.equal(await deliver(ahead), 1);
    assert.equal((await deliveryRow(stage.db, id)).state, 'delivered');
    assert.equal(receiver.received.length, 1);
  });

  test('Such a node takes no probe of a failing endpoint either', async () => {
    const { scope, receiver } = await endpointOf(ahead, { behave: behaviours.status(500) });
    await makeEvents(stage.db, scope, 10);
    assert.equal(await deliver(ahead), 10);
    await makeDue(stage.db, scope);
    const before = (await endpointRow(stage.db, scope)).probe_at;
    assert.equal(await deliver(behind), 0);
    assert.deepEqual((await endpointRow(stage.db, scope)).probe_at, before);
    receiver.behave(behaviours.status(200));
    assert.equal(await deliver(ahead), 1);
  });

  test('During a rotation both secrets are needed; once the new one has taken over, its key alone', async () => {
    const { scope, receiver, secret } = await endpointOf(behind);
    const pending = await rotateSecret(nodeWith(ahead), theService, scope, firstRotation);
    await makeEvents(stage.db, scope);
    assert.equal(await deliver(behind), 0);
    assert.equal(await deliver(onlyNew), 0);
    assert.equal(await deliver(ahead), 1);
    const first = receiver.received[0] ?? assert.fail('nothing came');
    assert.ok(verifySignature(secret, String(first.headers['x-service-signature']), first.body, new Date()));
    assert.equal(String(first.headers['webhook-signature']).split(' ').length, 2);

    // No audit log can be written here, so the row is not activated; it signs all the same.
    await stage.owner`alter table audit_log add constraint full_disk check (action <> 'webhook.secret_activated') not valid`;
    try {
      await stage.db.sql`
        update webhook_endpoints set pending_since = now() - interval '25 hours' where partner_id = ${scope.partnerId}`;
      await makeEvents(stage.db, scope);
      assert.equal(await deliver(behind), 0);
      assert.equal(await deliver(onlyNew), 1);
    } finally {
      await stage.owner`alter table audit_log drop constraint full_disk`;
    }
    const second = receiver.received[1] ?? assert.fail('nothing came');
    assert.ok(verifySignature(pending, String(second.headers['x-service-signature']), second.body, new Date()));
  });

  test('No node has the key → an alarm names it after two minutes; with the key the event goes out, and the alarm ends', async () => {
    const { scope } = await endpointOf(ahead);
    await makeEvents(stage.db, scope);
    await alarmMissingKeys(nodeWith(behind));
    assert.equal(await alarm('new'), undefined, 'another node may still take it');
    await stage.db.sql`update webhook_deliveries set next_attempt_at = now() - interval '3 minutes'
      where partner_id = ${scope.partnerId}`;
    await alarmMissingKeys(nodeWith(ahead));
    assert.equal(await alarm('new'), undefined, 'this one will');
    await alarmMissingKeys(nodeWith(behind));
    assert.match((await alarm('new')) ?? '', /waits for the secret key new, .*Webhook endpoints: 1, e-mails: 0\./);
    await alarmMissingKeys(nodeWith(ahead));
    assert.ok(await alarm('new'), 'it waits still');
    assert.equal(await deliver(ahead), 1);
    await alarmMissingKeys(nodeWith(ahead));
    assert.equal(await alarm('new'), undefined);
  });

  test('Many events wait at an endpoint that is being served → no alarm', async () => {
    const { scope } = await endpointOf(ahead);
    const [first = ''] = await makeEvents(stage.db, scope, 3);
    await stage.db.sql`update webhook_deliveries set next_attempt_at = now() - interval '3 minutes'
      where partner_id = ${scope.partnerId}`;
    await stage.db.sql`update webhook_deliveries set lease = gen_random_uuid(), lease_until = now() + interval '20 s',
      next_attempt_at = next_attempt_at - interval '1 second' where id = ${first}`;
    await alarmMissingKeys(nodeWith(behind));
    assert.equal(await alarm('new'), undefined);
    await stage.db.sql`update webhook_deliveries set lease = null, lease_until = null where id = ${first}`;
    await stage.db.sql`update webhook_endpoints set last_success_at = now() where partner_id = ${scope.partnerId}`;
    await alarmMissingKeys(nodeWith(behind));
    assert.equal(await alarm('new'), undefined);
  });

  const running = new AbortController().signal;
  const mailServer = { smtpUrl: 'smtp://127.0.0.1:1', from: 'pay@example.com' };
  const production = (secretKeys: SecretKey[], mail: typeof mailServer | null = mailServer) =>
    deliveryContext(stage.db, { secretKeys, sandbox: false, mail }).ctx;
  async function send(keys: SecretKey[]): Promise<string[]> {
    const sent: string[] = [];
    await sendDueMails(
      production(keys),
      running,
      async ({ recipient, body }) => void sent.push(`${recipient} ${body}`),
    );
    return sent;
  }
  const attempts = async () => (await stage.db.sql`select attempts from mails`).map((row) => row.attempts);

  test('A mail whose key a node lacks → it spends no attempt, delays no other mail, and a node with the key sends it', async () => {
    const mail = { subject: 'Hello', body: 'text' };
    await queueMail(production(ahead), stage.db.sql, null, { ...mail, recipient: 'first@example.com' });
    assert.deepEqual(await send(behind), []);
    assert.deepEqual(await attempts(), [0]);
    await queueMail(production(behind), stage.db.sql, null, { ...mail, recipient: 'second@example.com' });
    assert.deepEqual(await send(behind), ['second@example.com text']);
    assert.equal((await raisedAlarms(stage.db.sql)).has('mail_failing'), false);

    await stage.db.sql`update mails set next_attempt_at = now() - interval '3 minutes' where sent_at is null`;
    await alarmMissingKeys(production(behind));
    assert.match((await alarm('new')) ?? '', /Webhook endpoints: 0, e-mails: 1\./);
    assert.deepEqual(await send(ahead), ['first@example.com text']);
    await alarmMissingKeys(production(behind));
    assert.equal(await alarm('new'), undefined);
  });

  test('A mail waits because no mail server is configured → its key is not to blame, also while an event waits for that', async () => {
    await queueMail(production(ahead), stage.db.sql, null, {
      subject: 'Hello',
      body: 'text',
      recipient: 'a@example.com',
    });
    await stage.db.sql`update mails set next_attempt_at = now() - interval '3 minutes'`;
    await alarmMissingKeys(production(behind, null));
    assert.equal(await alarm('new'), undefined);

    const { scope } = await endpointOf(ahead);
    await makeEvents(stage.db, scope);
    await stage.db.sql`update webhook_deliveries set next_attempt_at = now() - interval '3 minutes'
      where partner_id = ${scope.partnerId}`;
    await alarmMissingKeys(production(behind, null));
    assert.match((await alarm('new')) ?? '', /Webhook endpoints: 1, e-mails: 0\./);
    assert.equal(await deliver(ahead), 1);
    await alarmMissingKeys(production(ahead, null));
    assert.equal(await alarm('new'), undefined);
  });

  test('A mail whose key was given up → it is attempted and given up like others, instead of waiting for ever', async () => {
    await checkSecretKeys(stage.db.sql, ahead);
    await queueMail(production(ahead), stage.db.sql, null, {
      subject: 'Hello',
      body: 'text',
      recipient: 'lost@example.com',
    });
    assert.ok(await forgetSecretKey(stage.db.sql, behind, 'new'));
    assert.deepEqual(await send(behind), []);
    assert.deepEqual(await attempts(), [1]);
  });
});
