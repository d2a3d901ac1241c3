import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callRpc } from '../../src/chain/rpc.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { type PageWallet, pageWallet } from '../support/browser/wallet-in-page.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures({ chains: 2 });
});
after(() => fixtures?.stop());

const base = () => fixtures.nodes[0] as PayPageFixtures['node'];
const polygon = () => fixtures.nodes[1] as PayPageFixtures['node'];

/** A wallet with more than enough on each of the given chains. */
async function funded(details: Partial<PageWallet> = {}, nodes = [base()]): Promise<PageWallet> {
  const wallet = pageWallet({ name: 'Violet', chains: nodes.map(({ chain }) => chain), ...details });
  for (const node of nodes) await node.fund(wallet.account.address.toLowerCase(), 50_000_000n);
  return wallet;
}

/** A wallet that was asked for a payment once `asked` is over, and answers once `answer` is called. */
async function hesitant(details: Partial<PageWallet> = {}) {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const violet = await funded({
    ...details,
    before: (method) => {
      if (method !== 'eth_sendTransaction') return;
      asked.resolve();
      return answer.promise;
    },
  });
  return { violet, asked: asked.promise, answer: answer.resolve };
}

const transferOf = async (txHash: string) =>
  (await fixtures.db.sql`select rule, chain_id::int, from_address from transfers where tx_hash = ${txHash}`)[0];
const askedFor = (wallet: PageWallet, method: string) => wallet.asked.filter((call) => call.method === method).length;

test('a wallet of this browser pays with the reference at the end → paid, without a reload', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const { page, check, says, loads, complaints, close } = await fixtures.open(request, { wallets: [wallet] });
  const button = page.getByRole('button', { name: 'Pay with Violet' });
  await button.waitFor();
  await check('wallet');
  await button.click();
  await says('1 of 3 confirmations on Base Sandbox');
  assert.deepEqual(await transferOf(wallet.sent[0]?.hash ?? ''), {
    rule: 'reference',
    chain_id: 31337,
    from_address: wallet.account.address.toLowerCase(),
  });
  await base().mine(2);
  await says('Paid');
  assert.equal(wallet.sent.length, 1);
  assert.equal(loads(), 1);
  assert.deepEqual(complaints, []);
  await close();
});

test('a wallet that offers it sends by wallet_sendCalls with the data suffix → found by its reference', async () => {
  const request = await fixtures.request();
  const wallet = await funded({ offersCalls: true });
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('1 of 3 confirmations');
  assert.equal(askedFor(wallet, 'wallet_sendCalls'), 1);
  assert.equal(askedFor(wallet, 'eth_sendTransaction'), 0);
  assert.equal((await transferOf(wallet.sent[0]?.hash ?? ''))?.rule, 'reference');
  await close();
});

test('a wallet’s transaction shows as seen before it is mined', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await fixtures.automine(false);
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('Payment seen on Base Sandbox');
  await base().mine(1);
  await fixtures.automine(true);
  await says('1 of 3 confirmations');
  await close();
});

test('a wallet’s transaction is submitted over a connection that died silently → it is submitted again', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await page.evaluate(() => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => timeout(ms / 8);
  });
  let submitted = 0;
  await page.route('**/proof', (route) => {
    submitted++;
    if (submitted > 1) return route.continue();
  });
  await fixtures.automine(false);
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('Payment seen on Base Sandbox');
  assert.ok(submitted >= 2); // more often while a busy machine does not show it yet
  await fixtures.automine(true);
  await close();
});

test('several wallets are listed with their icons; a second press while one is asked does nothing', async () => {
  const request = await fixtures.request();
  const { violet, asked, answer } = await hesitant();
  const amber = await funded({ name: 'Amber' });
  const { page, check, says, close } = await fixtures.open(request, { wallets: [violet, amber] });
  const buttons = page.locator('.wallets button');
  await buttons.nth(1).waitFor();
  assert.deepEqual(await buttons.allTextContents(), ['Pay with Violet', 'Pay with Amber']);
  assert.equal(await page.locator('.wallets img').count(), 2);
  await buttons.first().click();
  await asked;
  await page.getByText('Confirm the payment in Violet.').waitFor();
  await check('wallet-confirm');
  for (const button of await buttons.all()) await button.click({ force: true });
  answer();
  await says('1 of 3 confirmations');
  assert.equal(askedFor(violet, 'eth_sendTransaction'), 1);
  assert.deepEqual(amber.sent, []);
  await close();
});

test('paid from elsewhere while a wallet asks → the page says to decline; confirmed all the same, it is found', async () => {
  const request = await fixtures.request();
  const { violet, asked, answer } = await hesitant();
  const { page, check, says, close } = await fixtures.open(request, { wallets: [violet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await asked;
  await fixtures.pay(request);
  await base().mine(3);
  await says('Paid');
  const warning = page.getByText('Decline the payment in Violet: nothing is due here any more.');
  await warning.waitFor();
  await check('wallet-decline');
  const submitted = page.waitForRequest((sent) => sent.url().endsWith('/proof'));
  answer();
  assert.equal(new URLSearchParams((await submitted).postData() ?? '').get('tx_hash'), violet.sent[0]?.hash);
  await warning.waitFor({ state: 'hidden' });
  await close();
});

test('two wallets ask for what is not due any more → the answer of one leaves the warning about the other', async () => {
  const request = await fixtures.request();
  const declines = () => new Set(['eth_sendTransaction']);
  const first = await hesitant({ declines: declines() });
  const second = await hesitant({ name: 'Amber', declines: declines() });
  const { page, says, close } = await fixtures.open(request, { wallets: [first.violet, second.violet] });
  const warning = (name: string) => page.getByText(`Decline the payment in ${name}: nothing is due here any more.`);
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await first.asked;
  await fixtures.pay(request);
  await warning('Violet').waitFor();
  await base().reorg(1);
  await page.getByRole('button', { name: 'Pay with Amber' }).click();
  await second.asked;
  await fixtures.pay(request);
  await warning('Amber').waitFor();
  second.answer();
  await warning('Violet').waitFor();
  first.answer();
  await warning('Violet').waitFor({ state: 'hidden' });
  await base().mine(2);
  await says('Paid');
  await close();
});

test('a part is paid while a wallet is asked for its address, and answers late → it is asked for the rest alone', async () => {
  const request = await fixtures.request();
  const missing = 2_700_000n;
  const asked = Promise.withResolvers<void>();
  const unlocked = Promise.withResolvers<void>();
  const violet = await funded({
    before: (method) => {
      if (method !== 'eth_requestAccounts') return;
      asked.resolve();
      return unlocked.promise;
    },
  });
  const { page, says, close } = await fixtures.open(request, { wallets: [violet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await asked.promise;
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - missing });
  await says('2.70 USDC is missing');
  unlocked.resolve();
  await says('Confirming your payment');
  const [transfer] = await fixtures.db
    .sql`select value::text from transfers where tx_hash = ${violet.sent[0]?.hash ?? ''}`;
  assert.equal(BigInt(transfer?.value as string), missing);
  await close();
});

test('a part is paid while a wallet asks for the whole → the page says to decline; pressed again, the rest is asked for', async () => {
  const request = await fixtures.request();
  const missing = 2_600_000n;
  const { violet, asked, answer } = await hesitant();
  violet.declines.add('eth_sendTransaction');
  const { page, check, says, close } = await fixtures.open(request, { wallets: [violet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await asked;
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - missing });
  await says('2.60 USDC is missing');
  const warning = page.getByText('The amount due has changed. Decline the payment in Violet, then pay again.');
  await warning.waitFor();
  await check('wallet-amount-changed');
  answer();
  await warning.waitFor({ state: 'hidden' });
  violet.declines.clear();
  await page.getByRole('button', { name: 'Pay the rest with Violet' }).click();
  await says('Confirming your payment');
  const [transfer] = await fixtures.db
    .sql`select value::text from transfers where tx_hash = ${violet.sent[0]?.hash ?? ''}`;
  assert.equal(BigInt(transfer?.value as string), missing);
  await close();
});

test('a wallet on another network is moved; one that does not know the network learns it', async () => {
  const moved = await funded({ chainId: 31339 }, [base(), polygon()]);
  const taught = await funded({ chains: [], addable: [base().chain], chainId: 1 });
  for (const wallet of [moved, taught]) {
    const request = await fixtures.request();
    const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
    await page.getByLabel('Base Sandbox').click();
    await page.getByRole('button', { name: 'Pay with Violet' }).click();
    await says('1 of 3 confirmations on Base Sandbox');
    assert.equal(wallet.chainId, 31337);
    await close();
  }
  assert.equal(askedFor(moved, 'wallet_addEthereumChain'), 0);
  assert.equal(askedFor(taught, 'wallet_addEthereumChain'), 1);
});

test('the network that the wallet holds funds on comes first and is chosen; the instructions follow the chips', async () => {
  const request = await fixtures.request();
  const wallet = await funded({ chainId: 31339 }, [polygon()]);
  wallet.chains.push(base().chain);
  const { page, check, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await page.getByText('Pay manually or from an exchange').click();
  await page.getByText(/Send exactly .* on Base Sandbox/).waitFor();
  assert.ok(!(await page.getByText(/Send exactly .* on Polygon Sandbox/).isVisible()));
  await check('networks');
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('1 of 3 confirmations on Polygon Sandbox');
  await polygon().mine(2);
  await says('Paid');
  await close();

  const again = await fixtures.request();
  // The wallet already knows the site, so the page sees its balances before anything is pressed.
  wallet.before = () => {};
  const second = await fixtures.open(again, {
    wallets: [wallet],
    prepare: (context) =>
      context.addInitScript(() => {
        window.addEventListener('eip6963:announceProvider', (event) => {
          void (event as CustomEvent).detail.provider.request({ method: 'eth_requestAccounts' });
        });
      }),
  });
  await second.page.locator('.chips label').first().filter({ hasText: 'Polygon Sandbox' }).waitFor();
  assert.equal(await second.page.getByLabel('Polygon Sandbox').isChecked(), true);
  await second.page.getByLabel('Base Sandbox').click();
  await second.page.getByText('Pay manually or from an exchange').click();
  await second.page.getByText(/Send exactly .* on Base Sandbox/).waitFor();
  // After a part, the server sends the section anew, in its own order.
  await fixtures.pay(again, { usdcMicro: 1_000_000n });
  await base().mine(2);
  await second.page.getByRole('button', { name: 'Pay the rest with Violet' }).waitFor();
  assert.match((await second.page.locator('.chips label').first().textContent()) ?? '', /Polygon Sandbox/);
  assert.equal(await second.page.getByLabel('Base Sandbox').isChecked(), true);
  await second.close();
});

test('in high contrast the chosen network looks different from the others', async () => {
  const request = await fixtures.request();
  const { page, close } = await fixtures.open(request, { context: { forcedColors: 'active' } });
  const backgrounds = () =>
    page.locator('.chips span').evaluateAll((chips) => chips.map((chip) => getComputedStyle(chip).backgroundColor));
  await page.getByLabel('Polygon Sandbox').click();
  const [other, chosen] = await backgrounds();
  assert.notEqual(chosen, other);
  await page.getByLabel('Base Sandbox').click();
  assert.deepEqual(await backgrounds(), [chosen, other]);
  await close();
});

test('a wallet that reports all its balances is switched to the network with enough, from whichever it is on', async () => {
  const request = await fixtures.request();
  const wallet = await funded({ offersAssets: true }, [polygon()]);
  wallet.chains.unshift(base().chain);
  wallet.chainId = 31337;
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('1 of 3 confirmations on Polygon Sandbox');
  await close();
});

test('every refusal is explained in plain words, and the payment can be tried again', async () => {
  const request = await fixtures.request();
  const wallet = pageWallet({ name: 'Violet', chains: [base().chain] });
  const { page, check, says, close } = await fixtures.open(request, { wallets: [wallet] });
  const told = page.getByRole('alert');
  const press = async (words: string | RegExp) => {
    await page.getByRole('button', { name: 'Pay with Violet' }).click();
    await told.filter({ hasText: words }).waitFor();
  };
  await page.getByLabel('Base Sandbox').click();
  wallet.declines.add('eth_requestAccounts');
  await press('You declined in Violet. No money was moved.');
  await check('wallet-declined');
  wallet.declines.clear();
  await press('This wallet holds 0.00 USDC on Base Sandbox, which is not enough.');
  await check('wallet-insufficient');
  wallet.declines.add('wallet_switchEthereumChain');
  wallet.chainId = 1;
  const notSwitched = 'Violet did not switch to Base Sandbox. No money was moved. Switch in the wallet and try again';
  await press(notSwitched);
  wallet.declines.clear();
  await page.getByLabel('Base Sandbox').click();
  wallet.faults.set('eth_chainId', { code: 4900, message: 'Disconnected' });
  await press('Violet cannot be reached right now. No money was moved.');
  wallet.faults.clear();
  wallet.chains.length = 0;
  await press(notSwitched);
  wallet.chains.push(base().chain);
  wallet.faults.set('eth_requestAccounts', { code: -32002, message: 'Request already pending.' });
  await press('Violet is still waiting for your answer to an earlier request');
  wallet.faults.set('eth_requestAccounts', { code: -32603, message: 'The vault is locked.' });
  const locked = 'Violet did not share an address. Unlock it, then try again.';
  await press(locked);
  wallet.faults.clear();
  await base().fund(wallet.account.address.toLowerCase(), 50_000_000n);
  const rpc = (method: string, params: unknown[]) => callRpc(base().chain.rpcUrls[0] ?? '', method, params);
  await rpc('anvil_setBalance', [wallet.account.address, '0x0']);
  await press('This wallet has too little ETH for the Base Sandbox fee. No money was moved.');
  await rpc('anvil_setBalance', [wallet.account.address, '0x8ac7230489e80000']);
  wallet.declines.add('eth_sendTransaction');
  await press('You declined in Violet');
  wallet.declines.clear();
  wallet.faults.set('eth_sendTransaction', { code: -32603, message: 'The cable was cut' });
  await press('Violet did not send the payment. The cable was cut. Check its recent activity before you try again.');
  wallet.faults.set('eth_sendTransaction', { code: -32603, message: '' });
  await press('Violet did not send the payment. Check its recent activity before you try again.');
  wallet.faults.set('eth_sendTransaction', { code: 4100, message: 'The account has not been authorized.' });
  await press(locked);
  wallet.faults.clear();
  assert.deepEqual(wallet.sent, []);
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('1 of 3 confirmations');
  await close();
});

test('a partly paid request → the wallet pays the rest', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 2_500_000n });
  await says('2.50 USDC is missing');
  await page.getByRole('button', { name: 'Pay the rest with Violet' }).click();
  await base().mine(2);
  await until(async () => (await fixtures.read(request)).proof_status !== 'none', 'the rest is there');
  await base().mine(2);
  await says('Paid');
  await close();
});

test('by the keyboard alone: choose the network, pay, and end with the focus on what happened', async () => {
  const request = await fixtures.request();
  const wallet = await funded({ chainId: 31337 }, [base(), polygon()]);
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
  await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  await page.keyboard.press('Tab'); // the link that skips to the content
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.getByLabel('Polygon Sandbox').isChecked(), true);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Pay with Violet');
  await page.keyboard.press('Enter');
  await says('1 of 3 confirmations on Polygon Sandbox');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-part')), 'news');
  await close();
});
