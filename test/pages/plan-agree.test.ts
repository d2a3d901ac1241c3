import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { type PageWallet, pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';

let fixtures: AgreeFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([agreeFixtures(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** A wallet with USDC and no coin. */
async function walletWith(usdcMicro: bigint): Promise<PageWallet> {
  const wallet = pageWallet({ name: 'Violet', chains: [fixtures.chain] });
  await fixtures.node.fund(wallet.account.address.toLowerCase(), usdcMicro);
  await fixtures.rpc('anvil_setBalance', [wallet.account.address, '0x0']);
  return wallet;
}

async function openAt(plan: { id: string }, wallets: PageWallet[], size: keyof typeof sizes = 'phone'): Promise<Page> {
  const context = await browser.newContext({ viewport: sizes[size], hasTouch: size === 'phone' });
  await putWallets(context, wallets);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(fixtures.urlOf(plan));
  return page;
}

const see = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

test('On a phone: the terms, two signatures, what was agreed, a charge with its receipt, and the stop', async () => {
  const plan = await fixtures.plan();
  const wallet = await walletWith(500_000_000n);
  const page = await openAt(plan, [wallet]);
  await page.getByRole('button', { name: 'Agree with Violet' }).waitFor();
  await assertAccessible(page);
  await photograph(page, 'plan-terms-phone');
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await see(page, 'You have agreed. Nothing was taken now.');
  assert.deepEqual(
    wallet.asked.map(({ method }) => method).filter((method) => /sign|send/i.test(method)),
    ['eth_signTypedData_v4', 'eth_signTypedData_v4'],
  );
  await assertAccessible(page);
  await photograph(page, 'plan-agreed-phone');
  await fixtures.turn();
  await page.reload();
  await page.getByRole('link', { name: 'Receipt' }).waitFor();
  await page.getByRole('button', { name: 'Stop automatic charges' }).click();
  await see(page, 'Automatic charges are stopped.');
  await assertAccessible(page);
  await photograph(page, 'plan-stopped-phone');
  const mandate = await fixtures.mandateOf(plan);
  assert.deepEqual([mandate.state, mandate.end_reason], ['stopped', 'stopped_by_customer']);
  assert.ok(mandate.stop_signature);
  await page.context().close();
});

test('On a desktop without script the page says what is needed', async () => {
  const plan = await fixtures.plan();
  const context = await browser.newContext({ viewport: sizes.desktop, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(fixtures.urlOf(plan));
  await see(page, /which needs JavaScript/);
  await photograph(page, 'plan-no-script');
  await context.close();
});
