import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { makeOnboarded, signInMerchant } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { makePlan } from '../support/plans.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let scope: Scope;
before(async () => {
  app = await startApp();
  await setRate(app.db, 'EUR', '0.92');
  ({ test: scope } = await makePartner(app.db));
});
after(() => app?.stop());

const blanks = ['', '  ', '\u0001\u0085', '\u200b\u2060', '\u3164', '\u2800'];

/** A merchant with such a name, and the pay page of a request of it. */
async function named(business: string | null, display: string | null) {
  const merchant = await makeMerchant(app.db, scope);
  await app.db
    .sql`update merchants set business_name = ${business}, display_name = ${display} where id = ${merchant.id}`;
  const request = await makeRequest(app.db, scope, merchant);
  const page = await fetch(`${app.url}/pay/${request.id}`);
  return { merchant, page: await page.text() };
}

test('A merchant whose business name shows nothing → pay page and portal call it by its other name, or as without', async () => {
  const portal = await portalVisitor(app.ctx, app.url, scope.partnerId);
  for (const blank of blanks) {
    const { merchant, page } = await named(blank, 'Ada’s Bakery');
    assert.match(page, /Ada’s Bakery/, JSON.stringify(blank));
    const list = (await portal.open('/portal/merchants?mode=test')).html;
    assert.match(list, new RegExp(`href="/portal/merchants/${merchant.id}"><span dir="auto">Ada’s Bakery</span>`));
  }
  const { merchant, page } = await named('\u200b', ' ');
  const without = await named(null, null);
  const heading = (text: string) => /<title>(.*?)<\/title>/s.exec(text)?.[1];
  assert.match(heading(page) ?? '', /Corner Shops Ltd/);
  assert.equal(heading(page), heading(without.page));
  const list = (await portal.open('/portal/merchants?mode=test')).html;
  assert.match(list, new RegExp(`href="/portal/merchants/${merchant.id}"><span dir="auto">[^<]*[a-z]`));
});

test('A request whose customer’s name shows nothing → the merchant’s list calls it by its purpose or receipt number', async () => {
  const { id, account } = await makeOnboarded(app.ctx, scope);
  const merchant = { id, wallet: account.address.toLowerCase() };
  const { visitor } = await signInMerchant(app.url, account);
  const purposes = [
    ['', '\u200b\nTwo loaves', 'Two loaves'],
    ['\u3164', null, 'Q-\\d'],
  ] as const;
  for (const [customerName, memo, name] of purposes) {
    const request = await makeRequest(app.db, scope, merchant, { customerName, memo });
    const list = (await visitor.open('/dashboard/payments')).html;
    assert.match(list, new RegExp(`href="/dashboard/payments/${request.id}">${name}`));
  }
});

test('A plan whose name shows nothing → lists of merchant and partner call it by its day', async () => {
  const merchant = await makeOnboarded(app.ctx, scope);
  const plan = await makePlan(app.ctx, scope, merchant, { name: '\u200b' });
  const { visitor } = await signInMerchant(app.url, merchant.account);
  const portal = await portalVisitor(app.ctx, app.url, scope.partnerId);
  for (const [page, path] of [
    [await visitor.open('/dashboard/plans'), '/dashboard/plans'],
    [await portal.open('/portal/plans?mode=test'), '/portal/plans'],
  ] as const) {
    assert.match(page.html, new RegExp(`href="${path}/${plan.id}">Plan `));
  }
});

test('A request whose customer or memo shows nothing → no line without a value, for merchant and partner', async () => {
  const { id, account } = await makeOnboarded(app.ctx, scope);
  const merchant = { id, wallet: account.address.toLowerCase() };
  const { visitor } = await signInMerchant(app.url, account);
  const portal = await portalVisitor(app.ctx, app.url, scope.partnerId);
  const terms = ({ html }: { html: string }) => [...html.matchAll(/<dt>(.*?)<\/dt>/gs)].map(([, name]) => name);
  const request = await makeRequest(app.db, scope, merchant, { customerName: '', memo: '\u200b' });
  const shown = [
    ...terms(await visitor.open(`/dashboard/payments/${request.id}`)),
    ...terms(await portal.open(`/portal/requests/${request.id}?mode=test`)),
  ];
  assert.ok(shown.includes('Request ID'));
  assert.deepEqual(
    shown.filter((name) => ['Customer', 'Note', 'Memo'].includes(name ?? '')),
    [],
  );
});
