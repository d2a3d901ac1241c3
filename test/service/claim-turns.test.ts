import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { readSearchText } from '../../src/lib/text/search-text.ts';
import { selectOutdated } from '../../src/plans/mandates/store.ts';
import { claimReceipts } from '../../src/receipts/store.ts';
import { findOfAllPartners } from '../../src/requests/lists/all-partners.ts';
import { selectDueChanges } from '../../src/wallets/store.ts';
import { testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase, withoutLimits } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { openExplainer, rowsRead, sentDuring } from '../support/query-plans.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

/** Two partners, of whom the first began to wait earlier. */
const makeTwo = async () => [(await makePartner(database.db)).test, (await makePartner(database.db)).test] as const;

test('A partner is owed many receipts → another’s is claimed with the first of them, and the rest follow', async () => {
  const [busy, quiet] = await makeTwo();
  const owe = async (scope: Scope, count: number, age: string) => {
    const merchant = await makeMerchant(database.db, scope);
    for (let i = 0; i < count; i++) {
      const { id } = await makeRequest(database.db, scope, merchant, { customerPhone: '+49 30 123456' });
      await database.db.sql`
        insert into receipts (partner_id, test_mode, request_id, channel, next_attempt_at)
        values (${scope.partnerId}, ${scope.testMode}, ${id}, 'phone', now() - ${age}::interval)`;
    }
  };
  await owe(busy, 12, '1 hour');
  await owe(quiet, 1, '1 second');
  const claim = () => claimReceipts(database.db, 'phone', { firstMs: 60_000, maxAttempts: 3 }, 8, null);
  const first = await claim();
  assert.equal(first.length, 8);
  assert.equal(first.filter(({ partner_id }) => partner_id === quiet.partnerId).length, 1);
  assert.equal((await claim()).length, 5);
  assert.equal((await claim()).length, 0);
});

test('Many partners are owed many receipts → a claim reads one of each, and claims of as many partners as it may', async () => {
  const [partners, each, limit] = [60, 30, 20];
  await withoutLimits(
    database.owner,
    (tx) => tx`
      insert into receipts (partner_id, test_mode, request_id, channel, next_attempt_at)
      select lpad(to_hex(p), 32, '0')::uuid, true, gen_random_uuid(), 'mail', now() - r * interval '1 minute'
      from generate_series(1, ${partners}::int) p, generate_series(1, ${each}::int) r`,
  );
  await database.owner`analyze receipts`;
  const claim = () => claimReceipts(database.db, 'mail', { firstMs: 60_000, maxAttempts: 3 }, limit, null);
  let claimed: Awaited<ReturnType<typeof claim>> = [];
  const sent = await sentDuring(database.db, async () => {
    claimed = await claim();
  });
  assert.equal(new Set(claimed.map(({ partner_id }) => partner_id)).size, limit);
  const explainer = openExplainer(database.url);
  try {
    const [plan] = await explainer.explain(sent, 'auto');
    assert.ok(plan && rowsRead(plan) < 4 * partners, `${plan && rowsRead(plan)} rows`);
  } finally {
    await explainer.end();
  }
});

test('A partner’s many recoveries are due → another’s is settled with the first of them', async () => {
  const [busy, quiet] = await makeTwo();
  const recover = async (scope: Scope, age: string) => {
    const { id, wallet } = await makeMerchant(database.db, scope);
    await database.db.sql`
      insert into wallet_changes (partner_id, test_mode, id, account_id, kind, state, old_wallet, started_at,
        link_until)
      values (${scope.partnerId}, ${scope.testMode}, ${randomUUID()}, ${id}, 'recovery', 'started', ${wallet}, now(),
        now() - ${age}::interval)`;
  };
  for (let i = 0; i < 6; i++) await recover(busy, '1 day');
  await recover(quiet, '1 minute');
  const due = await selectDueChanges(database.db, new Date(), 4);
  assert.deepEqual(new Set(due.map(({ partner_id }) => partner_id)), new Set([busy.partnerId, quiet.partnerId]));
  assert.equal(due.length, 2);
});

test('An address has more requests of one merchant than a search reads → the newest are found, also another partner’s', async () => {
  const [busy, quiet] = (await makeTwo()).toSorted((a, b) => (a.partnerId < b.partnerId ? -1 : 1)) as [Scope, Scope];
  const customerEmail = 'often@example.com';
  const first = await makeRequest(database.db, busy, await makeMerchant(database.db, busy), { customerEmail });
  await database.db.sql`
    insert into requests
    select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'reference', '\\x' || md5(n::text),
      'created_at', r.created_at - n * interval '1 minute'))).*
    from requests r, generate_series(1, 1200) n where r.id = ${first.id}`;
  const last = await makeRequest(database.db, quiet, await makeMerchant(database.db, quiet), { customerEmail });
  const ctx = testContext(database.db, { chains: { test: [], live: [] } });
  const { requests, isAll } = await findOfAllPartners(ctx, readSearchText(customerEmail));
  assert.deepEqual(
    requests.slice(0, 2).map(({ id }) => id),
    [last.id, first.id],
  );
  assert.deepEqual([requests.length, isAll], [20, false]);
});

test('Many mandates are in use → those that expired or name an earlier wallet are found without reading the others', async () => {
  const [scope] = await makeTwo();
  const merchant = await makeMerchant(database.db, scope);
  const make = (count: number, payee: string, ends: string) =>
    withoutLimits(
      database.owner,
      (tx) => tx`
        insert into mandates (partner_id, test_mode, id, plan_id, account_id, chain_id, token_address, contract_address,
          payer, payee, executor, cap_micro, min_interval_s, starts_at, ends_at, plan_ref, salt, hash, signature,
          cap_fiat_int, fiat_code, reserve_percent, agreed_at)
        select ${scope.partnerId}, ${scope.testMode}, gen_random_uuid(), gen_random_uuid(), ${merchant.id}, 1, ${payee},
          ${payee}, ${payee}, ${payee}, ${payee}, 1, 1, now() - interval '2 days', now() + ${ends}::interval, salt, salt,
          salt, decode(repeat('00', 65), 'hex'), 1, 'EUR', 1, now()
        from (select sha256(uuid_send(gen_random_uuid())) as salt from generate_series(1, ${count}::int)) made`,
    );
  await make(3_000, merchant.wallet, '1 year');
  await make(2, merchant.wallet, '-1 day');
  await make(3, `0x${'ab'.repeat(20)}`, '1 year');
  await database.owner`analyze mandates`;
  const look = () => selectOutdated(database.db.sql, new Date(), { ofOne: 20, all: 200, except: [] });
  const reasons: string[] = [];
  const sent = await sentDuring(database.db, async () => {
    for (const { reason } of await look()) reasons.push(reason);
  });
  assert.deepEqual(reasons.toSorted(), ['expired', 'expired', 'wallet_changed', 'wallet_changed', 'wallet_changed']);
  const explainer = openExplainer(database.url);
  try {
    const [plan] = await explainer.explain(sent, 'auto');
    assert.ok(plan && rowsRead(plan) < 300, `${plan && rowsRead(plan)} rows`);
  } finally {
    await explainer.end();
  }
});
