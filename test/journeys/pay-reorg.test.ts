import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callRpc } from '../../src/chain/rpc.ts';
import { judgePending } from '../../src/payments/match.ts';
import { settle } from '../../src/payments/verify.ts';
import { secondEndpoint } from '../payments/endpoint.ts';
import { type PayWorld, payWorld } from '../payments/support.ts';

let second: Awaited<ReturnType<typeof secondEndpoint>>;
let world: PayWorld;
before(async () => {
  second = await secondEndpoint();
  // It needs its target before the watcher starts; until then it is away.
  second.endpoint.mode = 'away';
  world = await payWorld([second.url]);
  second.endpoint.target = world.node.chain.rpcUrls[0] ?? '';
  second.endpoint.mode = 'honest';
});
after(async () => {
  await world?.stop();
  await second?.stop();
});

const signedForm = async (txHash: string) =>
  String(await callRpc(second.endpoint.target, 'eth_getRawTransactionByHash', [txHash]));
const alarms = (name: string) => world.db.sql`select * from alarms where name = ${name} and cleared_at is null`;

test('reorganised away before it is final → none with a note; mined again → attached, then verified', async () => {
  const request = await world.request();
  const { txHash } = await world.pay(request);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'attached');
  const signed = await signedForm(txHash);
  await world.node.reorg(1);
  await world.turn();
  const back = await world.read(request);
  assert.equal(back.proof_status, 'none');
  assert.equal(back.proof_note, 'reorged');
  assert.equal(back.asset_id, null);
  assert.equal(await world.transfer(txHash), undefined);

  assert.equal(await world.node.resend(signed), txHash);
  await world.turn();
  const again = await world.read(request);
  assert.equal(again.proof_status, 'attached');
  assert.equal(again.proof_note, null);
  await world.node.mine(2);
  await world.turn();
  assert.equal((await world.read(request)).tx_hash, txHash);
  assert.equal((await world.events(request)).length, 1);
});

test('two payments reorganised away and only the second mined again → that one pays the request', async () => {
  // Large enough to need four confirmations.
  const request = await world.request({ exactMicro: 1_500_000_000n });
  const [one, two] = [world.node.wallet(), world.node.wallet()];
  for (const { address } of [one, two]) await world.node.fund(address, BigInt(request.usdc_micro));
  await world.pay(request, { from: one });
  await world.turn();
  const second = await world.pay(request, { from: two });
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'attached');
  assert.equal((await world.transfer(second.txHash))?.reason, 'already_paid');
  const signed = await signedForm(second.txHash);
  await world.node.reorg(2);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'none');
  await world.node.resend(signed);
  await world.node.mine(3);
  await world.turn();
  const row = await world.read(request);
  assert.equal(row.proof_status, 'verified');
  assert.equal(row.payer_address, two.address);
});

test('verified, then reorganised → stays verified, and the operator is told', async () => {
  const request = await world.request();
  await world.pay(request);
  await world.node.mine(3);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'verified');
  await world.node.reorg(5);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'verified');
  assert.equal((await world.events(request)).length, 1);
  assert.equal((await alarms('chain-31337-final-reorged')).length, 1);
});

test('while an endpoint is away or denies the payment, verification waits; an alarm is raised after 2 minutes and cleared', async () => {
  const request = await world.request();
  await world.pay(request);
  await world.node.mine(3);
  await world.caughtUp();
  const alarm = 'chain-31337-unconfirmed';
  second.endpoint.mode = 'away';
  await judgePending(world.ctx);
  await settle(world.ctx);
  assert.equal((await world.read(request)).proof_status, 'attached');
  assert.equal((await alarms(alarm)).length, 0);
  world.clock.forward(2 * 60_000);
  await settle(world.ctx);
  assert.equal((await alarms(alarm)).length, 1);

  second.endpoint.mode = 'denies';
  await settle(world.ctx);
  assert.equal((await world.read(request)).proof_status, 'attached');

  second.endpoint.mode = 'honest';
  // What was denied is looked at again a second later.
  await world.db.sql`update transfers set look_at = now() - interval '1 ms' where look_at > now()`;
  await settle(world.ctx);
  assert.equal((await world.read(request)).proof_status, 'verified');
  assert.equal((await alarms(alarm)).length, 0);
});
