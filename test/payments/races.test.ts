import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { releaseReservations } from '../../src/payments/release-reservations.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { openRequest } from '../../src/requests/open.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, makeTransfer } from '../support/fixtures.ts';

const running = new AbortController().signal;

const chain = idleChain(31337);
const rounds = 20;
const perRound = 50;

let database: Awaited<ReturnType<typeof testDatabase>>;
let ctx: Context;
let scope: Scope;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  ({ test: scope } = await makePartner(database.db));
  await database.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (31337, 1, 100, '0x', now(), 100, 99, now())`;
});
after(() => database?.drop());

/** A payment of the whole amount, as the watcher stores it: in the newest block or in one that is already final. */
async function arrive(request: RequestRow, blockNumber: number, value = request.usdc_micro): Promise<void> {
  const payee = { id: request.account_id, wallet: request.wallet_address };
  await makeTransfer(database.db.sql, scope, payee, {
    block_number: blockNumber,
    token_address: chain.tokens[0]?.address ?? '',
    value,
    calldata_reference: request.reference,
  });
}

/** Cancels as callers do, who ask again where others were in the way for too long. Returns whether it was cancelled. */
async function cancel(id: string): Promise<boolean> {
  for (;;) {
    const code = await cancelRequest(ctx, theService, scope, id).then(
      () => null,
      (error: { code?: string }) => error.code,
    );
    if (code === null) return true;
    if (code === 'unavailable') continue;
    assert.equal(code, 'cannot_cancel');
    return false;
  }
}

test('cancel against open against a payment, 1,000 times → one of them comes first, and no voided request has money', async () => {
  const outcomes = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    const merchant = await makeMerchant(database.db, scope);
    const startBlocks = { 31337: 50 };
    const requests = await Promise.all(
      Array.from({ length: perRound }, () => makeRequest(database.db, scope, merchant, { startBlocks })),
    );
    const cancelled = new Set<string>();
    const racers = requests.flatMap((request, i) => [
      () => arrive(request, i % 2 === 0 ? 100 : 98, i % 5 === 0 ? '1' : request.usdc_micro),
      () => openRequest(ctx, scope, request.id),
      async () => {
        const done = await cancel(request.id);
        if (done) cancelled.add(request.id);
      },
    ]);
    // Each round has its own order. Both loops run in between and concurrently.
    shuffle(racers, round);
    const loops = Array.from({ length: 3 }, () => [() => matchPending(ctx), () => verifyFinal(ctx)]).flat();
    for (const [i, loop] of loops.entries()) racers.splice(i * 25, 0, async () => void (await loop()));
    await Promise.all(racers.map((racer) => racer()));
    await matchPending(ctx);
    await verifyFinal(ctx);
    await check(requests, cancelled, outcomes);
  }
  const total = [...outcomes.values()].reduce((a, b) => a + b, 0);
  assert.equal(total, rounds * perRound);
  for (const outcome of ['voided none', 'opened verified', 'opened attached']) {
    assert.ok(outcomes.get(outcome), `${outcome} never came first: ${JSON.stringify([...outcomes])}`);
  }
});

test('cancel while something else holds a partial payment → nothing is voided, or all of it is detached', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const request = await makeRequest(database.db, scope, merchant, { startBlocks: { 31337: 50 } });
  await arrive(request, 100, '1');
  await matchPending(ctx);
  const stands = async () => {
    const [row] = await database.db.sql`
      select r.status, t.request_id = r.id as applied, t.reason from requests r join transfers t on t.to_address = r.wallet_address
      where r.id = ${request.id}`;
    return { ...row };
  };
  await database.db.transaction(async (tx) => {
    await tx`select from transfers where request_id = ${request.id} for update`;
    await assert.rejects(cancelRequest(ctx, theService, scope, request.id), { code: 'unavailable' });
    assert.deepEqual(await stands(), { status: 'requested', applied: true, reason: null });
  });
  assert.equal((await cancelRequest(ctx, theService, scope, request.id)).status, 'voided');
  assert.deepEqual(await stands(), { status: 'voided', applied: null, reason: 'voided' });
});

/** The same seed gives the same order, so a failure can be reproduced. */
function shuffle<T>(items: T[], seed: number): void {
  let state = seed + 1;
  for (let i = items.length - 1; i > 0; i--) {
    state = (state * 48_271) % 2_147_483_647;
    const j = state % (i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
}

async function check(requests: RequestRow[], cancelled: Set<string>, outcomes: Map<string, number>): Promise<void> {
  const rows = await database.db.sql`
    select r.id, r.status, r.proof_status, r.usdc_micro::text as due,
      (select coalesce(sum(value), 0)::text from transfers t where t.request_id = r.id and t.counts) as counted,
      (select count(*)::int from webhook_deliveries d where d.request_id = r.id) as events,
      (select count(*)::int from transfers t where t.to_address = r.wallet_address and t.judged_at is null) as unjudged
    from requests r where r.id = any(${requests.map(({ id }) => id)}::uuid[])`;
  assert.equal(rows.length, requests.length);
  for (const row of rows) {
    assert.equal(row.unjudged, 0);
    assert.equal(row.status === 'voided', cancelled.has(row.id));
    if (row.status === 'voided') {
      assert.equal(row.proof_status, 'none');
      assert.equal(row.counted, '0');
    }
    assert.equal(row.proof_status !== 'none', BigInt(row.counted) >= BigInt(row.due));
    assert.equal(row.events, row.proof_status === 'verified' ? 1 : 0);
    const outcome = `${row.status} ${row.proof_status}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
}

test('reserved amounts are freed once their time has passed and every chain was read past it, never while attached', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const [gone, attached, unread, still] = await Promise.all(
    [1, 2, 3, 4].map(() => makeRequest(database.db, scope, merchant, { startBlocks: { 31337: 50 } })),
  );
  const until = async (request: RequestRow | undefined, interval: string) => {
    await database.db.sql`
      update amount_reservations set reserved_until = now() + ${interval}::interval where request_id = ${request?.id ?? ''}`;
  };
  await until(gone, '-2 hours');
  await until(attached, '-2 hours');
  await until(unread, '-30 minutes');
  await until(still, '1 hour');
  await database.db.sql`update requests set proof_status = 'attached' where id = ${attached?.id ?? ''}`;
  const { live } = await makePartner(database.db);
  const ofLive = await makeRequest(database.db, live, await makeMerchant(database.db, live));
  await until(ofLive, '-2 hours');
  await database.db.sql`update chain_cursors set block_time = now() - interval '1 hour'`;
  const twoChains = { ...ctx, chains: { test: [chain, idleChain(31339)], live: [] } };
  assert.equal(await releaseReservations(twoChains, running), 0);
  // The other chain is read as well, though not that far.
  await database.db.sql`
    insert into chain_cursors select (json_populate_record(c, '{"chain_id": 31339}')).* from chain_cursors c
    where chain_id = 31337`;
  await database.db.sql`update chain_cursors set block_time = now() - interval '3 hours' where chain_id = 31339`;
  assert.equal(await releaseReservations(twoChains, running), 0);
  await database.db.sql`delete from chain_cursors where chain_id = 31339`;
  assert.equal(await releaseReservations(ctx, running), 1);
  const left = await database.db.sql`
    select request_id from amount_reservations where wallet_address = ${merchant.wallet}`;
  const ids = left.map(({ request_id }) => request_id).sort();
  assert.deepEqual(ids, [attached?.id, unread?.id, still?.id].sort());
  const ofLiveMode = await database.db.sql`select from amount_reservations where request_id = ${ofLive.id}`;
  assert.equal(ofLiveMode.length, 1, 'the chains of test mode say nothing about live payments');
});
