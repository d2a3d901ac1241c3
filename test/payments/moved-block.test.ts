import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { secondEndpoint } from '../support/payments/second-endpoint.ts';
import { until } from '../support/until.ts';

let second: Awaited<ReturnType<typeof secondEndpoint>>;
let fixtures: PayFixtures;
before(async () => {
  second = await secondEndpoint();
  second.endpoint.mode = 'away'; // until it knows its chain
  fixtures = await payFixtures([second.url]);
  second.endpoint.target = fixtures.node.chain.rpcUrls[0] ?? '';
  second.endpoint.mode = 'honest';
});
after(async () => {
  await fixtures?.stop();
  await second?.stop();
});

/** A payment that is stored in the block after its own, as an endpoint once told; now both tell where it is. */
async function misplaced() {
  const { db, node } = fixtures;
  const request = await fixtures.request();
  const { txHash } = await fixtures.pay(request);
  await fixtures.turn();
  await node.mine(4);
  await fixtures.caughtUp();
  await db.sql`
    update transfers t set block_number = b.number, block_hash = b.hash, block_time = b.block_time
    from chain_blocks b where b.chain_id = t.chain_id and b.number = t.block_number + 1 and t.tx_hash = ${txHash}`;
  const look = async (looks: number) => {
    await db.sql`update transfers set looks = ${looks}, look_at = now() - interval '1 ms' where tx_hash = ${txHash}`;
    await verifyFinal(fixtures.ctx);
  };
  const setAside = () => db.sql`select block_number from unread_transactions where tx_hash = ${txHash}`;
  return { request, txHash, look, setAside };
}

test('a payment is stored in a block that is not its own, for long by all endpoints → it is read again where it is, and verified', async () => {
  const { request, txHash, look, setAside } = await misplaced();
  const wrong = await fixtures.transfer(txHash);
  await look(1);
  assert.equal((await setAside()).length, 0, 'not at once');
  await look(7);
  await until(async () => {
    await look(0);
    return (await fixtures.read(request)).proof_status === 'verified';
  }, 'the payment is verified');
  const row = await fixtures.transfer(txHash);
  assert.equal(Number(row?.block_number), Number(wrong?.block_number) - 1);
  assert.equal((await fixtures.events(request)).length, 1);
});

test('one endpoint does not say where the payment is → it stays where it is, and waits', async () => {
  const { request, look, setAside } = await misplaced();
  second.endpoint.mode = 'denies';
  await look(7);
  assert.deepEqual([(await setAside()).length, (await fixtures.read(request)).proof_status], [0, 'attached']);
  second.endpoint.mode = 'honest';
});
