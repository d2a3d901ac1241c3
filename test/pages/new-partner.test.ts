import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { freePort } from '../../src/lib/ports.ts';
import { latestMail } from '../../src/mail/outbox.ts';
import { verifySignature } from '../../src/webhooks/sign.ts';
import { photograph, sizes } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures, statusMessageOf } from '../support/browser/pay-page.ts';
import { type PageWallet, pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { press, see } from '../support/browser/wallet-pages.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { patienceMs } from '../support/patience.ts';
import { inviteOperator, newEmail } from '../support/people/people.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
let fixtures: PayPageFixtures;
let receiver: Receiver;
/** The public address of the service. Links and programs contain it and work unchanged. */
let url: string;
/** Policy violations and script errors on the pages. */
const complaints: string[] = [];
let pictures = 0;

before(async () => {
  const port = await freePort();
  url = `http://localhost:${port}`;
  // The chain is the operator's own: no test wallet pays, and blocks come only when the test mines them.
  const config = { port, baseUrl: url, payUrl: `${url}/pay` };
  [fixtures, receiver] = await Promise.all([payPageFixtures({ config }), startReceiver()]);
});
after(async () => {
  await fixtures?.stop();
  await receiver?.close();
});

/** A separate browser for one of the people. */
async function browserOf(wallets: PageWallet[], options: BrowserContextOptions): Promise<Page> {
  const context = await fixtures.browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options });
  await putWallets(context, wallets);
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  return page;
}

/** Takes pictures of a step, numbered in order. Asserts no sideways overflow on a phone. */
async function picture(page: Page, name: string): Promise<void> {
  pictures++;
  await photograph(page, `journey-${String(pictures).padStart(2, '0')}-${name}`);
  const before = page.viewportSize() ?? sizes.desktop;
  await page.setViewportSize(sizes.phone);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), sizes.phone.width, name);
  await page.setViewportSize(before);
}

/** Goes to a page through the navigation, as a reader does. */
const turnTo = (page: Page, name: string) =>
  page.locator('nav').getByRole('link', { name, exact: true }).first().click();
/** The text that a copy button of this name copies. */
const offered = async (page: Page, button: string) =>
  (await page.getByRole('button', { name: button, exact: true }).getAttribute('data-copy')) ?? '';

test('A partner who was invited gets from the mail to a payment and its delivered event in the browser', async () => {
  const email = newEmail();
  const operator = await browserOf([], { viewport: sizes.desktop });
  await operator.goto((await inviteOperator(fixtures.app.ctx)).link);
  await operator.getByRole('button').first().click();
  await operator.waitForURL(`${url}/admin`);
  await turnTo(operator, 'Partners');
  await operator.getByRole('link', { name: 'Add a partner' }).click();
  await operator.getByLabel('Slug').fill('united-bakers');
  await operator.getByLabel('Name', { exact: true }).fill('United Bakers');
  await press(operator, 'Create partner');
  await see(operator, 'The partner was created');
  await picture(operator, 'partner-made');
  await operator.getByRole('link', { name: 'Its users' }).click();
  await operator.getByLabel('E-mail', { exact: true }).fill(email);
  await press(operator, 'Send invitation');
  await see(operator, 'The invitation is on its way');
  await picture(operator, 'owner-invited');

  const mail = await latestMail(fixtures.db.sql, email);
  const owner = await browserOf([], { viewport: sizes.desktop });
  await owner.goto(/http\S+\/link\/\S+/.exec(mail?.body ?? '')?.[0] ?? '');
  await picture(owner, 'invitation');
  await owner.getByRole('button').first().click();
  await owner.waitForURL('**/portal');
  await picture(owner, 'portal-first');
  await owner.getByRole('main').getByRole('link', { name: 'Getting started' }).click();
  await see(owner, '0 of 5 steps done');
  await see(owner, 'This service has no test wallet');
  await picture(owner, 'start');
  await press(owner, 'Create test key');
  await see(owner, 'Your new key');
  const key = await offered(owner, 'Copy key');
  await picture(owner, 'key');

  await owner.getByRole('link', { name: 'Set a webhook URL' }).click();
  await owner.getByLabel('URL').fill(receiver.url);
  await press(owner, 'Save');
  const secret = await offered(owner, 'Copy secret');
  await picture(owner, 'webhook');

  await turnTo(owner, 'Merchants');
  await owner.getByLabel('Business name').fill('Ada’s Bakery');
  await owner.getByLabel('Country').selectOption('DE');
  await press(owner, 'Create merchant');
  await see(owner, 'The merchant was created');
  const invitation = await offered(owner, 'Copy link');
  await picture(owner, 'merchant-made');
  await turnTo(owner, 'Merchants');
  await owner.getByRole('row', { name: /Ada’s Bakery/ }).waitFor();

  const { chain } = fixtures.node;
  const till = pageWallet({ name: 'Till', chains: [chain] });
  const merchant = await browserOf([till], { viewport: sizes.phone });
  await merchant.goto(invitation);
  await picture(merchant, 'onboard-details');
  await press(merchant, 'Continue to your wallet');
  await press(merchant, 'Connect Till');
  await see(merchant, 'Sign in with your wallet');
  await picture(merchant, 'onboard-sign');
  await merchant.getByLabel('I have read and accept the terms').check();
  await press(merchant, 'Sign with Till');
  await merchant.waitForURL('**/dashboard');
  await see(merchant, 'You are ready to receive payments');
  await picture(merchant, 'dashboard-first');

  await turnTo(owner, 'Merchants');
  await owner.getByRole('row', { name: /Ada’s Bakery.*Ready to receive payments/ }).waitFor();
  await picture(owner, 'merchant-ready');

  await turnTo(owner, 'Getting started');
  const hint = await owner.locator('#curl-create').textContent();
  await picture(owner, 'start-snippet');
  const pasted = (hint ?? '').replace(/Bearer qt_test_[^']+/, `Bearer ${key}`);
  const { stdout } = await run('sh', ['-c', pasted], { timeout: patienceMs });
  const { pay_page_url: payPage, request_id: requestId } = JSON.parse(stdout);
  await turnTo(owner, 'Requests');
  await owner.locator(`a[href$="${requestId}"]`).click();
  await picture(owner, 'request-waits');

  const violet = pageWallet({ name: 'Violet', chains: [chain] });
  await fixtures.node.fund(violet.account.address.toLowerCase(), 50_000_000n);
  const customer = await browserOf([violet], { viewport: sizes.phone });
  await customer.goto(payPage);
  await customer.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  await picture(customer, 'pay');
  await press(customer, 'Pay with Violet');
  const says = (text: string) => statusMessageOf(customer).filter({ hasText: text }).waitFor();
  await says('1 of 3 confirmations');
  await picture(customer, 'pay-confirming');
  await fixtures.node.mine(2);
  await says('Paid');
  await picture(customer, 'paid');
  await customer.getByRole('link', { name: 'Open the receipt to share or print it' }).click();
  await customer.waitForURL('**/receipt');
  await see(customer, 'Ada’s Bakery');
  await picture(customer, 'receipt');

  // No reload: the detail page updates itself, including the answer of the partner's own server.
  await owner.locator('.timeline').getByText('Event delivered').waitFor();
  await picture(owner, 'event-delivered');
  await until(() => receiver.received.length > 0, 'the event at the receiver');
  const [event, ...more] = receiver.received;
  assert.deepEqual(more, []);
  const header = String(event?.headers['x-service-signature']);
  assert.ok(verifySignature(secret, header, event?.body ?? '', new Date()));
  const told = JSON.parse(event?.body ?? '');
  assert.deepEqual([told.request_id, told.proof_status], [requestId, 'verified']);
  await turnTo(owner, 'Getting started');
  await see(owner, '5 of 5 steps done');
  await picture(owner, 'start-done');
  await turnTo(owner, 'Overview');
  await picture(owner, 'portal-last');

  await merchant
    .getByRole('row', { name: /Table 4/ })
    .getByText('Paid')
    .waitFor();
  await picture(merchant, 'dashboard-paid');
  assert.deepEqual(complaints, []);
});
