import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import type { Reason } from '../../src/payments/rules.ts';
import { findNearMatches, maxExamined } from '../../src/payments/unmatched/near-matches.ts';
import { selectUnmatchedMeanwhile } from '../../src/payments/unmatched/near-matches-store.ts';
import type { NewRequest } from '../../src/requests/store.ts';
import { testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase, withoutLimits } from '../support/database.ts';
import { countingFor, makeMerchant, makePartner, makeRequest, makeTransfer, unmatched } from '../support/fixtures.ts';

let database: TestDatabase;
let ctx: Context;
let scope: Scope;
let other: Scope;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db);
  ({ test: scope } = await makePartner(database.db));
  ({ test: other } = await makePartner(database.db));
});
after(() => database?.drop());

type Details = {
  value: bigint;
  seconds: number;
  reason: Reason;
  chainId: number;
  accountId: string;
  requestId: string;
  candidateId: string;
};

/** A separate merchant, with functions that create requests and pay it. */
async function shop() {
  const merchant = await makeMerchant(database.db, scope);
  const ask = (exactMicro: bigint, details: Partial<NewRequest> = {}) =>
    makeRequest(database.db, scope, merchant, { exactMicro, ...details });
  const near = (request: { id: string }, as = scope) => ctx.db.scoped(as, (tx) => findNearMatches(tx, as, request.id));
  return {
    merchant,
    ask,
    near,
    /** The amounts near to a request, each with how many other requests it may be meant for. */
    found: async (request: { id: string }) =>
      (await near(request)).map(({ usdcMicro, askedMicro, others }) => [usdcMicro, askedMicro, others]),
    /** Stores a matched transfer that was mined this many seconds from now. */
    arrive: async (details: Partial<Details> & { value: bigint }) => {
      const { chainId = 31337, seconds = 1, accountId = merchant.id, requestId = null, candidateId = null } = details;
      return makeTransfer(database.db.sql, scope, merchant, {
        ...(requestId === null ? unmatched(details.reason ?? 'no_match') : countingFor(requestId)),
        chain_id: chainId,
        block_time: new Date(Date.now() + seconds * 1000),
        from_address: '0xpayer',
        value: details.value.toString(),
        account_id: accountId,
        candidate_request_id: candidateId,
      });
    },
  };
}

test('an exchange took its fee from the amount → the payment is near, with the requested amount, and changes nothing', async () => {
  const { ask, near, arrive } = await shop();
  const request = await ask(12_500_000n);
  const txHash = await arrive({ value: 12_000_000n });
  await arrive({ value: 5_000_000n }); // some other price
  const [found, ...more] = await near(request);
  assert.deepEqual(more, []);
  assert.equal(found?.txHash, txHash);
  assert.equal(found?.usdcMicro, 12_000_000n);
  assert.equal(found?.askedMicro, 12_500_000n);
  assert.equal(found?.reason, 'no_match');
  assert.equal(found?.others, 0);
  const [row] = await database.db.sql`
    select proof_status, (select count(*)::int from transfers where request_id = ${request.id}) as bound
    from requests where id = ${request.id}`;
  assert.deepEqual({ ...row }, { proof_status: 'none', bound: 0 });
});

test('two requests of almost the same amount → near to both, and each says that it may be the other’s', async () => {
  const { ask, found, arrive } = await shop();
  const [first, second, dear] = [await ask(12_500_000n), await ask(12_900_000n), await ask(90_000_000n)];
  await arrive({ value: 12_000_000n });
  assert.deepEqual(await found(first), [[12_000_000n, 12_500_000n, 1]]);
  assert.deepEqual(await found(second), [[12_000_000n, 12_900_000n, 1]]);
  assert.deepEqual(await found(dear), []);
});

test('another request was cancelled → it may still be meant; was paid before → not; was paid later → it may', async () => {
  const { ask, found, arrive } = await shop();
  const [request, voided] = [await ask(12_500_000n), await ask(12_500_000n)];
  await arrive({ value: 12_000_000n, seconds: 10 });
  await database.db.sql`update requests set status = 'voided', voided_at = now() where id = ${voided.id}`;
  assert.equal((await found(request))[0]?.[2], 1);
  await database.db.sql`
    update requests set status = 'opened', voided_at = null, proof_status = 'attached' where id = ${voided.id}`;
  await arrive({ value: 12_500_001n, seconds: 5, requestId: voided.id });
  assert.equal((await found(request))[0]?.[2], 0);
  await arrive({ value: 1n, seconds: 15, requestId: voided.id });
  assert.equal((await found(request))[0]?.[2], 1);
});

test('mined before the request, or long after its expiry → not near; within the grace → near', async () => {
  const { ask, found, arrive } = await shop();
  const request = await ask(12_500_000n, { expiryMinutes: 5 });
  await arrive({ value: 12_000_000n, seconds: -20 });
  await arrive({ value: 12_100_000n, seconds: 36 * 60 });
  assert.deepEqual(await found(request), []);
  await arrive({ value: 12_200_000n, seconds: 34 * 60 });
  assert.deepEqual(await found(request), [[12_200_000n, 12_500_000n, 0]]);
});

test('a part is paid → only what is near to the rest; all is paid → nothing', async () => {
  const { ask, found, arrive } = await shop();
  const request = await ask(50_000_000n);
  await arrive({ value: 30_000_000n, requestId: request.id });
  await arrive({ value: 49_000_000n });
  await arrive({ value: 19_500_000n });
  assert.deepEqual(await found(request), [[19_500_000n, 20_000_000n, 0]]);
  await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  assert.deepEqual(await found(request), []);
});

test('a stranger sends dust to the wallet, again and again → the near payment is still found', async () => {
  const { ask, found, arrive } = await shop();
  const request = await ask(12_500_000n);
  await arrive({ value: 12_000_000n });
  for (let i = 0; i < 51; i++) await arrive({ value: 1n, seconds: 2 });
  assert.deepEqual(await found(request), [[12_000_000n, 12_500_000n, 0]]);
});

test('more unmatched payments than are examined at a view → the others are not read', async () => {
  const { ask, arrive } = await shop();
  const request = await ask(12_500_000n);
  for (let i = 0; i < 4; i++) await arrive({ value: 12_000_000n, seconds: i });
  for (const examined of [3, 4, 5]) {
    const rows = await ctx.db.scoped(scope, (tx) => selectUnmatchedMeanwhile(tx, scope, request.id, examined));
    assert.equal(rows.length, Math.min(examined, 4));
  }
});

test('another request asks for a rest of nearly that amount → the payment may be meant for it as well', async () => {
  const { ask, found, arrive } = await shop();
  const [request, partly] = [await ask(12_500_000n), await ask(90_000_000n)];
  await arrive({ value: 12_000_000n, seconds: 5 });
  assert.deepEqual(await found(request), [[12_000_000n, 12_500_000n, 0]]);
  await arrive({ value: 40_000_000n, requestId: partly.id });
  await arrive({ value: 37_500_000n, requestId: partly.id });
  assert.deepEqual(await found(request), [[12_000_000n, 12_500_000n, 1]]);
});

test('a payment that names or pays a request, of another token, network, merchant or wallet, or refunded → not near', async () => {
  const { merchant, ask, found, arrive } = await shop();
  const [request, late] = [await ask(12_500_000n), await ask(80_000_000n)];
  const elsewhere = await makeMerchant(database.db, scope);
  await arrive({ value: 12_000_000n, reason: 'late', candidateId: late.id });
  await arrive({ value: 12_000_000n, requestId: late.id });
  await arrive({ value: 12_000_000n, reason: 'conflict' });
  await arrive({ value: 12_000_000n, reason: 'wrong_token' });
  await arrive({ value: 12_000_000n, reason: 'wrong_network' });
  await arrive({ value: 12_000_000n, accountId: elsewhere.id });
  await makeTransfer(database.db.sql, scope, merchant, {
    ...unmatched('no_match'),
    value: '12000000',
    to_address: elsewhere.wallet, // one that the merchant had before
  });
  const sentBack = await arrive({ value: 12_000_000n });
  await database.db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, to_address, usdc_micro, noted_at,
      state, from_address, token_address)
    values (${scope.partnerId}, true, 31337, ${sentBack}, 0, ${merchant.id}, '0xpayer', 12000000, now(), 'returning',
      ${merchant.wallet}, '0xtoken')`;
  assert.deepEqual(await found(request), []);
});

test('read by another partner, or without such a request → nothing', async () => {
  const { ask, near, arrive } = await shop();
  const request = await ask(12_500_000n);
  await arrive({ value: 12_000_000n });
  assert.deepEqual(await near(request, other), []);
  assert.deepEqual(await near({ id: '00000000-0000-4000-8000-000000000000' }), []);
});

test('a wallet with very many requests → not all of them are read at each view, so nothing is said about others', async () => {
  const { ask, found, arrive } = await shop();
  const request = await ask(12_500_000n);
  const addOthers = (from: number, to: number) =>
    withoutLimits(
      database.owner,
      (tx) => tx`
        insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
          payment_mode, metadata, wallet_address, reference, start_blocks, created_at, expires_at)
        select partner_id, test_mode, gen_random_uuid(), account_id, fiat_int, fiat_code, 90000000, false, rate,
          payment_mode, metadata, wallet_address, uuid_send(gen_random_uuid()), '{}',
          created_at - (n + 1000000) * interval '1 ms', expires_at
        from requests, generate_series(${from}::int, ${to}::int) n where id = ${request.id}`,
    );
  await addOthers(1, maxExamined);
  await arrive({ value: 12_000_000n });
  await arrive({ value: 12_100_000n, seconds: 2 });
  const asked = 12_500_000n;
  assert.deepEqual(await found(request), [
    [12_100_000n, asked, 0],
    [12_000_000n, asked, 0],
  ]);
  await addOthers(maxExamined + 1, maxExamined + 1);
  assert.deepEqual(await found(request), [
    [12_100_000n, asked, null],
    [12_000_000n, asked, null],
  ]);
});
