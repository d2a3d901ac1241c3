import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { buildServer } from '../../src/http/server.ts';
import { openRequest } from '../../src/requests/open.ts';
import { createDeliveryDeps } from '../../src/webhooks/deliver.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { deliverDue } from '../support/deliver-due.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { behaviours, startReceiver } from '../support/net/receiver.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { portalPerson } from '../support/people/portal.ts';

let fixtures: PayFixtures;
let app: FastifyInstance;
let browser: Browser;
let url: string;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
/** Policy violations and script errors on the pages. */
const complaints: string[] = [];

before(async () => {
  [fixtures, browser, receiver] = await Promise.all([payFixtures(), openBrowser(), startReceiver()]);
  app = await buildServer(fixtures.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await browser?.close();
  await app?.close();
  await receiver?.close();
  await fixtures?.stop();
});

/** A browser in which an owner is signed in. */
async function openPage(partnerId = fixtures.scope.partnerId): Promise<Page> {
  const { token } = await portalPerson(fixtures.ctx, partnerId);
  const context = await browser.newContext({ viewport: sizes.desktop });
  await context.addCookies([{ name: 'portal-session', value: token, url }]);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return page;
}

/** Takes pictures. Asserts no sideways overflow on a phone, and no serious axe finding in light or dark. */
async function look(page: Page, name: string): Promise<void> {
  await photograph(page, `portal-${name}`);
  await page.setViewportSize(sizes.phone);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), sizes.phone.width, name);
  await page.setViewportSize(sizes.desktop);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
}

/** A request that was verified some days ago, for the chart. */
async function paidBefore(days: number, fiatInt: number, fiatCode = 'EUR'): Promise<void> {
  const row = await makeRequest(fixtures.db, fixtures.scope, fixtures.merchant, { fiatInt, fiatCode });
  const at = new Date(Date.now() - days * 86_400_000 - fiatInt * 1000);
  await fixtures.db.sql`
    update requests set created_at = ${at}, expires_at = ${new Date(at.getTime() + 900_000)}, proof_status = 'verified',
      proof_verified_at = ${new Date(at.getTime() + 30_000)}, tx_hash = ${`0x${'ab'.repeat(32)}`},
      payer_address = ${`0x${'cd'.repeat(20)}`} where id = ${row.id}`;
}

test('a list of requests on a small desktop, or zoomed in → shows all its columns', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  await makeRequest(fixtures.db, scope, merchant, {
    memo: 'Table 12, two large loaves and a coffee',
    fiatInt: 123_456,
  });
  const page = await openPage(partner.id);
  await page.setViewportSize({ width: 1024, height: 640 });
  await page.goto(`${url}/portal/requests?mode=test`);
  const hidden = await page.locator('.table').evaluate((table) => table.scrollWidth - table.clientWidth);
  assert.equal(hidden, 0);
  await page.context().close();
});

test('a new partner’s overview → shows a first call to paste', async () => {
  const { partner } = await makePartner(fixtures.db);
  const page = await openPage(partner.id);
  await page.goto(`${url}/portal`);
  await page.getByText('Your requests will appear here').waitFor();
  await look(page, 'overview-new');
  await page.goto(`${url}/portal/requests`);
  await look(page, 'requests-none');
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.waitForURL(/mode=live/);
  assert.equal(await page.getByText('Test mode.').count(), 0);
  await page.context().close();
});

test('a chart › one stop of the Tab key; the arrow keys go through its columns, and each says its values', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const makePaid = async () => {
    const row = await makeRequest(fixtures.db, scope, merchant, { fiatInt: 4_200 });
    await fixtures.db.sql`
      update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = ${`0x${'ab'.repeat(32)}`},
        payer_address = wallet_address where id = ${row.id}`;
  };
  await makePaid();
  const page = await openPage(partner.id);
  await page.goto(`${url}/portal?days=90`);
  const columns = page.locator('.chart svg [aria-label]');
  assert.equal(await columns.count(), 90);
  assert.equal(await page.locator('.chart svg [tabindex="0"]').count(), 1);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  const named = (at: number) => columns.nth(at).getAttribute('aria-label');
  await columns.last().focus();
  const said = page.locator('.chart [data-values]');
  for (const [key, at] of [
    ['ArrowRight', 89],
    ['ArrowLeft', 88],
    ['Home', 0],
    ['ArrowLeft', 0],
    ['ArrowRight', 1],
    ['End', 89],
  ] as const) {
    await page.keyboard.press(key);
    assert.equal(await focused(), await named(at), key);
    assert.equal(await said.textContent(), await named(at), key);
  }
  assert.match((await said.textContent()) ?? '', /€42\.00/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'SUMMARY');
  await makePaid();
  await columns.last().and(page.getByLabel('€84.00')).waitFor();
  await page.keyboard.press('Shift+Tab');
  assert.equal(await focused(), await named(88), 'the way back leads to the same column');
  await look(page, 'chart');
  await page.context().close();
});

test('the pages Requests, a request’s timeline and Unmatched payments work in the browser', async () => {
  const { scope, node } = fixtures;
  await setUrl(fixtures.ctx, theService, scope, `${receiver.url}/hook`);
  for (let day = 0; day < 12; day++) await paidBefore(day, 4_000 + ((day * 7919) % 9_000));
  await paidBefore(3, 5_000, 'JPY');
  const paid = await fixtures.request({
    memo: 'Table 4, with a memo that goes on for longer than a line of a table can hold it',
  });
  await openRequest(fixtures.ctx, scope, paid.id);
  const part = await fixtures.request({ metadata: '{"order":"A-1042","shop":"Berlin"}' });
  await fixtures.pay(paid);
  await fixtures.pay(part, { usdcMicro: 3_000_000n });
  await node.mine(4);
  await fixtures.turn();
  await fixtures.turn();
  await fixtures.pay(paid);
  await fixtures.turn();
  receiver.behave(behaviours.status(500));
  await deliverDue(fixtures.ctx, createDeliveryDeps(fixtures.ctx));
  const open = await fixtures.request({ memo: 'Two loaves' });

  const page = await openPage();
  await page.goto(`${url}/portal`);
  await page.getByText('Your webhook is failing').waitFor();
  await look(page, 'overview');
  await page.goto(`${url}/portal?days=30&currency=JPY`);
  await page.getByText('Paid, in JPY').first().waitFor();

  await page.goto(`${url}/portal/requests`);
  await look(page, 'requests');
  await page.getByLabel('Search').fill('A-1042');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.waitForURL(/q=A-1042/);
  assert.equal(await page.locator('tbody tr').count(), 1);
  await page.locator('tbody th a').click();
  await page.getByText('USDC is missing').waitFor();
  await look(page, 'request-underpaid');

  await page.goto(`${url}/portal/requests/${paid.id}`);
  await page.getByText('A second payment arrived').waitFor();
  await page.getByText('it answered 500').waitFor();
  await look(page, 'request-paid');
  await page.getByRole('link', { name: /^Event sent to / }).click();
  await page.waitForURL(/\/portal\/webhooks\/deliveries\/[0-9a-f-]{36}(\?mode=test)?#attempt-1$/);
  await page.locator('#attempt-1').waitFor({ state: 'visible' });
  await page.goto(`${url}/portal/requests/${paid.id}`);
  await page.locator('summary', { hasText: 'Resend event' }).click();
  await page.getByRole('button', { name: 'Resend event' }).click();
  await page.getByText('Resending the event.').waitFor();
  receiver.behave(behaviours.status(200));
  await deliverDue(fixtures.ctx, createDeliveryDeps(fixtures.ctx));
  await page.getByText('Event delivered to').waitFor();

  await page.goto(`${url}/portal/unmatched`);
  await page.getByText('The request was already paid').last().waitFor();
  await look(page, 'unmatched');

  await page.goto(`${url}/portal/requests/${open.id}`);
  await page.locator('summary', { hasText: 'Cancel request' }).click();
  await look(page, 'request-cancel');
  await page.getByRole('button', { name: 'Cancel request' }).click();
  await page.getByText('The request is cancelled.').waitFor();
  await page.context().close();
});

test('pages renew themselves: the list shows a new request, a detail its payment, without a reload', async () => {
  const page = await openPage();
  await page.goto(`${url}/portal/requests`);
  await page.evaluate(() => Object.assign(window, { stays: true }));
  const request = await fixtures.request({ memo: 'Just now' });
  await page.getByText('Just now').waitFor();
  await page.locator(`a[href="/portal/requests/${request.id}"]`).waitFor();
  assert.equal(await page.evaluate(() => 'stays' in window), true);

  await page.goto(`${url}/portal/requests/${request.id}`);
  await page.evaluate(() => Object.assign(window, { stays: true }));
  await fixtures.pay(request);
  await fixtures.turn();
  await page.getByText('of 2 confirmations').waitFor();
  await fixtures.node.mine(3);
  await fixtures.turn();
  await page.locator('.badge.paid').waitFor();
  assert.equal(await page.evaluate(() => 'stays' in window), true);
  assert.deepEqual(complaints, []);
  await page.context().close();
});
