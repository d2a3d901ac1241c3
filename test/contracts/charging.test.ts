import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { chargeCall, referenceWord } from '../../src/chain/recurring/calls.ts';
import { recurringAbi } from '../../src/chain/recurring/contract.ts';
import { mandateHash } from '../../src/chain/recurring/mandate.ts';
import { readMandateStatus } from '../../src/chain/recurring/state.ts';
import { connectRpc, type Hex, type Rpc, RpcError, toHex } from '../../src/chain/rpc.ts';
import { waitMined } from '../../src/sandbox/wallet.ts';
import { asDone, kindOf, randomWord, recurringStage, type Stage } from '../support/chain/recurring.ts';
import { randomAddress } from '../support/fixtures.ts';

let stage: Stage;
before(async () => {
  stage = await recurringStage();
});
after(() => stage?.stop());

async function isReferenceUsed(rpc: Rpc, hash: Hex, reference: Hex): Promise<boolean> {
  const call = { abi: recurringAbi, functionName: 'isUsed' } as const;
  const data = (await rpc.call(stage.contract, encodeFunctionData({ ...call, args: [hash, reference] }))) as Hex;
  return decodeFunctionResult({ ...call, data });
}

const lower = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value);

test('charge › moves the amount from payer to payee, says so in one log, and is remembered', async () => {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address);
  const signature = await stage.sign(payer, mandate);
  const hash = mandateHash(mandate, stage.chainId, stage.contract);
  const paymentReference = referenceWord(Buffer.alloc(16, 7));
  const rpc = connectRpc(stage.node.chain.rpcUrls[0] ?? '');
  assert.deepEqual(await readMandateStatus(rpc, stage.contract, hash), { revoked: false, lastChargedAt: null });
  assert.equal(await isReferenceUsed(rpc, hash, paymentReference), false);

  const amount = 19_990_000n;
  const done = asDone(await stage.charge(mandate, signature, amount, { reference: paymentReference }));
  const logs = done.charged.map((log) =>
    Object.fromEntries(Object.entries(log).map(([key, value]) => [key, lower(value)])),
  );
  const { payee, payer: from, token } = mandate;
  assert.deepEqual(logs, [{ mandateHash: hash, paymentReference, payee, payer: from, token, amount }]);
  assert.equal(await stage.balanceOf(payee), amount);
  assert.equal(await stage.balanceOf(stage.contract), 0n);
  const status = { revoked: false, lastChargedAt: await stage.now() };
  assert.deepEqual(await readMandateStatus(rpc, stage.contract, hash), status);
  assert.equal(await isReferenceUsed(rpc, hash, paymentReference), true);
});

test('charge › a reference that was used → refused under its mandate, also a year later; free under another', async () => {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address);
  const signature = await stage.sign(payer, mandate);
  const reference = randomWord();
  asDone(await stage.charge(mandate, signature, 1n, { reference }));
  const later = mandate.endsAt - 1;
  assert.equal(kindOf(await stage.charge(mandate, signature, 1n, { reference, at: later })), 'reference_used');
  const other = await stage.makeMandate(payer.address);
  asDone(await stage.charge(other, await stage.sign(payer, other), 1n, { reference }));
});

test('charge › a failed charge leaves no trace: the same reference is charged as soon as the payer can pay', async () => {
  const payer = await stage.payer(5_000_000n, 100_000_000n);
  const mandate = await stage.makeMandate(payer.address);
  const signature = await stage.sign(payer, mandate);
  const reference = randomWord();
  assert.equal(kindOf(await stage.charge(mandate, signature, 5_000_001n, { reference })), 'balance');
  asDone(await stage.charge(mandate, signature, 5_000_000n, { reference }));
});

test('charge › by anybody but the executor, the parties among them → refused', async () => {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address);
  const signature = await stage.sign(payer, mandate);
  const data = chargeCall({ mandate, signature, amount: 1n, reference: randomWord() }, null);
  await stage.node.fund(mandate.payee, 0n);
  for (const from of [mandate.payer, mandate.payee, await stage.executor()]) {
    assert.equal(kindOf(await stage.send(from, stage.contract, data)), 'executor');
  }
});

test('charge › two charges of one mandate in one block → the first is done, the second is too soon', async () => {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address);
  const signature = await stage.sign(payer, mandate);
  const statuses = await inOneBlock(
    [1n, 2n].map((amount) => ({
      from: mandate.executor,
      data: chargeCall({ mandate, signature, amount, reference: randomWord() }, null),
    })),
  );
  assert.deepEqual(statuses, [true, false]);
  assert.equal(await stage.balanceOf(mandate.payee), 1n);
});

test('charge › two executors in one block, each with a mandate → each charges its own and neither the other’s', async () => {
  const payer = await stage.payer();
  const payee = randomAddress() as `0x${string}`;
  const mandates = [
    await stage.makeMandate(payer.address, { payee }),
    await stage.makeMandate(payer.address, { payee }),
  ];
  const [first, second] = mandates.map(({ executor }) => executor);
  const calls = await Promise.all(
    mandates.map(async (mandate, index) => {
      const signature = await stage.sign(payer, mandate);
      return chargeCall({ mandate, signature, amount: 10n ** BigInt(index), reference: randomWord() }, null);
    }),
  );
  const [one = '0x', two = '0x'] = calls;
  const attempts = [
    { from: first, data: two },
    { from: second, data: one },
    { from: first, data: one },
    { from: second, data: two },
  ];
  assert.deepEqual(await inOneBlock(attempts), [false, false, true, true]);
  assert.equal(await stage.balanceOf(payee), 11n);
});

/** Whether each of some calls succeeds, all mined in one block in their order. */
async function inOneBlock(calls: { from?: string; data: string }[]): Promise<boolean[]> {
  await stage.rpc('evm_setAutomine', false);
  const hashes: unknown[] = [];
  for (const { from, data } of calls) {
    const transaction = { from, to: stage.contract, data, gas: toHex(500_000) };
    hashes.push(await stage.rpc('eth_sendTransaction', transaction));
  }
  await stage.rpc('evm_mine');
  await stage.rpc('evm_setAutomine', true);
  const rpc = connectRpc(stage.node.chain.rpcUrls[0] ?? '');
  for (const hash of hashes) await waitMined(rpc.url, hash as string);
  const receipts = await Promise.all(hashes.map((hash) => rpc.receipt(hash as string)));
  assert.equal(new Set(receipts.map((receipt) => receipt?.blockNumber)).size, 1);
  return receipts.map((receipt) => receipt?.success ?? false);
}

test('charge › calldata with bits beyond a field’s type → refused, so that a mandate has one form only', async () => {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address);
  const signature = await stage.sign(payer, mandate);
  const call = chargeCall({ mandate, signature, amount: 1n, reference: randomWord() }, null);
  const fields = { payer: 0, payee: 1, token: 2, executor: 3, minInterval: 5, start: 6, end: 7 };
  for (const [field, position] of Object.entries(fields)) {
    const at = 10 + 64 * position; // 0x, the selector, and the words before it
    const dirty = `${call.slice(0, at)}01${call.slice(at + 2)}` as `0x${string}`;
    assert.equal(kindOf(await stage.send(mandate.executor, stage.contract, dirty)), 'unknown', field);
  }
  asDone(await stage.send(mandate.executor, stage.contract, call));
});

test('sending coin to the contract, or calling an unknown function → reverts', async () => {
  const from = await stage.executor();
  const send = (data: string, value: string) =>
    stage.rpc('eth_sendTransaction', { from, to: stage.contract, data, value, gas: toHex(100_000) });
  for (const [data, value] of [
    ['0x', '0x1'],
    ['0x', '0x0'],
    ['0x8da5cb5b', '0x0'], // owner()
    ['0x3659cfe6', '0x0'], // upgradeTo(address)
    ['0x8456cb59', '0x0'], // pause()
  ] as const) {
    const hash = (await send(data, value)) as string;
    assert.equal(await waitMined(stage.node.chain.rpcUrls[0] ?? '', hash), '0x0', data);
  }
});

test('a contract that is not there → its state is an error, never zeros', async () => {
  const rpc = connectRpc(stage.node.chain.rpcUrls[0] ?? '');
  await assert.rejects(readMandateStatus(rpc, randomAddress() as `0x${string}`, randomWord()), RpcError);
});
