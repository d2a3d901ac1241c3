import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openBrowser, sizes } from '../support/browser/browser.ts';
import { announceNothing, pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
  await fixtures.request(); // from here on, payments to the merchant's wallet are read
});
after(async () => {
  await browser.close();
  await fixtures.stop();
});

/** A browser with the merchant's wallet, on the page that sends an unmatched payment back. */
async function openRefund(prepare: (context: BrowserContext) => Promise<unknown> = async () => {}) {
  const payer = fixtures.node.wallet();
  const txHash = await fixtures.node.pay({ from: payer, to: fixtures.merchant.wallet, usdcMicro: 1_234_567n });
  await fixtures.node.fund(fixtures.merchant.wallet, 0n);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const context = await browser.newContext({ viewport: sizes.phone });
  const value = await sessionOf(fixtures.ctx, fixtures.scope, fixtures.merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url: fixtures.url, sameSite: 'Lax', httpOnly: true }]);
  const wallet = pageWallet({ chains: [fixtures.node.chain], account: fixtures.merchant.account });
  await putWallets(context, [wallet]);
  await prepare(context);
  const page: Page = await context.newPage();
  await page.goto(`${fixtures.url}/dashboard/give-back/31337_${txHash}_0`);
  await page.getByRole('button', { name: 'Set it aside and continue' }).click();
  return { page, wallet, close: () => context.close() };
}

test('a refund by a wallet that reports a switch of networks without one → nothing is sent, and the page says why', async () => {
  const { page, wallet, close } = await openRefund();
  wallet.chainId = 1;
  wallet.before = (method) => {
    if (method !== 'wallet_switchEthereumChain') wallet.chainId = 1;
  };
  const button = page.getByRole('button', { name: 'Send with Test Wallet' });
  await button.click();
  await page.getByText('Test Wallet did not').waitFor();
  assert.equal(wallet.asked.filter(({ method }) => method === 'eth_sendTransaction').length, 0);
  await page.getByText(/Test Wallet did not switch to .+\. Nothing was sent\. .* or send it manually\.$/).waitFor();
  wallet.before = () => {};
  await button.click();
  await page.getByText('The refund was recorded.').waitFor();
  await close();
});

test('a refund that was sent from another tab is not sent again by a page that still offers it', async () => {
  const { page, wallet, close } = await openRefund();
  await page.getByRole('button', { name: 'Send with Test Wallet' }).waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  const button = other.getByRole('button', { name: 'Send with Test Wallet' });
  await button.waitFor();
  await page.getByRole('button', { name: 'Send with Test Wallet' }).click();
  await page.getByText('The refund was recorded.').waitFor();

  await other.route(other.url(), (route) => route.abort());
  await button.click();
  await other.getByText('We cannot be reached right now. Nothing was sent; try again in a moment.').waitFor();
  await other.unroute(other.url());
  await button.click();
  await button.waitFor({ state: 'detached' });
  await other.getByText('Refund').first().waitFor();
  assert.equal(wallet.sent.length, 1);
  await close();
});

test('a refund by a wallet that is only in window.ethereum → offered, sent and recorded', async () => {
  const { page, wallet, close } = await openRefund(announceNothing);
  const button = page.getByRole('button', { name: 'Send with your browser wallet' });
  wallet.faults.set('eth_requestAccounts', { code: -32603, message: 'The vault is locked.' });
  await button.click();
  await page.getByText('Your browser wallet did not share an address.').waitFor();
  wallet.faults.set('eth_requestAccounts', { code: 4900, message: 'The phone is asleep.' });
  await button.click();
  await page
    .getByText(/cannot be reached right now\. Nothing was sent\. Try again later, or send it manually\.$/)
    .waitFor();
  wallet.faults.clear();
  wallet.faults.set('eth_sendTransaction', { code: -32603, message: 'The cable was cut' });
  await button.click();
  await page.getByText('Your browser wallet did not send it. The cable was cut. Check its recent activity').waitFor();
  wallet.faults.clear();
  await button.click();
  await page.getByText('The refund was recorded.').waitFor();
  assert.equal(wallet.sent.length, 1);
  await close();
});
