import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { openRegistry } from '../../src/http/metrics.ts';
import { removedChains, updateSilenceAlarms } from '../../src/payments/silent-chains.ts';
import { countDue } from '../../src/webhooks/stuck.ts';
import { testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, randomAddress } from '../support/fixtures.ts';
import { makePlan } from '../support/plans.ts';
import { openExplainer, rowsRead, sentDuring } from '../support/query-plans.ts';

/** What each node asks the database again and again, whatever stands in it: at each scrape, and once a minute. */
let database: Awaited<ReturnType<typeof testDatabase>>;
let explainer: ReturnType<typeof openExplainer>;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  explainer = openExplainer(database.url);
  ctx = testContext(database.db);
});
after(async () => {
  await explainer?.end();
  await database?.drop();
});

const rows = 20_000;
/** The most rows that a look may read that finds nothing. */
const few = 200;

/** How many rows the statements read that are sent during some work. */
async function readDuring(work: () => Promise<unknown>): Promise<number> {
  const sent = await sentDuring(database.db, work);
  assert.ok(sent.length > 0);
  const plans = await explainer.explain(sent, 'auto');
  return plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
}

/** Requests of a partner, and an event for each that is due after this many seconds. */
async function makeWaiting(scope: Scope, many: number, dueInS: number, url: string | null): Promise<void> {
  const merchant = await makeMerchant(database.db, scope);
  const { partnerId, testMode } = scope;
  await database.owner`
    insert into webhook_endpoints (partner_id, test_mode, url, secret) values (${partnerId}, ${testMode}, ${url}, '\\x00')`;
  await database.owner`
    insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
      payment_mode, metadata, wallet_address, reference, start_blocks, created_at, expires_at)
    select ${partnerId}, ${testMode}, gen_random_uuid(), ${merchant.id}, 1250, 'EUR', 1e6 + n, false, '0.92', 'pos', '{}',
      ${merchant.wallet}, uuid_send(gen_random_uuid()), '{"8":3}', now() - n * interval '1 s', now() + interval '1 day'
    from generate_series(1, ${many}::int) n`;
  await database.owner`
    insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
    select partner_id, test_mode, gen_random_uuid(), id, 'payment.proof_verified', '{}',
      now() + ${dueInS} * interval '1 second'
    from requests where partner_id = ${partnerId} and test_mode = ${testMode}`;
}

test('a scrape with many events that wait and days that have passed → counts those that are due, reads few rows', async () => {
  const [waiting, failing] = [await makePartner(database.db), await makePartner(database.db)];
  await makeWaiting(waiting.test, rows, -60, null);
  await makeWaiting(failing.test, rows, 3_600, 'https://shop.example/events');
  await database.owner`
    insert into relay_spending (partner_id, test_mode, chain_id, day, wei)
    select ${failing.partner.id}, true, 31337, current_date - n, 1 from generate_series(1, 5000) n`;
  await database.owner`analyze`;
  assert.equal(await countDue(ctx, 100), 0, 'an event without a URL, or for later, is not due');
  const read = await readDuring(async () =>
    assert.match(await openRegistry(ctx).metrics(), /quittance_webhooks_due 0\n/),
  );
  assert.ok(read < few, `${read} rows`);

  const { test: busy } = await makePartner(database.db);
  await makeWaiting(busy, 500, -60, 'https://busy.example/events');
  assert.equal(await countDue(ctx, 1_000), 500);
  assert.equal(await countDue(ctx, 100), 100, 'counted up to a limit');
  assert.ok((await readDuring(() => countDue(ctx, 100))) < few, 'and read up to it');
  await database.owner`update webhook_endpoints set disabled_at = now(), disabled_reason = 'gone' where url like '%busy%'`;
  assert.equal(await countDue(ctx, 1_000), 0, 'of an endpoint that is disabled nothing is due');
});

test('the minute’s look for chains that are missing › reads neither all mandates and refunds nor, twice, all open requests', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const { id: planId } = await makePlan(ctx, scope, merchant, {});
  await database.owner`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, to_address, usdc_micro,
      return_tx_hash, noted_at, state, from_address, token_address)
    select ${scope.partnerId}, true, 31337, md5(n::text), 0, ${merchant.id}, '0x1', 5, '0x' || repeat('ab', 32), now(),
      'sent', '0x2', '0x3'
    from generate_series(1, ${rows}::int) n`;
  await database.owner`
    insert into plans select p.* from plans t cross join generate_series(1, ${rows}::int) n
      cross join lateral jsonb_populate_record(t, jsonb_build_object('id', md5(n::text)::uuid, 'form_key', n)) p
    where t.id = ${planId}`;
  await database.owner`
    insert into mandates (partner_id, test_mode, id, plan_id, account_id, chain_id, token_address, contract_address, payer,
      payee, executor, cap_micro, min_interval_s, starts_at, ends_at, plan_ref, salt, hash, signature, cap_fiat_int,
      fiat_code, reserve_percent, agreed_at)
    select partner_id, test_mode, gen_random_uuid(), id, account_id, 31337, ${randomAddress()}, ${randomAddress()},
      ${randomAddress()}, ${randomAddress()}, ${randomAddress()}, 1, 1, now(), now() + interval '1 year',
      sha256('a'), sha256('b'), sha256(uuid_send(id)), '\\x00', 1, 'EUR', 0, now()
    from plans where partner_id = ${scope.partnerId}`;
  await database.owner`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (31337, 1, 10, '0x1', now(), 10, 9, now()), (7, 1, 10, '0x1', now(), 10, 9, now() - interval '1 hour')`;
  await database.owner`analyze`;
  const look = () => updateSilenceAlarms(ctx, 120_000, 0);
  const first = await readDuring(look);
  const second = await readDuring(look);
  assert.ok(second < few, `${second} rows`);
  assert.ok(first >= rows, 'at first it reads the open requests');
  assert.deepEqual(
    (await removedChains(ctx, true)).map(({ chainId, waiting }) => [chainId, waiting]),
    [[7, []]],
  );
});
