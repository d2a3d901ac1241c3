import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { planPageUrl } from '../../src/plans/link.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makePartner, setRate } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { makePlan } from '../support/plans.ts';

type App = Awaited<ReturnType<typeof startApp>>;
let withoutContract: App;
let withoutKey: App;
before(async () => {
  withoutContract = await startApp();
  withoutKey = await startApp({ config: testConfig({ relayer: { signers: [] } }) });
  for (const { db } of [withoutContract, withoutKey]) await setRate(db, 'EUR', '0.92');
});
after(() => Promise.all([withoutContract?.stop(), withoutKey?.stop()]));

async function shop(app: App) {
  const { test: scope, live } = await makePartner(app.db);
  const merchant = await makeOnboarded(app.ctx, scope);
  const visitor = startVisitor(app.url);
  visitor.cookies.set('dashboard-session', await sessionOf(app.ctx, scope, merchant));
  return { scope, live, merchant, visitor };
}

const typed = { name: 'Rent', amount: '450', customer_name: 'Grace Hopper', collect: 'automatic', cap: '500' };

test('Without a contract or a relayer’s key the form says why there are no automatic charges, and makes none', async () => {
  for (const [app, why] of [
    [withoutContract, 'no network has the contract that makes them'],
    [withoutKey, 'the operator has not set up the key that sends them'],
  ] as const) {
    const { visitor, merchant } = await shop(app);
    const page = await visitor.open('/dashboard/plans/new');
    assert.ok(page.html.includes(why), why);
    const review = await visitor.send(page, '/dashboard/plans/new', { ...typed, step: 'review' });
    assert.ok(review.html.includes('Send a link'));
    await visitor.send(review, '/dashboard/plans/new', { step: 'start', collect: 'automatic' });
    const [plan] = await app.db.sql`select collect, cap_fiat_int from plans where account_id = ${merchant.id}`;
    assert.deepEqual([plan?.collect, plan?.cap_fiat_int], ['link', null]);
  }
});

test('A plan that was automatic while it could be shows its customer that nothing can be agreed to now', async () => {
  const { scope, merchant } = await shop(withoutContract);
  const plan = await makePlan(withoutContract.ctx, scope, merchant, { collect: 'automatic', capFiatInt: 8000 });
  const path = new URL(planPageUrl(withoutContract.ctx.config, plan.id)).pathname;
  const page = await fetch(withoutContract.url + path);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /You cannot agree right now/);
  const offer = await fetch(`${withoutContract.url}${path}/offer`, { method: 'POST', body: new URLSearchParams() });
  assert.deepEqual([offer.status, await offer.json()], [409, { fault: 'none' }]);
});

test('A plan’s change is for its merchant alone, keeps what was typed, and says what is wrong', async () => {
  const { scope, merchant, visitor } = await shop(withoutContract);
  const plan = await makePlan(withoutContract.ctx, scope, merchant, {});
  const path = `/dashboard/plans/${plan.id}/change`;
  const page = await visitor.open(path);
  const wrong = await visitor.send(page, '/change', { amount: 'much' });
  assert.equal(wrong.status, 400);
  assert.ok(wrong.html.includes('value="much"'));
  const changed = await visitor.send(page, '/change', { amount: '95.50' });
  assert.ok(changed.html.includes('€95.50'));
  const acts = await withoutContract.db.sql`
    select actor_kind, details::text as details from audit_log
    where object_id = ${plan.id} and action = 'plan.changed'`;
  assert.deepEqual([...acts], [{ actor_kind: 'merchant', details: '{"amount":9550,"currency":"EUR"}' }]);
  const stranger = await shop(withoutContract);
  assert.equal((await stranger.visitor.open(path)).status, 404);
  assert.ok((await visitor.open(`${path}?lang=de`)).html.includes('value="95,50"'), 'written as it is read');
});
