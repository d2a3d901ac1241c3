import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { releaseReservations } from '../../src/payments/release.ts';
import { type PayWorld, payWorld } from './support.ts';

let world: PayWorld;
before(async () => {
  world = await payWorld();
});
after(() => world?.stop());

test('a node whose clock is a day behind verifies → the amount stays reserved for a day of real time', async () => {
  const request = await world.request();
  world.clock.forward(-25 * 3_600_000);
  await world.pay(request);
  await world.node.mine(5);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'verified');
  const [row] = await world.db.sql`
    select reserved_until > now() + interval '23 hours' as kept from amount_reservations where request_id = ${request.id}`;
  assert.equal(row?.kept, true);
  await releaseReservations(world.ctx);
  const left = await world.db.sql`select from amount_reservations where request_id = ${request.id}`;
  assert.equal(left.length, 1);
});
