import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import { maxWallets, readHoldings } from '../../src/chain/holdings.ts';
import { connectRpc, type Hex } from '../../src/chain/rpc.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';

let node: TestChain;
before(async () => {
  node = await testChain();
});
after(() => node?.stop());

const contract: Hex = `0x${'c0'.repeat(20)}`;
const token = () => node.chain.tokens[0]?.address as Hex;
const rpc = () => connectRpc(node.chain.rpcUrls[0] ?? '');

test('One call returns the balances and allowances of the maximum number of wallets', async () => {
  const wallets = Array.from({ length: maxWallets }, () => node.wallet());
  const [first, last] = [wallets[0], wallets.at(-1)];
  assert.ok(first && last);
  await node.fund(first.address, 5_000_000n);
  await node.fund(last.address, 7_000_000n);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [contract, 3_000_000n] });
  await sendTransaction(node.chain, last.privateKey, token(), data);
  const holdings = await readHoldings(
    rpc(),
    token(),
    contract,
    wallets.map(({ address }) => address),
  );
  assert.equal(holdings.length, maxWallets);
  assert.deepEqual(holdings[0], { balance: 5_000_000n, allowance: 0n });
  assert.deepEqual(holdings.at(-1), { balance: 7_000_000n, allowance: 3_000_000n });
  assert.deepEqual(holdings[1], { balance: 0n, allowance: 0n });
});

test('An address without a token → no answer, instead of zero', async () => {
  const nowhere: Hex = `0x${'77'.repeat(20)}`;
  await assert.rejects(readHoldings(rpc(), nowhere, contract, [node.wallet().address]), { kind: 'malformed' });
  assert.deepEqual(await readHoldings(rpc(), token(), contract, []), []);
});
