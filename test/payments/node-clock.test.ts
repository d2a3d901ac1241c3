import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { releaseReservations } from '../../src/payments/release-reservations.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

const running = new AbortController().signal;

let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
});
after(() => fixtures?.stop());

test('a node whose clock is a day behind verifies → the amount stays reserved for a day of real time', async () => {
  const request = await fixtures.request();
  fixtures.clock.forward(-25 * 3_600_000);
  await fixtures.pay(request);
  await fixtures.node.mine(5);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  const [row] = await fixtures.db.sql`
    select reserved_until > now() + interval '23 hours' as kept from amount_reservations where request_id = ${request.id}`;
  assert.equal(row?.kept, true);
  await releaseReservations(fixtures.ctx, running);
  const left = await fixtures.db.sql`select from amount_reservations where request_id = ${request.id}`;
  assert.equal(left.length, 1);
});
