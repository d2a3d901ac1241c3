import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import type { Reason } from '../../src/payments/rules.ts';
import { testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase, withoutLimits } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { openExplainer, rowsRead, sentDuring } from '../support/query-plans.ts';

// Everybody with a pay link can have its page read, and anybody can send any number of transfers.

let database: TestDatabase;
let ctx: Context;
let scope: Scope;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db);
  ({ test: scope } = await makePartner(database.db));
});
after(() => database?.drop());

type Shop = { id: string; wallet: string };
/** What each transfer moves, in micro units, why it does not count, and the request that it names. */
type Arrived = { value: bigint; reason: Reason; candidateId: string | null };

/** Stores matched transfers that count for no request. Mined an hour ago, they are near to none made now. */
async function arrive({ id, wallet }: Shop, count: number, { value, reason, candidateId }: Arrived): Promise<void> {
  await withoutLimits(
    database.owner,
    (tx) => tx`
      insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address,
        from_address, to_address, value, partner_id, test_mode, account_id, judged_at, reason, candidate_request_id)
      select 31337, '0x' || encode(sha256(uuid_send(gen_random_uuid())), 'hex'), 0, 7, '0x', now() - interval '1 hour',
        '0xtoken', '0xpayer',
        ${wallet}, ${value.toString()}::numeric, ${scope.partnerId}, true, ${id}, now(), ${reason}, ${candidateId}::uuid
      from generate_series(1, ${count}::int)`,
  );
}

/** How many rows the view of a request reads. */
async function rowsOfView(requestId: string): Promise<number> {
  await withoutLimits(database.owner, (tx) => tx`analyze transfers, requests`);
  const explainer = openExplainer(database.url);
  try {
    const sent = await sentDuring(database.db, () => readProgress(ctx, scope, requestId));
    const plans = await explainer.explain(sent, 'force_generic_plan');
    return plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
  } finally {
    await explainer.end();
  }
}

/** A merchant with a few requests, each of which some transfers name. */
async function busyShop() {
  const merchant = await makeMerchant(database.db, scope);
  const requests: { id: string }[] = [];
  for (let made = 0; made < 20; made++) {
    const request = await makeRequest(database.db, scope, merchant, { exactMicro: 12_500_000n });
    await arrive(merchant, 3, { value: 12_500_000n, reason: 'already_paid', candidateId: request.id });
    requests.push(request);
  }
  return { merchant, request: requests[0] as { id: string } };
}

test('5,000 tiny transfers that name a request → a view of it reads only the largest', async () => {
  const { merchant, request } = await busyShop();
  await arrive(merchant, 5_000, { value: 1n, reason: 'already_paid', candidateId: request.id });
  const rows = await rowsOfView(request.id);
  assert.ok(rows < 500, `${rows} rows`);
});

test('A merchant with 5,000 older requests and unmatched payments → a view reads those of the request’s time', async () => {
  const { merchant, request } = await busyShop();
  await arrive(merchant, 5_000, { value: 12_000_000n, reason: 'no_match', candidateId: null });
  await withoutLimits(
    database.owner,
    (tx) => tx`
      insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
        payment_mode, metadata, wallet_address, reference, start_blocks, created_at, expires_at, status)
      select partner_id, test_mode, gen_random_uuid(), account_id, fiat_int, fiat_code, usdc_micro, false, rate,
        payment_mode, metadata, wallet_address, uuid_send(gen_random_uuid()), '{}',
        created_at - interval '90 days' - n * interval '1 second', expires_at - interval '90 days', 'expired'
      from requests, generate_series(1, 5000) n where id = ${request.id}`,
  );
  await database.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, judged_at, reason)
    values (31337, '0xnear', 0, 7, '0x', now(), '0xtoken', '0xpayer', ${merchant.wallet}, 12000000, ${scope.partnerId},
      true, ${merchant.id}, now(), 'no_match')`;
  const { near } = await readProgress(ctx, scope, request.id);
  assert.deepEqual([near.length, near[0]?.others], [1, 9]);
  const rows = await rowsOfView(request.id);
  assert.ok(rows < 500, `${rows} rows`);
});
