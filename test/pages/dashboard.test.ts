import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { followRefunds } from '../../src/refunds/follow.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { makeRequest, setRate } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
});
after(async () => {
  await browser.close();
  await fixtures.stop();
});

/** A browser in which the merchant is signed in. */
async function openAt(
  path: string,
  size: keyof typeof sizes = 'desktop',
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ viewport: sizes[size], hasTouch: size === 'phone' });
  const value = await sessionOf(fixtures.ctx, fixtures.scope, fixtures.merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url: fixtures.url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  if (path !== '') await page.goto(fixtures.url + path);
  return { page, context };
}

/** Pays in full and makes the payment final. */
async function settle(id: string): Promise<void> {
  await fixtures.pay(await fixtures.read({ id }));
  await fixtures.node.mine(3);
  await fixtures.turn();
}

test('A cashier types an amount on a phone’s keypad, the customer scans, and the screen says "paid" by itself', async () => {
  const { page, context } = await openAt('/dashboard/cashier', 'phone');
  await assertAccessible(page);
  await photograph(page, 'dashboard-cashier-keypad');
  for (const key of ['1', '2', '.', '5', '0', '9']) await page.getByRole('button', { name: key, exact: true }).click();
  assert.equal(await page.getByLabel('Amount in EUR').inputValue(), '12.50', 'a third digit of cents is no amount');
  await page.getByRole('button', { name: 'Delete last digit' }).click();
  assert.equal(await page.getByLabel('Amount in EUR').inputValue(), '12.5');
  await page.getByRole('button', { name: 'Show QR code' }).click();
  await page.getByText('Scan with your phone’s camera to pay').waitFor();
  await page.getByText('€12.50').waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-cashier-code');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';

  const customer = await context.newPage();
  await customer.goto(`${fixtures.url}/pay/${id}`);
  await page.getByText('Your customer has opened the page').waitFor();
  await settle(id);
  await page.locator('.verdict[data-status="paid"]').waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-cashier-paid');
  await page.getByRole('link', { name: 'Next customer' }).click();
  assert.equal(await page.getByLabel('Amount in EUR').inputValue(), '');
  await context.close();
});

test('The cashier’s keypad has its digits in the same order in Arabic', async () => {
  const { page, context } = await openAt('/dashboard/cashier?lang=ar', 'phone');
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
  const [one, three] = await Promise.all(['1', '3'].map((key) => page.locator(`[data-key="${key}"]`).boundingBox()));
  assert.ok(one && three && one.x < three.x);
  await context.close();
});

test('A form that is refused opens at its first fault, also where that is far down', async () => {
  const { page, context } = await openAt('/dashboard/plans/new', 'phone');
  await page.getByLabel('What is it for?').fill('Rent');
  await page.getByLabel('Amount in EUR').fill('12.50');
  await page.getByLabel('Customer’s name').fill('Ada');
  await page.getByLabel('Metadata').fill('no equals sign');
  await page.locator('main form button').last().click();
  const metadata = page.locator('[aria-invalid="true"]');
  await metadata.waitFor();
  assert.ok(await metadata.evaluate((one) => one === document.activeElement));
  const { top, bottom } = await metadata.evaluate((one) => one.getBoundingClientRect());
  assert.ok(top >= 0 && bottom <= sizes.phone.height);
  await context.close();
});

test('A merchant asks for money, shares the link, and sees it paid in detail, list and totals without a reload', async () => {
  const { page, context } = await openAt('/dashboard');
  await page.getByRole('link', { name: 'Request payment' }).first().click();
  await assertAccessible(page);
  await photograph(page, 'dashboard-ask');
  await page.getByLabel('Invoice').check();
  await page.getByLabel('Amount in EUR').fill('99.90');
  await page.getByRole('button', { name: 'Create request' }).click();
  await page.getByText('Enter the customer’s name for an invoice.').waitFor();
  await photograph(page, 'dashboard-ask-fault');
  await page.getByLabel('Customer’s name').fill('Grace Hopper');
  await page.getByLabel('Note', { exact: true }).fill('Catering on Friday');
  await page.getByRole('button', { name: 'Create request' }).click();
  await page.getByText('The request is ready.').waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const link = `http://localhost:3000/pay/${id}`;
  await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, link);
  await assertAccessible(page);
  await photograph(page, 'dashboard-payment-open');

  const home = await context.newPage();
  await home.goto(`${fixtures.url}/dashboard`);
  await home
    .getByRole('row', { name: /Grace Hopper/ })
    .getByText('Waiting')
    .waitFor();
  await settle(id);
  await page.getByText('Fully paid and confirmed').waitFor();
  await page.getByText('The request is ready.').waitFor({ state: 'detached' });
  await home
    .getByRole('row', { name: /Grace Hopper/ })
    .getByText('Paid')
    .waitFor();
  await photograph(page, 'dashboard-payment-paid');
  await context.close();
});

test('A second payment is refunded with the merchant’s own wallet, and recorded automatically', async () => {
  const request = await fixtures.request({ exactMicro: 5_000_000n, memo: 'Paid twice' });
  const payer = fixtures.node.wallet();
  await fixtures.pay(request);
  await fixtures.turn();
  await fixtures.pay(request, { from: payer });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const { page, context } = await openAt('');
  const wallet = pageWallet({ chains: [fixtures.node.chain], account: fixtures.merchant.account });
  await putWallets(context, [wallet]);
  await page.goto(`${fixtures.url}/dashboard/unmatched`);
  await assertAccessible(page);
  await photograph(page, 'dashboard-unmatched');
  await page
    .getByRole('row', { name: /second one/ })
    .getByRole('link')
    .click();
  await assertAccessible(page);
  assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Payment of 5.00 USDC');
  await page.getByText('does not fully pay any').waitFor();
  assert.equal(await page.getByText('These requests to the same wallet').count(), 0);
  await photograph(page, 'dashboard-unmatched-payment');
  await page.getByRole('link', { name: 'Refund' }).click();
  await page.getByRole('button', { name: 'Set it aside and continue' }).waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-refund-take');
  await page.getByRole('button', { name: 'Set it aside and continue' }).click();
  await page.getByRole('button', { name: 'Send with Test Wallet' }).waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-refund');

  wallet.declines.add('eth_sendTransaction');
  await page.getByRole('button', { name: 'Send with Test Wallet' }).click();
  await page.getByText('You declined in Test Wallet. Nothing was sent.').waitFor();
  wallet.declines.clear();
  await fixtures.node.fund(fixtures.merchant.wallet, 0n);
  await page.getByRole('button', { name: 'Send with Test Wallet' }).click();
  await page.getByText('The refund was recorded.').waitFor();
  await photograph(page, 'dashboard-unmatched-returned');
  const [note] = await fixtures.db.sql`select * from returns where to_address = ${payer.address}`;
  assert.equal(note?.return_tx_hash, wallet.sent[0]?.hash);
  assert.equal(note?.usdc_micro, request.usdc_micro);

  await page.goto(`${fixtures.url}/dashboard/give-back/31337_${note?.tx_hash}_0`);
  await page.getByText('Refund on its way').waitFor();
  await assertAccessible(page);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await fixtures.db.sql`update returns set next_look_at = now()`;
  await followRefunds(fixtures.ctx);
  await page.getByText('confirmed by the network').waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-refund-confirmed');
  await context.close();
});

test('A hash that refunds nothing is refused beside its field, and recorded if the merchant says that they sent it from another wallet', async () => {
  const payer = fixtures.node.wallet();
  const txHash = await fixtures.node.pay({ from: payer, to: fixtures.merchant.wallet, usdcMicro: 1_234_567n });
  const other = await fixtures.node.pay({ from: payer, to: payer.address, usdcMicro: 1n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const { page, context } = await openAt(`/dashboard/give-back/31337_${txHash}_0`, 'phone');
  await page.getByRole('button', { name: 'Set it aside and continue' }).click();
  await page.getByRole('textbox', { name: 'Refund transaction' }).fill(other);
  await page.getByRole('button', { name: 'Record refund' }).click();
  await page.getByText('so nothing was recorded').waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-refund-other');
  await page.getByLabel('I sent it from another wallet').check();
  await page.getByRole('button', { name: 'Record refund' }).click();
  await page.goto(`${fixtures.url}/dashboard/give-back/31337_${txHash}_0`);
  await page.getByText('Refunded, as you reported').waitFor();
  await page.getByText('Record another transaction').click();
  await assertAccessible(page);
  await photograph(page, 'dashboard-refund-by-word');
  await context.close();
});

test('A mistyped hash does not block the merchant: another transaction is recorded in its place', async () => {
  const payer = fixtures.node.wallet();
  const txHash = await fixtures.node.pay({ from: payer, to: fixtures.merchant.wallet, usdcMicro: 2_345_678n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const { page, context } = await openAt(`/dashboard/give-back/31337_${txHash}_0`, 'phone');
  await page.getByRole('button', { name: 'Set it aside and continue' }).click();
  await page.getByRole('textbox', { name: 'Refund transaction' }).fill(`0x${'d'.repeat(64)}`);
  await page.getByRole('button', { name: 'Record refund' }).click();
  await fixtures.db.sql`update returns set noted_at = noted_at - interval '2 minutes' where tx_hash = ${txHash}`;
  await page.goto(`${fixtures.url}/dashboard/give-back/31337_${txHash}_0`);
  await page.getByText('Record another transaction').click();
  await assertAccessible(page);
  await photograph(page, 'dashboard-refund-unknown');
  const { privateKey, wallet } = fixtures.merchant;
  const from = { privateKey, address: wallet as `0x${string}` };
  const back = await fixtures.node.pay({ from, to: payer.address, usdcMicro: 2_345_678n });
  await page.getByRole('textbox', { name: 'Refund transaction' }).fill(back);
  await page.getByRole('button', { name: 'Record refund' }).click();
  await page.goto(`${fixtures.url}/dashboard/give-back/31337_${txHash}_0`);
  await page.getByText('Refund on its way').waitFor();
  assert.equal(await page.getByText('Record another transaction').count(), 0);
  await context.close();
});

test('A merchant cancels a request after a question, and sees a payment in part for what it is', async () => {
  const [wrong, part] = [
    await fixtures.request({ memo: 'Typed wrongly' }),
    await fixtures.request({ exactMicro: 7_000_000n, memo: 'Half of it' }),
  ];
  await fixtures.pay(part, { usdcMicro: 3_000_000n });
  await fixtures.turn();
  const { page, context } = await openAt(`/dashboard/payments/${wrong.id}`);
  await page.locator('summary', { hasText: 'Cancel request' }).click();
  await page.getByText('This cannot be undone').waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-payment-cancel');
  await page.getByRole('button', { name: 'Cancel request' }).click();
  await page.getByText('The request is cancelled.').waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-payment-cancelled');
  assert.equal((await fixtures.read(wrong)).status, 'voided');

  await page.goto(`${fixtures.url}/dashboard/payments?state=part`);
  await page
    .getByRole('row', { name: /Half of it/ })
    .getByText('USDC is missing')
    .waitFor();
  await assertAccessible(page);
  await photograph(page, 'dashboard-payments-part');
  await page.getByRole('link', { name: 'Half of it' }).click();
  await page.getByText('Your customer can pay the rest').waitFor();
  await photograph(page, 'dashboard-payment-part');
  await context.close();
});

test('On a phone the bar has four places and More, which unfolds the others and is marked when one is there', async () => {
  const { page, context } = await openAt('/dashboard', 'phone');
  const bar = page.getByRole('navigation', { name: 'Pages' });
  const names = () => bar.getByRole('link').allInnerTexts();
  const more = bar.getByRole('button', { name: 'More' });
  for (const place of ['', '/payments', '/ask', '/plans']) {
    await page.goto(`${fixtures.url}/dashboard${place}`);
    assert.equal((await names()).length, 4);
    assert.equal(await bar.locator('[aria-current="page"]').getAttribute('href'), `/dashboard${place}`);
    assert.equal(await more.getAttribute('aria-current'), null);
  }
  const inSight = await bar.evaluate((nav) =>
    [...nav.querySelectorAll('.places:not([popover]) a, button')].every((one) => {
      const { left, right, bottom } = one.getBoundingClientRect();
      return left >= 0 && right <= innerWidth && bottom <= innerHeight;
    }),
  );
  assert.ok(inSight);
  await more.click();
  assert.deepEqual((await names()).slice(4), ['Unmatched', 'Profile', 'Wallet', 'Sessions']);
  await assertAccessible(page);
  await photograph(page, 'dashboard-phone-navigation');
  await page.keyboard.press('Escape');
  assert.equal((await names()).length, 4);
  // By keyboard alone: the places that unfold come after the button.
  await more.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${fixtures.url}/dashboard/unmatched`);
  assert.equal(await more.getAttribute('aria-current'), 'true');
  await context.close();
});

test('A late payment is attached after a question, and the page of its request shows it', async () => {
  const request = await fixtures.request({ exactMicro: 6_000_000n, memo: 'Came late' });
  await fixtures.db.sql`update requests set expires_at = now() - interval '2 hours' where id = ${request.id}`;
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const { page, context } = await openAt('/dashboard/unmatched', 'phone');
  await page
    .getByRole('row', { name: /more than 30 minutes/ })
    .getByRole('link')
    .click();
  const first = page.locator('.options > li').first();
  await first.locator('summary', { hasText: 'Attach' }).click();
  await photograph(page, 'dashboard-attach');
  await assertAccessible(page);
  await first.getByRole('button', { name: 'Attach' }).click();
  await page.getByText('The payment was attached.').waitFor();
  const amount = page.getByRole('heading', { level: 1 }).locator('bdi');
  for (const width of [320, 360, 390]) {
    await page.setViewportSize({ width, height: 740 });
    const [lines, isInside] = await amount.evaluate((one) => {
      const room = (one.parentElement as HTMLElement).getBoundingClientRect();
      return [one.getClientRects().length, one.getBoundingClientRect().right <= room.right];
    });
    assert.deepEqual([lines, isInside], [1, true], `the amount of the request breaks at ${width} pixels`);
  }
  await context.close();
});

test('Every further page of the dashboard can be read by everybody, full and empty', async () => {
  await setRate(fixtures.db, 'JPY', '150');
  await setRate(fixtures.db, 'USD', '1');
  const now = Date.now();
  for (let i = 0; i < 40; i++) {
    const foreign = i % 5 === 0;
    const row = await makeRequest(fixtures.db, fixtures.scope, fixtures.merchant, {
      fiatInt: foreign ? 3_000 + i * 50 : 450 + ((i * 397) % 5_000),
      fiatCode: foreign ? 'JPY' : 'EUR',
      memo: ['Two loaves', 'Coffee and cake', null, 'A table for six on the terrace, with a view'][i % 4] ?? null,
    });
    if (i % 6 === 5) continue;
    const at = new Date(now - i * 17 * 3_600_000);
    await fixtures.db.sql`
      update requests set proof_status = 'verified', proof_verified_at = ${at}, tx_hash = ${`0x${'1'.repeat(64)}`},
        payer_address = ${`0x${'2'.repeat(40)}`}, created_at = ${new Date(at.getTime() - 60_000 - i)},
        expires_at = ${new Date(at.getTime() + 60_000)}
      where id = ${row.id}`;
  }
  const { page, context } = await openAt('/dashboard');
  for (const [name, path] of [
    ['home', '/dashboard'],
    ['home-90', '/dashboard?days=90&currency=JPY'],
    ['payments', '/dashboard/payments'],
    ['payments-none', '/dashboard/payments?state=voided'],
    ['profile', '/dashboard/profile'],
    ['sessions', '/dashboard/sessions'],
    ['wallet', '/dashboard/wallet'],
  ] as const) {
    assert.equal((await page.goto(fixtures.url + path))?.status(), 200, name);
    await assertAccessible(page);
    await photograph(page, `dashboard-${name}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, `${name} does not scroll sideways`);
  }
  await context.close();
});

test('The cashier’s keypad has the decimal separator of the language, and goes on after the other one', async () => {
  const { page, context } = await openAt('/dashboard/cashier?lang=de', 'phone');
  const amount = page.locator('[name="amount"]');
  const press = (key: string) => page.getByRole('button', { name: key, exact: true }).click();
  await amount.fill('7.2');
  await press('5');
  assert.equal(await amount.inputValue(), '7.25');
  await amount.fill('');
  for (const key of [',', '5', '0']) await press(key);
  assert.equal(await amount.inputValue(), '0,50');
  await press('QR-Code zeigen');
  await page.getByText('0,50 €').waitFor();
  await context.close();
});
