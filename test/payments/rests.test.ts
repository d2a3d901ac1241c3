import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { matchPending } from '../../src/payments/match.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { releaseReservations } from '../../src/payments/release-reservations.ts';
import { keyOf, type TransferRow } from '../../src/payments/transfers.ts';
import { undoRemoved } from '../../src/payments/undo-removed.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { reserveRestAmount } from '../../src/requests/reserved-rests.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { idleChain, testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, makeTransfer } from '../support/fixtures.ts';

const running = new AbortController().signal;

/** The chain is a table here: transfers are stored as the watcher stores them. */
const chain = idleChain(31337);
const head = 100;

let database: TestDatabase;
let ctx: Context;
let scope: Scope;
let merchant: { id: string; wallet: string };
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  ({ test: scope } = await makePartner(database.db));
});
after(() => database?.drop());
beforeEach(async () => {
  merchant = await makeMerchant(database.db, scope);
  await readUpTo(head);
});

/** The watcher has just read the chain up to a block. */
async function readUpTo(number: number): Promise<void> {
  const hash = `0x${String(number).padStart(64, '0')}`;
  await database.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (31337, 1, ${number}, ${hash}, now(), ${number}, ${number - 1}, now())
    on conflict (chain_id) do update set number = excluded.number, hash = excluded.hash,
      block_time = excluded.block_time, head_number = excluded.head_number, final_number = excluded.final_number`;
  await database.db.sql`
    insert into chain_blocks (chain_id, number, hash, parent_hash, block_time)
    values (31337, ${number}, ${hash}, '0x', now()) on conflict do nothing`;
}

const ask = (exactMicro: bigint) =>
  makeRequest(database.db, scope, merchant, { exactMicro, startBlocks: { 31337: 50 }, expiryMinutes: 60 });

type Payment = { value: bigint; reference?: Uint8Array; block?: number; seconds?: number };

/** Stores a transfer to the merchant's wallet; returns its hash. */
const storeTransfer = ({ value, reference, block = head + 1, seconds = 1 }: Payment) =>
  makeTransfer(database.db.sql, scope, merchant, {
    block_number: block,
    block_time: new Date(Date.now() + seconds * 1000),
    token_address: chain.tokens[0]?.address ?? '',
    value: value.toString(),
    calldata_reference: reference ?? null,
  });

/** The same, and matches it. */
async function arrive(payment: Payment): Promise<string> {
  const txHash = await storeTransfer(payment);
  await matchPending(ctx);
  return txHash;
}

/** A part of a request, named by its reference. */
const payPart = ({ reference }: RequestRow, value: bigint) => arrive({ value, reference, block: 60 });
const storePart = ({ reference }: RequestRow, value: bigint) => storeTransfer({ value, reference, block: 60 });

/** The verdict on a transfer: the request that it pays and the rule, or why it pays none. */
async function fate(txHash: string) {
  const [row] = await database.db.sql`select request_id, rule, reason from transfers where tx_hash = ${txHash}`;
  return row?.request_id ? [row.request_id, row.rule] : row?.reason;
}

const progressOf = (request: RequestRow) => readProgress(ctx, scope, request.id);
const asked = async (request: RequestRow) => (await progressOf(request)).asked;
const rest = (micro: bigint) => ({ micro, isRest: true, isReserved: true });
const whole = (micro: bigint) => ({ micro, isRest: false, isReserved: true });

/** Takes transfers away as a reorganisation does. */
async function reorganise(...hashes: string[]): Promise<void> {
  await database.db.sql.begin(async (tx) => {
    const gone = await tx<TransferRow[]>`delete from transfers where tx_hash = any(${hashes}::text[]) returning *`;
    await undoRemoved(
      tx,
      gone.map((row) => ({
        ...keyOf(row),
        ...{ partnerId: row.partner_id, testMode: row.test_mode, requestId: row.request_id, rule: row.rule },
        ...{ tokenAddress: row.token_address, fromAddress: row.from_address, toAddress: row.to_address },
        value: BigInt(row.value),
      })),
    );
  });
}

test('paid in part → exactly the rest is reserved; a transfer of it that names nothing completes the request', async () => {
  const request = await ask(12_345_678n);
  assert.deepEqual(await asked(request), whole(12_345_678n));
  await payPart(request, 5_000_000n);
  assert.deepEqual(await asked(request), rest(7_345_678n));
  const txHash = await arrive({ value: 7_345_678n });
  assert.deepEqual(await fate(txHash), [request.id, 'amount']);
  const progress = await progressOf(request);
  assert.deepEqual([progress.proofStatus, progress.missingMicro, progress.overpaidMicro], ['attached', 0n, 0n]);
});

test('less than a cent arrived → the whole amount is due, and nothing else is reserved', async () => {
  const request = await ask(12_345_678n);
  await payPart(request, 9_999n);
  assert.deepEqual(await asked(request), whole(12_345_678n));
  assert.equal((await database.db.sql`select from reserved_rests where request_id = ${request.id}`).length, 0);
});

test('another request holds the figure → the rest costs a micro unit more; each transfer finds its own, none is too much', async () => {
  const other = await ask(7_345_678n);
  const request = await ask(12_345_678n);
  await payPart(request, 5_000_000n);
  assert.deepEqual(await asked(request), rest(7_345_679n));
  assert.deepEqual(await fate(await arrive({ value: 7_345_678n })), [other.id, 'amount']);
  assert.deepEqual(await fate(await arrive({ value: 7_345_679n })), [request.id, 'amount']);
  await readUpTo(head + 2);
  await verifyFinal(ctx);
  const progress = await progressOf(request);
  assert.deepEqual([progress.proofStatus, progress.overpaidMicro], ['verified', 0n]);
  const over = await database.db.sql`select from overpaid_requests where request_id = ${request.id}`;
  assert.equal(over.length, 0);
});

test('a later request of the same figure gets a surcharge, and its customer’s payment is its own', async () => {
  const request = await ask(12_345_678n);
  await payPart(request, 5_000_000n);
  const later = await ask(7_345_678n);
  assert.equal(later.usdc_micro, '7345679');
  assert.deepEqual(await fate(await arrive({ value: 7_345_679n })), [later.id, 'amount']);
  assert.deepEqual(await asked(request), rest(7_345_678n));
});

test('a stranger’s rounded figure beside another request’s amount → ambiguous; alone it is the rest', async () => {
  const request = await ask(12_000_000n);
  await payPart(request, 5_000_000n);
  assert.deepEqual(await asked(request), rest(7_000_000n));
  const other = await ask(7_004_321n);
  assert.equal(await fate(await arrive({ value: 7_000_000n })), 'ambiguous');
  await cancelRequest(ctx, theService, scope, other.id);
  await database.db.sql`update amount_reservations set reserved_until = now() where request_id = ${other.id}`;
  assert.deepEqual(await fate(await arrive({ value: 7_000_000n, seconds: 2 })), [request.id, 'amount']);
});

test('mined before the rest was reserved, by its block or by its time → not taken for it', async () => {
  const request = await ask(12_345_678n);
  await payPart(request, 5_000_000n);
  assert.equal(await fate(await arrive({ value: 7_345_678n, block: head })), 'before_request');
  assert.equal(await fate(await arrive({ value: 7_345_678n, seconds: -17 })), 'before_request');
  // The request's own amount counts from when that was reserved.
  await reorganise(await payPart(request, 1_000_000n));
  assert.deepEqual(await fate(await arrive({ value: 12_345_678n, block: 51 })), [request.id, 'amount']);
});

test('a rest of an earlier request → what was mined between the two is not taken for it, and pays the whole amount', async () => {
  const request = await ask(12_345_678n);
  await database.db.sql`
    update amount_reservations set reserved_at = now() - interval '5 minutes' where request_id = ${request.id}`;
  await database.db.sql`update requests set created_at = now() - interval '5 minutes' where id = ${request.id}`;
  await payPart(request, 5_000_000n);
  assert.equal(await fate(await arrive({ value: 7_345_678n, seconds: -60 })), 'before_request');
  assert.deepEqual(await fate(await arrive({ value: 12_345_678n, seconds: -60 })), [request.id, 'amount']);
});

test('the newest block is replaced after the rest was reserved, or old already → the rest is known by its time alone', async () => {
  const replaced = await ask(12_345_678n);
  await payPart(replaced, 5_000_000n);
  await database.db.sql`update chain_blocks set hash = ${`0x${'cd'.repeat(32)}`} where number = ${head}`;
  assert.deepEqual(await fate(await arrive({ value: 7_345_678n, block: head })), [replaced.id, 'amount']);
  await database.db.sql`delete from chain_blocks where number = ${head}`;

  for (const seconds of [-60, 60]) {
    await readUpTo(head);
    await database.db.sql`update chain_cursors set block_time = now() + ${seconds} * interval '1 second'`;
    const request = await ask(22_345_678n);
    await payPart(request, 5_000_000n);
    const [{ usdc_micro: micro, start_blocks: known } = {}] = await database.db.sql`
      select usdc_micro, start_blocks from reserved_rests where request_id = ${request.id}`;
    assert.deepEqual(known, { heads: {} });
    assert.deepEqual(await fate(await arrive({ value: BigInt(micro), block: head })), [request.id, 'amount']);
  }
});

test('a second part came meanwhile → the new rest is reserved, and the earlier figure still pays this request', async () => {
  const request = await ask(12_345_678n);
  await payPart(request, 5_000_000n);
  await payPart(request, 2_000_000n);
  assert.deepEqual(await asked(request), rest(5_345_678n));
  assert.deepEqual(await fate(await arrive({ value: 7_345_678n })), [request.id, 'amount']);
  assert.equal((await progressOf(request)).proofStatus, 'attached');
});

test('a reorganisation removes a part → the new rest is reserved; it removes all → the whole amount is due', async () => {
  const request = await ask(12_345_678n);
  const first = await payPart(request, 5_000_000n);
  const second = await payPart(request, 2_000_000n);
  await reorganise(first);
  assert.deepEqual(await asked(request), rest(10_345_678n));
  await reorganise(second);
  assert.deepEqual(await asked(request), whole(12_345_678n));
  // The payment of an earlier rest is a part now, and the same amount is left to pay.
  const odd = await ask(9_000_001n);
  const half = await payPart(odd, 4_000_000n);
  await reorganise(half);
  assert.deepEqual(await fate(await arrive({ value: 5_000_001n })), [odd.id, 'amount']);
  assert.deepEqual(await asked(odd), rest(4_000_000n));
});

test('the completing part is reorganised away → no longer attached, and the same rest is due', async () => {
  const request = await ask(12_345_678n);
  await payPart(request, 5_000_000n);
  const last = await arrive({ value: 7_345_678n });
  assert.equal((await progressOf(request)).proofStatus, 'attached');
  await reorganise(last);
  assert.deepEqual(await asked(request), rest(7_345_678n));
});

test('a part is reorganised away and the other suffices without it → still attached, and nothing is due', async () => {
  const request = await ask(12_345_678n);
  const { reference } = request;
  const first = await arrive({ value: 5_000_000n, reference });
  await arrive({ value: 12_345_678n, reference });
  assert.equal((await progressOf(request)).transfers.length, 2);
  await reorganise(first);
  const { proofStatus, missingMicro } = await progressOf(request);
  assert.deepEqual([proofStatus, missingMicro], ['attached', 0n]);
});

test('the rest is freed with the request’s own amount: a day after it was verified', async () => {
  await releaseReservations(ctx, running); // of the tests before
  const request = await ask(12_345_678n);
  await payPart(request, 5_000_000n);
  const untilOf = async (micro: bigint) => {
    const [row] = await database.db.sql`
      select extract(epoch from reserved_until - now()) / 3600 as hours from amount_reservations
      where wallet_address = ${merchant.wallet} and usdc_micro = ${micro.toString()}`;
    return row ? Math.round(Number(row.hours)) : null;
  };
  assert.equal(await untilOf(7_345_678n), 25);
  await arrive({ value: 7_345_678n });
  await readUpTo(head + 2);
  await verifyFinal(ctx);
  assert.equal((await progressOf(request)).proofStatus, 'verified');
  assert.deepEqual([await untilOf(12_345_678n), await untilOf(7_345_678n)], [24, 24]);
  assert.equal(await fate(await arrive({ value: 7_345_678n, block: head + 3 })), 'already_paid');
  await database.db.sql`
    update amount_reservations set reserved_until = now() - interval '1 minute' where request_id = ${request.id}`;
  assert.ok(Math.abs((await untilOf(7_345_678n)) ?? 1) === 0);
  assert.equal(await releaseReservations(ctx, running), 2);
  assert.equal((await database.db.sql`select from reserved_rests where request_id = ${request.id}`).length, 0);
  assert.equal(await fate(await arrive({ value: 7_345_678n, block: head + 4 })), 'no_match');
});

test('at most ten rests are reserved for a request; beyond that the exact rest is due, without a reserved amount', async () => {
  const request = await ask(90_000_000n);
  for (let i = 0; i < 11; i++) await payPart(request, 1_000_003n);
  assert.deepEqual(await asked(request), { micro: 90_000_000n - 11_000_033n, isRest: true, isReserved: false });
  assert.equal((await database.db.sql`select from reserved_rests where request_id = ${request.id}`).length, 10);
});

test('the wallet has left the partner → a part still counts, and no amount is reserved for the rest', async () => {
  const request = await ask(12_345_678n);
  await database.db.sql`delete from wallets where address = ${merchant.wallet}`;
  await payPart(request, 5_000_000n);
  assert.deepEqual(await asked(request), { micro: 7_345_678n, isRest: true, isReserved: false });
});

test('a cancelled request, and one whose amounts are free again → no amount is reserved for a rest', async () => {
  const [voided, ended] = [await ask(12_345_678n), await ask(12_345_678n)];
  await database.db.sql`update requests set status = 'voided', voided_at = now() where id = ${voided.id}`;
  await database.db.sql`update requests set expires_at = now() - interval '25 hours' where id = ${ended.id}`;
  for (const { id } of [voided, ended]) {
    await database.db.scoped(scope, (tx) => reserveRestAmount(tx, scope, id, 7_000_000n));
    assert.equal((await database.db.sql`select from reserved_rests where request_id = ${id}`).length, 0);
  }
});

test('parts of 30 requests, new requests of the same figures and reorganisations, at once → no amount is held twice', async () => {
  const requests = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(20_000_000n + BigInt(i) * 20_000n)));
  const parts: string[] = [];
  for (const [i, request] of requests.entries()) {
    parts.push(await storePart(request, 10_000_000n + BigInt(i) * 20_000n));
  }
  const match = () => Array.from({ length: 3 }, () => matchPending(ctx));
  await Promise.all(match());
  for (const [i, request] of requests.entries()) await storePart(request, BigInt(20_000 + i));
  await Promise.all([
    ...Array.from({ length: 40 }, () => ask(10_000_000n)),
    ...match(),
    reorganise(...parts.slice(0, 10)),
    reorganise(...parts.slice(10, 20)),
  ]);
  await matchPending(ctx);
  const [held] = await database.db.sql`
    select count(*)::int as rows, count(distinct a.usdc_micro)::int as amounts,
      count(*) filter (where a.request_id is null and s.request_id is null)::int as nobodys
    from amount_reservations a
      left join reserved_rests s on (s.wallet_address, s.usdc_micro) = (a.wallet_address, a.usdc_micro)
    where a.wallet_address = ${merchant.wallet}`;
  assert.equal(held?.rows, held?.amounts);
  assert.equal(held?.nobodys, 0);
  for (const request of requests) {
    const { micro, isRest, isReserved } = await asked(request);
    assert.ok(isRest && isReserved);
    assert.deepEqual(await fate(await arrive({ value: micro, block: head + 5 })), [request.id, 'amount']);
    assert.equal((await progressOf(request)).proofStatus, 'attached');
  }
});
