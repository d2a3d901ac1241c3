import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { buildServer } from '../../src/http/server.ts';
import { openBrowser, sizes } from '../support/browser/browser.ts';
import { startRelay } from '../support/browser/relay.ts';
import { pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';

let fixtures: AgreeFixtures;
let browser: Browser;
let relay: Awaited<ReturnType<typeof startRelay>>;
before(async () => {
  [fixtures, browser, relay] = await Promise.all([agreeFixtures(), openBrowser(), startRelay()]);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
  await relay?.stop();
});

test('While a WalletConnect code waits to be scanned, a wallet of this browser can agree instead', async () => {
  const walletConnect = { projectId: 'f'.repeat(32), relayUrl: relay.url };
  const server = await buildServer({ ...fixtures.ctx, config: { ...fixtures.ctx.config, walletConnect } });
  const origin = await server.listen({ host: '127.0.0.1', port: 0 });
  const plan = await fixtures.plan();
  const wallet = pageWallet({ name: 'Violet', chains: [fixtures.chain] });
  await fixtures.node.fund(wallet.account.address.toLowerCase(), 500_000_000n);
  await fixtures.rpc('anvil_setBalance', [wallet.account.address, '0x0']);
  const context = await browser.newContext({ viewport: sizes.phone });
  await putWallets(context, [wallet]);
  const page = await context.newPage();
  await page.goto(origin + new URL(fixtures.urlOf(plan)).pathname);
  await page.getByRole('button', { name: 'Agree with WalletConnect' }).click();
  await page.locator('.pairing[data-uri^="wc:"]').waitFor();
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await page.getByText('You have agreed. Nothing was taken now.').first().waitFor();
  assert.equal((await fixtures.mandateOf(plan)).state, 'active');
  await context.close();
  await server.close();
});
