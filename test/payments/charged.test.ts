import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { chargeCall, referenceWord } from '../../src/chain/recurring/calls.ts';
import { recurringAddress } from '../../src/chain/recurring/contract.ts';
import { mandateTypedData } from '../../src/chain/recurring/mandate.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { type Act, chargedLog, placeScript } from '../support/chain/script.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

/** A contract at the configured address of the recurring payments, which emits true or false logs. */
let contract: Awaited<ReturnType<typeof placeScript>>;
let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
  contract = await placeScript(fixtures.node);
  fixtures.node.chain.recurringContract = contract.address;
});
after(() => fixtures?.stop());

const usdc = () => fixtures.node.chain.tokens[0]?.address as Hex;

/** A wallet that lets a contract move its money. */
async function payer(spender = contract.address) {
  const wallet = fixtures.node.wallet();
  await fixtures.node.fund(wallet.address, 10n ** 9n);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, 10n ** 9n] });
  await sendTransaction(fixtures.node.chain, wallet.privateKey, usdc(), data);
  return wallet;
}

type Details = Partial<Parameters<typeof chargedLog>[0]>;
/** The money, then the log of a charge. */
const moveOf = (request: RequestRow, from: Hex, usdcMicro = BigInt(request.usdc_micro)): Act => {
  const args = [from, request.wallet_address as Hex, usdcMicro] as const;
  return { to: usdc(), data: encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args }) };
};
const logOf = (request: RequestRow, from: Hex, details: Details = {}): Act =>
  chargedLog({
    reference: request.reference,
    payee: request.wallet_address,
    payer: from,
    token: usdc(),
    usdcMicro: BigInt(request.usdc_micro),
    ...details,
  });

const settle = async () => {
  await fixtures.node.mine(3);
  await fixtures.turn();
};
const transfersOf = async (txHash: string) =>
  fixtures.db.sql<{ request_id: string | null; rule: string | null; reason: string | null }[]>`
    select request_id, rule, reason from transfers where tx_hash = ${txHash} order by ordinal`;

/** Makes a request unidentifiable by its amount, so that only the charge can pay it. */
const unreserve = (request: RequestRow) =>
  fixtures.db.sql`delete from amount_reservations where request_id = ${request.id}`;

async function request(): Promise<RequestRow> {
  const made = await fixtures.request();
  await unreserve(made);
  return made;
}

test('a mandate charged in the contract itself → paid by the payer, who sends nothing', async () => {
  const { chain } = fixtures.node;
  const [due, executor] = [await request(), fixtures.node.wallet()];
  const from = await payer(recurringAddress());
  const now = Math.floor(Date.now() / 1000);
  const mandate = {
    payer: from.address,
    payee: due.wallet_address as Hex,
    token: usdc(),
    executor: executor.address,
    maxAmount: BigInt(due.usdc_micro),
    minIntervalSeconds: 86_400,
    startsAt: now - 3_600,
    endsAt: now + 86_400,
    plan: `0x${'00'.repeat(32)}`,
    salt: `0x${'01'.repeat(32)}`,
  } as const;
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(
    mandateTypedData(mandate, chain.chainId, recurringAddress()),
  );
  const charge = { mandate, signature, amount: mandate.maxAmount, reference: referenceWord(due.reference) };
  await fixtures.node.fund(executor.address, 0n);
  chain.recurringContract = recurringAddress();
  const txHash = await sendTransaction(chain, executor.privateKey, recurringAddress(), chargeCall(charge, null));
  await settle();
  chain.recurringContract = contract.address;
  assert.deepEqual([...(await transfersOf(txHash))], [{ request_id: due.id, rule: 'charge', reason: null }]);
  const paid = await fixtures.read(due);
  assert.equal(paid.proof_status, 'verified');
  assert.equal(paid.payer_address, from.address);
});

test('a charge that names a request → paid by the payer of the mandate, regardless of the transaction’s sender', async () => {
  const due = await request();
  const { address: from } = await payer();
  const txHash = await contract.run([moveOf(due, from), logOf(due, from)]);
  await settle();
  assert.deepEqual([...(await transfersOf(txHash))], [{ request_id: due.id, rule: 'charge', reason: null }]);
  const paid = await fixtures.read(due);
  assert.equal(paid.proof_status, 'verified');
  assert.equal(paid.payer_address, from);
});

test('two charges in one transaction → each pays its own request', async () => {
  const dues = [await request(), await request()];
  const { address: from } = await payer();
  await contract.run(dues.flatMap((due) => [moveOf(due, from), logOf(due, from)]));
  await settle();
  for (const due of dues) assert.equal((await fixtures.read(due)).proof_status, 'verified');
});

test('a log of another contract, or one that states another amount, token, payer or payee → pays nothing', async () => {
  const foreign = await placeScript(fixtures.node);
  const { address: from } = await payer();
  const due = await request();
  const neighbour = fixtures.node.wallet().address;
  for (const details of [{ usdcMicro: 1n }, { token: neighbour }, { payer: neighbour }, { payee: neighbour }]) {
    const txHash = await contract.run([moveOf(due, from), logOf(due, from, details)]);
    await settle();
    assert.deepEqual([...(await transfersOf(txHash))], [{ request_id: null, rule: null, reason: 'no_match' }]);
  }
  const { address: theirs } = await payer(foreign.address);
  const txHash = await foreign.run([moveOf(due, theirs), logOf(due, theirs)]);
  await settle();
  assert.equal((await transfersOf(txHash))[0]?.reason, 'no_match');
  assert.equal((await fixtures.read(due)).proof_status, 'none');
});

test('two equal transfers before one log → it names neither', async () => {
  const due = await request();
  const { address: from } = await payer();
  const txHash = await contract.run([moveOf(due, from), moveOf(due, from), logOf(due, from)]);
  await settle();
  assert.deepEqual(
    (await transfersOf(txHash)).map(({ reason }) => reason),
    ['no_match', 'no_match'],
  );
  assert.equal((await fixtures.read(due)).proof_status, 'none');
});

test('a charge whose reference is of a request to another wallet → conflict', async () => {
  const neighbour = await makeMerchant(fixtures.db, fixtures.scope);
  const theirs = await makeRequest(fixtures.db, fixtures.scope, neighbour);
  const own = await fixtures.request();
  const { address: from } = await payer();
  const txHash = await contract.run([moveOf(own, from), logOf(own, from, { reference: theirs.reference })]);
  await settle();
  assert.deepEqual([...(await transfersOf(txHash))], [{ request_id: null, rule: null, reason: 'conflict' }]);
  for (const due of [own, theirs]) assert.equal((await fixtures.read(due)).proof_status, 'none');
});

test('a charge of a cancelled or paid request → not counted; less than the amount → a part', async () => {
  const [voided, paid, part] = [await request(), await request(), await request()];
  const { address: from } = await payer();
  await cancelRequest(fixtures.ctx, theService, fixtures.scope, voided.id);
  await contract.run([moveOf(paid, from), logOf(paid, from)]);
  await settle();
  for (const [due, reason] of [
    [voided, 'voided'],
    [paid, 'already_paid'],
  ] as const) {
    const txHash = await contract.run([moveOf(due, from), logOf(due, from)]);
    await settle();
    assert.deepEqual([...(await transfersOf(txHash))], [{ request_id: null, rule: null, reason }]);
  }
  await contract.run([moveOf(part, from, 5n), logOf(part, from, { usdcMicro: 5n })]);
  await settle();
  assert.equal((await fixtures.read(part)).proof_status, 'none');
  const restMicro = BigInt(part.usdc_micro) - 5n;
  await contract.run([moveOf(part, from, restMicro), logOf(part, from, { usdcMicro: restMicro })]);
  await settle();
  assert.equal((await fixtures.read(part)).proof_status, 'verified');
});

test('a charge that is reorganised away before it is final → none again', async () => {
  const due = await request();
  const { address: from } = await payer();
  await contract.run([moveOf(due, from), logOf(due, from)]);
  await fixtures.turn();
  assert.equal((await fixtures.read(due)).proof_status, 'attached');
  await fixtures.node.reorg(1);
  await fixtures.turn();
  assert.equal((await fixtures.read(due)).proof_status, 'none');
});
