import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callRpc, toHex } from '../../src/chain/rpc.ts';
import * as wallet from '../../src/sandbox/wallet.ts';
import { type TestChain, type TestWallet, testChain } from '../support/chain/chain.ts';

const rounds = 25;
const depth = 5;

let chain: TestChain;
before(async () => {
  chain = await testChain();
});
after(() => chain.stop());

const payers = async (): Promise<TestWallet[]> => {
  const wallets = Array.from({ length: 6 }, () => chain.wallet());
  for (const { address } of wallets) await chain.fund(address, 1_000_000n);
  return wallets;
};

/** Payments and reorganisations at once. */
async function disturb(inTurn: <T>(work: () => Promise<T>) => Promise<T>): Promise<void> {
  const { url, usdc } = wallet.endpointOf(chain.chain);
  const from = await payers();
  const to = chain.wallet().address;
  const data = wallet.transferCall({ to, usdcMicro: 1n });
  const hashes = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    await chain.mine(depth);
    const signed = await Promise.all(from.map((payer) => wallet.signCall(chain.chain, payer.privateKey, usdc, data)));
    const send = async (one: string) => hashes.add(await chain.resend(one));
    const half = signed.length / 2;
    await Promise.all([
      ...signed.slice(0, half).map((one) => inTurn(() => send(one))),
      inTurn(() => chain.reorg(depth)),
      ...signed.slice(half).map((one) => inTurn(() => send(one))),
    ]);
  }

  const head = await wallet.headNumber(chain.chain);
  for (let number = 1; number <= head; number++)
    assert.ok(await callRpc(url, 'eth_getBlockByNumber', [toHex(number), false]), `block ${number} of ${head}`);
  const receipts = await Promise.all([...hashes].map((hash) => callRpc(url, 'eth_getTransactionReceipt', [hash])));
  const mined = receipts.filter((receipt) => receipt !== null).length;
  assert.ok(mined >= rounds);
  assert.equal(await wallet.usdcBalance(chain.chain, to), BigInt(mined));
}

test('payments and reorganisations at once, each alone → no block is gone, and each receipt moved money', () =>
  disturb(chain.alone));

test('strangers pay while the sandbox reorganises its chain → no block is gone, and each receipt moved money', () =>
  disturb((work) => work()));
