import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callRpc } from '../../src/chain/rpc.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { photograph, sizes } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures({ liveChain: true });
});
after(() => fixtures?.stop());

const rpc = (method: string, params: unknown[]) => callRpc(fixtures.node.chain.rpcUrls[0] ?? '', method, params);

/** The page of a request whose payment waits in the mempool because an earlier transaction of the wallet is missing. */
async function openWithPending(request: RequestRow) {
  const from = fixtures.node.wallet();
  const usdcMicro = BigInt(request.usdc_micro);
  await fixtures.node.fund(from.address, usdcMicro);
  const payment = { from, to: request.wallet_address, usdcMicro, reference: request.reference, ahead: 1 };
  const txHash = await fixtures.node.offer(payment);
  const opened = await fixtures.open(request);
  await opened.page.getByText('Sent it, but it’s not showing?').click();
  await opened.page.getByLabel('Transaction hash').fill(txHash);
  await opened.page.getByRole('button', { name: 'Find this transaction' }).click();
  await opened.says('Payment seen on Base Sandbox');
  return { ...opened, payment, from, txHash };
}

test('replaced in the mempool by another transaction of its wallet → the page says so, and the ways to pay are back', async () => {
  const request = await fixtures.request();
  const { page, check, says, loads, payment, from, close } = await openWithPending(request);
  assert.equal(await page.getByText('How do you want to pay?').count(), 0);
  await fixtures.node.offer({ ...payment, to: from.address, feeFactor: 3n });
  await fixtures.node.offer({ from, to: from.address, usdcMicro: 0n }); // the missing one: now both are mined
  await says('Your transaction was replaced');
  await page.getByText('How do you want to pay?').waitFor();
  await check('replaced');
  await fixtures.pay(request);
  await fixtures.node.mine(2);
  await says('Paid');
  assert.equal(loads(), 1);
  await close();
});

test('dropped by the network → the page says that no money moved; sent again → paid', async () => {
  const request = await fixtures.request();
  const { page, check, says, from, txHash, close } = await openWithPending(request);
  const signed = await rpc('eth_getRawTransactionByHash', [txHash]);
  await rpc('anvil_removePoolTransactions', [from.address]);
  await says('Your transaction is no longer on the network');
  await page.getByText('How do you want to pay?').waitFor();
  await check('gone');
  await rpc('eth_sendRawTransaction', [signed]);
  await says('Payment seen on Base Sandbox');
  await fixtures.node.offer({ from, to: from.address, usdcMicro: 0n });
  await says('of 3 confirmations');
  await fixtures.node.mine(2);
  await says('Paid');
  await close();
});

test('sent on a network that is not accepted → named while the page is open, with the one to pay on', async () => {
  // Findings about a wallet are cached for ten seconds, so this test uses another wallet.
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  const { start_blocks: startBlocks } = await fixtures.request();
  const request = await makeRequest(fixtures.db, fixtures.scope, merchant, { startBlocks });
  const other = fixtures.nodes[1] as PayPageFixtures['node'];
  await other.pay({
    from: other.wallet(),
    to: merchant.wallet,
    usdcMicro: BigInt(request.usdc_micro),
    reference: request.reference,
  });
  const { page, check, says, close } = await fixtures.open(request);
  await says('The payment arrived on the wrong network');
  await says(/It was sent on Base, which is not accepted here, .* and pay on Base Sandbox\./);
  await page.getByText('How do you want to pay?').waitFor();
  await check('wrong-network');
  await close();
});

test('the only network is taken out of service → a page opened then still shows a payment that was under way', async () => {
  const request = await fixtures.request();
  const { chain } = fixtures.node;
  const { tokens } = chain;
  chain.tokens = tokens.map((token) => ({ ...token, offered: false }));
  try {
    const { page, check, says, complaints, close } = await fixtures.open(request);
    await page.getByText('cannot receive payments on any of these networks right now').waitFor();
    await check('no-network');
    await fixtures.pay(request);
    await fixtures.node.mine(3);
    await says('Paid');
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();
    assert.equal(await page.getByText('cannot receive payments').count(), 0);
    assert.deepEqual(complaints, []);
    await close();
  } finally {
    chain.tokens = tokens;
  }
});

test('a chain that cannot be read → the page says so while it waits for money; read again → the note disappears', async () => {
  const request = await fixtures.request();
  const { page, check, says, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  // No leader may write now, as when no endpoint answers.
  await fixtures.db.sql`
    update chain_cursors set fence = 9000000, updated_at = now() - interval '2 minutes' where chain_id = 31337`;
  await says('We cannot reach Base Sandbox right now');
  await says('Waiting for your payment');
  await page.getByText('How do you want to pay?').waitFor();
  await check('trouble');
  await fixtures.db.sql`update chain_cursors set fence = 1 where chain_id = 31337`;
  await page.locator('[data-part="news"]', { hasText: 'We cannot reach' }).waitFor({ state: 'detached' });
  await fixtures.pay(request);
  await says('of 3 confirmations');
  await close();
});

test('the receipt stays at its own link, long after the request: for everybody, and on paper', async () => {
  const request = await fixtures.request();
  const first = await fixtures.open(request);
  await fixtures.pay(request);
  await first.says('of 3 confirmations');
  await fixtures.node.mine(2);
  await first.says('Paid');
  await first.close();
  await fixtures.db.sql`
    update requests set expires_at = now() - interval '400 days' where id = ${request.id}`;
  await until(async () => (await fixtures.read(request)).proof_status === 'verified', 'it is verified');

  const { page, complaints, close } = await fixtures.open(request);
  await page.getByRole('link', { name: 'Open the receipt to share or print it' }).click();
  await page.getByRole('heading', { name: 'Paid' }).waitFor();
  await page.getByText('Two loaves of rye and a birthday cake').waitFor();
  await photograph(page, 'receipt');
  await assertAccessible(page);
  const size = page.viewportSize() ?? sizes.phone;
  await page.setViewportSize({ ...size, width: 250 });
  const rate = page.locator('.receipt bdi', { hasText: '1 USDC = ' });
  assert.equal(
    await rate.evaluate((one) => one.getClientRects().length),
    1,
    'a rate is on one line, with its currency',
  );
  await page.setViewportSize(size);
  await page.emulateMedia({ media: 'print' });
  assert.ok(!(await page.getByRole('button', { name: 'Print or save as PDF' }).isVisible()));
  assert.ok(!(await page.getByRole('link', { name: 'Back to the payment' }).isVisible()));
  assert.ok(await page.getByText('Receipt number').isVisible());
  assert.ok(await page.getByText('No real money moves').isVisible(), 'nobody shows a test receipt as a real one');
  assert.ok(!(await page.getByRole('link', { name: 'Skip to content' }).isVisible()));
  const onPaper = await colorsOf(page);
  await photograph(page, 'receipt-print');
  // From a device in dark mode, too, paper is white and its text dark.
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  assert.deepEqual(await colorsOf(page), onPaper);
  await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
  assert.notDeepEqual(await colorsOf(page), onPaper);
  await page.emulateMedia({ media: null, colorScheme: null });
  let printed = 0;
  await page.exposeFunction('countPrint', () => printed++);
  await page.evaluate(() => {
    window.print = () => void (window as unknown as { countPrint(): void }).countPrint();
  });
  await page.getByRole('button', { name: 'Print or save as PDF' }).click();
  await until(async () => printed === 1, 'it is printed');
  const address = page.url();
  const context = await fixtures.browser.newContext({ locale: 'en-GB' });
  const again = await context.newPage();
  await again.goto(address);
  await again.getByRole('heading', { name: 'Paid' }).waitFor();
  assert.deepEqual(complaints, []);
  await context.close();
  await close();
});

/** The colours of a page's ground and text. */
function colorsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { backgroundColor, color, colorScheme } = getComputedStyle(document.body);
    return [backgroundColor, color, colorScheme];
  });
}
