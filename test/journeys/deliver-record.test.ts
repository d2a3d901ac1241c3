import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { attempt } from '../../src/webhooks/attempt.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { type ClaimedDelivery, claimDue } from '../../src/webhooks/queue-store.ts';
import { recordFinished } from '../../src/webhooks/record.ts';
import { attemptRows, deliveryRow, deliveryStage, makeDue, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { type Behaviour, behaviours } from '../support/net/receiver.ts';

let stage: Awaited<ReturnType<typeof deliveryStage>>;
before(async () => {
  stage = await deliveryStage();
});
after(() => stage?.stop());

/** Makes an event for a separate receiver. Returns its id. */
async function eventFor(behave: Behaviour): Promise<string> {
  const receiver = await stage.receiver({ behave });
  const { test: scope } = await makePartner(stage.db);
  await setUrl(stage.ctx, theService, scope, `${receiver.url}?a={"b",'c'}&d=NULL`);
  const [id = ''] = await makeEvents(stage.db, scope);
  return id;
}

test('a batch of attempts, answered in any words or not at all → each is recorded as it was, under an id in the order of time', async () => {
  const said = 'a, "b" \\ {c} NULL';
  const answers = ['', 'NULL', 'null', '{}', '{"a":"\\"},{NULL}', `it's "quoted", \\ and {braced}\n`, 'ünï €💶', '\0'];
  const events = new Map<string, string | null>();
  for (const answer of answers) {
    const id = await eventFor((response) => void response.writeHead(503, { 'x-said': said }).end(answer));
    events.set(id, answer.replace('\0', '\uFFFD'));
  }
  events.set(await eventFor(behaviours.hang), null);
  assert.equal(await stage.pass(), events.size);

  for (const [id, answer] of events) {
    const [attempt, ...more] = await attemptRows(stage.db, id);
    assert.ok(attempt);
    assert.equal(more.length, 0);
    assert.equal(attempt.response_body, answer);
    assert.ok(attempt.url.endsWith('&d=NULL'), attempt.url);
    assert.equal(JSON.parse(attempt.request_headers)['x-service-delivery'], id);
    if (answer === null) {
      const { status_code, error, response_headers } = attempt;
      assert.deepEqual(
        { status_code, error, response_headers },
        { status_code: null, error: 'timeout', response_headers: null },
      );
    } else {
      assert.equal(attempt.status_code, 503);
      assert.equal(JSON.parse(attempt.response_headers)['x-said'], said);
    }
    const { state, attempts, lease } = await deliveryRow(stage.db, id);
    assert.deepEqual({ state, attempts, lease }, { state: 'waiting', attempts: 1, lease: null });
    assert.deepEqual([id[14], attempt.id[14]], ['7', '7'], 'the version of ids that begin with the time');
  }
});

test('One attempt of a batch cannot be stored → the others are recorded, and it is made again once its lease is over', async () => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => eventFor(behaviours.status(200))));
  const [bad = '', ...good] = ids;
  await stage.owner.unsafe(`
    create function refuse_attempt() returns trigger language plpgsql as $$
      begin raise exception 'not this one'; end $$;
    create trigger refuse_attempt before insert on webhook_attempts for each row
      when (new.delivery_id = '${bad}') execute function refuse_attempt()`);
  await stage.pass();
  for (const id of good) {
    const { state, attempts, lease } = await deliveryRow(stage.db, id);
    assert.deepEqual({ state, attempts, lease }, { state: 'delivered', attempts: 1, lease: null });
    assert.equal((await attemptRows(stage.db, id)).length, 1);
  }
  const held = await deliveryRow(stage.db, bad);
  assert.deepEqual([held.state, held.attempts, held.lease !== null], ['waiting', 0, true]);

  await stage.owner.unsafe('drop trigger refuse_attempt on webhook_attempts; drop function refuse_attempt()');
  await stage.db.sql`update webhook_deliveries set lease_until = now() - interval '1 second' where id = ${bad}`;
  await stage.pass();
  const { state, attempts } = await deliveryRow(stage.db, bad);
  assert.deepEqual([state, attempts], ['delivered', 1]);
});

test('An attempt from before its receiver was probed fails during a probe → no other probe begins until that one ends', async () => {
  const receiver = await stage.receiver({ behave: behaviours.status(500) });
  const { test: scope } = await makePartner(stage.db);
  await setUrl(stage.ctx, theService, scope, receiver.url);
  const keyIds = stage.ctx.config.secretKeys.map(({ id }) => id);
  const claimOne = async (): Promise<ClaimedDelivery> => {
    const limits = { lease: randomUUID(), free: 1, freeUnproven: 1, window: 1, firstWaitMs: 0, keyIds };
    const found = await claimDue(stage.db.sql, [], { ...limits, from: 'everywhere', findsFrontier: false });
    const [claimed] = found.claimed;
    assert.ok(claimed?.partner_id === scope.partnerId);
    return claimed;
  };
  const fail = async (claimed: ClaimedDelivery) =>
    recordFinished(stage.ctx, [await attempt(stage.ctx, stage.deps, claimed)], 'wait');
  const probe = async () => {
    const [row] = await stage.db.sql`
      select probe_at::text as probe from webhook_endpoints where partner_id = ${scope.partnerId} and test_mode`;
    return row?.probe;
  };
  await stage.db.sql`update webhook_deliveries set next_attempt_at = now() + interval '1 day'`;
  await makeEvents(stage.db, scope);
  const early = await claimOne();
  await makeEvents(stage.db, scope, 10);
  assert.equal(await stage.pass(), 10);
  await makeDue(stage.db, scope);
  const probing = await claimOne();
  assert.deepEqual([early.endpoint.probe, probing.endpoint.probe], [null, await probe()]);
  await fail(early);
  assert.equal(await probe(), probing.endpoint.probe);
  await fail(probing);
  assert.notEqual(await probe(), probing.endpoint.probe);
});
