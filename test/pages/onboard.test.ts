import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import { setBranding } from '../../src/partners/branding.ts';
import { startApp } from '../support/app.ts';
import { openBrowser } from '../support/browser/browser.ts';
import { type PageWallet, pageWallet } from '../support/browser/wallet-in-page.ts';
import { look, openWith, press, see } from '../support/browser/wallet-pages.ts';
import { makePartner } from '../support/fixtures.ts';
import { newAccount } from '../support/people/merchants.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let browser: Browser;
let chains: PageWallet['chains'];
let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };

before(async () => {
  [app, browser] = await Promise.all([startApp({ clock }), openBrowser()]);
  chains = app.ctx.chains.test;
  for (const chain of chains) chain.name = 'Base Sandbox';
  fixtures = await makePartner(app.db);
  await setBranding(app.ctx, theService, fixtures.partner.slug, { accent: '#0a7d5a' });
});
after(async () => {
  await browser.close();
  await app.stop();
});

const wallet = (details: Partial<PageWallet> = {}) => pageWallet({ chains: [...chains], ...details });

const open = (url: string, wallets: PageWallet[]) => openWith({ browser, app }, url, wallets);

async function shell(details: Record<string, string> = {}) {
  const business = { display_currency: 'EUR', business_name: 'Ada’s Bakery', country: 'DE' };
  const merchant = await createShell(app.ctx, theService, fixtures.test, { ...business, ...details });
  return { id: merchant.id, url: onboardingUrl(app.ctx.config, merchant, clock.now()) };
}

/** Opens the page on which the wallet is connected, from the link. */
async function toWallet(url: string, wallets: PageWallet[]) {
  const opened = await open(url, wallets);
  await press(opened.page, 'Continue to your wallet');
  await see(opened.page, 'Which wallet receives the payments?');
  return opened;
}

/** Continues to the page on which the wallet signs, and accepts the terms. */
async function toSign(url: string, wallets: PageWallet[]) {
  const opened = await toWallet(url, wallets);
  await press(opened.page, `Connect ${wallets[0]?.name}`);
  await opened.page.getByLabel('I have read and accept the terms').check();
  return opened;
}

test('A merchant connects one of its wallets, reads the terms, signs, and is in its dashboard', async () => {
  const { id, url } = await shell();
  const wallets = [wallet({ name: 'Rabbit' }), wallet({ name: 'Fox' })];
  const { page, complaints } = await open(url, wallets);
  await see(page, 'invites you to receive payments in stablecoins');
  assert.equal(await page.getByLabel('Business name').inputValue(), 'Ada’s Bakery');
  assert.equal(await page.getByLabel('Currency').inputValue(), 'EUR', 'the partner’s stays');
  assert.equal(await page.getByLabel('Country').isVisible(), false, 'what customers do not see can wait');
  await look(page, 'onboard-1-details');
  await page.locator('summary', { hasText: 'More details' }).click();
  assert.equal(await page.getByLabel('Country').inputValue(), 'DE');
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await press(page, 'Continue to your wallet');

  await page.getByRole('button', { name: 'Connect Rabbit' }).waitFor();
  assert.equal(await page.locator('.wallets img').count(), 2, 'each with its icon');
  await look(page, 'onboard-2-wallet');
  await press(page, 'Connect Fox');
  await see(page, 'Sign in with your wallet');
  assert.deepEqual(
    wallets[0]?.asked.filter(({ method }) => method === 'eth_requestAccounts'),
    [],
  );
  await look(page, 'onboard-3-sign');

  await page.reload();
  await page.locator('summary', { hasText: 'Terms, version' }).click();
  await look(page, 'onboard-4-terms');
  await press(page, 'Sign with Fox');
  assert.equal((await readMerchant(app.ctx, fixtures.test, id))?.onboarded_at, null, 'not without accepting the terms');
  await page.getByLabel('I have read and accept the terms').check();
  await press(page, 'Sign with Fox');
  await page.waitForURL('**/dashboard');
  await see(page, 'You are ready to receive payments');
  await look(page, 'onboard-5-dashboard');
  const merchant = await readMerchant(app.ctx, fixtures.test, id);
  assert.ok(merchant?.onboarded_at);
  assert.equal(merchant.wallet_address, wallets[1]?.account.address.toLowerCase());
  assert.equal(merchant.display_name, 'Ada Lovelace');
  assert.deepEqual(complaints, []);

  const again = await page.goto(url.replace(/^.*(?=\/onboard)/, app.url));
  assert.equal(again?.status(), 200);
  assert.equal(new URL(page.url()).pathname, '/dashboard', 'a finished link leads where it led');
  await page.context().clearCookies();
  const elsewhere = await page.goto(url.replace(/^.*(?=\/onboard)/, app.url));
  assert.equal(elsewhere?.status(), 410);
  await see(page, 'Already set up');
  await look(page, 'onboard-6-used');
  await page.getByRole('link', { name: 'Sign in' }).click();
  await see(page, 'Sign in to your dashboard');
  await page.context().close();
});

test('A browser that blocks what pages store → its wallet signs all the same', async () => {
  const { id, url } = await shell();
  const wallets = [wallet({ name: 'Rabbit' })];
  const { page } = await open('/', wallets);
  await page.addInitScript(() => {
    for (const name of ['sessionStorage', 'localStorage']) {
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException('blocked', 'SecurityError');
        },
      });
    }
  });
  await page.goto(url.replace(/^.*(?=\/onboard)/, app.url));
  await press(page, 'Continue to your wallet');
  await press(page, 'Connect Rabbit');
  await page.getByLabel('I have read and accept the terms').check();
  await press(page, 'Sign with Rabbit');
  await see(page, 'You are ready to receive payments');
  assert.ok((await readMerchant(app.ctx, fixtures.test, id))?.onboarded_at);
});

test('A merchant without a wallet in this browser sees that, and signs elsewhere with the keyboard alone', async () => {
  const { id, url } = await shell();
  const account = newAccount();
  const { page } = await toWallet(url, []);
  await see(page, 'This browser has no wallet. Open this page in your wallet app'); // a window too narrow for a code
  await look(page, 'onboard-no-wallet');
  await page.locator('summary', { hasText: 'Enter manually' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Wallet address').focus();
  await page.keyboard.type(account.address);
  await page.keyboard.press('Enter');
  await see(page, 'Sign in with your wallet');
  await page.locator('summary', { hasText: 'Enter manually' }).focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Signature').waitFor();
  const message = (await page.locator('pre').textContent()) ?? '';
  await look(page, 'onboard-manual');
  await page.getByLabel('I have read and accept the terms').focus();
  await page.keyboard.press('Space');
  await page.getByLabel('Signature').focus();
  await page.keyboard.type(await account.signMessage({ message }));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/dashboard');
  assert.ok((await readMerchant(app.ctx, fixtures.test, id))?.onboarded_at);
  await page.context().close();
});

test('A browser without script goes the whole way by forms', async () => {
  const { id, url } = await shell();
  const account = newAccount();
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(app.url + new URL(url).pathname);
  await page.locator('summary', { hasText: 'More details' }).click();
  await page.getByLabel('Country').selectOption('FR');
  await press(page, 'Continue to your wallet');
  await page.getByLabel('Wallet address').fill(account.address);
  await press(page, 'Use this address');
  const message = (await page.locator('pre').textContent()) ?? '';
  await page.getByLabel('I have read and accept the terms').check();
  await page.getByLabel('Signature').fill(await account.signMessage({ message }));
  await press(page, 'Finish');
  await see(page, 'You are ready to receive payments');
  assert.equal((await readMerchant(app.ctx, fixtures.test, id))?.country, 'FR');
  await context.close();
});

test('A merchant who declines in the wallet sees that nothing happened, and can continue', async () => {
  const { url } = await shell();
  const mine = wallet();
  mine.declines.add('eth_requestAccounts');
  const { page } = await toWallet(url, [mine]);
  await press(page, 'Connect Test Wallet');
  await see(page, 'You declined in Test Wallet');
  await look(page, 'onboard-declined-connect');
  mine.declines.clear();
  await press(page, 'Connect Test Wallet');
  await page.getByLabel('I have read and accept the terms').check();
  mine.declines.add('personal_sign');
  await press(page, 'Sign with Test Wallet');
  await see(page, 'You declined in Test Wallet');
  await look(page, 'onboard-declined-sign');
  mine.declines.clear();
  await press(page, 'Sign with Test Wallet');
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('While the wallet asks its owner, the page says what it waits for', async () => {
  const { url } = await shell();
  const mine = wallet();
  const { page } = await toSign(url, [mine]);
  const held = Promise.withResolvers<void>();
  mine.before = (method) => (method === 'personal_sign' ? held.promise : undefined);
  await press(page, 'Sign with Test Wallet');
  await see(page, 'Confirm the signature in Test Wallet.');
  assert.equal(await page.getByRole('button', { name: 'Sign with Test Wallet' }).isDisabled(), true);
  await look(page, 'onboard-signing');
  held.resolve();
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('A wallet on another network is switched, has an unknown network added, or is refused in plain words', async () => {
  const elsewhere = { ...chains[0], chainId: 1, name: 'Elsewhere' } as (typeof chains)[0];
  const moved = wallet({ chains: [elsewhere, ...chains], chainId: 1 });
  const first = await toWallet((await shell()).url, [moved]);
  await press(first.page, 'Connect Test Wallet');
  await see(first.page, 'Sign in with your wallet');
  assert.equal(moved.chainId, 31337);
  await first.page.context().close();

  const stays = wallet({ chains: [elsewhere], chainId: 1 });
  const second = await toWallet((await shell()).url, [stays]);
  await press(second.page, 'Connect Test Wallet');
  await see(second.page, /Test Wallet is on a network that is not available here. Switch it to Base Sandbox/);
  await look(second.page, 'onboard-wrong-network');

  for (const chain of chains) chain.publicRpcUrl = chain.rpcUrls[0] as string;
  stays.addable.push(...chains);
  await second.page.reload();
  await press(second.page, 'Connect Test Wallet');
  await see(second.page, 'Sign in with your wallet');
  assert.equal(stays.chainId, 31337, 'learnt to know it');
  await second.page.context().close();
});

test('A form that names a network which is not offered is refused in plain words', async () => {
  const { page } = await toWallet((await shell()).url, []);
  await page.locator('summary', { hasText: 'Enter manually' }).click();
  await page.getByLabel('Wallet address').fill(newAccount().address);
  await page.locator('[name="chain_id"]').evaluate((field: HTMLInputElement) => {
    field.value = '1';
  });
  await press(page, 'Use this address');
  await see(page, 'Your wallet is on a network that is not available here');
  await look(page, 'onboard-network-refused');
  await page.context().close();
});

test('Another wallet than the one announced is refused, and the announced one is taken', async () => {
  const announced = wallet({ name: 'Announced' });
  const { url } = await shell({ wallet_address: announced.account.address.toLowerCase() });
  const { page } = await toWallet(url, [wallet({ name: 'Other' }), announced]);
  await see(page, /named the wallet 0x/);
  await press(page, 'Connect Other');
  await see(page, 'This is not the expected wallet');
  await look(page, 'onboard-not-announced');
  await press(page, 'Connect Announced');
  await page.getByLabel('I have read and accept the terms').check();
  await press(page, 'Sign with Announced');
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('A wallet that another merchant has is refused, and another one is taken', async () => {
  const taken = wallet({ name: 'Taken' });
  const first = await toSign((await shell()).url, [taken]);
  await press(first.page, 'Sign with Taken');
  await first.page.waitForURL('**/dashboard');
  await first.page.context().close();

  const { page } = await toSign((await shell()).url, [taken, wallet({ name: 'Free' })]);
  await press(page, 'Sign with Taken');
  await see(page, 'This wallet already belongs to another merchant');
  await look(page, 'onboard-taken');
  await press(page, 'Connect Free');
  await page.getByLabel('I have read and accept the terms').check();
  await press(page, 'Sign with Free');
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('A wallet whose owner chose another account meanwhile → the page says which account to use', async () => {
  const mine = wallet();
  const { page } = await toSign((await shell()).url, [mine]);
  const { account } = mine;
  mine.account = newAccount();
  await press(page, 'Sign with Test Wallet');
  await see(page, /Test Wallet is using another account. Switch to 0x/);
  await look(page, 'onboard-other-account');
  mine.account = account;
  await press(page, 'Sign with Test Wallet');
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('A browser asks for the e-mail code once, and a reload continues', async () => {
  const email = 'ada@example.com';
  const { url } = await shell({ email });
  const { page } = await open(url, []);
  await look(page, 'onboard-email-1');
  await see(page, 'Not your address? Ask');
  await press(page, 'Send me a code');
  await page.getByLabel('Six-digit code').waitFor();
  await look(page, 'onboard-email-2');
  await page.getByLabel('Six-digit code').fill('12');
  await press(page, 'Continue');
  await see(page, 'This code is not correct');
  await look(page, 'onboard-email-3-wrong');
  const [mail] = await app.db.sql`select subject from mails where recipient = ${email}`;
  await page.getByLabel('Six-digit code').fill(mail?.subject.slice(0, 6));
  await press(page, 'Continue');
  await see(page, 'Who receives the payments?');
  await page.reload();
  await see(page, 'Who receives the payments?');
  await look(page, 'onboard-email-4-details');
  await page.context().close();
});

test('An expired or invalid link says what to do', async () => {
  const { url } = await shell();
  offsetMs = 7 * 24 * 3_600_000 + 1000;
  const { page } = await open(url, []).finally(() => {
    offsetMs = 0;
  });
  await see(page, 'This link has expired');
  await look(page, 'onboard-expired');
  await page.goto(`${app.url}/onboard/nothing`);
  await see(page, 'This link is not valid');
  await look(page, 'onboard-unknown');
  await page.context().close();
});
