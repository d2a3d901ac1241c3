import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { submit } from '../../src/sandbox/wallet.ts';
import { type PayPageFixtures, payPageFixtures, statusMessageOf } from '../support/browser/pay-page.ts';
import { type PageWallet, pageWallet } from '../support/browser/wallet-in-page.ts';
import { fundRelayer, learnDomains } from '../support/chain/relayer.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
  await fundRelayer(fixtures.node.chain);
  await learnDomains(fixtures.node.chain);
  await relayerReady();
});
after(() => fixtures?.stop());

const rpc = (method: string, params: unknown[]) => callRpc(fixtures.node.chain.rpcUrls[0] ?? '', method, params);
const relayerReady = () =>
  until(async () => {
    await fixtures.db.sql`update relay_accounts set look_at = now()`;
    const rows = await fixtures.db.sql`select from relay_accounts where balance_wei > 0 limit 1`;
    return rows.length > 0;
  }, 'the relayer’s coin is known');

/** The page says that a payment is being sent as soon as that is stored; the network has it a moment later. */
const isHandedOn = (request: { id: string }) =>
  until(async () => {
    const rows = await fixtures.db.sql`select from relay_transactions where subject_id = ${request.id} and reached`;
    return rows.length > 0;
  }, 'the network has the transaction');

/** A wallet with money, and by default without coin for fees. */
async function wallet(details: Partial<PageWallet> = {}, coinWei = 0n): Promise<PageWallet> {
  const made = pageWallet({ name: 'Violet', chains: [fixtures.node.chain], ...details });
  const address = made.account.address.toLowerCase() as Hex;
  await fixtures.node.fund(address, 50_000_000n);
  await rpc('anvil_setBalance', [address, `0x${coinWei.toString(16)}`]);
  return made;
}
const signed = ({ asked }: PageWallet) => asked.filter(({ method }) => method === 'eth_signTypedData_v4').length;
const press = (page: Page, name = 'Pay with Violet') => page.getByRole('button', { name }).click();
const choice = (page: Page) => page.getByRole('checkbox', { name: 'Pay without a network fee', exact: true });
const told = (page: Page, text: string) => page.locator('.ways .told').filter({ hasText: text }).waitFor();
const paidBy = async (request: { id: string }) => {
  const [row] = await fixtures.db.sql`
    select rule, from_address from transfers where request_id = ${request.id} and counts`;
  return row && { ...row };
};

test('a wallet without coin for the fee signs, and the payment is sent for it → paid, without a reload', async () => {
  const request = await fixtures.request();
  const violet = await wallet();
  const { page, check, says, loads, complaints, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  assert.equal(await choice(page).isChecked(), false);
  await check('feeless-offered');
  let seen: Promise<unknown> = Promise.resolve();
  violet.before = async (method) => {
    if (method !== 'eth_signTypedData_v4') return;
    seen = told(page, 'This wallet has no ETH for the Base Sandbox fee');
    await seen;
    assert.equal(await choice(page).isChecked(), true);
    await check('feeless-sign');
  };
  await fixtures.automine(false);
  await press(page);
  await says('Sending your payment on Base Sandbox');
  await seen;
  await check('feeless-sending');
  assert.equal(await page.locator('.ways').count(), 0, 'nothing else can be paid meanwhile');
  await isHandedOn(request);
  await fixtures.node.mine(1);
  await fixtures.automine(true);
  await says('1 of 3 confirmations on Base Sandbox');
  await fixtures.node.mine(2);
  await says('Paid');
  await check('feeless-paid');
  const from_address = violet.account.address.toLowerCase();
  assert.deepEqual(await paidBy(request), { rule: 'authorization', from_address });
  assert.equal(violet.sent.length, 0);
  assert.equal(signed(violet), 1);
  assert.equal(loads(), 1);
  assert.deepEqual(complaints, []);
  await close();
});

test('a wallet with coin pays its own fee, unless it chooses not to', async () => {
  for (const chosen of [false, true]) {
    const request = await fixtures.request();
    const violet = await wallet({}, 10n ** 18n);
    const { page, says, close } = await fixtures.open(request, { wallets: [violet] });
    await choice(page).waitFor();
    if (chosen) await choice(page).check();
    await press(page);
    await says('1 of 3 confirmations');
    assert.equal(violet.sent.length, chosen ? 0 : 1);
    assert.equal((await paidBy(request))?.rule, chosen ? 'authorization' : 'reference');
    await close();
  }
});

test('a wallet that has too little coin after all → the page says so, and it can pay without a fee', async () => {
  const request = await fixtures.request();
  const faults = new Map([['eth_sendTransaction', { code: -32000, message: 'insufficient funds for gas * price' }]]);
  const violet = await wallet({ faults }, 10n ** 18n);
  const { page, check, says, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await press(page);
  await told(page, 'too little ETH for the Base Sandbox fee. No money was moved. Try again without a network fee');
  assert.equal(await choice(page).isChecked(), true);
  await check('feeless-instead');
  await press(page);
  await says('1 of 3 confirmations');
  assert.equal((await paidBy(request))?.rule, 'authorization');
  await close();
});

test('in every language the offer fits on a phone', async () => {
  const request = await fixtures.request();
  for (const locale of ['de-DE', 'es-ES', 'fr-FR', 'pt-BR', 'hi-IN', 'ja-JP', 'ar-EG']) {
    const { page, check, close } = await fixtures.open(request, { wallets: [await wallet()], context: { locale } });
    await page.locator('.feeless').waitFor();
    await check(`feeless-${locale}`);
    await close();
  }
});

test('declined in the wallet → the page says so, nothing is sent, and it can be tried again', async () => {
  const request = await fixtures.request();
  const violet = await wallet({ declines: new Set(['eth_signTypedData_v4']) });
  const { page, says, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await press(page);
  await told(page, 'You declined in Violet. No money was moved.');
  const bound = await fixtures.db.sql`select from authorizations where request_id = ${request.id}`;
  assert.equal(bound.length, 0);
  violet.declines.clear();
  await press(page);
  await says('1 of 3 confirmations');
  await close();
});

test('a wallet that cannot sign → the page says that no money was moved, and what to do', async () => {
  const faults = new Map([['eth_signTypedData_v4', { code: -32601, message: 'Method not supported' }]]);
  const violet = await wallet({ faults });
  const { page, close } = await fixtures.open(await fixtures.request(), { wallets: [violet] });
  await choice(page).waitFor();
  await press(page);
  await told(
    page,
    'Violet did not sign the payment. No money was moved. Try again, or pay another way. Method not supported.',
  );
  await close();
});

test('offline before the signature → the page says that nothing was sent, and it can be tried again', async () => {
  const request = await fixtures.request();
  const { page, says, close } = await fixtures.open(request, { wallets: [await wallet()] });
  await choice(page).check();
  await page.context().setOffline(true);
  await press(page);
  await told(page, 'We cannot be reached right now. Nothing was sent; try again in a moment.');
  await page.context().setOffline(false);
  await press(page);
  await says('1 of 3 confirmations');
  await close();
});

test('a wallet that signs something else → refused, and nothing is sent', async () => {
  const request = await fixtures.request();
  const [violet, other] = [await wallet(), await wallet()];
  const { signTypedData } = other.account;
  violet.account = { ...violet.account, signTypedData };
  const { page, check, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await press(page);
  await told(page, 'The token contract does not accept this signature from Violet. No money was moved');
  await check('feeless-refused');
  await close();
});

test('the missing part of the amount is requested, and signed with the next counter', async () => {
  const request = await fixtures.request();
  await fixtures.pay(request, { usdcMicro: 5_000_000n });
  await fixtures.node.mine(3);
  const violet = await wallet();
  const { page, says, close } = await fixtures.open(request, { wallets: [violet] });
  await says('USDC is missing');
  await choice(page).waitFor();
  await press(page, 'Pay the rest with Violet');
  await says('1 of 3 confirmations');
  await fixtures.node.mine(2);
  await says('Paid');
  await close();
});

test('the transaction fails → the page says what to do, and signing again pays', async () => {
  const request = await fixtures.request();
  const violet = await wallet();
  const { page, check, says, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await fixtures.automine(false);
  await press(page);
  await says('Sending your payment');
  await isHandedOn(request);
  // The balance is gone when it is mined.
  const [ours] = await fixtures.db.sql`select signed from relay_variants order by signed_at desc limit 1`;
  await rpc('anvil_dropAllTransactions', []);
  await fixtures.automine(true);
  const address = violet.account.address.toLowerCase();
  await moveAll(violet);
  await rpc('eth_sendRawTransaction', [`0x${Buffer.from(ours?.signed).toString('hex')}`]);
  await fixtures.node.mine(5);
  await says('The payment you signed did not go through');
  await says('sign again with the same wallet');
  assert.equal(await choice(page).isChecked(), true, 'the way that cannot pay twice');
  await check('feeless-failed');
  await fixtures.node.fund(address, 50_000_000n);
  await rpc('anvil_setBalance', [address, '0x0']);
  await press(page);
  await says('1 of 3 confirmations');
  await close();
});

/** Transfers all of a wallet's money to nobody. */
async function moveAll({ account }: PageWallet): Promise<void> {
  const from = account.address.toLowerCase();
  const to = fixtures.node.chain.tokens[0]?.address ?? '';
  const balance = await rpc('eth_call', [{ to, data: `0x70a08231${from.slice(2).padStart(64, '0')}` }, 'latest']);
  const data = `0xa9059cbb${'11'.repeat(20).padStart(64, '0')}${String(balance).slice(2)}`;
  await rpc('anvil_setBalance', [from, '0xde0b6b3a7640000']);
  await rpc('anvil_impersonateAccount', [from]);
  const url = fixtures.node.chain.rpcUrls[0] ?? '';
  await submit(url, () => rpc('eth_sendTransaction', [{ from, to, data, gas: '0x186a0' }]));
}

test('a signed payment that takes long leaves the other ways open, with a warning', async () => {
  const request = await fixtures.request();
  const violet = await wallet();
  const { page, check, says, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await fixtures.automine(false);
  await press(page);
  await says('Sending your payment');
  await fixtures.db.sql`
    update authorizations set handed_in_at = now() - interval '3 minutes' where request_id = ${request.id}`;
  await says('it is taking longer than usual');
  await page.getByText('still on its way. If you pay another way now').waitFor();
  await check('feeless-long');
  await isHandedOn(request);
  await fixtures.node.mine(1);
  await fixtures.automine(true);
  await says('1 of 3 confirmations');
  await close();
});

test('no coin, no budget, or too little to pay → the ordinary ways stay, and nothing looks broken', async () => {
  const { db, scope, node } = fixtures;
  const violet = await wallet({}, 10n ** 18n);
  const small = await fixtures.request({ exactMicro: 900_000n });
  const shown = await fixtures.open(small, { wallets: [violet] });
  await shown.page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  assert.equal(await choice(shown.page).count(), 0);
  await shown.close();

  const request = await fixtures.request();
  const { page, says, complaints, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await db.sql`
    insert into relay_spending (partner_id, test_mode, chain_id, day, wei)
    values (${scope.partnerId}, true, ${node.chain.chainId}, (now() at time zone 'utc')::date, 10 ^ 30)
    on conflict (partner_id, test_mode, chain_id, day) do update set wei = 10 ^ 30`;
  await choice(page).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('alert').count(), 0);
  await press(page);
  await says('1 of 3 confirmations');
  assert.equal(violet.sent.length, 1);
  assert.deepEqual(complaints, []);
  await db.sql`delete from relay_spending where partner_id = ${scope.partnerId}`;
  await close();
});

test('the budget is spent while the wallet is asked, and the page has heard of it → it says so, and the customer can pay with a fee', async () => {
  const { db, scope, node } = fixtures;
  const request = await fixtures.request();
  const violet = await wallet();
  violet.before = async (method) => {
    if (method !== 'eth_signTypedData_v4') return;
    await db.sql`
      insert into relay_spending (partner_id, test_mode, chain_id, day, wei)
      values (${scope.partnerId}, true, ${node.chain.chainId}, (now() at time zone 'utc')::date, 10 ^ 30)
      on conflict (partner_id, test_mode, chain_id, day) do update set wei = 10 ^ 30`;
    const heard = page.waitForEvent('requestfinished', (call) => call.url().endsWith('/state'));
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await heard;
  };
  const { page, close } = await fixtures.open(request, { wallets: [violet] });
  await choice(page).waitFor();
  await press(page);
  await told(page, 'We cannot send the payment without a network fee right now. No money was moved');
  await choice(page).waitFor({ state: 'detached' }); // a new version of the section has come, and says it, too
  await told(page, 'No money was moved');
  assert.equal(await statusMessageOf(page).getByText('Waiting for your payment').count(), 1);
  await db.sql`delete from relay_spending where partner_id = ${scope.partnerId}`;
  await close();
});
