import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makePartner } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { makePlan, turnAt } from '../support/plans.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures?.stop());

test('plans › a viewer reads list and plan: customer, schedule, how it is collected, charges and next date; others see none', async () => {
  const { ctx, scope, merchant, url } = fixtures;
  const plan = await makePlan(ctx, scope, merchant, {
    name: 'Piano <lessons>',
    customerEmail: 'grace@example.com',
    firstOn: '2026-01-31',
    metadata: '{"order":"A-1042"}',
  });
  await turnAt(ctx, '2026-02-01T12:00:00Z');
  const viewer = await portalVisitor(ctx, url, scope.partnerId, 'viewer');
  const list = (await viewer.open('/portal/plans')).html;
  assert.match(list, new RegExp(`href="/portal/plans/${plan.id}">Piano &lt;lessons&gt;`));
  assert.match(list, /<time datetime="2026-02-28">/);
  const page = (await viewer.open(`/portal/plans/${plan.id}`)).html;
  for (const told of [
    /Grace Hopper/,
    /grace@example\.com/,
    /€80\.00 every month/,
    /By a payment link for each charge/,
  ]) {
    assert.match(page, told);
  }
  assert.match(page, /<dt>order<\/dt><dd><span dir="auto">A-1042/);
  assert.match(page, /<a href="\/portal\/requests\/[0-9a-f-]{36}"><time datetime="2026-01-31">/);
  assert.doesNotMatch(page, /method="post" action="\/portal\/plans/, 'it is read only');
  assert.match((await viewer.open('/portal/plans.csv?state=active')).html, new RegExp(`\r\n${plan.id},`));
  assert.doesNotMatch((await viewer.open('/portal/plans?state=ended')).html, /Piano/);

  const stranger = await portalVisitor(ctx, url, (await makePartner(fixtures.db)).partner.id);
  assert.equal((await stranger.open(`/portal/plans/${plan.id}`)).status, 404);
  assert.doesNotMatch((await stranger.open('/portal/plans')).html, /Piano/);
  assert.equal((await viewer.open(`/portal/plans/${plan.id}?mode=live`)).status, 404);
});
