import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
});
after(() => fixtures?.stop());

test('a payment is seen → nobody is asked for its hash; overpaid → what to ask back, and not that nothing is left to do', async () => {
  const request = await fixtures.request();
  const { page, check, says, close } = await fixtures.open(request);
  const form = page.getByText('Sent it, but it’s not showing?');
  await form.waitFor();
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 2_000_000n });
  await says('of 3 confirmations');
  await form.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Transaction hash').count(), 0);
  await fixtures.node.mine(2);
  await says('You overpaid by 2.00 USDC. Ask Ada’s Bakery for a refund.');
  await says('Ada’s Bakery has received your payment.');
  assert.equal(await page.getByText('nothing left to do').count(), 0);
  await check('overpaid');

  await page.getByRole('link', { name: 'Open the receipt to share or print it' }).click();
  const receipt = page.locator('article.receipt');
  await receipt.waitFor();
  assert.match((await receipt.textContent()) ?? '', /^\s*€12\.50\s*15\.586\d+ USDC\s*Paid/);
  // The reader may be in another time zone.
  await receipt.locator('time', { hasText: /\d\d:\d\d.* (UTC|GMT|[A-Z]{3,4})/ }).waitFor();
  await check('receipt-amount');
  await close();
});

test('expired or cancelled → the amount is dimmed, since nobody is to pay it', async () => {
  for (const [status, said] of [
    ['expired', 'This request has expired'],
    ['voided', 'This request was cancelled'],
  ] as const) {
    const request = await fixtures.request();
    const { page, check, says, close } = await fixtures.open(request);
    await says('Waiting for your payment');
    assert.equal(await page.locator('.dim .amount').count(), 0);
    await fixtures.db.sql`
      update requests set status = ${status}, expires_at = now() - interval '1 minute',
        voided_at = case when ${status}::text = 'voided' then now() end where id = ${request.id}`;
    await says(said);
    await page.locator('.dim .amount').waitFor();
    await check(`dim-${status}`);
    await close();
  }
});
