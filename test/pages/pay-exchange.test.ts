import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RequestRow } from '../../src/requests/store.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
});
after(() => fixtures?.stop());

/** Requests of a separate merchant, because other requests of the wallet decide what a payment can be for. */
async function requests(...amounts: bigint[]): Promise<RequestRow[]> {
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  const { start_blocks: startBlocks } = await fixtures.request();
  return Promise.all(
    amounts.map((exactMicro) => makeRequest(fixtures.db, fixtures.scope, merchant, { exactMicro, startBlocks })),
  );
}

/** Pays as an exchange does, and waits until it is found to match nothing. */
async function withdraw(request: RequestRow, usdcMicro: bigint): Promise<string> {
  const txHash = await fixtures.pay(request, { usdcMicro, tagged: false });
  await until(async () => {
    const rows = await fixtures.db.sql`select from transfers where tx_hash = ${txHash} and judged_at is not null`;
    return rows.length > 0;
  }, 'it is matched');
  return txHash;
}

test('an exchange took its fee from the amount → the open page says what arrived and what to do, but nothing about the payer', async () => {
  const [request] = (await requests(12_500_000n)) as [RequestRow];
  const { page, check, says, loads, close } = await fixtures.open(request);
  const txHash = await withdraw(request, 12_000_000n);
  await says('A payment of 12.00 USDC arrived; 12.50 was due');
  await says('If you sent it, do not pay again. Give Ada’s Bakery the reference below');
  await says(request.id);
  const [transfer] = await fixtures.db.sql`select from_address from transfers where tx_hash = ${txHash}`;
  const shown = await page.content();
  assert.ok(!shown.includes(txHash) && !shown.includes(transfer?.from_address));
  await page.getByText('Not your payment? Pay here').waitFor();
  await check('near');
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  await fixtures.pay(request);
  await says('of 3 confirmations');
  await fixtures.node.mine(2);
  await says('Paid');
  assert.equal(loads(), 1);
  await close();
});

test('it can be meant for two customers → neither page shows it; its hash leads to the sentence, with the signature form folded', async () => {
  const [request, other] = (await requests(12_500_000n, 12_700_000n)) as [RequestRow, RequestRow];
  const txHash = await withdraw(request, 12_000_000n);
  const { page, check, says, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  const second = await fixtures.open(other);
  await second.says('Waiting for your payment');
  await second.close();
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill(txHash);
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  const proof = page.locator('[data-part="proof"]');
  await proof.getByText('A payment of 12.00 USDC arrived; 12.50 was due').waitFor();
  await proof.locator('.copyable').getByText(request.id).waitFor();
  assert.ok(!(await page.locator('form.claim').isVisible()));
  await check('near-posted');
  await page.getByText('Confirm it with a signature').click();
  await page.getByText('can confirm that this payment is for this request').waitFor();
  await close();
});

test('more than the amount → the page says so; a request that has expired → the merchant still sees the payment', async () => {
  const [rounded] = (await requests(14_501_162n)) as [RequestRow];
  await withdraw(rounded, 15_000_000n);
  const first = await fixtures.open(rounded);
  await first.says('A payment of 15.00 USDC arrived; 14.501162 was due');
  await first.says('in their dashboard they can attach the payment.');
  await first.close();

  const [expired] = (await requests(12_500_000n)) as [RequestRow];
  await withdraw(expired, 12_000_000n);
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 minute' where id = ${expired.id}`;
  const second = await fixtures.open(expired);
  await second.says('This request has expired');
  await second.says('A payment of 12.00 USDC arrived; 12.50 was due');
  await second.says('they see the payment in their dashboard');
  await second.check('near-expired');
  await second.close();
});
