import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import { setBranding } from '../../src/partners/branding.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp } from '../support/app.ts';
import { openBrowser } from '../support/browser/browser.ts';
import { type PageWallet, pageWallet } from '../support/browser/wallet-in-page.ts';
import { look, openWith, press, see } from '../support/browser/wallet-pages.ts';
import { makePartner } from '../support/fixtures.ts';
import { makeOnboarded } from '../support/people/merchants.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let browser: Browser;

before(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
  fixtures = await makePartner(app.db);
  await setBranding(app.ctx, theService, fixtures.partner.slug, { accent: '#0a7d5a' });
});
after(async () => {
  await browser.close();
  await app.stop();
});

const wallet = (details: Partial<PageWallet> = {}) => pageWallet({ chains: app.ctx.chains.test, ...details });
const open = (url: string, wallets: PageWallet[]) => openWith({ browser, app }, url, wallets);

test('A merchant signs in with its wallet; a stranger’s wallet is refused', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const mine = wallet({ name: 'Mine', account: merchant.account });
  const stranger = wallet({ name: 'Stranger' });
  const { page } = await open('/dashboard/sign-in', [mine, stranger]);
  await page.getByRole('button', { name: 'Connect Stranger' }).waitFor();
  await look(page, 'sign-in-1');
  await press(page, 'Connect Stranger');
  await press(page, 'Sign with Stranger');
  await see(page, 'No merchant uses this wallet');
  await look(page, 'sign-in-2-stranger');
  await press(page, 'Connect Mine');
  await see(page, 'Sign the message');
  await look(page, 'sign-in-3-sign');
  await press(page, 'Sign with Mine');
  await page.waitForURL('**/dashboard');
  await press(page, 'Sign out');
  await see(page, 'Sign in to your dashboard');
  await page.context().close();
});

test('Another wallet of this browser never answers → a merchant signs in all the same', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const mine = wallet({ name: 'Mine', account: merchant.account });
  const silent = wallet({ name: 'Silent', before: () => new Promise(() => {}) });
  const { page } = await open('/dashboard/sign-in', [silent, mine]);
  await press(page, 'Connect Mine');
  await press(page, 'Sign with Mine');
  await page.waitForURL('**/dashboard');
  await page.context().close();
});

test('A merchant changes its wallet: the present one signs, then the new one', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const old = wallet({ name: 'Old', account: merchant.account });
  const next = wallet({ name: 'New' });
  const { page } = await open('/dashboard/sign-in', [old, next]);
  await press(page, 'Connect Old');
  await press(page, 'Sign with Old');
  await page.getByRole('link', { name: 'Change wallet' }).click();
  await page.getByRole('button', { name: 'Connect New' }).waitFor();
  await look(page, 'wallet-1');
  await press(page, 'Connect Old');
  await see(page, 'This is already your wallet');
  await look(page, 'wallet-2-same');
  await press(page, 'Connect New');
  await see(page, '1 of 2: sign with your current wallet');
  await look(page, 'wallet-3-hand-over');
  await press(page, 'Sign with Old');
  await see(page, '2 of 2: sign with the new wallet');
  await look(page, 'wallet-4-take-over');
  await press(page, 'Sign with New');
  await see(page, 'Your wallet was changed');
  await look(page, 'wallet-5-changed');
  const stored = await readMerchant(app.ctx, fixtures.test, merchant.id);
  assert.equal(stored?.wallet_address, next.account.address.toLowerCase());
  await page.context().close();
});

test('A lost wallet is recovered with another one, and the present one stops it from its mail or its dashboard', async () => {
  const email = 'lost@example.com';
  const merchant = await makeOnboarded(app.ctx, fixtures.test, { email });
  const old = wallet({ name: 'Old', account: merchant.account });
  const { url } = await startRecovery(app.ctx, theService, fixtures.test, merchant.id);
  const { page } = await open(url, [wallet({ name: 'New' })]);
  await page.getByRole('button', { name: 'Connect New' }).waitFor();
  await look(page, 'recover-1');
  await press(page, 'Connect New');
  await see(page, 'Sign with the new wallet');
  await look(page, 'recover-2-sign');
  await press(page, 'Sign with New');
  await see(page, 'Your new wallet has signed');
  await look(page, 'recover-3-waiting');

  const dashboard = await open('/dashboard/sign-in', [old]);
  await press(dashboard.page, 'Connect Old');
  await press(dashboard.page, 'Sign with Old');
  await see(dashboard.page, 'Your wallet is being recovered');
  await look(dashboard.page, 'recover-4-dashboard');

  const [mail] = await app.db.sql`
    select body from mails where recipient = ${email} and body like '%/veto/%' order by created_at desc limit 1`;
  const veto = await open(/\S+\/veto\/\S+/.exec(mail?.body)?.[0] ?? '', [old]);
  await veto.page.getByRole('button', { name: 'Sign with Old' }).waitFor();
  await look(veto.page, 'recover-5-veto');
  await press(veto.page, 'Sign with Old');
  await see(veto.page, 'The recovery was stopped');
  await look(veto.page, 'recover-6-stopped');
  await dashboard.page.reload();
  assert.equal(await dashboard.page.getByText('is being recovered').count(), 0);
  for (const one of [page, dashboard.page, veto.page]) await one.context().close();
});

test('A form sent without a session → the sign-in says that nothing was saved, also where the page has no wallet', async () => {
  const { page } = await open('/dashboard/sign-in', []);
  await page.goto(`${app.url}/dashboard/sign-in?unsaved`);
  await page.getByText('This browser has no wallet.').waitFor();
  assert.ok(await page.getByText('You are no longer signed in, so nothing was saved.').isVisible());
  await page.context().close();
});
