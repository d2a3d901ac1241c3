import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  decodeFunctionResult,
  encodeErrorResult,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chargeCall, type Permit, revokeCall } from '../../src/chain/recurring/calls.ts';
import { recurringAbi } from '../../src/chain/recurring/contract.ts';
import type { Mandate } from '../../src/chain/recurring/mandate.ts';
import { connectRpc } from '../../src/chain/rpc.ts';
import { asDone, kindOf, permitAbi, randomWord, recurringStage, type Stage } from '../support/chain/recurring.ts';
import { randomAddress } from '../support/fixtures.ts';

let stage: Stage;
before(async () => {
  stage = await recurringStage();
});
after(() => stage?.stop());

async function agreed(change: Partial<Mandate> = {}) {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address, change);
  return { payer, mandate, signature: await stage.sign(payer, mandate) };
}

type Agreed = Awaited<ReturnType<typeof agreed>>;
const tried = async ({ mandate, signature }: Agreed) => kindOf(await stage.charge(mandate, signature, 1n));

test('balance or allowance too low → refused, each with its own reason', async () => {
  const poor = await stage.payer(5n, 100n);
  const strict = await stage.payer(100n, 5n);
  for (const [payer, kind] of [
    [poor, 'balance'],
    [strict, 'allowance'],
  ] as const) {
    const mandate = await stage.makeMandate(payer.address, { minIntervalSeconds: 0 });
    const signature = await stage.sign(payer, mandate);
    assert.equal(kindOf(await stage.charge(mandate, signature, 6n)), kind);
    assert.equal(kindOf(await stage.charge(mandate, signature, 5n)), 'done');
  }
});

/** A call by the account of the real token that may block and pause. */
async function asTokenOwner(call: string): Promise<void> {
  const abi = parseAbi(['function owner() view returns (address)']);
  const answer = await connectRpc(stage.node.chain.rpcUrls[0] ?? '').call(
    stage.usdc,
    encodeFunctionData({ abi, functionName: 'owner' }),
  );
  await stage.act(`0x${answer.slice(26)}`, stage.usdc, call as Hex);
}

const blacklistAbi = parseAbi(['function blacklist(address account)', 'function unBlacklist(address account)']);
const pauseAbi = parseAbi(['function pause()', 'function unpause()']);

for (const who of ['payer', 'payee', 'contract'] as const) {
  test(`the token blocks the ${who} → refused as blocked; afterwards the same charge is done`, async () => {
    const own = await agreed();
    const account = who === 'contract' ? stage.contract : own.mandate[who];
    await asTokenOwner(encodeFunctionData({ abi: blacklistAbi, functionName: 'blacklist', args: [account] }));
    assert.equal(await tried(own), 'blacklisted');
    await asTokenOwner(encodeFunctionData({ abi: blacklistAbi, functionName: 'unBlacklist', args: [account] }));
    assert.equal(await tried(own), 'done');
  });
}

test('the token is paused → refused as paused; afterwards the same charge is done', async () => {
  const own = await agreed();
  await asTokenOwner(encodeFunctionData({ abi: pauseAbi, functionName: 'pause' }));
  assert.equal(await tried(own), 'paused');
  await asTokenOwner(encodeFunctionData({ abi: pauseAbi, functionName: 'unpause' }));
  assert.equal(await tried(own), 'done');
});

test('a token that says no by its answer, and an address without a token → refused, and nothing is recorded', async () => {
  for (const token of [await stage.deploy('FalseToken'), randomAddress() as Hex]) {
    const own = await agreed({ token });
    assert.equal(await tried(own), 'unknown');
    assert.equal(await tried(own), 'unknown', 'not too soon: the first left no trace');
  }
});

test('a token that answers nothing, as the oldest do → charged', async () => {
  const token = await stage.deploy('SilentToken');
  const own = await agreed({ token });
  const abi = parseAbi(['function mint(address to, uint256 value)']);
  const mint = encodeFunctionData({ abi, functionName: 'mint', args: [own.mandate.payer, 1n] });
  await stage.act(own.mandate.executor, token, mint);
  assert.equal(await tried(own), 'unknown');
  const args = [stage.contract, 1n] as const;
  await stage.act(own.mandate.payer, token, encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }));
  assert.equal(await tried(own), 'done');
  assert.equal(await stage.balanceOf(own.mandate.payee, token), 1n);
});

const attackAbi = parseAbi([
  'function attack(address target, bytes outer, bytes inner)',
  'function reentered() view returns (bool)',
  'function answer() view returns (bytes)',
]);

/** Lets a token that is the executor charge, and call the contract again while it is asked to move tokens. */
async function attack(token: Hex, outer: Hex, inner: Hex) {
  const data = encodeFunctionData({ abi: attackAbi, functionName: 'attack', args: [stage.contract, outer, inner] });
  const done = asDone(await stage.send(await stage.executor(), token, data));
  const rpc = connectRpc(stage.node.chain.rpcUrls[0] ?? '');
  const reentered = await rpc.call(token, encodeFunctionData({ abi: attackAbi, functionName: 'reentered' }));
  const answer = await rpc.call(token, encodeFunctionData({ abi: attackAbi, functionName: 'answer' }));
  const fault = decodeFunctionResult({ abi: attackAbi, functionName: 'answer', data: answer as Hex });
  return { charges: done.charged.length, reentered: BigInt(reentered) === 1n, fault };
}

test('a token that calls back during its transfer or permit → cannot charge again, with its own mandate or another', async () => {
  const token = await stage.deploy('ReentrantToken');
  const first = await agreed({ token, executor: token, minIntervalSeconds: 0 });
  const other = await agreed({ executor: token });
  const charge = ({ mandate, signature }: Agreed, permit: Permit | null = null) =>
    chargeCall({ mandate, signature, amount: 1n, reference: randomWord() }, permit);
  const permit: Permit = { value: 1n, deadline: 1n, signature: '0x01' };
  const guard = encodeErrorResult({ abi: recurringAbi, errorName: 'ReentrancyGuardReentrantCall' });
  for (const inner of [charge(first), charge(other), charge(first, permit), charge(other, permit)]) {
    for (const outer of [charge(first), charge(first, permit)]) {
      assert.deepEqual(await attack(token, outer, inner), { charges: 1, reentered: false, fault: guard });
    }
  }
  assert.equal(await stage.balanceOf(other.mandate.payee), 0n);
});

test('a token that revokes its mandate while it is charged → this charge is done, and none after it', async () => {
  const token = await stage.deploy('ReentrantToken');
  const own = await agreed({ token, executor: token, minIntervalSeconds: 0 });
  const { mandate, signature } = own;
  const outer = chargeCall({ mandate, signature, amount: 1n, reference: randomWord() }, null);
  assert.deepEqual(await attack(token, outer, revokeCall(mandate)), { charges: 1, reentered: true, fault: '0x' });
  assert.equal(await tried(own), 'revoked');
});

test('a token that lies → the charge is logged though nothing moved: the log alone proves no payment', async () => {
  const own = await agreed({ token: await stage.deploy('LyingToken') });
  const done = asDone(await stage.charge(own.mandate, own.signature, 1n));
  assert.equal(done.charged.length, 1);
  assert.equal(await stage.balanceOf(own.mandate.payee), 0n);
});

const chargeWith = ({ mandate, signature }: Agreed, permit: Permit, amount = 1n) =>
  stage.send(
    mandate.executor,
    stage.contract,
    chargeCall({ mandate, signature, amount, reference: randomWord() }, permit),
  );

async function unapproved(): Promise<Agreed> {
  const payer = await stage.payer(1_000n, 0n);
  const mandate = await stage.makeMandate(payer.address, { minIntervalSeconds: 0 });
  return { payer, mandate, signature: await stage.sign(payer, mandate) };
}

async function allowanceOf(owner: string): Promise<bigint> {
  const args = [owner as Hex, stage.contract] as const;
  const data = encodeFunctionData({ abi: permitAbi, functionName: 'allowance', args });
  return BigInt(await connectRpc(stage.node.chain.rpcUrls[0] ?? '').call(stage.usdc, data));
}

test('permit › signed without a transaction → the first charge sets the allowance and takes its part of it', async () => {
  const own = await unapproved();
  assert.equal(await tried(own), 'allowance');
  assert.equal(kindOf(await chargeWith(own, await stage.permit(own.payer, 12n))), 'done');
  assert.equal(await allowanceOf(own.payer.address), 11n);
});

test('permit › used by somebody else before the charge → still charged', async () => {
  const own = await unapproved();
  const permit = await stage.permit(own.payer, 12n);
  const { value, deadline, signature } = permit;
  const args = [own.payer.address, stage.contract, value, deadline, signature] as const;
  await stage.act(
    await stage.executor(),
    stage.usdc,
    encodeFunctionData({ abi: permitAbi, functionName: 'permit', args }),
  );
  assert.equal(kindOf(await chargeWith(own, permit)), 'done');
  assert.equal(kindOf(await chargeWith(own, permit)), 'done', 'and again with the used permit');
  assert.equal(await allowanceOf(own.payer.address), 10n);
});

test('permit › expired, or of somebody else → only the existing allowance counts', async () => {
  const own = await unapproved();
  const stranger = await stage.payer(10n);
  const useless = [await stage.permit(own.payer, 12n, 1n), await stage.permit(stranger, 12n)];
  for (const permit of useless) assert.equal(kindOf(await chargeWith(own, permit)), 'allowance');
  await stage.approve(own.payer.address, 5n);
  for (const permit of useless) assert.equal(kindOf(await chargeWith(own, permit)), 'done');
  assert.equal(await allowanceOf(own.payer.address), 3n);
});

test('permit › a second one sets the allowance, it does not add to it: two mandates need the sum', async () => {
  const own = await unapproved();
  const second = await stage.makeMandate(own.payer.address);
  const other = { ...own, mandate: second, signature: await stage.sign(own.payer, second) };
  assert.equal(kindOf(await chargeWith(own, await stage.permit(own.payer, 100n), 10n)), 'done');
  assert.equal(kindOf(await chargeWith(other, await stage.permit(own.payer, 20n), 10n)), 'done');
  assert.equal(await allowanceOf(own.payer.address), 10n);
});

test('permit › of a contract wallet, whose signature is longer than a key’s → charged, also once it was used', async () => {
  const owner = privateKeyToAccount(randomWord());
  const wallet = await stage.deploy('OwnedWallet', owner.address);
  await stage.node.fund(wallet, 100n);
  const mandate = await stage.makeMandate(wallet, { minIntervalSeconds: 0 });
  const wrap = (signature: Hex): Hex => `0x01${signature.slice(2)}`;
  const account = { ...owner, address: wallet } as typeof owner;
  const permit = await stage.permit(account, 12n);
  const own = { payer: owner, mandate, signature: wrap(await stage.sign(owner, mandate)) };
  assert.equal(kindOf(await chargeWith(own, permit)), 'allowance', 'the owner’s plain signature');
  const used = { ...permit, signature: wrap(permit.signature) };
  for (const time of ['first', 'again']) assert.equal(kindOf(await chargeWith(own, used)), 'done', time);
});

test('permit › of a wallet with EIP-7702 code → the token asks that code, unlike the mandate', async () => {
  for (const [code, kind] of [
    ['PlainWallet', 'done'],
    ['RefusingDelegate', 'allowance'],
  ] as const) {
    const own = await unapproved();
    await stage.delegate(own.payer, await stage.deploy(code, ...(code === 'PlainWallet' ? [zeroAddress] : [])));
    assert.equal(kindOf(await chargeWith(own, await stage.permit(own.payer, 12n))), kind, code);
    await stage.approve(own.payer.address, 12n);
    assert.equal(await tried(own), 'done', `${code}, after an approval transaction`);
  }
});

test('permit › of a contract wallet that takes its owner’s plain signature → charged', async () => {
  const owner = privateKeyToAccount(randomWord());
  const wallet = await stage.deploy('PlainWallet', owner.address);
  await stage.node.fund(wallet, 100n);
  const mandate = await stage.makeMandate(wallet);
  const permit = await stage.permit({ ...owner, address: wallet } as typeof owner, 12n);
  const own = { payer: owner, mandate, signature: await stage.sign(owner, mandate) };
  assert.equal(kindOf(await chargeWith(own, permit)), 'done');
});

test('permit › of a token that burns all gas or answers with a megabyte → at the cost of the limit, and nothing else', async () => {
  const token = await stage.deploy('HostilePermitToken');
  const own = await agreed({ token, minIntervalSeconds: 0 });
  const signature: Hex = `0x${'00'.repeat(64)}1b`;
  for (const value of [1n, 2n, 3n]) {
    assert.equal(kindOf(await chargeWith(own, { value, deadline: 1n, signature })), 'done', `${value}`);
  }
});
