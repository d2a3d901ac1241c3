import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { callRpc } from '../../src/chain/rpc.ts';
import { walletConnectPath } from '../../src/web/assets.ts';
import { startApp } from '../support/app.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { snap } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { startRelay } from '../support/browser/relay.ts';
import { walletElsewhere } from '../support/browser/wallet-elsewhere.ts';
import { pageWallet } from '../support/browser/wallet-in-page.ts';
import { fundRelayer, learnDomains } from '../support/chain/relayer.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let relay: Awaited<ReturnType<typeof startRelay>>;
let fixtures: PayPageFixtures;
before(async () => {
  relay = await startRelay();
  fixtures = await payPageFixtures({
    chains: 2,
    config: { walletConnect: { projectId: 'f'.repeat(32), relayUrl: relay.url } },
  });
});
after(async () => {
  await fixtures?.stop();
  await relay?.stop();
});

const button = (page: Page) => page.getByRole('button', { name: 'Pay with WalletConnect' });
const told = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text }).waitFor();

/** The WalletConnect code on the page. */
async function codeOf(page: Page): Promise<string> {
  await page.locator('.pairing[data-uri^="wc:"]').waitFor();
  return (await page.locator('.pairing').getAttribute('data-uri')) ?? '';
}

test('a wallet that scans the code pays → paid, and the session is over', async (t) => {
  const request = await fixtures.request();
  const wallet = await walletElsewhere(relay.url, fixtures.node.chain);
  t.after(() => wallet.stop());
  await fixtures.node.fund(wallet.address, 50_000_000n);
  const fetched: string[] = [];
  const { page, check, says, loads, complaints, close } = await fixtures.open(request, {
    prepare: async (context) => context.on('request', (call) => fetched.push(call.url())),
  });
  await button(page).waitFor();
  assert.ok(!fetched.some((url) => url.includes('wallet-connect')), 'loaded on use only');
  await button(page).click();
  const uri = await codeOf(page);
  await check('walletconnect');
  await wallet.scan(uri);
  await says('1 of 3 confirmations on Base Sandbox');
  await wallet.ended;
  assert.deepEqual(wallet.proposed, [{ name: 'Ada’s Bakery', chains: ['eip155:31337', 'eip155:31339'] }]);
  const [row] = await fixtures.db.sql`select rule, from_address from transfers where tx_hash = ${wallet.sent[0] ?? ''}`;
  assert.deepEqual({ ...row }, { rule: 'reference', from_address: wallet.address });
  await fixtures.node.mine(2);
  await says('Paid');
  assert.equal(loads(), 1);
  assert.deepEqual(complaints, []);
  assert.ok(fetched.every((url) => new URL(url).host === new URL(fixtures.app.url).host));
  await close();
});

test('a wallet elsewhere that holds no coin for the fee signs, and the payment is sent for it → paid', async (t) => {
  const request = await fixtures.request();
  const { chain } = fixtures.node;
  await fundRelayer(chain);
  await learnDomains(chain);
  await until(async () => {
    await fixtures.db.sql`update relay_accounts set look_at = now()`;
    const rows = await fixtures.db.sql`
      select from relay_accounts where balance_wei > 0 and chain_id = ${chain.chainId} limit 1`;
    return rows.length > 0;
  }, 'the relayer’s coin is known');
  const wallet = await walletElsewhere(relay.url, chain);
  t.after(() => wallet.stop());
  await fixtures.node.fund(wallet.address, 50_000_000n);
  await callRpc(chain.rpcUrls[0] ?? '', 'anvil_setBalance', [wallet.address, '0x0']);
  const { page, says, complaints, close } = await fixtures.open(request);
  await page.getByRole('checkbox', { name: 'Pay without a network fee' }).waitFor();
  await button(page).click();
  await wallet.scan(await codeOf(page));
  await says('1 of 3 confirmations on Base Sandbox');
  await wallet.ended;
  const [row] = await fixtures.db.sql`select rule, from_address from transfers where request_id = ${request.id}`;
  assert.deepEqual({ ...row }, { rule: 'authorization', from_address: wallet.address });
  assert.deepEqual(wallet.sent, []);
  await fixtures.node.mine(2);
  await says('Paid');
  assert.deepEqual(complaints, []);
  await close();
});

test('the connection is declined, then the payment → the page says each; tried again, it continues over the same connection', async (t) => {
  const request = await fixtures.request();
  const wallet = await walletElsewhere(relay.url, fixtures.node.chain);
  t.after(() => wallet.stop());
  await fixtures.node.fund(wallet.address, 50_000_000n);
  const { page, says, close } = await fixtures.open(request);
  wallet.owner.agrees = false;
  await button(page).click();
  const uri = await codeOf(page);
  await page.locator('.pairing').getByRole('button').focus();
  await wallet.scan(uri);
  await told(page, 'You declined in WalletConnect. No money was moved.');
  await page.locator('.pairing').waitFor({ state: 'hidden' });
  assert.equal(await button(page).evaluate((element) => element === document.activeElement), true);
  wallet.owner.agrees = true;
  wallet.owner.sends = false;
  await button(page).click();
  await wallet.scan(await codeOf(page));
  await told(page, 'You declined in Pocket. No money was moved.');
  wallet.owner.sends = true;
  await button(page).click();
  await says('1 of 3 confirmations');
  assert.equal(wallet.proposed.length, 2);
  assert.equal(wallet.sent.length, 1);
  await close();
});

test('a wallet that accepts only another network than the chosen one → the page says which, and choosing it pays', async (t) => {
  const request = await fixtures.request();
  const polygon = fixtures.nodes[1] as PayPageFixtures['node'];
  const wallet = await walletElsewhere(relay.url, polygon.chain);
  t.after(() => wallet.stop());
  await polygon.fund(wallet.address, 50_000_000n);
  const { page, says, close } = await fixtures.open(request);
  await button(page).click();
  await wallet.scan(await codeOf(page));
  await told(page, 'Pocket did not switch to Base Sandbox.');
  assert.deepEqual(wallet.sent, []);
  await page.getByLabel('Polygon Sandbox').click();
  await button(page).click();
  await says('1 of 3 confirmations on Polygon Sandbox');
  await close();
});

test('while the code is shown, a wallet of this browser can pay instead; a second press shows the same code', async () => {
  const request = await fixtures.request();
  const violet = pageWallet({ name: 'Violet', chains: [fixtures.node.chain] });
  await fixtures.node.fund(violet.account.address.toLowerCase(), 50_000_000n);
  const { page, says, close } = await fixtures.open(request, { wallets: [violet] });
  await button(page).click();
  const first = await codeOf(page);
  violet.declines.add('eth_requestAccounts');
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await told(page, 'You declined in Violet');
  assert.ok(!(await page.locator('.pairing').isVisible()));
  await button(page).click();
  assert.equal(await codeOf(page), first, 'the same code still holds');
  violet.declines.clear();
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await says('1 of 3 confirmations');
  await close();
});

test('leaving the page → ends the WalletConnect connection', async (t) => {
  const request = await fixtures.request();
  const wallet = await walletElsewhere(relay.url, fixtures.node.chain);
  t.after(() => wallet.stop());
  wallet.owner.sends = false;
  const { page, close } = await fixtures.open(request);
  await button(page).click();
  await wallet.scan(await codeOf(page));
  await told(page, 'You declined in Pocket');
  await page.goto('about:blank');
  await wallet.ended;
  await close();
});

test('a relay that is down → the page says that no money moved, and the other ways stay; back again → a code', async () => {
  await relay.stop();
  const request = await fixtures.request();
  const { page, check, close } = await fixtures.open(request);
  await button(page).click();
  await page.getByText('Preparing a code for your wallet').waitFor();
  await told(page, 'WalletConnect cannot be reached right now. No money was moved');
  await page.locator('.apps').waitFor();
  await page.getByText('Pay manually or from an exchange').click();
  await page.getByText(/Send exactly .* on Base Sandbox/).waitFor();
  await check('walletconnect-away');
  await relay.start();
  await button(page).click();
  await codeOf(page);
  await close();
});

test('on a phone → WalletConnect is a link into a wallet app instead of a code', async () => {
  const request = await fixtures.request();
  const { page, close } = await fixtures.open(request, { context: { hasTouch: true, isMobile: true } });
  await button(page).click();
  const uri = await codeOf(page);
  const link = page.locator('.pairing').getByRole('link', { name: 'Open in your wallet app' });
  assert.equal(await link.getAttribute('href'), uri);
  assert.equal(await page.locator('.pairing').getByRole('img').count(), 0, 'nobody scans the phone they hold');
  await link.scrollIntoViewIfNeeded();
  await snap(page, 'pay-walletconnect-phone');
  await assertAccessible(page);
  await close();
});

test('no WalletConnect project id → nothing of it is shown, loaded or allowed by the policy', async () => {
  const plain = await startApp();
  try {
    const { test: scope } = await makePartner(plain.db);
    const request = await makeRequest(plain.db, scope, await makeMerchant(plain.db, scope));
    const here = await fetch(`${fixtures.app.url}/pay/${(await fixtures.request()).id}`);
    const there = await fetch(`${plain.url}/pay/${request.id}`);
    assert.match(await here.text(), /WalletConnect/);
    assert.doesNotMatch(await there.text(), /Pay with WalletConnect|wallet-connect/);
    const connections = (answer: Response) =>
      /connect-src [^;]*/.exec(answer.headers.get('content-security-policy') ?? '');
    assert.equal(connections(here)?.[0], `connect-src 'self' ${relay.url}`);
    assert.equal(connections(there)?.[0], "connect-src 'self'");
    assert.equal((await fetch(`${plain.url}${walletConnectPath}`)).status, 404);
    assert.equal((await fetch(`${fixtures.app.url}${walletConnectPath}`)).status, 200);
    const receipt = await fetch(`${fixtures.app.url}/pay/${request.id}/receipt`);
    assert.doesNotMatch(receipt.headers.get('content-security-policy') ?? '', /ws:/);
  } finally {
    await plain.stop();
  }
});
