import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';
import type { Hex } from 'viem';
import { deterministicDeployer, recurringAddress, recurringCode } from '../../src/chain/recurring/contract.ts';
import { DeployFault, deployRecurring } from '../../src/chain/recurring/deploy.ts';
import { queryContractState } from '../../src/chain/recurring/deployed-code.ts';
import { callRpc, connectRpc, toHex } from '../../src/chain/rpc.ts';
import { type ChainConfig, limitsOf } from '../../src/config/chains.ts';
import { localSigner } from '../../src/config/relayer.ts';
import { waitMined } from '../../src/sandbox/wallet.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { randomWord } from '../support/chain/recurring.ts';

let node: TestChain;
let chain: ChainConfig;
let liar: Awaited<ReturnType<typeof fakeProvider>>;
let whole: unknown;
before(async () => {
  node = await testChain();
  chain = { ...node.chain, pollMs: 10 };
  liar = await fakeProvider(node.chain.rpcUrls[0] ?? '');
  // As if it had never been deployed; the account must be new for CREATE2.
  await rpc('anvil_setCode', recurringAddress(), '0x');
  await rpc('anvil_setNonce', recurringAddress(), '0x0');
  whole = await rpc('evm_snapshot');
});
afterEach(async () => {
  liar.fake.lie = async () => null;
  await rpc('evm_revert', whole);
  whole = await rpc('evm_snapshot');
});
after(async () => {
  await liar?.stop();
  await node?.stop();
});

const rpc = (method: string, ...params: unknown[]) => callRpc(node.chain.rpcUrls[0] ?? '', method, params);
const ether = 10n ** 18n;

async function signerWith(wei: bigint) {
  const signer = localSigner(randomWord());
  await rpc('anvil_setBalance', signer.address, toHex(wei));
  return signer;
}

async function faultOf(...args: Parameters<typeof deployRecurring>): Promise<string> {
  const fault = await deployRecurring(...args).then(
    () => null,
    (error: unknown) => error,
  );
  assert.ok(fault instanceof DeployFault, String(fault));
  return fault.message;
}

test('deploy › a chain without the contract → deployed at its address, exactly as compiled; again → nothing is sent', async () => {
  assert.equal(await queryContractState(chain), 'absent');
  const signer = await signerWith(ether);
  const done = await deployRecurring(chain, signer);
  assert.equal(done.address, recurringAddress());
  assert.equal(done.sender, signer.address);
  assert.ok(done.feeWei > 0n);
  assert.equal(
    await rpc('eth_getCode', recurringAddress(), 'latest'),
    recurringCode(chain.chainId, recurringAddress()),
  );
  const again = await deployRecurring(chain, null);
  assert.deepEqual([again.txHash, again.sender], [null, null]);
  assert.equal(await connectRpc(node.chain.rpcUrls[0] ?? '').nonceAt(signer.address, 'latest'), 1);
});

test('deploy › the same address whoever pays, also after other transactions of theirs', async () => {
  for (const nonce of [0, 5]) {
    const signer = await signerWith(ether);
    await rpc('anvil_setNonce', signer.address, toHex(nonce));
    const snapshot = await rpc('evm_snapshot');
    assert.equal((await deployRecurring(chain, signer)).address, recurringAddress());
    await rpc('evm_revert', snapshot);
  }
});

test('deploy › without the deterministic deployer → refused with the way out', async () => {
  await rpc('anvil_setCode', deterministicDeployer, '0x');
  const fault = await faultOf(chain, await signerWith(ether));
  assert.match(
    fault,
    /no deterministic deployer at 0x4e59.*Send 0\.01 .* to 0x3fab184622dc19b6109349b94811493bf2a45362/,
  );
});

test('deploy › the deployer’s signed transaction in the documents makes the deployer', async () => {
  const text = readFileSync(new URL('../../docs/contracts.md', import.meta.url), 'utf8');
  const signed = /0xf8a5[0-9a-f]+/.exec(text)?.[0];
  const code = await rpc('eth_getCode', deterministicDeployer, 'latest');
  await rpc('anvil_setCode', deterministicDeployer, '0x');
  await rpc('anvil_setNonce', deterministicDeployer, '0x0');
  const maker = '0x3fab184622dc19b6109349b94811493bf2a45362';
  await rpc('anvil_setNonce', maker, '0x0');
  await rpc('anvil_setBalance', maker, toHex(ether / 100n));
  await waitMined(node.chain.rpcUrls[0] ?? '', (await rpc('eth_sendRawTransaction', signed)) as string);
  assert.equal(await rpc('eth_getCode', deterministicDeployer, 'latest'), code);
});

test('deploy › nobody to pay, too little coin, a chain that asks too much → each refused in a sentence', async () => {
  assert.match(await faultOf(chain, null), /^No key can pay/);
  assert.match(
    await faultOf(chain, await signerWith(1_000n)),
    /cannot deploy on chain 31337: it has 0\.000000000000001 ETH/,
  );
  const frugal = { ...chain, relayer: { ...limitsOf(chain), maxFeeWei: 1n } };
  assert.match(await faultOf(frugal, await signerWith(ether)), /asks for more/);
});

test('deploy › an endpoint of another chain, a dead one, or one that does not take it → refused, nothing is sent', async () => {
  const signer = await signerWith(ether);
  const through = { ...chain, rpcUrls: [liar.url] };
  liar.fake.lie = async ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : null);
  assert.match(await faultOf(through, signer), /serves chain 1, not 31337/);
  liar.fake.lie = async ({ method }) =>
    method === 'eth_sendRawTransaction' ? { error: { code: -32000, message: 'no' } } : null;
  assert.match(await faultOf(through, signer), /^No endpoint accepted the transaction/);
  assert.match(await faultOf({ ...chain, rpcUrls: ['http://127.0.0.1:9'] }, signer), /does not answer/);
  assert.equal(await connectRpc(node.chain.rpcUrls[0] ?? '').nonceAt(signer.address, 'latest'), 0);
});

test('deploy › other code at the address, or a deployer that creates other code → reported, never accepted as the contract', async () => {
  const signer = await signerWith(ether);
  await rpc('anvil_setCode', deterministicDeployer, '0x5f5ff3'); // answers nothing and makes nothing
  assert.match(
    await faultOf(chain, signer, { minedMs: 10_000, seenMs: 0 }),
    /mined on chain 31337, but the contract is not at/,
  );
  const code = recurringCode(chain.chainId, recurringAddress());
  for (const other of ['0x00', `${code}00`, recurringCode(1, recurringAddress())] as Hex[]) {
    await rpc('anvil_setCode', recurringAddress(), other);
    assert.equal(await queryContractState(chain), 'foreign');
    assert.match(await faultOf(chain, signer), /is not this version’s contract/);
  }
});

test('state of the contract › two endpoints that disagree → the worse state counts; no address → none', async () => {
  await deployRecurring(chain, await signerWith(ether));
  const both = { ...chain, rpcUrls: [liar.url, ...chain.rpcUrls] };
  assert.equal(await queryContractState(both), 'deployed');
  liar.fake.lie = async ({ method }) => (method === 'eth_getCode' ? { result: '0x' } : null);
  assert.equal(await queryContractState(both), 'absent');
  liar.fake.lie = async ({ method }) => (method === 'eth_getCode' ? { result: '0xfe' } : null);
  assert.equal(await queryContractState(both), 'foreign');
  liar.fake.lie = async () => 'hang up';
  assert.equal(await queryContractState(both), 'unreachable');
  assert.equal(await queryContractState({ ...chain, recurringContract: null }), 'none');
});
