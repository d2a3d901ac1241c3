import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dayMs, hourMs } from '../../src/lib/durations.ts';
import { readMerchantVolume } from '../../src/requests/lists/merchant-volume.ts';
import { testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { movableClock } from '../support/payments/pay-fixtures.ts';
import { openExplainer, rowsRead, sentDuring } from '../support/query-plans.ts';

let fixtures: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  fixtures = await testDatabase();
});
after(() => fixtures?.drop());

test('a merchant’s volume, read again → reads the payments of a day or two, by the index alone, and is exact', async () => {
  const { db, owner, url } = fixtures;
  const { test: scope } = await makePartner(db);
  const merchant = await makeMerchant(db, scope);
  const noon = Math.floor(Date.now() / dayMs) * dayMs + 12 * hourMs;
  const clock = movableClock();
  clock.forward(noon - Date.now());
  const ctx = testContext(db, { clock });
  // Eight a day for fifty days, one euro each.
  const ids: string[] = [];
  for (let made = 0; made < 400; made++) ids.push((await makeRequest(db, scope, merchant, { fiatInt: 100 })).id);
  await owner`
    update requests r set proof_status = 'verified', tx_hash = ${`0x${'ab'.repeat(32)}`}, payer_address = '0x',
      proof_verified_at = ${new Date(noon)}::timestamptz - (p.n - 0.5) * interval '3 hours',
      created_at = r.created_at - interval '99 days'
    from unnest(${ids}::uuid[]) with ordinality p (id, n) where r.id = p.id`;
  await owner.unsafe('vacuum (analyze) requests');

  const exact = [{ code: 'EUR', all: sumOf(400), recent: sumOf(240) }];
  assert.deepEqual(await readMerchantVolume(ctx, scope, merchant.id), exact);
  const explainer = openExplainer(url);
  try {
    const again = await sentDuring(db, async () =>
      assert.deepEqual(await readMerchantVolume(ctx, scope, merchant.id), exact),
    );
    for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
      const plans = (await explainer.explain(again, mode)).filter((plan) => JSON.stringify(plan).includes('"requests'));
      assert.ok(plans.length > 0 && plans.every((plan) => JSON.stringify(plan).includes('"Index Only Scan"')));
      const rows = plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
      assert.ok(rows > 0 && rows <= 16, `${rows} payments were read`);
    }
    clock.forward(dayMs);
    assert.deepEqual(await readMerchantVolume(ctx, scope, merchant.id), [{ ...exact[0], recent: sumOf(232) }]);
  } finally {
    await explainer.end();
  }
});

const sumOf = (payments: number) => ({ payments, fiatInt: 100n * BigInt(payments) });
