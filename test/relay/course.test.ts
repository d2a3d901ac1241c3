import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { canRelay, dispatch, readRelay, relayerAddresses } from '../../src/chain/relay/relay.ts';
import { type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { testRelayer } from '../support/chain/relayer.ts';

let f: RelayFixtures;
before(async () => {
  f = await relayFixtures();
});
after(() => f.stop());

test('a call is taken on, sent, mined and final, and what it cost is known', async () => {
  assert.deepEqual(relayerAddresses(f.ctx), [testRelayer.address]);
  assert.equal(await canRelay(f.ctx, f.chain), true);
  const id = await f.allot(f.call());
  assert.equal((await readRelay(f.db.sql, id))?.state, 'allotted');
  const reserved = (await readRelay(f.db.sql, id))?.feeWei ?? 0n;
  await dispatch(f.ctx, id);
  const sent = await readRelay(f.db.sql, id);
  assert.equal(sent?.state, 'sent');
  assert.equal(await f.mined(), 1);
  await f.follow();
  const mined = await readRelay(f.db.sql, id);
  assert.equal(mined?.state, 'mined');
  assert.equal(mined.hash, sent.hash);
  assert.equal(mined.succeeded, true);
  assert.ok(mined.feeWei > 0n && mined.feeWei < reserved);
  const [spent] = await f.db.sql`select wei from relay_spending`;
  assert.equal(BigInt(spent?.wei), mined.feeWei);
  await f.node.mine(5);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'final');
});
