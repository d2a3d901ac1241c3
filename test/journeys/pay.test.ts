import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PayWorld, payWorld } from '../payments/support.ts';

let world: PayWorld;
before(async () => {
  world = await payWorld();
});
after(() => world?.stop());

test('a tagged payment → attached, and verified with exactly one event once it is final', async () => {
  const request = await world.request({ metadata: '{"order":"7"}' });
  const { txHash, from } = await world.pay(request);
  await world.turn();
  const attached = await world.read(request);
  assert.equal(attached.proof_status, 'attached');
  assert.equal(attached.tx_hash, null);
  assert.equal(attached.asset_id, `eip155:31337/erc20:${world.node.chain.tokens[0]?.address}`);

  await world.node.mine(2);
  await world.turn();
  await world.turn();
  const verified = await world.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.tx_hash, txHash);
  assert.equal(verified.payer_address, from.address);
  assert.ok(verified.proof_verified_at);
  const [event, ...more] = await world.events(request);
  assert.equal(more.length, 0);
  const body = JSON.parse(event?.body);
  assert.equal(body.tx_hash, txHash);
  assert.equal(body.timestamp, verified.proof_verified_at.toISOString());
  const [reserved] = await world.db.sql`select * from amount_reservations where request_id = ${request.id}`;
  assert.equal(reserved?.reserved_until.getTime(), verified.proof_verified_at.getTime() + 24 * 3_600_000);
});

test('an untagged payment of the exact amount → its request', async () => {
  const request = await world.request();
  const other = await world.request();
  assert.notEqual(request.usdc_micro, other.usdc_micro);
  const { txHash } = await world.pay(other, { tagged: false });
  await world.turn();
  assert.equal((await world.read(other)).proof_status, 'attached');
  assert.equal((await world.read(request)).proof_status, 'none');
  assert.equal((await world.transfer(txHash))?.rule, 'amount');
});
