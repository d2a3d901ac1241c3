import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { makePlan } from '../support/plans.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

/** The empty state of a page as text. */
const empty = (html: string) =>
  /<div class="empty">(.*?)<\/div>\s*<\/div>/s
    .exec(html)?.[1]
    ?.replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

test('Administration › a new partner has no users, merchants or keys → what to do, instead of filters to clear', async () => {
  const { visitor: admin } = await signInOperator(app);
  const { partner } = await makePartner(app.db);
  const emptyAt = async (path: string) => empty((await admin.open(path)).html);
  assert.equal(
    await emptyAt('/admin/merchants'),
    'No merchants yet Partners create them in their portal or through the API.',
  );
  const users = `/admin/users?partner=${partner.slug}`;
  assert.equal(
    await emptyAt(users),
    'No users yet Invite this partner’s first owner below. Owners invite their own team.',
  );
  const noResults = 'No results Clear the filters, or search for something else.';
  for (const path of [`${users}&q=ada`, '/admin/users?partner=nobody', '/admin/merchants?q=ada']) {
    assert.equal(await emptyAt(path), noResults, path);
  }
  const activity = (await admin.open(`/admin/partners/${partner.slug}/activity`)).html;
  assert.match(activity, /<h2>Keys<\/h2><p class="quiet">None yet<\/p>/);
});

test('Portal › no requests yet → what a request is, and where the first steps are', async () => {
  const { partner } = await makePartner(app.db);
  const viewer = await portalVisitor(app.ctx, app.url, partner.id, 'viewer');
  const { html } = await viewer.open('/portal/requests');
  assert.equal(
    empty(html),
    'Your requests will appear here A request asks one customer for one amount. Create the first through the API, and it appears here at once. Getting started',
  );
  assert.match((await viewer.open('/portal/requests?status=voided')).html, /No requests match/);
});

test('a plan without charges › says when the first comes, or why none does, to merchant and partner', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeOnboarded(app.ctx, scope);
  const dashboard = startVisitor(app.url);
  dashboard.cookies.set('dashboard-session', await sessionOf(app.ctx, scope, merchant));
  const viewer = await portalVisitor(app.ctx, app.url, partner.id, 'viewer');
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2999-01-31' });
  const says = async (text: string) => {
    for (const page of [dashboard.open(`/dashboard/plans/${plan.id}`), viewer.open(`/portal/plans/${plan.id}`)]) {
      assert.equal(empty((await page).html), `No charges yet ${text}`);
    }
  };
  await says('The next charge is on Jan 31, 2999.');
  await app.db.sql`update plans set state = 'paused', due_at = null where id = ${plan.id}`;
  await says('The plan is paused. Once it is active again, each charge appears here on its date.');
  await app.db.sql`update plans set state = 'ended', next_on = null, ended_at = now() where id = ${plan.id}`;
  await says('The plan ended before its first charge.');
});
