import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { zeroAddress } from 'viem';
import { theService } from '../../src/audit/write.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { insertion } from '../../src/db/sql.ts';
import { selectTransfer, type TransferRow } from '../../src/payments/transfers.ts';
import { cancelRefund } from '../../src/refunds/cancel.ts';
import { detachPartialPayment } from '../../src/refunds/detach-partial.ts';
import { followRefunds } from '../../src/refunds/follow.ts';
import type { DueRefund } from '../../src/refunds/queue-store.ts';
import { checkRefund, recordRefund } from '../../src/refunds/refund.ts';
import { startRefund } from '../../src/refunds/start.ts';
import { type RefundState, updateRefundedMicro, updateRefundState } from '../../src/refunds/store.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import {
  countingFor,
  makeMerchant,
  makePartner,
  makeRequest,
  makeTransfer,
  randomAddress,
  unmatched,
} from '../support/fixtures.ts';
import { readUpTo, store, tableEndpoint } from '../support/payments/table-chain.ts';
import { sentDuring } from '../support/query-plans.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let endpoint: Awaited<ReturnType<typeof tableEndpoint>>;
let chain: ChainConfig;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  endpoint = await tableEndpoint(database.db);
  chain = { ...idleChain(31337), rpcUrls: [endpoint.url] };
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  await readUpTo(database.db, chain.chainId, 100);
});
after(async () => {
  await endpoint?.stop();
  await database?.drop();
});

type Payee = { scope: Scope; wallet: string; accountId: string };

async function payee(scope: Scope): Promise<Payee> {
  const { id, wallet } = await makeMerchant(database.db, scope);
  return { scope, wallet, accountId: id };
}

/** Records refunds of a merchant's payments, dated some minutes ago and long due for a check. */
async function recorded({ scope, accountId }: Payee, hashes: string[], transfer = [randomAddress(), randomAddress()]) {
  const rows = hashes.map((refundTxHash) => ({
    partner_id: scope.partnerId,
    test_mode: scope.testMode,
    chain_id: chain.chainId,
    tx_hash: `0x${randomBytes(32).toString('hex')}`,
    ordinal: 0,
    account_id: accountId,
    token_address: chain.tokens[0]?.address ?? '',
    from_address: transfer[0],
    to_address: transfer[1],
    usdc_micro: 5,
    return_tx_hash: refundTxHash,
    state: 'sent',
    noted_at: new Date(Date.now() - 5 * 60_000),
    next_look_at: new Date(Date.now() - 60_000),
  }));
  await database.db.sql`insert into returns ${insertion(rows)}`;
}

/** Whose money a transaction moved, and to whom. */
async function partiesOf(hash: string): Promise<[from: string, to: string]> {
  const [moved] = await database.db.sql`select from_address, to_address from transfers where tx_hash = ${hash}`;
  return [moved?.from_address, moved?.to_address];
}

/** A payment, and a transaction recorded as its refund: it is final on the chain, and has not been looked up yet. */
async function knownLate() {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const to = { scope, wallet: merchant.wallet, accountId: merchant.id };
  const [hash = ''] = await store(database.db, chain, to, [{ blockNumber: 90, value: '5' }]);
  const [wallet, payer] = await partiesOf(hash);
  const txHash = await makeTransfer(database.db.sql, scope, merchant, {
    ...{ from_address: payer, to_address: wallet, token_address: chain.tokens[0]?.address ?? '', block_number: 80 },
    ...unmatched('no_match'),
  });
  await recorded(to, [hash], [wallet, payer]);
  return { scope, merchant, hash, txHash };
}

/** Records a refund that is final on the chain, due after all others. */
async function genuine(to: Payee): Promise<string> {
  const [hash = ''] = await store(database.db, chain, to, [{ blockNumber: 90, value: '5' }]);
  const parties = await partiesOf(hash);
  await recorded(to, [hash], parties);
  await database.db.sql`update returns set next_look_at = now() where return_tx_hash = ${hash}`;
  return hash;
}

test('thousands of refunds whose transactions nobody knows hold up no other merchant or partner, and are looked up ever more seldom', async () => {
  const [{ test: hostile }, { test: honest }] = await Promise.all([makePartner(database.db), makePartner(database.db)]);
  const [flooded, neighbour, other] = await Promise.all([payee(hostile), payee(hostile), payee(honest)]);
  const unknown = Array.from({ length: 3_000 }, () => `0x${randomBytes(32).toString('hex')}`);
  await recorded(flooded, unknown);
  const hashes = [await genuine(neighbour), await genuine(other)];
  const [pass] = await database.db.sql<{ begins: string }[]>`select clock_timestamp()::text as begins`;
  const { sql } = database.db;
  assert.equal(await followRefunds(ctx), 20);
  const taken = await sql<{ tx_hash: string; return_tx_hash: string }[]>`
    select tx_hash, return_tx_hash from returns
    where return_tx_hash = any(${[...hashes, ...unknown]}) and next_look_at > ${pass?.begins ?? null}::timestamptz`;
  assert.equal(taken.length, 20);
  for (const hash of hashes) assert.ok(taken.some(({ return_tx_hash }) => return_tx_hash === hash));

  // On a busy machine the endpoint may answer too late. Those that it was asked about in vain are looked up again.
  await until(async () => {
    const again = await sql`
      update returns set next_look_at = now() - interval '1 hour'
      where tx_hash = any(${taken.map(({ tx_hash }) => tx_hash)}) and state <> 'confirmed'
        and (return_tx_hash = any(${hashes}) or next_look_at <= now() + interval '1 minute')
      returning tx_hash`;
    if (again.length > 0) await followRefunds(ctx);
    return again.length === 0;
  }, 'the genuine ones are confirmed, and the others due much later');
});

test('The refunds that one transaction made of many payments are divided once per pass, and written by one statement', async () => {
  const { test: scope } = await makePartner(database.db);
  const to = await payee(scope);
  const [hash = ''] = await store(database.db, chain, to, [{ blockNumber: 100, value: '200' }]);
  const parties = await partiesOf(hash);
  await recorded(to, Array(40).fill(hash), parties);
  await database.db.sql`update returns set next_look_at = now() + interval '1 day' where return_tx_hash <> ${hash}`;
  const pass = () => sentDuring(database.db, () => followRefunds(ctx));
  const told = (sent: Awaited<ReturnType<typeof pass>>) =>
    sent.filter(
      ({ text }) => /update returns|advisory_xact_lock\(hashtextextended/.test(text) && !/skip locked/.test(text),
    );
  assert.equal(told(await pass()).length, 2);
  const refunded = await database.db.sql`
    select state, given_micro, count(*)::int from returns where return_tx_hash = ${hash} group by 1, 2`;
  assert.deepEqual(
    refunded.map((row) => Object.values(row)),
    [['sent', '5', 40]],
  );

  await readUpTo(database.db, chain.chainId, 200);
  await database.db.sql`
    update chain_cursors set final_number = 200 where chain_id = ${chain.chainId}`;
  await until(async () => {
    await database.db.sql`update returns set next_look_at = now() - interval '1 minute' where return_tx_hash = ${hash}`;
    await followRefunds(ctx);
    const [done] = await database.db.sql`
      select count(*)::int from returns where return_tx_hash = ${hash} and state = 'confirmed'`;
    return done?.count === 40;
  }, 'all are confirmed');
});

test('Money that turns up for another payment revives no cancelled refund, and raises no alarm for it', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const to = { scope, wallet: merchant.wallet, accountId: merchant.id };
  const [hash = ''] = await store(database.db, chain, to, [{ blockNumber: 90, value: '3' }]);
  const parties = await partiesOf(hash);
  const request = await makeRequest(database.db, scope, merchant);
  const [attached = ''] = await store(database.db, chain, to, [{ blockNumber: 80, value: '4', request }], true);
  // The first refund is looked up. The other two were cancelled: one payment is attached to a request, one is free.
  await recorded(to, [hash, hash, hash], parties);
  const rows = await database.db.sql`select tx_hash from returns where return_tx_hash = ${hash}`;
  const [first = '', applied = '', free = ''] = rows.map((row) => String(row.tx_hash));
  await database.db.sql`
    update returns set state = case when tx_hash = ${first} then 'missing' else 'kept' end,
      usdc_micro = case when tx_hash = ${first} then 3 else 4 end,
      noted_at = noted_at - case when tx_hash = ${first} then interval '0' else interval '1 minute' end,
      tx_hash = case when tx_hash = ${applied} then ${attached} else tx_hash end
    where return_tx_hash = ${hash}`;
  await followRefunds(ctx);
  const states = await database.db.sql`
    select tx_hash, state, given_micro from returns where tx_hash = any(${[first, attached, free]})`;
  assert.deepEqual(
    new Map(states.map(({ tx_hash, state, given_micro }) => [tx_hash, [state, given_micro]])),
    new Map([
      [first, ['confirmed', '3']],
      [attached, ['kept', null]],
      [free, ['kept', null]],
    ]),
  );
  assert.ok(!(await raisedAlarms(database.db.sql)).has(`returned-bound:${request.id}`));
});

test('Money that turns up by a replaced transaction for another payment → what replaced it stays, and no alarm is raised', async () => {
  const { test: scope } = await makePartner(database.db);
  const to = await payee(scope);
  const [hash = ''] = await store(database.db, chain, to, [{ blockNumber: 90, value: '5' }]);
  const parties = await partiesOf(hash);
  const replacing = `0x${randomBytes(32).toString('hex')}`;
  await recorded(to, [hash, replacing], parties);
  const [other] = await database.db.sql`
    insert into returns_replaced (partner_id, test_mode, chain_id, tx_hash, ordinal, return_tx_hash, account_id,
      token_address, from_address, to_address, usdc_micro, noted_at)
    select partner_id, test_mode, chain_id, tx_hash, ordinal, ${hash}, account_id, token_address, from_address,
      to_address, usdc_micro, noted_at
    from returns where return_tx_hash = ${replacing} returning tx_hash`;
  await followRefunds(ctx);
  const rows = await database.db.sql`
    select return_tx_hash, state, given_micro from returns where return_tx_hash in (${hash}, ${replacing})
    order by given_micro`;
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      [hash, 'confirmed', '5'],
      [replacing, 'sent', null],
    ],
  );
  assert.equal((await database.db.sql`select from returns_replaced where return_tx_hash = ${hash}`).length, 0);
  assert.ok(!(await raisedAlarms(database.db.sql)).has(`returned-twice:31337_${other?.tx_hash}_0`));
});

test('A transaction that nobody knew for days, and that is mined → is recorded again for its payment', async () => {
  const { scope, merchant, hash, txHash } = await knownLate();
  await database.db.sql`
    update returns set tx_hash = ${txHash}, state = 'missing', next_look_at = now() + interval '1 hour'
    where return_tx_hash = ${hash}`;
  const key = { chainId: chain.chainId, txHash, ordinal: 0 };
  const checked = await checkRefund(ctx, scope, merchant.id, key, { refundTxHash: hash, elsewhere: false });
  assert.ok(checked.fault === null);
  assert.equal(await recordRefund(ctx, theService, scope, merchant.id, checked), null);
  const [row] = await database.db.sql`select state, given_micro from returns where tx_hash = ${txHash}`;
  assert.deepEqual({ ...row }, { state: 'confirmed', given_micro: '5' });
});

test('A cancelled refund is started again, and the transaction that nobody knew is mined → it counts, and nothing need be sent again', async () => {
  const { scope, merchant, hash, txHash } = await knownLate();
  const key = { chainId: chain.chainId, txHash, ordinal: 0 };
  await database.db.sql`update returns set tx_hash = ${txHash}, state = 'missing' where return_tx_hash = ${hash}`;
  assert.equal(await cancelRefund(ctx, theService, scope, merchant.id, key), true);
  const final = await database.db.scoped(scope, (tx) => selectTransfer(tx, scope, key));
  const started = await startRefund(ctx, theService, scope, { accountId: merchant.id, key, final });
  assert.equal(started.kind, 'started');
  await followRefunds(ctx);
  const [row] = await database.db.sql`select state, given_micro from returns where tx_hash = ${txHash}`;
  assert.deepEqual({ ...row }, { state: 'confirmed', given_micro: '5' });
});

test('A cancelled refund whose transaction is still unknown, or moved other money → stays cancelled; only the unknown one is followed', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const to = { scope, wallet: merchant.wallet, accountId: merchant.id };
  const unknown = `0x${randomBytes(32).toString('hex')}`;
  const [other = ''] = await store(database.db, chain, to, [{ blockNumber: 90, value: '5' }]);
  for (const hash of [unknown, other]) {
    const txHash = await makeTransfer(database.db.sql, scope, merchant, unmatched('no_match'));
    await recorded(to, [hash]);
    await database.db.sql`update returns set tx_hash = ${txHash}, state = 'kept' where return_tx_hash = ${hash}`;
  }
  await followRefunds(ctx);
  const rows = await database.db.sql`
    select state, return_tx_hash from returns where account_id = ${merchant.id} order by return_tx_hash`;
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['kept', unknown],
      ['kept', null],
    ],
  );
});

test('What one transaction moved belongs to payments in its token, from its wallet and to its payer only', async () => {
  const { test: scope } = await makePartner(database.db);
  const to = await payee(scope);
  const [hash = ''] = await store(database.db, chain, to, [{ blockNumber: 90, value: '5' }]);
  const [from, payer] = await partiesOf(hash);
  await recorded(to, [hash], [from, payer]);
  await database.db.sql`update returns set token_address = ${randomAddress()} where return_tx_hash = ${hash}`;
  await recorded(to, [hash], [randomAddress(), payer]);
  await recorded(to, [hash], [from, randomAddress()]);
  await database.db.sql`
    update returns set noted_at = noted_at - interval '1 minute', next_look_at = now() + interval '1 hour'
    where return_tx_hash = ${hash}`;
  await recorded(to, [hash], [from, payer]);
  await followRefunds(ctx);
  const rows = await database.db.sql`
    select state, given_micro from returns where return_tx_hash = ${hash} order by noted_at`;
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [...Array(3).fill(['sent', null]), ['confirmed', '5']],
  );
});

test('A transaction recorded for a payment that was mined after it, and for an earlier one → refunds the earlier one', async () => {
  const { test: scope } = await makePartner(database.db);
  const to = await payee(scope);
  const blocks = [90, 95, 80].map((blockNumber) => ({ blockNumber, value: '5' }));
  const [hash = '', later = '', earlier = ''] = await store(database.db, chain, to, blocks);
  const parties = await partiesOf(hash);
  for (const payment of [later, earlier]) {
    await recorded(to, [hash], parties);
    await database.db.sql`
      update returns set tx_hash = ${payment}, noted_at = noted_at - ${payment === later ? 1 : 0} * interval '1 minute'
      where return_tx_hash = ${hash} and tx_hash <> ${later}`;
  }
  await followRefunds(ctx);
  const rows = await database.db.sql`
    select tx_hash, state, given_micro from returns where return_tx_hash = ${hash} order by noted_at`;
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      [later, 'other', null],
      [earlier, 'confirmed', '5'],
    ],
  );
});

test('What a look-up found is not stored if another transaction was recorded, or the refund cancelled, meanwhile', async () => {
  const { test: scope } = await makePartner(database.db);
  const hash = `0x${randomBytes(32).toString('hex')}`;
  await recorded(await payee(scope), [hash]);
  const [found] = await database.db.sql<DueRefund[]>`
    select *, null as block_number from returns where return_tx_hash = ${hash}`;
  assert.ok(found);
  const key = { chainId: chain.chainId, txHash: found.tx_hash, ordinal: 0 };
  const change = (returnHash: string, state: RefundState) => database.db.sql`
    update returns set return_tx_hash = ${returnHash}, state = ${state}, given_micro = 5 where tx_hash = ${key.txHash}`;
  const storeFound = () =>
    database.db.scoped(scope, async (tx) => {
      const isStored = await updateRefundState(tx, scope, found, 'failed');
      const group = { chainId: chain.chainId, refundTxHash: hash };
      await updateRefundedMicro(tx, scope, group, [{ key, micro: 0n }]);
      return isStored;
    });
  const now = async () => {
    const [row] = await database.db.sql`
      select return_tx_hash, state, given_micro from returns where tx_hash = ${key.txHash}`;
    return [row?.return_tx_hash, row?.state, row?.given_micro];
  };
  const other = `0x${randomBytes(32).toString('hex')}`;
  await change(other, 'sent');
  assert.equal(await storeFound(), false);
  assert.deepEqual(await now(), [other, 'sent', '5']);
  await change(hash, 'kept');
  assert.equal(await storeFound(), false);
  await change(hash, 'sent');
  assert.equal(await storeFound(), true);
  assert.deepEqual(await now(), [hash, 'failed', null]);
});

test('A payment is replaced by a reorganisation after it was found final → no refund of it is started; of the one found final, one is', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const columns = { value: '7', block_number: 90, chain_id: chain.chainId, ...unmatched('no_match') };
  const txHash = await makeTransfer(database.db.sql, scope, merchant, columns);
  const key = { chainId: chain.chainId, txHash, ordinal: 0 };
  const row = await database.db.scoped(scope, (tx) => selectTransfer(tx, scope, key));
  assert.ok(row);
  const start = (final: TransferRow | null) =>
    startRefund(ctx, theService, scope, { accountId: merchant.id, key, final });
  const others = { block_hash: '0x1', token_address: '0x2', from_address: '0x3', to_address: '0x4', value: '8' };
  for (const [name, value] of Object.entries(others)) {
    assert.deepEqual(await start({ ...row, [name]: value }), { kind: 'too_early' }, name);
  }
  assert.deepEqual(await start(null), { kind: 'too_early' });
  const refunds = () => database.db.sql`select from returns where tx_hash = ${txHash}`;
  assert.equal((await refunds()).length, 0);
  assert.deepEqual(await start(row), { kind: 'started', requestId: null, usdcMicro: 7n });
  assert.deepEqual(await start(row), { kind: 'again' });
  assert.equal((await refunds()).length, 1);
});

test('A payment that was not matched yet, however final → no refund of it is started: it may pay a request', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const columns = { value: '7', block_number: 90, chain_id: chain.chainId };
  const txHash = await makeTransfer(database.db.sql, scope, merchant, columns);
  const key = { chainId: chain.chainId, txHash, ordinal: 0 };
  const final = await database.db.scoped(scope, (tx) => selectTransfer(tx, scope, key));
  assert.equal(final?.judged_at, null);
  const start = () => startRefund(ctx, theService, scope, { accountId: merchant.id, key, final });
  await assert.rejects(start(), { code: 'not_found' });
  await database.db.sql`
    update transfers set judged_at = now(), reason = 'no_match' where tx_hash = ${txHash}`;
  assert.equal((await start()).kind, 'started');
});

test('A partial payment that was minted, as bridges do, is detached like any other; no refund of it is started', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const request = await makeRequest(database.db, scope, merchant);
  const columns = { ...countingFor(request.id), final_at: new Date(), from_address: zeroAddress };
  const txHash = await makeTransfer(database.db.sql, scope, merchant, columns);
  await database.db.sql`update requests set expires_at = now() - interval '1 hour' where id = ${request.id}`;
  const key = { chainId: chain.chainId, txHash, ordinal: 0 };
  const detach = () => detachPartialPayment(ctx, theService, scope, merchant.id, key);
  assert.deepEqual(await detach(), { kind: 'detached', requestId: request.id, usdcMicro: 5n });
  assert.deepEqual(await detach(), { kind: 'again' });
  const [row] = await database.db.sql`select request_id, reason from transfers where tx_hash = ${txHash}`;
  assert.deepEqual({ ...row }, { request_id: null, reason: 'released' });
  assert.equal((await database.db.sql`select from returns where tx_hash = ${txHash}`).length, 0);
});

test('A payment that only seems meant for a request is no part of it: it is not detached, and no refund of it is started', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const request = await makeRequest(database.db, scope, merchant);
  const columns = { ...unmatched('late'), candidate_request_id: request.id, final_at: new Date() };
  const txHash = await makeTransfer(database.db.sql, scope, merchant, columns);
  await database.db.sql`update requests set expires_at = now() - interval '1 hour' where id = ${request.id}`;
  const key = { chainId: chain.chainId, txHash, ordinal: 0 };
  await assert.rejects(detachPartialPayment(ctx, theService, scope, merchant.id, key), { code: 'not_found' });
  assert.equal((await database.db.sql`select from returns where tx_hash = ${txHash}`).length, 0);
});
