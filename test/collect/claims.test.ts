import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { heldKeys } from '../../src/chain/relay/relay.ts';
import { dayMs, minuteMs } from '../../src/lib/durations.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { claimDueCharges } from '../../src/plans/collect/queue-store.ts';
import { updateClaimReleased, updateDelayed, updateFailed } from '../../src/plans/collect/store.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

let of: CollectFixtures;
const running = new AbortController().signal;
before(async () => {
  of = await collectFixtures();
});
after(() => of?.stop());

/** Takes all that is due, for a minute from now. */
function take() {
  const now = of.clock.now();
  const leaseUntil = new Date(now.getTime() + minuteMs);
  const keys = heldKeys(of.ctx, now);
  return claimDueCharges(of.db, of.chain.chainId, {
    testMode: true,
    now,
    leaseUntil,
    ofOne: 10,
    all: 10,
    waiting: 10,
    keys,
  });
}

async function agreed() {
  const plan = await of.plan({ period: 'week' });
  await of.agree(plan, await of.payer(100_000_000n));
  await chargeDue(of.ctx, running);
  return plan;
}

test('another node took a charge after its lease ran out → what the first one found changes nothing', async () => {
  const plan = await agreed();
  const [first] = await take();
  assert.equal((await take()).length, 0, 'it is leased');
  await of.forward(2 * minuteMs);
  const [second] = await take();
  assert.ok(first && second && first.due_at < second.due_at);
  const now = of.clock.now();
  const dueAt = new Date(now.getTime() + dayMs);
  const [delayed, failed] = await of.db.scoped(of.scope, async (tx) => {
    await updateClaimReleased(tx, first, now);
    return [
      await updateDelayed(tx, first, { reason: 'too_soon', now, dueAt }),
      await updateFailed(tx, first, { reason: 'balance_low', since: now, now, dueAt }),
    ];
  });
  assert.deepEqual([delayed, failed], [false, false]);
  const [row] = await of.collections(plan);
  assert.deepEqual([row?.due_at, row?.attempts, row?.reason], [second.due_at, 0, null]);
});

test('two dates of a plan are due → the older one is taken, and the other not before it has ended', async () => {
  const plan = await agreed();
  await of.forward(7 * dayMs);
  await chargeDue(of.ctx, running);
  const [older, newer] = await of.collections(plan);
  assert.ok(older && newer);
  const takenOf = async () => {
    const taken = new Set((await take()).map(({ request_id }) => request_id));
    return [older, newer].map(({ request_id }) => taken.has(request_id));
  };
  assert.deepEqual(await takenOf(), [true, false]);
  await of.db.sql`update collections set state = 'charged', due_at = null, ended_at = now()
    where request_id = ${older.request_id}`;
  assert.deepEqual(await takenOf(), [false, true]);
});
