import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startApp } from '../support/app.ts';
import { openBrowser, sizes } from '../support/browser/browser.ts';
import { look, see } from '../support/browser/wallet-pages.ts';
import { makePartner, makeRequest } from '../support/fixtures.ts';
import { makeOnboarded, signInMerchant } from '../support/people/merchants.ts';
import { signInPartnerUser } from '../support/people/people.ts';
import type { Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let browser: Browser;

before(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
  fixtures = await makePartner(app.db);
});
after(async () => {
  await browser.close();
  await app.stop();
});

/** A phone's browser in which somebody is signed in. */
async function phoneOf({ cookies }: Visitor): Promise<Page> {
  const context = await browser.newContext({ viewport: sizes.phone });
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: app.url })));
  return context.newPage();
}

test('A partner without anything yet → each page leads with its first step, without filters', async () => {
  const page = await phoneOf((await signInPartnerUser(app, fixtures)).visitor);
  await page.goto(`${app.url}/portal`);
  assert.equal(await page.locator('main .button.primary').textContent(), 'Getting started');
  await page.goto(`${app.url}/portal/keys`);
  assert.equal(await page.getByRole('button', { name: 'Create key' }).isVisible(), true);
  const weight = (label: string) => page.getByLabel(label).evaluate((one) => getComputedStyle(one).fontWeight);
  assert.deepEqual([await weight('Name'), await weight('Expires')], ['400', '400'], 'not bold as their labels');
  await look(page, 'first-day-keys');
  await page.goto(`${app.url}/portal/merchants`);
  assert.equal(await page.getByRole('button', { name: 'Create merchant' }).isVisible(), true);
  assert.equal(await page.getByRole('button', { name: 'Apply' }).isVisible(), false);
  await look(page, 'first-day-merchants');
  await page.goto(`${app.url}/portal/requests`);
  assert.equal(await page.getByRole('button', { name: 'Apply' }).isVisible(), false);
  await page.goto(`${app.url}/portal/requests?status=paid`);
  assert.equal(await page.getByRole('button', { name: 'Apply' }).isVisible(), true, 'a filter that finds nothing');
  await page.context().close();
});

test('A merchant’s first day → no periods or filters to choose, until a request comes', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  const home = await phoneOf(visitor);
  await home.goto(`${app.url}/dashboard`);
  await see(home, 'Your payments will appear here');
  assert.equal(await home.getByRole('link', { name: '30 days' }).count(), 0);
  await look(home, 'first-day-home');
  const list = await home.context().newPage();
  await list.goto(`${app.url}/dashboard/payments`);
  await see(list, 'Your requests will appear here');
  assert.equal(await list.getByLabel('Search').isVisible(), false);

  await makeRequest(app.db, fixtures.test, { id, wallet: account.address.toLowerCase() }, { memo: 'Two loaves' });
  await list.reload();
  await see(list, 'Two loaves');
  const [from, to] = [await list.getByLabel('From').boundingBox(), await list.getByLabel('To').boundingBox()];
  assert.equal(from?.y, to?.y, 'a period’s days stand side by side');
  await list.goto(`${app.url}/dashboard`);
  await list.getByRole('link', { name: '30 days' }).waitFor();
  await home.context().close();
});
