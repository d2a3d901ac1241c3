import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { attemptRows, deliveryRow, deliveryStage, makeEvents } from '../support/deliveries.ts';
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
