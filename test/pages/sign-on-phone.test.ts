import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { startApp, testConfig } from '../support/app.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, sizes, snap } from '../support/browser/browser.ts';
import { startRelay } from '../support/browser/relay.ts';
import { walletElsewhere } from '../support/browser/wallet-elsewhere.ts';
import { look, press, see } from '../support/browser/wallet-pages.ts';
import { makePartner } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';

let relay: Awaited<ReturnType<typeof startRelay>>;
/** With WalletConnect, and without. */
let app: Awaited<ReturnType<typeof startApp>>;
let plain: Awaited<ReturnType<typeof startApp>>;
let browser: Browser;

before(async () => {
  relay = await startRelay();
  [app, plain, browser] = await Promise.all([
    startApp({ config: testConfig({ walletConnect: { projectId: 'f'.repeat(32), relayUrl: relay.url } }) }),
    startApp(),
    openBrowser(),
  ]);
});
after(async () => {
  await browser?.close();
  await Promise.all([app?.stop(), plain?.stop()]);
  await relay?.stop();
});

type App = typeof app;
type Device = 'desktop' | 'phone';

/** A browser without a wallet. */
async function open({ url: at }: App, url: string, device: Device) {
  const touch = device === 'phone' && { hasTouch: true, isMobile: true };
  const context = await browser.newContext({ viewport: sizes[device], ...touch });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    // The relay of the tests hands a client that comes back its own proposal again.
    if (!/No listener for session_proposal/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(at + new URL(url, at).pathname);
  return { page, complaints };
}

async function invited({ ctx, db }: App) {
  const { test: scope } = await makePartner(db);
  const merchant = await createShell(ctx, theService, scope, {
    display_currency: 'EUR',
    business_name: 'Ada’s Bakery',
  });
  return { scope, id: merchant.id, url: onboardingUrl(ctx.config, merchant, ctx.clock.now()) };
}

/** A wallet on a phone; a test that fails leaves none behind. */
async function pocket(t: TestContext) {
  const wallet = await walletElsewhere(relay.url, app.ctx.chains.test[0] as ChainConfig);
  t.after(() => wallet.stop());
  return wallet;
}

/** The WalletConnect code on the page. */
async function codeOf(page: Page): Promise<string> {
  await page.locator('.pairing[data-uri^="wc:"]').waitFor();
  return (await page.locator('.pairing').getAttribute('data-uri')) ?? '';
}

/** Another size would take the touch screen away. */
async function lookOnPhone(page: Page, name: string): Promise<void> {
  await assertAccessible(page);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= sizes.phone.width);
  await snap(page, name, true);
}

/** Whether the code of the page's own address can be seen. */
const ownCode = (page: Page) => page.locator('.phone .qr').isVisible();

test('a desktop without a wallet: onboarding and sign-in show a code for the phone, and say what to do', async () => {
  const { url } = await invited(plain);
  const { page } = await open(plain, url, 'desktop');
  await press(page, 'Continue to your wallet');
  await see(page, 'Scan the code with your phone to continue there');
  assert.equal(await ownCode(page), true);
  assert.equal(await page.locator('.phone [role="img"]').getAttribute('aria-label'), `QR code: ${url}`);
  assert.equal(await page.getByRole('link', { name: 'MetaMask' }).isVisible(), false);
  assert.equal(await page.getByLabel('Wallet address').isVisible(), false, 'closed, below');
  await look(page, 'elsewhere-onboard-desktop');
  await page.setViewportSize(sizes.desktop);
  await page.goto(`${plain.url}/dashboard/sign-in`);
  await see(page, 'Scan the code with your phone to continue there');
  assert.equal(await ownCode(page), true);
  await look(page, 'elsewhere-sign-in-desktop');
  await page.context().close();
});

test('a phone without a wallet: onboarding and sign-in show links into wallets, and no code of the page', async () => {
  const { url } = await invited(plain);
  const { page } = await open(plain, url, 'phone');
  await press(page, 'Continue to your wallet');
  await see(page, 'Open this page in your wallet app to continue');
  assert.equal(await ownCode(page), false, 'nobody scans the phone they hold');
  await page.locator('summary', { hasText: 'Open in your wallet app' }).click();
  const link = page.getByRole('link', { name: 'MetaMask' });
  assert.equal(await link.getAttribute('href'), `metamask://dapp/${url.replace(/^https?:\/\//, '')}`);
  await lookOnPhone(page, 'elsewhere-onboard-phone');
  await page.goto(`${plain.url}/dashboard/sign-in`);
  await see(page, 'Open this page in your wallet app to continue');
  await page.locator('summary', { hasText: 'Open in your wallet app' }).click();
  assert.match((await link.getAttribute('href')) ?? '', /\/dashboard\/sign-in$/);
  assert.equal(await ownCode(page), false);
  await lookOnPhone(page, 'elsewhere-sign-in-phone');
  await page.context().close();
});

test('a phone without a wallet: a merchant who changes wallets is shown links into them, too', async () => {
  const { test: scope } = await makePartner(plain.db);
  const merchant = await makeOnboarded(plain.ctx, scope);
  const { page } = await open(plain, '/dashboard/sign-in', 'phone');
  const value = await sessionOf(plain.ctx, scope, merchant);
  await page.context().addCookies([{ name: 'dashboard-session', value, url: plain.url }]);
  await page.goto(`${plain.url}/dashboard/wallet`);
  await page.locator('summary', { hasText: 'Open in your wallet app' }).click();
  const link = page.getByRole('link', { name: 'MetaMask' });
  assert.match((await link.getAttribute('href')) ?? '', /\/dashboard\/wallet$/);
  assert.equal(await ownCode(page), false);
  await lookOnPhone(page, 'elsewhere-change-phone');
  await page.context().close();
});

test('a merchant onboards with a wallet elsewhere: one code, one signature, and the connection ends', async (t) => {
  const { url, scope, id } = await invited(app);
  const wallet = await pocket(t);
  const { page, complaints } = await open(app, url, 'desktop');
  await press(page, 'Continue to your wallet');
  await press(page, 'Connect with WalletConnect');
  const code = await codeOf(page);
  await look(page, 'elsewhere-onboard-code');
  await wallet.scan(code);
  await see(page, 'Sign in with your wallet');
  await page.getByRole('button', { name: 'Sign with Pocket' }).waitFor();
  await look(page, 'elsewhere-onboard-sign');
  await page.getByRole('checkbox').check();
  await press(page, 'Sign with Pocket');
  await page.waitForURL('**/dashboard');
  await wallet.ended;
  assert.equal(wallet.proposed.length, 1);
  assert.equal((await readMerchant(app.ctx, scope, id))?.wallet_address, wallet.address);
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('a merchant signs in with a wallet elsewhere, after declining first', async (t) => {
  const wallet = await pocket(t);
  const { test: scope } = await makePartner(app.db);
  const { id } = await createShell(app.ctx, theService, scope, { display_currency: 'EUR' });
  await onboardWithKey(app.ctx, id, wallet.privateKey);
  const { page } = await open(app, '/dashboard/sign-in', 'desktop');
  wallet.owner.agrees = false;
  await press(page, 'Connect with WalletConnect');
  await wallet.scan(await codeOf(page));
  await see(page, 'You declined in WalletConnect');
  wallet.owner.agrees = true;
  await press(page, 'Connect with WalletConnect');
  await wallet.scan(await codeOf(page));
  wallet.owner.sends = false;
  await press(page, 'Sign with Pocket');
  await see(page, 'You declined in Pocket');
  wallet.owner.sends = true;
  await press(page, 'Sign with Pocket');
  await page.waitForURL('**/dashboard');
  await wallet.ended;
  await page.context().close();
});

test('a relay that is down → the page says so, and the other ways stay; back again → a code', async () => {
  await relay.stop();
  const { page } = await open(app, '/dashboard/sign-in', 'desktop');
  await press(page, 'Connect with WalletConnect');
  await see(page, 'WalletConnect cannot be reached at the moment. Nothing was changed.');
  assert.equal(await ownCode(page), true);
  await relay.start();
  await press(page, 'Connect with WalletConnect');
  await codeOf(page);
  await page.context().close();
});
