import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeFunctionData, type Hex, numberToHex, toEventSelector } from 'viem';
import { entryPoint07Abi, entryPoint07Address } from 'viem/account-abstraction';
import type { SeenTransfer } from '../confirm.ts';
import { transferTopic } from './blocks.ts';
import { confirmsTransfer, type Evidence } from './evidence.ts';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const word = (value: string): Hex => `0x${value.slice(2).padStart(64, '0')}`;
const [ada, shop, station, bundler, token] = ['a', 'b', 'c', 'd', 'e'].map(address) as [Hex, Hex, Hex, Hex, Hex];
const entryPoint = entryPoint07Address.toLowerCase();
const reference = '00112233445566778899aabbccddeeff';
const txHash = word('0x1');
const blockHash = word('0x2');
const blockTime = new Date('2026-03-01T12:00:00Z');

const log = (logIndex: number, from: string, topics: string[], data = '0x') => ({
  ...{ address: from, topics, data, blockHash, blockNumber: 7, txHash, logIndex },
});
const transfer = (logIndex: number, to: Hex, micro: bigint) =>
  log(logIndex, token, [transferTopic, word(ada), word(to)], numberToHex(micro, { size: 32 }));
const ended = toEventSelector('UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)');
const begun = toEventSelector('BeforeExecution()');

/** Evidence of one operation in which Ada pays the shop, with optional further logs. */
function told(others: ReturnType<typeof transfer>[] = []): Evidence {
  const empty: Hex = '0x';
  const callData: Hex = `0x1234${reference}`;
  const operation = {
    ...{ sender: ada, nonce: 0n, initCode: empty, callData, accountGasLimits: word('0x') },
    ...{ preVerificationGas: 1n, gasFees: word('0x'), paymasterAndData: empty, signature: empty },
  };
  const input = encodeFunctionData({ abi: entryPoint07Abi, functionName: 'handleOps', args: [[operation], bundler] });
  const logs = [log(0, entryPoint, [begun]), transfer(1, shop, 20n), ...others];
  const all = [...logs, log(logs.length, entryPoint, [ended, word('0x3'), word(ada), word('0x0')])];
  return {
    receipt: { txHash, blockHash, blockNumber: 7, success: true, feeWei: 0n, logs: all },
    header: {
      number: 7,
      hash: blockHash,
      parentHash: word('0x4'),
      time: blockTime,
      logsBloom: '0x',
      transactionCount: 1,
    },
    transaction: { hash: txHash, from: bundler, nonce: 0, to: entryPoint, input, blockHash },
  };
}

const key = {
  ...{ txHash, ordinal: 1, logIndex: 1, blockNumber: 7, blockHash, blockTime, tokenAddress: token },
  ...{ fromAddress: ada, toAddress: shop, value: 20n, bindings: null },
};
const chain = { tokens: [{ symbol: 'USDC', address: token }], recurringContract: station };
const read = (found: string | null, evidence: Evidence) =>
  confirmsTransfer(evidence, { ...key, calldata: { reference: found } }, chain);

test('a reference in a user operation → confirmed, also beside a fee to somebody else', () => {
  assert.equal(read(reference, told()), true);
  assert.equal(read(reference, told([transfer(2, station, 1n)])), true);
});

test('a reference that could mean two transfers to the wallet, or that is not there → not confirmed', () => {
  assert.equal(read(reference, told([transfer(2, shop, 1n)])), false);
  assert.equal(read('ff'.repeat(16), told()), false);
  const elsewhere = told();
  elsewhere.transaction.to = token;
  assert.equal(read(reference, elsewhere), false);
});

test('none where one could not be told from another transfer → confirmed; none where there is one → not', () => {
  assert.equal(read(null, told([transfer(2, station, 1n)])), true, 'both wallets may have been watched');
  assert.equal(read(null, told()), false);
});

test('a block of another time, number or hash → not confirmed', () => {
  for (const header of [{ time: new Date(0) }, { hash: txHash }]) {
    assert.equal(
      confirmsTransfer({ ...told(), header: { ...told().header, ...header } }, { ...key, calldata: null }, chain),
      false,
    );
  }
  const { receipt } = told();
  assert.equal(
    confirmsTransfer({ ...told(), receipt: { ...receipt, blockNumber: 6 } }, { ...key, calldata: null }, chain),
    false,
  );
});

test('a transfer that differs in one thing → not confirmed', () => {
  const seen = { ...key, calldata: null };
  assert.equal(confirmsTransfer(told(), seen, chain), true);
  const others = [
    { ordinal: 0 },
    { ordinal: 2 },
    { ordinal: 9 },
    { tokenAddress: station },
    { fromAddress: bundler },
    { toAddress: station },
    { value: 21n },
    { blockNumber: 8 },
    { blockHash: txHash },
  ];
  for (const other of others) {
    assert.equal(confirmsTransfer(told(), { ...seen, ...other }, chain), false, Object.keys(other)[0]);
  }
  for (const change of [{ blockHash: txHash }, { blockNumber: 6 }]) {
    const evidence = told();
    Object.assign(evidence.receipt.logs[1] ?? assert.fail(), change);
    assert.equal(confirmsTransfer(evidence, seen, chain), false, `a log with another ${Object.keys(change)[0]}`);
  }
  const reverted = told();
  reverted.receipt.success = false;
  assert.equal(confirmsTransfer(reverted, seen, chain), false, 'a reverted transaction');
});

test('the calldata of another transaction → not confirmed', () => {
  const evidence = told();
  evidence.transaction.hash = word('0x9');
  assert.equal(read(reference, evidence), false);
});

test('what is no payment to the wallet makes no reference ambiguous', () => {
  const self = log(2, token, [transferTopic, word(shop), word(shop)], numberToHex(5, { size: 32 }));
  const worthless = { ...transfer(2, shop, 5n), address: station };
  for (const [name, other] of Object.entries({ zero: transfer(2, shop, 0n), self, worthless })) {
    assert.equal(read(reference, told([other])), true, name);
    assert.equal(read(null, told([other])), false, name);
  }
});

const used = toEventSelector('AuthorizationUsed(address,bytes32)');
const nonce = 'ab'.repeat(32);

test('what the other logs say a transfer was made for → confirmed as it was read, and not otherwise', () => {
  const evidence = told();
  evidence.receipt.logs.splice(1, 0, log(9, token, [used, word(ada), `0x${nonce}`]));
  const confirms = (bindings: NonNullable<SeenTransfer['bindings']>, what = evidence) =>
    confirmsTransfer(what, { ...key, ordinal: what === evidence ? 2 : 1, calldata: null, bindings }, chain);
  assert.equal(confirms({ authorizationNonce: nonce, chargedReference: null }), true);
  assert.equal(confirms({ authorizationNonce: null, chargedReference: null }), false);
  assert.equal(confirms({ authorizationNonce: 'cd'.repeat(32), chargedReference: null }), false);
  assert.equal(confirms({ authorizationNonce: nonce, chargedReference: reference }), false);
  assert.equal(confirms({ authorizationNonce: nonce, chargedReference: null }, told()), false);
  assert.equal(confirms({ authorizationNonce: null, chargedReference: null }, told()), true);
});

test('a transaction of many transfers, all of which are confirmed → its logs are read a few times, not for each', () => {
  const count = 200;
  const evidence = told(Array.from({ length: count - 1 }, (_, i) => transfer(i + 2, shop, 1n)));
  let reads = 0;
  const counting = new Proxy(evidence.receipt.logs, {
    get: (logs, name, receiver) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads++;
      return Reflect.get(logs, name, receiver);
    },
  });
  const seen = { ...evidence, receipt: { ...evidence.receipt, logs: counting } };
  const bindings = { authorizationNonce: null, chargedReference: null };
  for (let ordinal = 1; ordinal <= count; ordinal++) {
    const value = ordinal === 1 ? 20n : 1n;
    const one = { ...key, ordinal, logIndex: ordinal, value, bindings, calldata: { reference: null } };
    assert.ok(confirmsTransfer(seen, one, chain));
  }
  assert.ok(reads < 20 * count, `${reads} reads of ${count} logs`);
});

test('the receipt of another transaction of the block with the same transfer → not confirmed', () => {
  const evidence = told();
  assert.equal(read(reference, { ...evidence, receipt: { ...evidence.receipt, txHash: word('0x9') } }), false);
});
