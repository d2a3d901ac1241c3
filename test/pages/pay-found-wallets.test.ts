import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContext } from 'playwright-core';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { announceNothing, pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
});
after(() => fixtures?.stop());

/** A wallet with more than enough. */
async function funded() {
  const wallet = pageWallet({ name: 'Violet', chains: [fixtures.node.chain] });
  await fixtures.node.fund(wallet.account.address.toLowerCase(), 50_000_000n);
  return wallet;
}

test('a wallet that is only in window.ethereum is offered as well', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const { page, says, close } = await fixtures.open(request, {
    wallets: [wallet],
    prepare: (context) => announceNothing(context),
  });
  const button = page.getByRole('button', { name: 'Pay with your browser wallet' });
  wallet.faults.set('eth_requestAccounts', { code: -32603, message: 'The vault is locked.' });
  await button.click();
  await page.getByText('Your browser wallet did not share an address.').waitFor();
  wallet.faults.clear();
  await button.click();
  await says('1 of 3 confirmations');
  await close();
});

test('window.ethereum is set a while after the page was loaded → its wallet is offered', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const prepare = async (context: BrowserContext) => {
    await announceNothing(context, 'notYet');
    await context.clock.install();
  };
  const { page, close } = await fixtures.open(request, { wallets: [wallet], prepare });
  await page.clock.runFor(2_000);
  await page.evaluate(() => Object.assign(window, { ethereum: (window as unknown as { notYet: object }).notYet }));
  await page.clock.runFor(1_000);
  await page.getByRole('button', { name: 'Pay with your browser wallet' }).waitFor();
  await close();
});

test('a wallet announces itself after the page found it in window.ethereum → it is offered once, by its name', async () => {
  const request = await fixtures.request();
  const wallet = await funded();
  const { page, says, close } = await fixtures.open(request, {
    wallets: [wallet],
    prepare: (context) => announceNothing(context),
  });
  const buttons = page.locator('.ways .wallets button');
  await page.getByRole('button', { name: 'Pay with your browser wallet' }).waitFor();
  await page.evaluate(() => (window as unknown as { announceNow(): void }).announceNow());
  await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  assert.deepEqual(await buttons.evaluateAll((all) => all.map((one) => [one.textContent, one.className])), [
    ['Pay with Violet', ''],
  ]);
  await buttons.click();
  await says('1 of 3 confirmations');
  await close();
});

test('a wallet that sends its calls without naming them → the page says that it is sent, not that it was not', async () => {
  const request = await fixtures.request();
  const wallet = Object.assign(await funded(), { offersCalls: true });
  const prepare = (context: BrowserContext) =>
    context.addInitScript(() => {
      window.addEventListener('eip6963:announceProvider', (event) => {
        const { provider } = (event as CustomEvent).detail;
        const { request } = provider;
        provider.request = async (call: { method: string }) => {
          const answer = await request(call);
          return call.method === 'wallet_sendCalls' ? null : answer;
        };
      });
    });
  const { page, says, close } = await fixtures.open(request, { wallets: [wallet], prepare });
  await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  await fixtures.automine(false);
  await page.getByRole('button', { name: 'Pay with Violet' }).click();
  await page.getByText('Sent. Waiting for the network.').waitFor();
  assert.equal(wallet.sent.length, 1);
  await fixtures.node.mine(1);
  await fixtures.automine(true);
  await says('1 of 3 confirmations');
  await close();
});

test('extensions announce what is no wallet, or a name of any length → the other wallets are offered, and all fits', async () => {
  const request = await fixtures.request();
  const prepare = (context: BrowserContext) =>
    context.addInitScript(() => {
      const provider = { request: async () => null };
      const announced = [
        null,
        { info: { uuid: 'a', name: 5, icon: '', rdns: '' }, provider },
        { info: { uuid: 7, name: 'Number', icon: '', rdns: '' }, provider },
        { info: { uuid: 'b', name: 'No provider', icon: '', rdns: '' }, provider: {} },
        { info: { uuid: 'c', name: '  ', icon: '', rdns: '' }, provider },
        { info: { uuid: 'd', name: 'W'.repeat(500), icon: null }, provider },
      ];
      window.addEventListener('eip6963:requestProvider', () => {
        for (const detail of announced) window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
      });
    });
  // What is announced first must not stop what comes after.
  const { page, complaints, check, close } = await fixtures.open(request, {
    prepare: async (context) => {
      await prepare(context);
      await putWallets(context, [await funded()]);
    },
  });
  await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  assert.deepEqual(
    await page.locator('.ways .wallets button').allTextContents(),
    ['W'.repeat(40), 'Violet'].map((name) => `Pay with ${name}`),
  );
  await check('announced');
  assert.deepEqual(complaints, []);
  await close();
});
