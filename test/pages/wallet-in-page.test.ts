import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { encodeFunctionData, erc20Abi, type Hex, numberToHex, stringToHex, verifyMessage } from 'viem';
import { callRpc } from '../../src/chain/rpc.ts';
import { openBrowser } from '../support/browser/browser.ts';
import { type PageWallet, pageWallet, putWallets } from '../support/browser/wallet-in-page.ts';
import { testChain } from '../support/chain/chain.ts';
import { randomAddress } from '../support/fixtures.ts';

let browser: Browser;
let node: Awaited<ReturnType<typeof testChain>>;
before(async () => {
  [browser, node] = await Promise.all([openBrowser(), testChain()]);
});
after(() => Promise.all([browser.close(), node.stop()]));

/** A page with wallets, and the calls it makes to them. */
async function openPage(wallets: PageWallet[]) {
  const context = await browser.newContext();
  await putWallets(context, wallets);
  const page = await context.newPage();
  await page.goto('about:blank');
  const ask = (name: string, method: string, params: unknown[] = []) =>
    page.evaluate(
      async ([name, method, params]) => {
        type Detail = { info: { name: string }; provider: { request(call: object): Promise<unknown> } };
        const found: Detail[] = [];
        window.addEventListener('eip6963:announceProvider', (event) => found.push((event as CustomEvent).detail));
        window.dispatchEvent(new Event('eip6963:requestProvider'));
        const provider = found.find(({ info }) => info.name === name)?.provider;
        return provider?.request({ method, params }).then(
          (result) => ({ result }),
          (error: { code: number; message: string }) => ({ code: error.code, message: error.message }),
        );
      },
      [name, method, params] as const,
    ) as Promise<{ result?: unknown; code?: number; message?: string }>;
  return { page, ask };
}

test('Several wallets at once each sign with their own key, and only for a page that was let in', async () => {
  const wallets = ['One', 'Two'].map((name) => pageWallet({ name, chains: [node.chain] }));
  const { ask } = await openPage(wallets);
  for (const { name, account } of wallets) {
    const message = stringToHex('hello');
    assert.equal((await ask(name, 'personal_sign', [message, account.address])).code, 4100);
    assert.deepEqual(await ask(name, 'eth_accounts'), { result: [] });
    assert.deepEqual(await ask(name, 'eth_requestAccounts'), { result: [account.address.toLowerCase()] });
    const { result } = await ask(name, 'personal_sign', [message, account.address]);
    assert.ok(await verifyMessage({ address: account.address, message: 'hello', signature: result as Hex }));
  }
});

test('A wallet sends real transactions, in both ways, and fails without funds', async () => {
  const wallet = pageWallet({ chains: [node.chain], offersCalls: true });
  const { ask } = await openPage([wallet]);
  const from = wallet.account.address.toLowerCase();
  const to = node.chain.tokens[0]?.address as Hex;
  const args = [randomAddress() as Hex, 1_000_000n] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  await ask(wallet.name, 'eth_requestAccounts');
  const refused = await ask(wallet.name, 'eth_sendTransaction', [{ from, to, data }]);
  assert.ok(refused.code && refused.message, JSON.stringify(refused));
  assert.deepEqual(wallet.sent, []);

  await node.fund(from, 3_000_000n);
  const { result: hash } = await ask(wallet.name, 'eth_sendTransaction', [{ from, to, data }]);
  const chainId = numberToHex(31337);
  const call = { version: '2.0.0', from, chainId, atomicRequired: false, calls: [{ to, data }] };
  const withSuffix = { ...call, capabilities: { dataSuffix: { value: '0xabcd' } } };
  const { result: calls } = await ask(wallet.name, 'wallet_sendCalls', [withSuffix]);
  const { id } = calls as { id: string };
  await node.mine(1);
  const { result: status } = await ask(wallet.name, 'wallet_getCallsStatus', [id]);
  assert.equal((status as { status: number }).status, 200);
  const url = node.chain.rpcUrls[0] as string;
  const inputs = await Promise.all(
    [hash, id].map(async (one) => {
      const transaction = await callRpc(url, 'eth_getTransactionByHash', [one]);
      return (transaction as { input: string }).input;
    }),
  );
  assert.deepEqual(inputs, [data, `${data}abcd`]);
});

test('A wallet can decline, be on a foreign chain, and add one', async () => {
  const wallet = pageWallet({ chains: [], chainId: 1, addable: [node.chain] });
  const { ask } = await openPage([wallet]);
  wallet.declines.add('eth_requestAccounts');
  assert.equal((await ask(wallet.name, 'eth_requestAccounts')).code, 4001);
  wallet.declines.clear();
  const wanted = { chainId: numberToHex(31337) };
  assert.equal((await ask(wallet.name, 'wallet_switchEthereumChain', [wanted])).code, 4902);
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const details = { ...wanted, chainName: 'Local', rpcUrls: node.chain.rpcUrls, nativeCurrency };
  assert.deepEqual(await ask(wallet.name, 'wallet_addEthereumChain', [details]), { result: null });
  assert.deepEqual(await ask(wallet.name, 'eth_chainId'), { result: '0x7a69' });
});
