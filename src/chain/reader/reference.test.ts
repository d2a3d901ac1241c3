import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Abi, encodeFunctionData, type Hex, toEventSelector } from 'viem';
import {
  entryPoint06Abi,
  entryPoint06Address,
  entryPoint07Abi,
  entryPoint07Address,
  entryPoint08Abi,
  entryPoint08Address,
  entryPoint09Abi,
  entryPoint09Address,
} from 'viem/account-abstraction';
import { type Candidate, calldataReference } from './reference.ts';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const reference = '00112233445566778899aabbccddeeff';
const [ada, bob, bundler, token] = [address('a'), address('b'), address('c'), address('d')];
const transferCall: Hex = `0xa9059cbb${'0'.repeat(128)}${reference}`;
const other = { address: token, topics: [] };

const plain = (changes: Partial<{ from: string; to: string | null; input: string }> = {}) => ({
  from: ada,
  to: token,
  input: transferCall,
  ...changes,
});
const only: Candidate = { from: ada, ordinal: 0 };

test('a transfer from the transaction’s sender → its reference is the last 16 bytes of the calldata', () => {
  const found = calldataReference(plain(), [other], [only], only);
  assert.equal(found?.toString('hex'), reference);
});

test('a transfer from somebody else, or one of two candidates → no reference', () => {
  assert.equal(calldataReference(plain({ from: bob }), [other], [only], only), null);
  const two = [only, { from: ada, ordinal: 1 }];
  assert.equal(calldataReference(plain(), [other, other], two, only), null);
});

test('calldata of exactly 16 bytes, or that creates a contract → its last 16 bytes; shorter → no reference', () => {
  assert.equal(
    calldataReference(plain({ input: `0x${reference}` }), [other], [only], only)?.toString('hex'),
    reference,
  );
  assert.equal(calldataReference(plain({ to: null }), [other], [only], only)?.toString('hex'), reference);
  assert.equal(calldataReference(plain({ input: '0x' }), [other], [only], only), null);
  assert.equal(calldataReference(plain({ input: `0x${'11'.repeat(15)}` }), [other], [only], only), null);
});

const ended = toEventSelector('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)');
const topicOf = (sender: string): Hex => `0x${'0'.repeat(24)}${sender.slice(2)}`;

type Version = { name: string; entryPoint: Hex; abi: Abi; packed: boolean };
const versions: Version[] = [
  { name: 'v0.6', entryPoint: entryPoint06Address, abi: entryPoint06Abi, packed: false },
  { name: 'v0.7', entryPoint: entryPoint07Address, abi: entryPoint07Abi, packed: true },
  { name: 'v0.8', entryPoint: entryPoint08Address, abi: entryPoint08Abi, packed: true },
  { name: 'v0.9', entryPoint: entryPoint09Address, abi: entryPoint09Abi, packed: true },
];

function operation(version: Version, sender: Hex, callData: Hex) {
  const common = {
    sender,
    nonce: 0n,
    initCode: '0x',
    callData,
    preVerificationGas: 1n,
    paymasterAndData: '0x',
    signature: '0x',
  };
  const word: Hex = `0x${'0'.repeat(64)}`;
  return version.packed
    ? { ...common, accountGasLimits: word, gasFees: word }
    : { ...common, callGasLimit: 1n, verificationGasLimit: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
}

function bundle(version: Version, ...operations: [sender: Hex, callData: Hex][]) {
  const args = [operations.map(([sender, callData]) => operation(version, sender, callData)), bundler];
  const input = encodeFunctionData({ abi: version.abi, functionName: 'handleOps', args });
  return { from: bundler, to: version.entryPoint.toLowerCase(), input };
}

for (const version of versions) {
  const end = (sender: Hex) => ({
    address: version.entryPoint.toLowerCase(),
    topics: [ended, `0x${'1'.repeat(64)}`, topicOf(sender), topicOf(address('0'))],
  });
  const second: Hex = `0x${'77'.repeat(20)}`;

  const begin = { address: version.entryPoint.toLowerCase(), topics: [toEventSelector('BeforeExecution()')] };
  const first: Candidate = { from: ada, ordinal: 1 };

  test(`entry point ${version.name} › each operation carries its own bytes for its own transfer`, () => {
    const tx = bundle(version, [ada, transferCall], [bob, second]);
    const logs = [begin, other, end(ada), other, end(bob)];
    const [one, two] = [
      { from: ada, ordinal: 1 },
      { from: bob, ordinal: 3 },
    ];
    assert.equal(calldataReference(tx, logs, [one, two], one)?.toString('hex'), reference);
    assert.equal(calldataReference(tx, logs, [one, two], two)?.toString('hex'), '77'.repeat(16));
  });

  test(`entry point ${version.name} › two candidates in one operation, or one of another sender, carry none`, () => {
    const tx = bundle(version, [ada, transferCall]);
    const pair = [
      { from: ada, ordinal: 1 },
      { from: ada, ordinal: 2 },
    ];
    assert.equal(calldataReference(tx, [begin, other, other, end(ada)], pair, pair[0] as Candidate), null);
    const foreign = { from: bob, ordinal: 1 };
    assert.equal(calldataReference(tx, [begin, other, end(ada)], [foreign], foreign), null);
    const outside = { from: ada, ordinal: 2 };
    assert.equal(calldataReference(tx, [begin, end(ada), other], [outside], outside), null);
  });

  test(`entry point ${version.name} › a transfer while operations are validated carries none, and spoils none`, () => {
    const tx = bundle(version, [ada, transferCall], [bob, second]);
    const logs = [other, begin, other, end(ada), end(bob)];
    const [early, one] = [
      { from: ada, ordinal: 0 },
      { from: ada, ordinal: 2 },
    ];
    assert.equal(calldataReference(tx, logs, [early], early), null);
    assert.equal(calldataReference(tx, logs, [early, one], one)?.toString('hex'), reference);
  });

  test(`entry point ${version.name} › other events of its, and the same event of another contract, end no operation`, () => {
    const tx = bundle(version, [ada, transferCall], [bob, second]);
    const begun = { ...begin, address: token };
    const funded = { address: end(ada).address, topics: [toEventSelector('Deposited(address,uint256)')] };
    const forged = { ...end(ada), address: token };
    const two = { from: bob, ordinal: 5 };
    const logs = [begin, other, forged, end(ada), funded, other, begun, forged, end(bob)];
    const one = { from: ada, ordinal: 1 };
    assert.equal(calldataReference(tx, logs, [one, two], one)?.toString('hex'), reference);
    assert.equal(calldataReference(tx, logs, [one, two], two)?.toString('hex'), '77'.repeat(16));
  });

  test(`entry point ${version.name} › operations with aggregated signatures carry none`, () => {
    const operations = [operation(version, ada, transferCall)];
    const args = [[{ userOps: operations, aggregator: token, signature: '0x' }], bundler];
    const input = encodeFunctionData({ abi: version.abi, functionName: 'handleAggregatedOps', args });
    const tx = { from: bundler, to: version.entryPoint.toLowerCase(), input };
    assert.equal(calldataReference(tx, [begin, other, end(ada)], [first], first), null);
  });

  test(`entry point ${version.name} › events that do not fit the operations, or another call, carry none`, () => {
    const tx = bundle(version, [ada, transferCall]);
    assert.equal(calldataReference(tx, [other, end(ada)], [only], only), null);
    assert.equal(calldataReference(tx, [begin, other], [first], first), null);
    assert.equal(calldataReference(tx, [begin, other, end(bob)], [first], first), null);
    assert.equal(calldataReference(tx, [begin, other, end(ada), end(ada)], [first], first), null);
    assert.equal(calldataReference({ ...tx, input: transferCall }, [begin, other, end(ada)], [first], first), null);
  });
}
