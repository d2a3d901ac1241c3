import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { startApp } from '../support/app.ts';
import { deliveryRow, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

/** An event that was delivered, and the page of its request. */
async function deliveredEvent(scope: Scope) {
  const [id = ''] = await makeEvents(app.db, scope);
  await app.db
    .sql`update webhook_deliveries set state = 'delivered', attempts = 1, delivered_at = now() where id = ${id}`;
  const { request_id: requestId } = await deliveryRow(app.db, id);
  const stateNow = async () => {
    const { state, attempts } = await deliveryRow(app.db, id);
    return { state, attempts };
  };
  return { id, page: `/portal/requests/${requestId}`, stateNow };
}

const replaysOf = async (partnerId: string) => [
  ...(await app.db.sql`
    select actor_kind, test_mode, object_id from audit_log
    where partner_id = ${partnerId} and action = 'webhook.replayed'`),
];

test('a request’s page › its event is sent again, which the log says once', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const { id, page, stateNow } = await deliveredEvent(scope);
  const developer = await portalVisitor(app.ctx, app.url, partner.id, 'developer');
  const sent = await developer.send(await developer.open(`${page}?mode=test`), '/resend?mode=test');
  assert.match(sent.html, /Resending the event\./);
  assert.deepEqual(await stateNow(), { state: 'waiting', attempts: 0 });
  assert.deepEqual(await replaysOf(partner.id), [{ actor_kind: 'partner_user', test_mode: true, object_id: id }]);
});

test('the event of another partner, or of the other mode → not found, and nothing is sent or logged', async () => {
  const [ours, foreign] = await Promise.all([makePartner(app.db), makePartner(app.db)]);
  const { page, stateNow } = await deliveredEvent(ours.test);
  const [owner, stranger] = await Promise.all(
    [ours, foreign].map(({ partner }) => portalVisitor(app.ctx, app.url, partner.id)),
  );
  for (const [visitor, mode] of [
    [stranger, 'test'],
    [owner, 'live'],
  ] as const) {
    assert.ok(visitor);
    assert.equal((await postForm(app.url, visitor, `${page}/resend?mode=${mode}`)).status, 404, mode);
  }
  assert.deepEqual(await stateNow(), { state: 'delivered', attempts: 1 });
  for (const { partner } of [ours, foreign]) assert.deepEqual(await replaysOf(partner.id), []);
});
