import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { dayMs, minuteMs } from '../../src/lib/durations.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

let of: CollectFixtures;
beforeEach(async () => {
  of = await collectFixtures();
});
afterEach(() => of?.stop());

/** As if a backup from before the plan's first charge was restored, and the chain read again since. */
async function forgetCharge(plan: { id: string; first_on: string }, requestId: string): Promise<void> {
  await of.db.sql.begin(async (tx) => {
    await tx`
      update transfers set request_id = null, rule = null, counts = false, final_at = null, reason = 'no_match'
      where request_id = ${requestId}`;
    await tx`delete from webhook_deliveries where request_id = ${requestId}`;
    await tx`delete from receipts where request_id = ${requestId}`;
    await tx`delete from mails where request_id = ${requestId}`;
    await tx`delete from collections where request_id = ${requestId}`;
    await tx`delete from plan_charges where request_id = ${requestId}`;
    await tx`delete from amount_reservations where request_id = ${requestId}`;
    await tx`delete from requests where id = ${requestId}`;
    await tx`
      update plans set charges = 0, slot = 0, next_on = first_on, due_at = ${`${plan.first_on}T00:00:00Z`}
      where id = ${plan.id}`;
  });
}

for (const { when, hasKey, newKeys } of [
  { when: 'with the same secret keys', hasKey: true, newKeys: [] },
  { when: 'for a plan from before plans had keys', hasKey: false, newKeys: [] },
  { when: 'after a new secret key was put in front', hasKey: true, newKeys: [{ id: 'new', key: randomBytes(32) }] },
]) {
  test(`A charge that a restored backup does not know is found on the chain ${when}, and no customer pays it twice`, async () => {
    const plan = await of.plan();
    const payer = await of.payer(100_000_000n);
    await of.agree(plan, payer);
    const forgetKey = () => of.db.sql`update plans set charge_key = null where id = ${plan.id}`;
    if (!hasKey) await forgetKey();
    await of.turn();
    const [lost] = await of.requests(plan);
    assert.equal(lost?.proof_status, 'verified');
    const paid = await of.balance(payer.address);
    await forgetCharge(plan, lost?.id ?? '');
    if (!hasKey) await forgetKey();
    of.ctx.config.secretKeys.unshift(...newKeys);

    await of.turn();
    await of.turn();
    const [found, ...others] = await of.requests(plan);
    assert.deepEqual([found?.id, found?.proof_status, found?.tx_hash], [lost?.id, 'verified', lost?.tx_hash]);
    assert.equal(others.length, 0);
    assert.deepEqual(
      (await of.collections(plan)).map(({ state }) => state),
      ['charged'],
    );
    // The contract allows another charge, and the next date has not come.
    await of.forward(27 * dayMs + minuteMs);
    await of.turn();
    assert.equal(await of.balance(payer.address), paid);
  });
}
