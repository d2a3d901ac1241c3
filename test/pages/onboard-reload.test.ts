import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { startApp } from '../support/app.ts';
import { openBrowser } from '../support/browser/browser.ts';
import { look, openWith, press, see } from '../support/browser/wallet-pages.ts';
import { makePartner } from '../support/fixtures.ts';
import { newAccount } from '../support/people/merchants.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let browser: Browser;
let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };

before(async () => {
  [app, browser] = await Promise.all([startApp({ clock }), openBrowser()]);
  fixtures = await makePartner(app.db);
});
after(async () => {
  await browser.close();
  await app.stop();
});

/** Opens the page on which a new merchant’s wallet is typed, in a browser without a wallet. */
async function toWallet() {
  const merchant = await createShell(app.ctx, theService, fixtures.test, { display_currency: 'EUR' });
  const { page } = await openWith({ browser, app }, onboardingUrl(app.ctx.config, merchant, clock.now()), []);
  await press(page, 'Continue to your wallet');
  await see(page, 'This browser has no wallet');
  await page.locator('summary', { hasText: 'Enter manually' }).click();
  return page;
}

test('A page that is reloaded while its owner signs elsewhere › what was typed and the message to sign are still there', async () => {
  const page = await toWallet();
  const account = newAccount();
  const address = page.getByLabel('Wallet address');
  await address.fill(account.address);
  await page.reload();
  assert.equal(await address.inputValue(), account.address);
  assert.ok(await address.isVisible());
  await press(page, 'Use this address');

  const message = page.locator('pre').first();
  await see(page, 'Sign in with your wallet');
  await page.getByLabel('I have read and accept the terms').check();
  const signed = await message.textContent();
  await page.reload();
  assert.equal(await message.textContent(), signed);
  assert.ok(await page.getByLabel('I have read and accept the terms').isChecked());
  const signature = page.getByLabel('Signature');
  if (!(await signature.isVisible())) await page.locator('summary', { hasText: 'Enter manually' }).click();
  await signature.fill(await account.signMessage({ message: signed ?? '' }));
  await page.reload();
  assert.ok(await signature.isVisible());
  await look(page, 'onboard-reloaded');
  await press(page, 'Finish');
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('A page that is opened anew, or whose message has expired › begins anew', async () => {
  const page = await toWallet();
  const account = newAccount();
  const address = page.getByLabel('Wallet address');
  await address.fill(account.address);
  await page.goto(page.url());
  assert.equal(await address.inputValue(), '', 'opened anew');
  await page.goto(`${app.url}/openapi.json`);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'a page without input leaves nothing');
  await page.goBack();
  await page.locator('summary', { hasText: 'Enter manually' }).click();
  await address.fill(account.address);
  await press(page, 'Use this address');
  await see(page, 'Sign in with your wallet');
  const message = page.locator('pre').first();
  const old = await message.textContent();
  offsetMs = 15 * 60_000;
  await page.reload().finally(() => {
    offsetMs = 0;
  });
  assert.notEqual(await message.textContent(), old, 'expired');
  await page.context().close();
});
