import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { revokeBySignatureCall, revokeCall } from '../../src/chain/recurring/calls.ts';
import { type Mandate, mandateHash, revocationTypedData } from '../../src/chain/recurring/mandate.ts';
import { readMandateStatus } from '../../src/chain/recurring/state.ts';
import { connectRpc } from '../../src/chain/rpc.ts';
import { asDone, kindOf, randomWord, recurringStage, type Stage } from '../support/chain/recurring.ts';
import { randomAddress } from '../support/fixtures.ts';

let stage: Stage;
before(async () => {
  stage = await recurringStage();
});
after(() => stage?.stop());

async function agreed() {
  const [payer, payee] = [await stage.payer(), await stage.payer()];
  const change = { payee: payee.address.toLowerCase() as Hex, minIntervalSeconds: 0 };
  const mandate = await stage.makeMandate(payer.address, change);
  return { payer, payee, mandate, signature: await stage.sign(payer, mandate) };
}

async function isRevoked(mandate: Mandate): Promise<boolean> {
  const hash = mandateHash(mandate, stage.chainId, stage.contract);
  const rpc = connectRpc(stage.node.chain.rpcUrls[0] ?? '');
  return (await readMandateStatus(rpc, stage.contract, hash)).revoked;
}

for (const party of ['payer', 'payee', 'executor'] as const) {
  test(`revoke › by the ${party} → no charge after it, also before the first one`, async () => {
    for (const charges of [0, 1]) {
      const { mandate, signature } = await agreed();
      if (charges > 0) asDone(await stage.charge(mandate, signature, 1n));
      assert.equal(kindOf(await stage.send(mandate[party], stage.contract, revokeCall(mandate))), 'done');
      assert.equal(kindOf(await stage.charge(mandate, signature, 1n)), 'revoked');
      assert.equal(await isRevoked(mandate), true);
    }
  });
}

test('revoke › by a stranger, and with altered terms → refused, or of no effect on the mandate', async () => {
  const { mandate, signature } = await agreed();
  const stranger = await stage.executor();
  assert.equal(kindOf(await stage.send(stranger, stage.contract, revokeCall(mandate))), 'party');
  const own = { ...mandate, executor: stranger };
  assert.equal(kindOf(await stage.send(stranger, stage.contract, revokeCall(own))), 'done');
  assert.equal(kindOf(await stage.charge(mandate, signature, 1n)), 'done');
});

test('revoke › one of two mandates of the same parties → the other is charged on', async () => {
  const { payer, mandate } = await agreed();
  const other = { ...mandate, salt: randomWord() };
  await stage.act(mandate.payer, stage.contract, revokeCall(mandate));
  assert.equal(kindOf(await stage.charge(other, await stage.sign(payer, other), 1n)), 'done');
});

test('revoke › again, by anybody who may → nothing changes and nothing is logged', async () => {
  const { mandate } = await agreed();
  const logsOf = async (from: Hex) => {
    const { gasUsed } = await stage.act(from, stage.contract, revokeCall(mandate));
    return gasUsed;
  };
  const first = await logsOf(mandate.payer);
  for (const from of [mandate.payer, mandate.payee, mandate.executor]) assert.ok((await logsOf(from)) < first);
  const logs = (await stage.rpc('eth_getLogs', {
    ...{ address: stage.contract, fromBlock: '0x0' },
    topics: [null, mandateHash(mandate, stage.chainId, stage.contract)],
  })) as unknown[];
  assert.equal(logs.length, 1);
});

test('revokeBySignature › the payer’s, brought by anybody → revoked; a second time → nothing more', async () => {
  const { payer, mandate, signature } = await agreed();
  const revocation = await payer.signTypedData(revocationTypedData(mandate, stage.chainId, stage.contract));
  const stranger = await stage.executor();
  const data = revokeBySignatureCall(mandate, revocation);
  for (const _ of [1, 2]) assert.equal(kindOf(await stage.send(stranger, stage.contract, data)), 'done');
  assert.equal(kindOf(await stage.charge(mandate, signature, 1n)), 'revoked');
});

test('revokeBySignature › of another, over another mandate, chain or contract, or over the mandate itself → refused', async () => {
  const { payer, payee, mandate, signature } = await agreed();
  const other = { ...mandate, salt: randomWord() };
  const sign = (account: typeof payer, of = mandate, chainId = stage.chainId, contract = stage.contract) =>
    account.signTypedData(revocationTypedData(of, chainId, contract));
  const wrong = [
    await sign(payee),
    await sign(privateKeyToAccount(randomWord())),
    await sign(payer, other),
    await sign(payer, mandate, 1),
    await sign(payer, mandate, stage.chainId, randomAddress() as Hex),
    signature,
    '0x' as Hex,
  ];
  for (const revocation of wrong) {
    const data = revokeBySignatureCall(mandate, revocation);
    assert.equal(kindOf(await stage.send(mandate.executor, stage.contract, data)), 'signature');
  }
  assert.equal(kindOf(await stage.charge(mandate, await sign(payer), 1n)), 'signature', 'a revocation is no mandate');
  assert.equal(kindOf(await stage.charge(mandate, signature, 1n)), 'done');
});

test('revokeBySignature › a contract wallet’s → revoked', async () => {
  const owner = privateKeyToAccount(randomWord());
  const wallet = await stage.deploy('OwnedWallet', owner.address);
  const mandate = await stage.makeMandate(wallet);
  const plain = await owner.signTypedData(revocationTypedData(mandate, stage.chainId, stage.contract));
  const stranger = await stage.executor();
  const bring = (signature: Hex) => stage.send(stranger, stage.contract, revokeBySignatureCall(mandate, signature));
  assert.equal(kindOf(await bring(plain)), 'signature');
  assert.equal(kindOf(await bring(`0x01${plain.slice(2)}`)), 'done');
  assert.equal(await isRevoked(mandate), true);
});
