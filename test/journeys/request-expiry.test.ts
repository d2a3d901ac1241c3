import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalVisitor } from '../support/people/portal.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures?.stop());

test('the page of a request › it expires, or it expired, and once it is paid or cancelled neither', async () => {
  const portal = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
  const { visitor: admin } = await signInOperator(fixtures);
  const labelsOf = (id: string) =>
    Promise.all(
      [fixtures.visitor.open(`/dashboard/payments/${id}`), portal.open(`/portal/requests/${id}`)]
        .concat(admin.open(`/admin/requests/${id}`))
        .map(async (page) => [...(await page).html.matchAll(/<dt>(Expire[sd])<\/dt>/g)].map(([, label]) => label)),
    );
  const thrice = (labels: string[]) => [labels, labels, labels];
  const row = await fixtures.request();
  assert.deepEqual(await labelsOf(row.id), thrice(['Expires']));
  const past = await fixtures.request({ expiryMinutes: 0 });
  assert.deepEqual(await labelsOf(past.id), thrice(['Expired']));
  const voided = await fixtures.request();
  await fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${voided.id}`;
  assert.deepEqual(await labelsOf(voided.id), thrice([]));
  await fixtures.pay(row);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.deepEqual(await labelsOf(row.id), thrice([]));
});
