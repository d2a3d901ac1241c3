import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { raiseAlarm } from '../../src/db/alarms.ts';
import { makeKey } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { makePlan, turnAt } from '../support/plans.ts';

let fixtures: DashboardFixtures;
let plan: { id: string };
before(async () => {
  fixtures = await dashboardFixtures();
  plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, { firstOn: '2026-01-31' });
  await turnAt(fixtures.ctx, '2026-02-01T12:00:00Z');
  await fixtures.request({ exactMicro: 5_000_000n });
  await fixtures.node.pay({ from: fixtures.node.wallet(), to: fixtures.merchant.wallet, usdcMicro: 6_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  await makeKey(fixtures.db, fixtures.scope);
  await raiseAlarm(fixtures.db.sql, { kind: 'mail_failing', subject: '', details: { fault: 'no route' } });
});
after(() => fixtures?.stop());

/**
 * Opens every page of an area that holds a list, and downloads its CSV.
 *
 * @param lists each page, and the first column of its CSV
 * @param others pages whose tables are not lists: figures, steps, a few rows that need no file
 */
async function walk(visitor: Visitor, area: string, lists: Record<string, string>, others: string[] = []) {
  const home = await visitor.open(area);
  const nav = /<nav class="bar".*?<\/nav>/s.exec(home.html)?.[0] ?? assert.fail('no navigation');
  const places = [...nav.matchAll(/href="([^"]+)"/g)].map(([, to = '']) => to);
  assert.ok(places.length > 3, area);
  for (const place of places.filter((one) => !(one in lists) && !others.includes(one))) {
    assert.doesNotMatch(
      (await visitor.open(place)).html,
      /<table/,
      `${place} holds a list that this test does not know`,
    );
  }
  for (const [path, column] of Object.entries(lists)) {
    const page = await visitor.open(path);
    assert.equal(page.status, 200, path);
    const link = /<a href="([^"]+\.csv[^"]*)" download>/.exec(page.html)?.[1] ?? assert.fail(`${path} leads to no CSV`);
    const file = await visitor.open(link.replaceAll('&amp;', '&'));
    assert.equal(file.status, 200, link);
    assert.match(file.headers.get('content-type') ?? '', /^text\/csv/, link);
    assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="[\w-]+\.csv"$/, link);
    const [header = ''] = file.html.split('\r\n');
    assert.match(header, new RegExp(`^${column}(,[a-z_]+)+$`), link);
    // A CSV is only for those who may see its page.
    const stranger = await startVisitor(fixtures.url).open(link.replaceAll('&amp;', '&'));
    assert.doesNotMatch(stranger.headers.get('content-type') ?? '', /csv/, link);
  }
}

test('every list of the portal can be downloaded as CSV', async () => {
  const owner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
  await walk(
    owner,
    '/portal',
    {
      '/portal/requests': 'request_id',
      '/portal/unmatched': 'account_id',
      '/portal/merchants': 'account_id',
      '/portal/plans': 'plan_id',
      '/portal/keys': 'key_id',
      '/portal/webhooks/deliveries': 'delivery_id',
      '/portal/team': 'user_id',
      '/portal/audit': 'number',
    },
    ['/portal'],
  );
});

test('every list of the dashboard can be downloaded as CSV', async () => {
  await walk(
    fixtures.visitor,
    '/dashboard',
    {
      '/dashboard/payments': 'request_id',
      '/dashboard/unmatched': 'block_time',
      '/dashboard/plans': 'plan_id',
      [`/dashboard/plans/${plan.id}`]: 'number',
    },
    ['/dashboard'],
  );
});

test('every list of the administration can be downloaded as CSV', async () => {
  const { visitor } = await signInOperator(fixtures);
  await walk(visitor, '/admin', {
    '/admin': 'name',
    '/admin/partners': 'slug',
    '/admin/users': 'email',
    '/admin/merchants': 'account_id',
    '/admin/rates': 'currency',
    '/admin/chains': 'chain_id',
    '/admin/relayer': 'chain_id',
    '/admin/terms': 'version',
    '/admin/audit': 'number',
  });
});

test('a date that is none does not filter, and the list says so', async () => {
  const owner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
  const { visitor: operator } = await signInOperator(fixtures);
  const places: [Visitor, string][] = [
    [fixtures.visitor, '/dashboard/payments'],
    [owner, '/portal/requests'],
    [owner, '/portal/unmatched'],
    [owner, '/portal/webhooks/deliveries'],
    [owner, '/portal/audit'],
    [operator, '/admin/audit'],
  ];
  for (const [who, path] of places) {
    const { html } = await who.open(`${path}?since=31.1.2026&until=2026-02-31`);
    assert.match(html, /“31\.1\.2026” is not a date, so it was ignored\./, path);
    assert.match(html, /“2026-02-31” is not a date/, path);
    assert.doesNotMatch((await who.open(`${path}?since=2026-01-31`)).html, /is not a date/, path);
  }
});
