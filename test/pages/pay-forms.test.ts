import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { photograph } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { pageWallet } from '../support/browser/wallet-in-page.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
});
after(() => fixtures?.stop());

/** A payment that nothing ties to the request: neither reference nor amount. */
async function payUntagged(request: Parameters<PayPageFixtures['pay']>[0]) {
  const from = fixtures.node.wallet();
  const usdcMicro = BigInt(request.usdc_micro) + 77n;
  const txHash = await fixtures.node.pay({ from, to: request.wallet_address, usdcMicro });
  await until(async () => {
    const [row] = await fixtures.db.sql`select judged_at from transfers where tx_hash = ${txHash}`;
    return row?.judged_at;
  }, 'the loops have judged it');
  return { from, txHash };
}

test('the form for a hash answers in its place: what was typed stays, the focus goes to the fault, nothing is reloaded', async () => {
  const request = await fixtures.request();
  const { page, check, says, loads, complaints, close } = await fixtures.open(request);
  await says('Waiting for your payment');
  await page.getByText('Sent it, but it’s not showing?').click();
  const field = page.getByLabel('Transaction hash');
  await field.fill('0x1234');
  await field.press('Enter');
  await page.getByText('This is not a transaction hash').waitFor();
  assert.equal(await field.inputValue(), '0x1234');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'tx_hash');
  await check('hash-refused');
  await field.fill(`0x${'12'.repeat(32)}`);
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await page.getByText('find this transaction on any accepted network yet').waitFor();
  await page.route('**/proof', (route) => route.abort());
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await page.getByRole('alert').filter({ hasText: 'try again' }).waitFor();
  assert.equal(loads(), 1);
  assert.deepEqual(
    complaints.filter((line) => !/status of 400|ERR_FAILED/.test(line)),
    [],
  );
  await close();
});

test('the hash of a payment that is not in a block yet → seen, and the page says once that it waits for confirmation', async () => {
  const request = await fixtures.request();
  const [from, usdcMicro] = [fixtures.node.wallet(), BigInt(request.usdc_micro)];
  await fixtures.node.fund(from.address, usdcMicro);
  const txHash = await fixtures.node.offer({
    ...{ from, to: request.wallet_address, usdcMicro, reference: request.reference, ahead: 1 },
  });
  const { page, check, says, close } = await fixtures.open(request);
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill(txHash);
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await says('Payment seen on');
  assert.equal(await page.getByText('There is nothing left to do').count(), 1);
  await check('hash-seen');
  await close();
});

test('a live update while somebody types → the text stays', async () => {
  const request = await fixtures.request();
  const { page, says, close } = await fixtures.open(request);
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill('0xab');
  await fixtures.db.sql`update requests set expires_at = now() where id = ${request.id}`;
  await says('This request has expired');
  assert.equal(await page.getByLabel('Transaction hash').inputValue(), '0xab');
  assert.ok(await page.getByLabel('Transaction hash').isVisible());
  await close();
});

test('money that nothing ties to the request is claimed by a signature of the wallet that sent it', async () => {
  const request = await fixtures.request();
  const { from, txHash } = await payUntagged(request);
  const payer = pageWallet({
    name: 'Violet',
    chains: [fixtures.node.chain],
    account: privateKeyToAccount(from.privateKey),
  });
  const stranger = pageWallet({ name: 'Amber', chains: [fixtures.node.chain] });
  const { page, check, says, loads, close } = await fixtures.open(request, { wallets: [stranger, payer] });
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill(txHash);
  const sign = page.getByRole('button', { name: 'Sign with Violet' });
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await page.getByText('Confirm it with a signature').click();
  await sign.waitFor();
  await check('claim');
  await page.getByRole('button', { name: 'Sign with Amber' }).click();
  await page
    .getByRole('alert')
    .filter({ hasText: `Switch to ${getAddress(from.address)} there` })
    .waitFor();
  payer.declines.add('eth_signTypedData_v4');
  await sign.click();
  await page.getByRole('alert').filter({ hasText: 'You declined in Violet' }).waitFor();
  payer.declines.clear();
  const asked = () => payer.asked.filter(({ method }) => method === 'eth_signTypedData_v4').length;
  const askedBefore = asked();
  payer.chainId = 1;
  payer.before = (method) => {
    if (method !== 'wallet_switchEthereumChain') payer.chainId = 1; // it reports a switch without one
  };
  await sign.click();
  await page.getByRole('alert').filter({ hasText: 'Violet did not switch to' }).waitFor();
  assert.equal(asked(), askedBefore, 'it is not asked to sign for another network');
  payer.before = () => {};
  await sign.click();
  await says('of 3 confirmations');
  await fixtures.node.mine(2);
  await says('Paid');
  assert.equal(loads(), 1);
  const [row] = await fixtures.db.sql`select rule from transfers where tx_hash = ${txHash}`;
  assert.equal(row?.rule, 'claim');
  await close();
});

test('a signature of somebody else → the fault beside it, typed values stay, and the right one still counts', async () => {
  const request = await fixtures.request();
  const { from, txHash } = await payUntagged(request);
  const payer = pageWallet({
    name: 'Violet',
    chains: [fixtures.node.chain],
    account: privateKeyToAccount(from.privateKey),
  });
  const { page, check, says, loads, close } = await fixtures.open(request, { wallets: [payer] });
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill(txHash);
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await page.getByText('Confirm it with a signature').click();
  await page.getByRole('button', { name: 'Sign with Violet' }).waitFor();
  await page.getByText('Sign elsewhere').click();
  const field = page.getByLabel('Signature');
  const data = JSON.parse((await page.locator('.claim pre').textContent()) ?? '');
  const wrong = await pageWallet({ chains: [] }).account.signTypedData(data);
  await field.fill(wrong);
  await field.press('Enter');
  await page.getByText('This signature is not from the wallet').waitFor();
  assert.equal(await field.inputValue(), wrong);
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'signature');
  assert.equal(await page.locator('#tx_hash[aria-invalid]').count(), 0, 'the hash is not at fault');
  await check('claim-refused');
  await page.getByRole('button', { name: 'Sign with Violet' }).click();
  await says('of 3 confirmations');
  await fixtures.node.mine(2);
  await says('Paid');
  assert.equal(loads(), 1);
  await close();
});

test('without any script: the page says what to send where, renews itself, takes a hash and a signature from elsewhere', async () => {
  const request = await fixtures.request();
  const { page, says, close } = await fixtures.open(request, { context: { javaScriptEnabled: false } });
  await says('Waiting for your payment');
  assert.equal(await page.locator('noscript meta[http-equiv="refresh"]').count(), 1);
  assert.ok(!(await page.locator('.copy').first().isVisible()));
  await page.getByText('Pay manually or from an exchange').click();
  await page.getByText(/Send exactly .* on Base Sandbox/).waitFor();
  const { from, txHash } = await payUntagged(request);
  const field = page.getByLabel('Signature');
  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill(txHash);
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await page.getByText('Confirm it with a signature').click();
  await field.waitFor();
  await photograph(page, 'pay-claim-manual');
  const data = JSON.parse((await page.locator('.claim pre').textContent()) ?? '');
  await field.fill(`0x${'12'.repeat(65)}`);
  await page.getByRole('button', { name: 'Submit signature' }).click();
  await page.getByText('This signature is not from the wallet').waitFor();
  assert.equal(await field.inputValue(), `0x${'12'.repeat(65)}`);
  await field.fill(await privateKeyToAccount(from.privateKey).signTypedData(data));
  await page.getByRole('button', { name: 'Submit signature' }).click();
  await says('of 3 confirmations');
  await fixtures.node.mine(2);
  await until(async () => (await fixtures.read(request)).proof_status === 'verified', 'it is verified');
  await page.goto(page.url().replace(/\/claim$/, ''));
  await says('Paid');
  await page.getByRole('link', { name: 'Open the receipt to share or print it' }).click();
  await page.getByRole('heading', { name: 'Paid' }).waitFor();
  await close();
});
