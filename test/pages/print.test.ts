import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { openBrowser } from '../support/browser/browser.ts';
import { openWith, press, see } from '../support/browser/wallet-pages.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { newAccount } from '../support/people/merchants.ts';
import { portalPerson } from '../support/people/portal.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

test('a request that waits, and the cashier’s screen → their QR code is on paper, and nothing to press is', async () => {
  const { ctx, scope, merchant, url } = fixtures;
  const { id } = await fixtures.request();
  const page = await browser.newPage();
  const value = await sessionOf(ctx, scope, merchant);
  await page.context().addCookies([{ name: 'dashboard-session', value, url }]);
  await page.emulateMedia({ media: 'print' });
  for (const path of [`/dashboard/payments/${id}`, `/dashboard/cashier/${id}`]) {
    await page.goto(url + path);
    assert.ok(await page.locator('.qr svg, .qr img').first().isVisible(), path);
    assert.equal(await page.locator('button:visible, input:visible, nav:visible').count(), 0, path);
  }
  await page.close();
});

test('lists and the team → nothing to press is on paper, no card is empty, and the role of each user is', async () => {
  const { ctx, scope, merchant, url } = fixtures;
  await fixtures.request();
  const page = await browser.newPage();
  await portalPerson(ctx, scope.partnerId, 'developer');
  const { token: owner } = await portalPerson(ctx, scope.partnerId);
  const dashboard = await sessionOf(ctx, scope, merchant);
  await page.context().addCookies([
    { name: 'dashboard-session', value: dashboard, url },
    { name: 'portal-session', value: owner, url },
  ]);
  await page.emulateMedia({ media: 'print' });
  for (const path of [
    '/dashboard',
    '/dashboard/plans',
    '/portal',
    '/portal/team',
    '/portal/keys',
    '/portal/webhooks',
  ]) {
    await page.goto(url + path);
    const controls = page.locator('button:visible, input:visible, nav:visible, .button:visible, [download]:visible');
    assert.deepEqual(await controls.allInnerTexts(), [], path);
    const cards = await page.locator('.card:visible').allInnerTexts();
    assert.ok(!cards.includes(''), path);
  }
  await page.goto(`${url}/portal/team`);
  const role = page.getByLabel('Role of developer-');
  assert.ok(await role.isVisible());
  assert.equal(await role.evaluate((one) => getComputedStyle(one).borderStyle), 'none');
  await page.close();
});

test('a long memo, folded on the screen → it is on paper from beginning to end', async () => {
  const { id } = await fixtures.request({ memo: `${'Rye bread. '.repeat(20)}The end.` });
  const page = await browser.newPage();
  await page.goto(`${fixtures.url}/pay/${id}`);
  const memo = page.locator('.memo');
  assert.ok(!(await memo.isVisible()));
  await page.emulateMedia({ media: 'print' });
  assert.ok(await memo.isVisible());
  await page.close();
});

test('the terms, unfolded before they are accepted → they are on paper from beginning to end', async () => {
  const { ctx, scope } = fixtures;
  const shell = await createShell(ctx, theService, scope, { display_currency: 'EUR' });
  const { page } = await openWith({ browser, app: fixtures }, onboardingUrl(ctx.config, shell, new Date()), []);
  await press(page, 'Continue to your wallet');
  await see(page, 'This browser has no wallet');
  await page.locator('summary', { hasText: 'Enter manually' }).click();
  await page.getByLabel('Wallet address').fill(newAccount().address);
  await press(page, 'Use this address');
  await see(page, 'Sign in with your wallet');
  await page.locator('summary', { hasText: 'Terms' }).click();
  await page.emulateMedia({ media: 'print' });
  const terms = page.locator('.terms');
  assert.ok(await terms.isVisible());
  assert.ok(await terms.evaluate((one) => one.scrollHeight <= one.clientHeight));
  await page.context().close();
});
