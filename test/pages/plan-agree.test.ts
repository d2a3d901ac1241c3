import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildServer } from '../../src/http/server.ts';
import type { PlanRow } from '../../src/plans/read.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { type PageWallet, pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';

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
  await page.goto(fixtures.urlOf(plan));
  return page;
}

/** Waits until a text appears on the page, and its scripts have run: until then, buttons work as without script. */
async function see(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
  await page.waitForLoadState();
}

test('On a phone: the terms, two signatures, what was agreed, a charge with its receipt, and the stop', async () => {
  const plan = await fixtures.plan();
  const wallet = await walletWith(500_000_000n);
  const page = await openAt(plan, [wallet]);
  await page.getByRole('button', { name: 'Agree with Violet' }).waitFor();
  const days = page.getByText(/^\w+ \d+, \d{4} \(UTC\)$/);
  assert.equal(await days.count(), 2, 'the first charge, and the last day of the agreement');
  await assertAccessible(page);
  await photograph(page, 'plan-terms-phone');
  await page.getByText('What you sign').click();
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.equal(beyond, 0, 'the contract’s address breaks');
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

test('A wallet of this browser that never answers keeps nobody from stopping the charges', async () => {
  for (const silent of ['eth_accounts', 'eth_signTypedData_v4']) {
    const plan = await fixtures.plan();
    const wallet = await walletWith(500_000_000n);
    const page = await openAt(plan, [wallet]);
    await page.getByRole('button', { name: 'Agree with Violet' }).click();
    await see(page, 'You have agreed. Nothing was taken now.');
    wallet.before = (method) => (method === silent ? new Promise(() => {}) : undefined);
    await page.getByRole('button', { name: 'Stop automatic charges' }).click();
    if (silent !== 'eth_accounts') await page.getByRole('button', { name: 'Stop without signing' }).click();
    await see(page, 'Automatic charges are stopped.');
    assert.equal((await fixtures.mandateOf(plan)).state, 'stopped');
    await page.context().close();
  }
});

test('In the sandbox a test wallet agrees, and has the next charge made, without a wallet in the browser', async () => {
  const plan = await fixtures.plan();
  const page = await openAt(plan, []);
  await page.getByRole('button', { name: 'Agree with a test wallet' }).click();
  await see(page, 'You have agreed. Nothing was taken now.');
  assert.equal((await fixtures.mandateOf(plan)).state, 'active');
  await photograph(page, 'plan-test-wallet');
  await page.getByRole('button', { name: 'Charge now' }).click();
  await see(page, 'The next charge is due now.');
  await assertAccessible(page);
  await fixtures.turn();
  await page.reload();
  await page.getByRole('link', { name: 'Receipt' }).waitFor();
  assert.equal(await page.getByText('The next charge is due now.').count(), 0, 'a reload says nothing again');
  await see(page, 'The agreement allows the next charge from');
  assert.equal(await page.getByRole('button', { name: 'Charge now' }).count(), 0);
  await page.context().close();
});

test('Nobody agrees with a test wallet from another site, or outside a sandbox', async () => {
  const plan = await fixtures.plan();
  const url = `${fixtures.urlOf(plan)}/test`;
  const press = { method: 'POST', body: new URLSearchParams({ step: 'agree' }) };
  assert.equal((await fetch(url, { ...press, headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
  const production = await buildServer({ ...fixtures.ctx, sandbox: null });
  const path = (await production.listen({ host: '127.0.0.1', port: 0 })) + new URL(fixtures.urlOf(plan)).pathname;
  const html = await (await fetch(path)).text();
  assert.match(html, /Agree to automatic charges/);
  assert.doesNotMatch(html, /Agree with a test wallet/);
  assert.equal((await fetch(`${path}/test`, press)).status, 404);
  await production.close();
  assert.equal((await fixtures.mandatesOf(plan)).length, 0);
});

test('A wallet that signs no allowance is asked for a transaction; if it declines, the page says so, and nothing is agreed', async () => {
  const plan = await fixtures.plan();
  const wallet = await walletWith(500_000_000n);
  const page = await openAt(plan, [wallet], 'desktop');
  wallet.declines.add('eth_signTypedData_v4');
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await see(page, 'You declined in Violet. No money was moved.');
  wallet.declines.clear();
  const delegate = fixtures.node.wallet().address;
  await fixtures.rpc('anvil_setCode', [delegate, '0x60006000fd']);
  await fixtures.rpc('anvil_setCode', [wallet.account.address, `0xef0100${delegate.slice(2)}`]);
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await see(page, /You can set it with a transaction instead: 144\.12 USDC for contract 0x/);
  await assertAccessible(page);
  await photograph(page, 'plan-approve');
  await page.getByRole('button', { name: 'Allow with a transaction' }).click();
  await see(page, 'This wallet has too little ETH for the');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Agree with Violet');
  await fixtures.rpc('anvil_setBalance', [wallet.account.address, '0xde0b6b3a7640000']);
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await fixtures.rpc('evm_setAutomine', [false]); // or it is said only until the service has asked the chain once
  await page.getByRole('button', { name: 'Allow with a transaction' }).click();
  await see(page, 'Sent. Waiting for the network.');
  await fixtures.rpc('evm_setAutomine', [true]);
  await fixtures.node.mine(1);
  await see(page, 'You have agreed. Nothing was taken now.');
  assert.equal((await fixtures.mandateOf(plan)).state, 'active');
  await page.context().close();
});

test('Declining to sign the end stops nothing; a second press stops without a signature', async () => {
  const plan = await fixtures.plan();
  const wallet = await walletWith(500_000_000n);
  const page = await openAt(plan, [wallet]);
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await see(page, 'You have agreed. Nothing was taken now.');
  wallet.declines.add('eth_signTypedData_v4');
  await page.getByRole('button', { name: 'Stop automatic charges' }).click();
  await see(page, 'You declined in Violet. Nothing has been stopped yet.');
  assert.equal((await fixtures.mandateOf(plan)).state, 'active');
  await page.getByRole('button', { name: 'Stop without signing' }).click();
  await see(page, 'Automatic charges are stopped.');
  const mandate = await fixtures.mandateOf(plan);
  assert.deepEqual([mandate.state, mandate.stop_signature], ['stopped', null]);
  await page.context().close();
});

test('A wallet that reports a switch of networks without one is not asked to sign the end; the link stops the charges', async () => {
  const plan = await fixtures.plan();
  const wallet = await walletWith(500_000_000n);
  const page = await openAt(plan, [wallet]);
  await page.getByRole('button', { name: 'Agree with Violet' }).click();
  await see(page, 'You have agreed. Nothing was taken now.');
  const asked = () => wallet.asked.filter(({ method }) => method === 'eth_signTypedData_v4').length;
  const askedBefore = asked();
  wallet.chainId = 1;
  wallet.before = (method) => {
    if (method !== 'wallet_switchEthereumChain') wallet.chainId = 1;
  };
  await page.getByRole('button', { name: 'Stop automatic charges' }).click();
  await see(page, 'Automatic charges are stopped.');
  assert.equal(asked(), askedBefore);
  const mandate = await fixtures.mandateOf(plan);
  assert.deepEqual([mandate.state, mandate.stop_signature], ['stopped', null]);
  await page.context().close();
});

test('A merchant makes a plan that charges automatically, shows its code, changes its amount, and stops it', async () => {
  const context = await browser.newContext({ viewport: sizes.phone, hasTouch: true, locale: 'en' });
  const value = await sessionOf(fixtures.ctx, fixtures.scope, fixtures.merchant);
  const url = fixtures.origin;
  await context.addCookies([{ name: 'dashboard-session', value, url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(`${url}/dashboard/plans/new`);
  await page.getByLabel('What is it for?').fill('Membership');
  await page.getByLabel('Amount in USD').fill('20');
  await page.getByLabel('Customer’s name').fill('Grace Hopper');
  await page.getByLabel('Customer’s e-mail').fill('member@example.com');
  assert.equal(await page.getByLabel('Maximum per charge, in USD').isVisible(), false);
  await page.getByLabel('Charge automatically').check();
  await page.getByLabel('Maximum per charge, in USD').fill('19');
  await assertAccessible(page);
  await photograph(page, 'plan-automatic-form');
  await page.getByRole('button', { name: 'Review' }).click();
  await see(page, 'Enter an amount that is at least as high as one charge.');
  await page.getByLabel('Maximum per charge, in USD').fill('25');
  await page.getByRole('button', { name: 'Review' }).click();
  await see(page, '$25.00 plus a 1% margin (25.26 USDC at today’s rate)');
  await photograph(page, 'plan-automatic-review');
  await page.getByRole('button', { name: 'Start plan' }).click();
  await see(page, 'Your customer has not agreed yet');
  await assertAccessible(page);
  await photograph(page, 'plan-automatic-waiting');
  const [mail] = await fixtures.mails('member@example.com');
  assert.equal(mail?.subject, 'Test: Ada’s Bakery asks you to agree to automatic charges');
  const [plan] = await fixtures.db.sql<PlanRow[]>`select * from plans where name = 'Membership'`;
  await fixtures.agreeByPage(plan as PlanRow, await fixtures.payer(500_000_000n));
  await page.reload();
  await see(page, 'Your customer has agreed');
  await photograph(page, 'plan-automatic-agreed');
  await page.getByRole('link', { name: 'Change amount or payment method' }).click();
  await assertAccessible(page);
  await photograph(page, 'plan-change');
  await page.getByLabel('Amount in USD').fill('26');
  await page.getByLabel('Maximum per charge, in USD').fill('30');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await see(page, 'A charge is now higher than the agreed maximum.');
  await fixtures.agreeByPage(plan as PlanRow, await fixtures.payer(500_000_000n));
  await page.reload();
  await page.locator('summary', { hasText: 'Stop automatic charges' }).click();
  await page.getByRole('button', { name: 'Stop automatic charges' }).click();
  await see(page, 'Automatic charges are stopped.');
  await context.close();
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
