import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { getAddress } from 'viem';
import { theService } from '../../src/audit/write.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { signCall } from '../../src/sandbox/wallet.ts';
import { type PayPageFixtures, payPageFixtures, statusMessageOf } from '../support/browser/pay-page.ts';
import { startProxy } from '../support/net/proxy.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
});
after(() => fixtures?.stop());

test('waiting → confirming, confirmation by confirmation → paid with a receipt: nothing is reloaded, the title follows', async () => {
  const request = await fixtures.request();
  const { page, check, says, loads, complaints, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  assert.equal(await page.title(), 'Pay Ada’s Bakery');
  await fixtures.pay(request);
  await says('1 of 3 confirmations on Base Sandbox');
  assert.equal(await page.title(), 'Confirming your payment · Ada’s Bakery');
  assert.equal(await page.getByText('How do you want to pay?').count(), 0);
  await fixtures.node.mine(1);
  await says('2 of 3 confirmations');
  const news = await page.locator('[data-part="news"]').textContent();
  assert.doesNotMatch(news ?? '', /0x/, 'nobody hears the whole hash with each confirmation');
  await page.getByText(/0x[0-9a-f]{64}/).waitFor();
  await check('confirming');
  await fixtures.node.mine(1);
  await says('Paid');
  await page.getByRole('heading', { name: 'Receipt' }).waitFor();
  await check('paid');
  assert.equal(await page.title(), 'Paid: Ada’s Bakery');
  assert.equal(loads(), 1);
  assert.deepEqual(complaints, []);
  await close();
});

test('the page shows a payment in the mempool, that it was reorganised away, and that it was mined again', async () => {
  const request = await fixtures.request();
  const { page, check, says, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  const from = fixtures.node.wallet();
  await fixtures.node.fund(from.address, BigInt(request.usdc_micro));
  await fixtures.automine(false);
  const txHash = await fixtures.node.offer({
    from,
    to: request.wallet_address,
    usdcMicro: BigInt(request.usdc_micro),
    reference: request.reference,
  });
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill(txHash);
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await says('Payment seen on Base Sandbox');
  assert.equal(await page.title(), 'Payment seen on Base Sandbox · Ada’s Bakery');
  await check('seen');
  const signed = String(await callRpc(fixtures.node.chain.rpcUrls[0] ?? '', 'eth_getRawTransactionByHash', [txHash]));
  await fixtures.node.mine(1);
  await fixtures.automine(true);
  await says('1 of 3 confirmations');
  await fixtures.node.reorg(1);
  await says('The network reversed the payment');
  assert.equal(await page.title(), 'The network reversed the payment · Ada’s Bakery');
  await check('reorged');
  await fixtures.node.resend(signed);
  await says('1 of 3 confirmations');
  await fixtures.node.mine(2);
  await says('Paid');
  await close();
});

test('a pending transaction takes the ways to pay away only where it would pay, and for two minutes', async () => {
  const request = await fixtures.request();
  const { page, check, says, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  const [stranger, payer] = [fixtures.node.wallet(), fixtures.node.wallet()];
  for (const { address } of [stranger, payer]) await fixtures.node.fund(address, BigInt(request.usdc_micro));
  await fixtures.automine(false);
  const named = `0x${request.wallet_address.slice(2)}${Buffer.from(request.reference).toString('hex')}` as const;
  const signed = await signCall(fixtures.node.chain, stranger.privateKey, stranger.address, named, { nonce: 0 });
  const crafted = String(await callRpc(fixtures.node.chain.rpcUrls[0] ?? '', 'eth_sendRawTransaction', [signed]));
  await submitHash(fixtures.app.ctx, request.id, { txHash: crafted });
  await says('Payment seen on Base Sandbox');
  await says('please do not pay again');
  const paymentMethods = page.getByText('How do you want to pay?');
  assert.equal(await paymentMethods.count(), 1);
  await check('seen-open');

  const payment = { from: payer, to: request.wallet_address, usdcMicro: BigInt(request.usdc_micro) };
  const txHash = await fixtures.node.offer({ ...payment, reference: request.reference });
  await submitHash(fixtures.app.ctx, request.id, { txHash });
  await says('There is nothing left to do.');
  await paymentMethods.waitFor({ state: 'detached' });
  await fixtures.db.sql`
    update payment_hints set heard_at = now() - interval '2 minutes' where request_id = ${request.id}`;
  await paymentMethods.waitFor();
  await says('please do not pay again');
  await fixtures.automine(true);
  await fixtures.node.mine(3);
  await says('Paid');
  await close();
});

test('underpaid → the rest is the amount on top, and a manual payment without a reference pays it', async () => {
  const request = await fixtures.request();
  const { page, check, says, loads, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 2_500_000n });
  await says('2.50 USDC is missing');
  await page.locator('.amount', { hasText: '2.50 USDC' }).waitFor();
  await page.getByText('Still to pay on Base Sandbox').waitFor();
  await page.getByText('Pay manually or from an exchange').click();
  await page.getByText('Send exactly 2.50 USDC on Base Sandbox').waitFor();
  await check('underpaid');
  await fixtures.pay(request, { usdcMicro: 2_500_000n, tagged: false });
  await fixtures.node.mine(2);
  await says('Paid');
  await page.getByText('Transactions').waitFor();
  assert.equal(loads(), 1);
  await close();
});

test('expired while open → no more ways to pay; late money → paid late; far too late → the page says so', async () => {
  const soon = await fixtures.request();
  const late = await fixtures.request();
  const prepare = (context: BrowserContext) => context.clock.install();
  const [first, second] = await Promise.all([fixtures.open(soon, { prepare }), fixtures.open(late)]);
  await Promise.all([first, second].map(({ says }) => says('Waiting for your payment')));
  const atLast = await first.page.locator('progress').evaluate((bar) => {
    return Date.now() + (bar as HTMLProgressElement).value - 8_000;
  });
  await first.page.clock.pauseAt(atLast);
  await first.page.getByText(/^0:0\d left$/).waitFor();
  await fixtures.db.sql`update requests set expires_at = now() where id = any(${[soon.id, late.id]})`;
  await first.page.clock.resume();
  await Promise.all([first.says('This request has expired'), second.says('This request has expired')]);
  assert.equal(await first.page.getByText('How do you want to pay?').count(), 0);
  assert.equal(await first.page.locator('.countdown').count(), 0);
  await first.check('expired');
  // Block times are whole seconds: a block mined within two of the end may be dated before it, and is in time.
  await fixtures.db.sql`update requests set expires_at = expires_at - interval '3 seconds' where id = ${soon.id}`;
  await fixtures.pay(soon);
  await fixtures.node.mine(2);
  await first.says('It arrived after the request expired, but it still counts');
  await first.check('paid-late');

  await fixtures.db.sql`update requests set expires_at = now() - interval '40 minutes' where id = ${late.id}`;
  await fixtures.pay(late);
  await second.says('A payment arrived too late');
  await second.check('too-late');
  await Promise.all([first.close(), second.close()]);
});

test('voided while open → the page says so, and has no more ways to pay', async () => {
  const request = await fixtures.request();
  // A chat's link preview does not open the request, so the request can still be cancelled.
  const context = { userAgent: 'WhatsApp/2.23.20.0' };
  const { page, check, says, close } = await fixtures.open(request, { context });
  await says('Waiting for your payment');
  await cancelRequest(fixtures.app.ctx, theService, fixtures.scope, request.id);
  await says('This request was cancelled');
  assert.equal(await page.getByText('How do you want to pay?').count(), 0);
  await check('voided');
  await close();
});

test('an event source that is refused → the page asks now and then; let in again → it hears at once', async () => {
  const request = await fixtures.request();
  const asked: string[] = [];
  const { page, says, close } = await fixtures.open(request, {
    prepare: async (context) => {
      context.on('request', (call) => asked.push(new URL(call.url()).pathname.split('/').at(-1) ?? ''));
      await context.route('**/events', (route) => route.fulfill({ status: 204 }));
    },
  });
  await page.waitForResponse((answer) => answer.url().endsWith('/state'));
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 1_000_000n });
  await says('1.00 USDC is missing');
  await page.context().unroute('**/events');
  const events = page.waitForResponse((answer) => answer.url().endsWith('/events') && answer.status() === 200);
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await events;
  const before = asked.length;
  await fixtures.pay(request, { usdcMicro: 1_000_000n });
  await says('1 of 3 confirmations');
  assert.ok(!asked.slice(before).includes('events'), 'one connection tells all');
  await close();
});

test('an answer that was asked for before a payment and arrives after it → the page still shows the payment', async () => {
  const request = await fixtures.request();
  const isAsked = Promise.withResolvers<void>();
  const isPaid = Promise.withResolvers<void>();
  const { page, says, close } = await fixtures.open(request, {
    // A busy machine may need longer for the payment than the page waits for an answer.
    prepare: (context) => context.addInitScript(() => (AbortSignal.timeout = () => new AbortController().signal)),
  });
  await says('Waiting for your payment');
  // While one question is unanswered, the page asks no other.
  await page.route('**/state', async (route) => {
    const response = await route.fetch();
    isAsked.resolve();
    await isPaid.promise;
    await route.fulfill({ response });
  });
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await isAsked.promise;
  await fixtures.pay(request);
  await says('1 of 3 confirmations');
  const late = page.waitForEvent('requestfinished', (call) => call.url().endsWith('/state'));
  isPaid.resolve();
  await late;
  await page.unroute('**/state');
  // The page handles answers in the order in which they arrive.
  await page.evaluate(async () => (await fetch(`${location.pathname}/state`)).json());
  assert.match((await statusMessageOf(page).allTextContents()).join(), /1 of 3 confirmations/);
  await close();
});

test('a phone that slept while its connection died silently → shows on waking what happened meanwhile', async (t) => {
  const proxy = await startProxy(fixtures.app.url);
  t.after(() => proxy.close());
  const request = await fixtures.request();
  const { page, says, close } = await fixtures.open(request, { origin: proxy.url });
  await says('Waiting for your payment');
  const sleep = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await sleep(true);
  proxy.behave('silent');
  await fixtures.pay(request);
  await fixtures.node.mine(2);
  proxy.behave('forward');
  await sleep(false);
  await says('Paid');
  await close();
});

test('paid, then paid again by mistake → whoever returns to the page that stayed open reads of the second payment', async () => {
  const request = await fixtures.request();
  const { page, says, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  await fixtures.pay(request);
  await says('of 3 confirmations');
  await fixtures.node.mine(2);
  await says('There is nothing left to do');
  await fixtures.pay(request);
  await until(async () => {
    const rows = await fixtures.db.sql`select 1 from transfers where reason = 'already_paid'`;
    return rows.length > 0;
  }, 'the second payment is recorded');
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await says('A second payment');
  assert.equal(await page.getByText('nothing left to do').count(), 0);
  await close();
});

test('a server that is down, or a browser without network → the page says so until they return', async (t) => {
  const proxy = await startProxy(fixtures.app.url);
  t.after(() => proxy.close());
  const request = await fixtures.request();
  const listening = Promise.withResolvers<void>();
  const { page, check, says, close } = await fixtures.open(request, {
    origin: proxy.url,
    prepare: async (context) => {
      context.on('response', (answer) => answer.url().endsWith('/events') && listening.resolve());
    },
  });
  await says('Waiting for your payment');
  await listening.promise; // otherwise the page's script, which shows it, may not have been loaded
  await page.context().setOffline(true);
  const told = page.locator('[data-silence]');
  await told.filter({ hasText: 'You are offline' }).waitFor();
  await check('offline');
  await page.context().setOffline(false);
  await told.waitFor({ state: 'hidden' });
  await page.route('**/{events,state}', (route) => route.abort());
  await page.evaluate(() => window.dispatchEvent(new Event('online')));
  await told.filter({ hasText: 'cannot reach us' }).waitFor();
  await check('unreachable');
  await page.unroute('**/{events,state}');
  await told.waitFor({ state: 'hidden' });
  await close();
});

test('the countdown runs by the server’s clock, not by this device’s, and in the language of the page', async () => {
  const request = await fixtures.request({ expiryMinutes: 5 });
  const { page, close } = await fixtures.open(request, {
    prepare: (context) =>
      context.addInitScript(() => {
        const { now } = Date;
        Date.now = () => now() + 3_600_000;
      }),
  });
  const left = page.getByText(/^[34]:\d\d left$/);
  const said = (await left.textContent()) ?? '';
  const first = await page.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).value);
  await left.filter({ hasNotText: said }).waitFor();
  await page.waitForFunction((before) => (document.querySelector('progress')?.value ?? before) < before, first);
  assert.equal(await statusMessageOf(page).getByText('left').count(), 0, 'it is not announced');
  await close();
});

test('copy buttons copy whole, say so once, and select the text where the clipboard is closed', async () => {
  const request = await fixtures.request({ exactMicro: 1_342_000_000_001n, fiatInt: 123_456_789 });
  const context = { permissions: ['clipboard-read', 'clipboard-write'] };
  const wallet = getAddress(fixtures.merchant.wallet);
  const { page, check, close } = await fixtures.open(request, { context });
  await page.getByText('Pay manually or from an exchange').click();
  await page.getByRole('button', { name: 'Copy amount' }).click();
  await page.locator('[data-say]', { hasText: 'Copied' }).waitFor();
  const [row] = await fixtures.db.sql`select usdc_micro from requests where id = ${request.id}`;
  const exact = (Number(row?.usdc_micro) / 1e6).toFixed(6);
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), exact);
  await check('manual');
  await page.getByRole('button', { name: 'Copy address' }).click();
  await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, wallet);
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('closed'));
  });
  await page.getByRole('button', { name: 'Copy address' }).click();
  await page.waitForFunction((text) => getSelection()?.toString().trim() === text, wallet);
  await close();
});

test('browser code that does not load on a bad connection → the page is loaded again, but not while somebody types', async () => {
  const request = await fixtures.request();
  let isBad = true;
  const { page, loads, close } = await fixtures.open(request, {
    prepare: async (context) => {
      // The page is loaded again when its time is moved, and not before.
      await context.clock.install();
      await context.clock.pauseAt(new Date());
      // What the script imports fails, as when a connection breaks off half-way.
      await context.route('**/assets/part-*', (route) => (isBad ? route.abort() : route.continue()));
    },
  });
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').focus();
  const asked = page.waitForResponse((response) => response.request().method() === 'HEAD');
  await page.clock.fastForward(20_000);
  await asked;
  assert.equal(loads(), 1);
  await page.getByLabel('Transaction hash').blur();
  isBad = false;
  await fixtures.pay(request);
  await fixtures.node.mine(2);
  const loaded = page.waitForEvent('load');
  await page.clock.fastForward(20_000);
  await loaded;
  await page.getByText('has received your payment').waitFor();
  assert.equal(loads(), 2);
  await close();
});
