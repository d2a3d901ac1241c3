import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, hashTypedData, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { callRpc, RpcError } from '../../src/chain/rpc.ts';
import { isAuthorizationPending, isAuthorizationUsed, readTokenDomain } from '../../src/chain/token-domain.ts';
import type { ChainConfig, TokenConfig } from '../../src/config/chains.ts';
import { fundLookalike, lookalikeAddress } from '../../src/sandbox/lookalike.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { randomAddress } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let node: TestChain;
before(async () => {
  node = await testChain();
});
after(() => node.stop());

const usdc = () => node.chain.tokens[0] as TokenConfig;
const closed: Partial<ChainConfig> = { rpcUrls: ['http://127.0.0.1:9'] };

test('The domain of USDC is what the contract says: signed under it, an authorization is valid', async () => {
  const domain = await readTokenDomain(node.chain, { ...usdc() });
  assert.deepEqual(domain, { name: 'USD Coin', version: '2' });
});

test('An address without a contract, and a contract without EIP-3009, have no domain', async () => {
  const nobody = { symbol: 'NONE', address: randomAddress() as `0x${string}` };
  assert.equal(await readTokenDomain(node.chain, nobody), null);
  await fundLookalike(node.chain, node.wallet().address, 1n);
  assert.equal(await readTokenDomain(node.chain, { symbol: 'USDC', address: lookalikeAddress }), null);
});

test('A silent endpoint is passed over, and where none answers the domain is unknown, not absent', async () => {
  const token = { ...usdc() };
  await assert.rejects(readTokenDomain({ ...node.chain, ...closed }, token), RpcError);
  const rpcUrls = ['http://127.0.0.1:9', ...node.chain.rpcUrls];
  assert.notEqual(await readTokenDomain({ ...node.chain, rpcUrls }, token), null);
  assert.notEqual(await readTokenDomain({ ...node.chain, ...closed }, token), null, 'and then kept');
});

test('An authorization is pending while its transfer waits to be mined, and used once it was', async () => {
  const payer = node.wallet();
  const relayer = node.wallet();
  await node.fund(payer.address, 5_000_000n);
  await node.fund(relayer.address, 0n);
  const nonce = `0x${'3c'.repeat(32)}` as const;
  const one = { token: usdc().address, authorizer: payer.address, nonce };
  assert.equal(await isAuthorizationUsed(node.chain, one), false);
  const message = {
    from: payer.address,
    to: randomAddress() as `0x${string}`,
    value: 1_000_000n,
    validAfter: 0n,
    validBefore: 2n ** 40n,
    nonce,
  };
  const names = ['from address', 'to address', 'value uint256', 'validAfter uint256', 'validBefore uint256'];
  const fields = [...names, 'nonce bytes32'].map((one) => one.split(' ') as [string, string]);
  const hash = hashTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: node.chain.chainId, verifyingContract: usdc().address },
    types: { TransferWithAuthorization: fields.map(([name, type]) => ({ name, type })) },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const { r, s, yParity } = parseSignature(await privateKeyToAccount(payer.privateKey).sign({ hash }));
  const data = encodeFunctionData({
    abi: parseAbi([
      'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, uint8, bytes32, bytes32)',
    ]),
    args: [
      ...(Object.values(message) as [`0x${string}`, `0x${string}`, bigint, bigint, bigint, `0x${string}`]),
      27 + yParity,
      r,
      s,
    ],
  });
  assert.equal(await isAuthorizationPending(node.chain, one), false);
  const [url = ''] = node.chain.rpcUrls;
  await callRpc(url, 'evm_setAutomine', [false]);
  const sending = sendTransaction(node.chain, relayer.privateKey, usdc().address, data);
  await until(() => isAuthorizationPending(node.chain, one), 'the transaction to wait');
  assert.equal(await isAuthorizationUsed(node.chain, one), false);
  await callRpc(url, 'evm_setAutomine', [true]);
  await callRpc(url, 'evm_mine', []);
  await sending;
  assert.equal(await isAuthorizationUsed(node.chain, one), true);
  assert.equal(await isAuthorizationPending({ ...node.chain, ...closed }, one), false);
  await assert.rejects(
    isAuthorizationUsed({ ...node.chain, rpcUrls: [...node.chain.rpcUrls, 'http://127.0.0.1:9'] }, one),
  );
});
