import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { sendTransaction, transferCall } from '../../src/sandbox/wallet.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { secondEndpoint } from '../support/payments/second-endpoint.ts';

let second: Awaited<ReturnType<typeof secondEndpoint>>;
let fixtures: PayFixtures;
before(async () => {
  second = await secondEndpoint();
  // The target must be set before the watcher starts; until then the endpoint is away.
  second.endpoint.mode = 'away';
  fixtures = await payFixtures([second.url]);
  second.endpoint.target = fixtures.node.chain.rpcUrls[0] ?? '';
  second.endpoint.mode = 'honest';
});
after(async () => {
  await fixtures?.stop();
  await second?.stop();
});

const signedForm = async (txHash: string) =>
  String(await callRpc(second.endpoint.target, 'eth_getRawTransactionByHash', [txHash]));
const isRaised = async (name: string) => (await raisedAlarms(fixtures.db.sql)).has(name);

test('reorganised away before it is final → none with a note; mined again → attached, then verified', async () => {
  const request = await fixtures.request();
  const { txHash } = await fixtures.pay(request);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  const signed = await signedForm(txHash);
  await fixtures.node.reorg(1);
  await fixtures.turn();
  const back = await fixtures.read(request);
  assert.equal(back.proof_status, 'none');
  assert.equal(back.proof_note, 'reorged');
  assert.equal(back.asset_id, null);
  assert.equal(await fixtures.transfer(txHash), undefined);

  assert.equal(await fixtures.node.resend(signed), txHash);
  await fixtures.turn();
  const again = await fixtures.read(request);
  assert.equal(again.proof_status, 'attached');
  assert.equal(again.proof_note, null);
  await fixtures.node.mine(2);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).tx_hash, txHash);
  assert.equal((await fixtures.events(request)).length, 1);
});

test('two payments reorganised away and only the second mined again → that one pays the request', async () => {
  // Large enough to need four confirmations.
  const request = await fixtures.request({ exactMicro: 1_500_000_000n });
  const [one, two] = [fixtures.node.wallet(), fixtures.node.wallet()];
  for (const { address } of [one, two]) await fixtures.node.fund(address, BigInt(request.usdc_micro));
  await fixtures.pay(request, { from: one });
  await fixtures.turn();
  const second = await fixtures.pay(request, { from: two });
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  assert.equal((await fixtures.transfer(second.txHash))?.reason, 'already_paid');
  const signed = await signedForm(second.txHash);
  await fixtures.node.reorg(2);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  await fixtures.node.resend(signed);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const row = await fixtures.read(request);
  assert.equal(row.proof_status, 'verified');
  assert.equal(row.payer_address, two.address);
});

test('verified, then reorganised → stays verified, with an alarm until the same payment is mined again', async () => {
  for (const mined of ['elsewhere', 'in its block', 'with another amount'] as const) {
    const request = await fixtures.request();
    const { txHash } = await fixtures.pay(request);
    await fixtures.node.mine(3);
    await fixtures.turn();
    assert.equal((await fixtures.read(request)).proof_status, 'verified');
    const signed = await signedForm(txHash);
    await fixtures.node.reorg(4);
    await fixtures.turn();
    assert.equal((await fixtures.read(request)).proof_status, 'verified');
    assert.equal((await fixtures.events(request)).length, 1);
    assert.ok(await isRaised('chain-final-reorged:31337'));
    assert.ok(await isRaised(`verified-reorged:${request.id}`));

    const { sql } = fixtures.db;
    // As when an exchange's contract moves what its price is then, and, below, as when a false chain ends.
    if (mined === 'with another amount') await sql`update transfers set value = value + 1 where tx_hash = ${txHash}`;
    assert.equal(await fixtures.node.resend(signed), txHash);
    const { blockHash } = (await callRpc(second.endpoint.target, 'eth_getTransactionReceipt', [txHash])) as {
      blockHash: string;
    };
    if (mined === 'in its block') await sql`update transfers set block_hash = ${blockHash} where tx_hash = ${txHash}`;
    await fixtures.turn();
    const isSame = mined !== 'with another amount';
    assert.equal((await fixtures.transfer(txHash))?.block_hash === blockHash, isSame);
    assert.equal(await isRaised(`verified-reorged:${request.id}`), !isSame);
    assert.equal((await fixtures.events(request)).length, 1);
  }
});

test('final payments, then reorganised, twice → the alarm names those of both', async () => {
  const hashes: string[] = [];
  for (let times = 0; times < 2; times++) {
    const { txHash } = await fixtures.pay(await fixtures.request());
    hashes.push(txHash);
    await fixtures.node.mine(3);
    await fixtures.turn();
    await fixtures.node.reorg(4);
    await fixtures.turn();
  }
  const sentence = (await raisedAlarms(fixtures.db.sql)).get('chain-final-reorged:31337') ?? '';
  for (const txHash of hashes) assert.ok(sentence.includes(txHash), sentence);
});

/** A contract that moves all it was given to whom its code names: its code stands for a state that has changed. */
async function placePayer(address: Hex, to: string, usdcMicro: bigint): Promise<void> {
  const token = (fixtures.node.chain.tokens[0]?.address ?? '').slice(2);
  const move = transferCall({ to, usdcMicro }).slice(2);
  // codecopy(0, 41, 68); call(gas, token, 0, 0, 68, 0, 0); stop
  const code = `0x604460296000396000600060446000600073${token}5af100${move}`;
  await callRpc(second.endpoint.target, 'anvil_setCode', [address, code]);
}

test('verified, then reorganised and mined again as a payment to another merchant → an alarm says that it is not counted', async () => {
  const request = await fixtures.request();
  const other = await makeMerchant(fixtures.db, fixtures.scope);
  const theirs = await makeRequest(fixtures.db, fixtures.scope, other);
  const payer: Hex = '0x00000000000000000000000000000000000ba7c4';
  await fixtures.node.fund(payer, 2n * BigInt(request.usdc_micro));
  await placePayer(payer, request.wallet_address, BigInt(request.usdc_micro));
  const from = fixtures.node.wallet();
  await fixtures.node.fund(from.address, 0n);
  const txHash = await sendTransaction(fixtures.node.chain, from.privateKey, payer, '0x');
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  const signed = await signedForm(txHash);
  await fixtures.node.reorg(4);
  await placePayer(payer, theirs.wallet_address, BigInt(theirs.usdc_micro));
  await fixtures.turn();
  assert.equal(await isRaised(`chain-replaced:31337:${txHash}`), false);
  assert.equal(await fixtures.node.resend(signed), txHash);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.to_address, request.wallet_address);
  assert.equal((await fixtures.read(theirs)).proof_status, 'none');
  assert.ok(await isRaised(`verified-reorged:${request.id}`));
  assert.ok(await isRaised(`chain-replaced:31337:${txHash}`));
});

test('while an endpoint is away or denies the payment, verification waits; an alarm is raised after 2 minutes and cleared', async () => {
  const request = await fixtures.request();
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  const alarm = 'chain-unconfirmed:31337';
  second.endpoint.mode = 'away';
  await matchPending(fixtures.ctx);
  await verifyFinal(fixtures.ctx);
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  assert.ok(!(await isRaised(alarm)));
  fixtures.clock.forward(2 * 60_000);
  await verifyFinal(fixtures.ctx);
  assert.ok(await isRaised(alarm));

  second.endpoint.mode = 'denies';
  await verifyFinal(fixtures.ctx);
  assert.equal((await fixtures.read(request)).proof_status, 'attached');

  second.endpoint.mode = 'honest';
  // A denied transfer is checked again a second later.
  await fixtures.db.sql`update transfers set look_at = now() - interval '1 ms' where look_at > now()`;
  await verifyFinal(fixtures.ctx);
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.ok(!(await isRaised(alarm)));
});
