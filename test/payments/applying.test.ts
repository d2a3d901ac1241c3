import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { toRemoved } from '../../src/chain/reader/removed.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { applyTransfer, type TransferToApply } from '../../src/payments/apply.ts';
import { Decisions } from '../../src/payments/decisions.ts';
import { type KeptBinding, selectKeptBindings, upsertKeptBinding } from '../../src/payments/kept-binding-store.ts';
import { claim, claimTypedData } from '../../src/payments/submitted/claim.ts';
import { keyOf, readTransfer, type TransferRow } from '../../src/payments/transfers.ts';
import { undoRemoved } from '../../src/payments/undo-removed.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import { countOpenPayments, readOpenPayment } from '../../src/payments/unmatched/by-merchant.ts';
import { attachProofs, detachProof, verifyProofs } from '../../src/requests/proof.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { idleChain, testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { countingFor, makeMerchant, makePartner, makeRequest, makeTransfer, unmatched } from '../support/fixtures.ts';
import { readUpTo } from '../support/payments/table-chain.ts';
import { until } from '../support/until.ts';

// Two endpoints: what is final must be confirmed before it proves anything.
const chain = { ...idleChain(31337), rpcUrls: ['http://127.0.0.1:9', 'http://127.0.0.1:9/other'] };

let database: TestDatabase;
let ctx: Context;
let scope: Scope;
let merchant: Awaited<ReturnType<typeof makeMerchant>>;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  ({ test: scope } = await makePartner(database.db));
  await readUpTo(database.db, chain.chainId, 100);
});
after(() => database?.drop());
// Requests of one wallet would have different amounts.
beforeEach(async () => {
  merchant = await makeMerchant(database.db, scope);
});

const ask = () => makeRequest(database.db, scope, merchant, { exactMicro: 10_000_000n });

async function rowOf(txHash: string): Promise<TransferRow> {
  const row = await readTransfer(database.db, scope, { chainId: chain.chainId, txHash, ordinal: 0 });
  assert.ok(row);
  return row;
}

const arrive = async (columns: Parameters<typeof makeTransfer>[3]) =>
  rowOf(await makeTransfer(database.db.sql, scope, merchant, { value: '10000000', ...columns }));

function apply(row: TransferRow, { id }: RequestRow, how: Partial<TransferToApply> = {}) {
  const applying = { row, requestId: id, rule: 'reference', from: 'pending', confirmed: true, asPart: true } as const;
  return database.db.scoped(scope, (tx) => applyTransfer(tx, ctx, scope, { ...applying, ...how }));
}

const proofOf = async ({ id }: RequestRow) =>
  (await database.db.sql`select proof_status from requests where id = ${id}`)[0]?.proof_status;

test('a transfer that is in another block by now, pays another request, or was matched meanwhile → is not applied', async () => {
  const [request, other] = [await ask(), await ask()];
  const read = await arrive({});
  await database.db.sql`update transfers set block_hash = '0xmoved' where tx_hash = ${read.tx_hash}`;
  assert.deepEqual(await apply(read, request), { kind: 'gone' });
  const counting = await arrive(countingFor(other.id));
  assert.deepEqual(await apply(counting, request, { rule: 'merchant', from: 'unmatched' }), { kind: 'gone' });
  const judged = await arrive(unmatched('no_match'));
  assert.deepEqual(await apply(judged, request), { kind: 'gone' });
  assert.equal(await proofOf(request), 'none');
});

test('postponed and denied before it is applied → it begins anew, and is not doubted', async () => {
  const row = await arrive({ looks: 9, denials: 7, block_number: 100 });
  const applied = await apply(row, await ask());
  assert.equal(applied.kind === 'applied' && applied.proofStatus, 'attached');
  const { looks, denials, counts } = await rowOf(row.tx_hash);
  assert.deepEqual([looks, denials, counts], [0, 0, true]);
});

test('a part that the endpoints have not confirmed, or the whole → attached; a confirmed whole → verified', async () => {
  const request = await ask();
  await arrive({ ...countingFor(request.id), value: '4000000' });
  const second = await apply(await arrive({ value: '6000000' }), request);
  assert.equal(second.kind === 'applied' && second.proofStatus, 'attached');
  const unconfirmed = await ask();
  const unsure = await apply(await arrive({ value: unconfirmed.usdc_micro }), unconfirmed, { confirmed: false });
  assert.equal(unsure.kind === 'applied' && unsure.proofStatus, 'attached');
  const whole = await ask();
  const one = await apply(await arrive({ value: whole.usdc_micro }), whole);
  assert.equal(one.kind === 'applied' && one.proofStatus, 'verified');
});

test('two parts are applied at the same moment → the second waits for the first, and completes the request', async () => {
  const request = await ask();
  const [first, second] = [await arrive({ value: '4000000' }), await arrive({ value: '6000000' })];
  let later: ReturnType<typeof apply> | undefined;
  await database.db.scoped(scope, async (tx) => {
    const applying = { row: first, requestId: request.id, rule: 'reference', from: 'pending' } as const;
    await applyTransfer(tx, ctx, scope, { ...applying, confirmed: true, asPart: true });
    const [holder] = await tx`select pg_backend_pid() as pid`;
    let isDone = false;
    later = apply(second, request).finally(() => {
      isDone = true;
    });
    await until(async () => {
      const waiting = await database.db.sql`
        select from pg_locks w where not granted and ${holder?.pid} = any(pg_blocking_pids(w.pid))`;
      return isDone || waiting.length > 0;
    }, 'it is applied, or waits');
  });
  const applied = await later;
  assert.deepEqual(applied, { kind: 'applied', proofStatus: 'attached', missingMicro: 0n });
});

test('a part that is found last and was mined first → the proof names the transfer that completed the sum on the chain', async () => {
  const request = await ask();
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const mined = { value: '6000000', block_number: 50, block_time: minutesAgo(1) };
  const completing = await arrive({ ...countingFor(request.id), ...mined, final_at: new Date() });
  const earlier = await arrive({ value: '4000000', block_number: 40, block_time: minutesAgo(2) });
  const applied = await apply(earlier, request);
  assert.equal(applied.kind === 'applied' && applied.proofStatus, 'verified');
  const [proof] = await database.db.sql`select tx_hash, payer_address from requests where id = ${request.id}`;
  assert.deepEqual(proof, { tx_hash: completing.tx_hash, payer_address: completing.from_address });

  const unsure = await ask();
  await arrive({ ...countingFor(unsure.id), ...mined, token_address: '0xlast' });
  const missing = (BigInt(unsure.usdc_micro) - 6_000_000n).toString();
  const first = await arrive({ value: missing, block_number: 40, block_time: minutesAgo(2) });
  await apply(first, unsure, { confirmed: false });
  const [row] = await database.db.sql`select proof_status, asset_id from requests where id = ${unsure.id}`;
  assert.deepEqual(row, { proof_status: 'attached', asset_id: `eip155:${chain.chainId}/erc20:0xlast` });
});

test('a part that is final for its own value, of a request that needs the stricter tier → attached only', async () => {
  const finality = [
    { upToUsdcMicro: 7_000_000n, confirmations: 1 },
    { upToUsdcMicro: null, confirmations: 60 },
  ];
  const tiered = { ...ctx, chains: { test: [{ ...chain, finality }], live: [] } };
  const request = await ask();
  await arrive({ ...countingFor(request.id), value: '4000000', final_at: new Date() });
  const row = await arrive({ value: '6000000', block_number: 90 });
  const how = {
    row,
    requestId: request.id,
    rule: 'reference',
    from: 'pending',
    confirmed: true,
    asPart: true,
  } as const;
  const applied = await database.db.scoped(scope, (tx) => applyTransfer(tx, tiered, scope, how));
  assert.equal(applied.kind === 'applied' && applied.proofStatus, 'attached');
});

test('another transaction holds an earlier part → nothing is decided without it, and nobody is waited for', async () => {
  const request = await ask();
  const part = await arrive({ ...countingFor(request.id), value: '4000000' });
  const rest = await arrive({ value: '6000000' });
  await database.db.transaction(async (holder) => {
    await holder`select from transfers where tx_hash = ${part.tx_hash} for update`;
    await assert.rejects(apply(rest, request), { code: '55P03' });
  });
  assert.equal((await apply(rest, request)).kind, 'applied');
});

test('a decision about a transfer that is in another block, or was matched meanwhile → nothing is written', async () => {
  const row = await arrive({});
  for (const known of [{ ...row, block_hash: '0xmoved' }, await arrive(unmatched('ambiguous'))]) {
    const decisions = new Decisions();
    decisions.reject(known, null, 'no_match');
    const written = database.db.scoped(scope, (tx) => decisions.write(tx, ctx, 'pending'));
    await assert.rejects(written, /has changed/);
  }
  assert.equal((await rowOf(row.tx_hash)).judged_at, null);
});

test('a final payment that its sender signs for, or its merchant attaches → attached, until the endpoints confirm it', async () => {
  const sender = privateKeyToAccount(generatePrivateKey());
  const [claimed, attached] = [await ask(), await ask()];
  const arrived = { ...unmatched('no_match'), token_address: chain.tokens[0]?.address ?? '' };
  const [one, two] = [
    await arrive({ ...arrived, value: claimed.usdc_micro, from_address: sender.address.toLowerCase() }),
    await arrive({ ...arrived, value: attached.usdc_micro }),
  ];
  const signature = await sender.signTypedData(claimTypedData(ctx.config, claimed.id, keyOf(one)));
  const outcome = { kind: 'counted', proofStatus: 'attached' };
  assert.deepEqual(await claim(ctx, claimed.id, { ...keyOf(one), signature }), outcome);
  const attaching = { ...keyOf(two), accountId: merchant.id, requestId: attached.id };
  assert.deepEqual(await attachUnmatched(ctx, theService, scope, attaching), outcome);
});

test('paid in the half hour after its expiry, which nobody has stored yet → it stays expired, as every reader saw it', async () => {
  for (const confirmed of [false, true]) {
    const request = await ask();
    await database.db.sql`update requests set expires_at = now() - interval '1 minute' where id = ${request.id}`;
    const applied = await apply(await arrive({ value: request.usdc_micro }), request, { confirmed });
    const proof = confirmed ? 'verified' : 'attached';
    assert.equal(applied.kind === 'applied' && applied.proofStatus, proof);
    const [row] = await database.db.sql`select status from requests where id = ${request.id}`;
    assert.equal(row?.status, 'expired', proof);
  }
});

test('a proof is never set on a cancelled request, and neither replaced nor taken back once it is verified', async () => {
  const { sql } = database.db;
  const [voided, verified] = [await ask(), await ask()];
  await sql`update requests set status = 'voided', voided_at = now() where id = ${voided.id}`;
  await apply(await arrive({ value: verified.usdc_micro }), verified);
  const columnsOf = async () =>
    sql`select status, proof_status, tx_hash, proof_verified_at from requests
      where id in (${voided.id}, ${verified.id}) order by status`;
  const before = [...(await columnsOf())];
  await database.db.scoped(scope, async (tx) => {
    for (const { partner_id, test_mode, id } of [voided, verified]) {
      const proof = { partner_id, test_mode, id, asset_id: 'eip155:1/erc20:0x00' };
      assert.equal(await attachProofs(tx, [proof]), 0);
      assert.equal((await verifyProofs(tx, [{ ...proof, tx_hash: '0x02', payer_address: '0x03' }])).length, 0);
      assert.equal(await detachProof(tx, scope, id, 'reorged'), null);
    }
  });
  assert.deepEqual([...(await columnsOf())], before);
  assert.deepEqual(
    before.map((row) => `${row.status} ${row.proof_status}`),
    ['requested verified', 'voided none'],
  );
});

test('money whose refund was cancelled → only its merchant applies it again', async () => {
  const request = await ask();
  const row = await arrive(unmatched('released'));
  const byClaim = await apply(row, request, { rule: 'claim', from: 'unmatched' });
  assert.deepEqual(byClaim, { kind: 'rejected', reason: 'released' });
  const byMerchant = await apply(row, request, { rule: 'merchant', from: 'unmatched' });
  assert.equal(byMerchant.kind, 'applied');
});

test('the payment of a request is reorganised away → what came second is matched again, money whose refund was cancelled is not', async () => {
  const request = await ask();
  const meant = { candidate_request_id: request.id };
  const [released, second] = [
    await arrive({ ...unmatched('released'), ...meant }),
    await arrive({ ...unmatched('already_paid'), ...meant }),
  ];
  const first = await arrive(countingFor(request.id));
  await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  await database.db.transaction(async (tx) => {
    await tx`delete from transfers where tx_hash = ${first.tx_hash}`;
    await undoRemoved(tx, [toRemoved(chain.chainId, first)]);
  });
  assert.equal((await rowOf(second.tx_hash)).judged_at, null);
  assert.equal((await rowOf(released.tx_hash)).reason, 'released');
});

test('the wallet belongs to another merchant by now → a reference still pays the request; its former merchant decides nothing', async () => {
  const request = await ask();
  const heir = await makeMerchant(database.db, scope);
  const row = await arrive({ ...unmatched('no_match'), account_id: heir.id });
  assert.deepEqual(await apply(row, request, { rule: 'merchant', from: 'unmatched' }), { kind: 'gone' });
  assert.equal((await apply(await arrive({ account_id: heir.id }), request)).kind, 'applied');
});

test('one of two payments that each suffice is reorganised away → the request stays attached', async () => {
  const request = await ask();
  const [first, second] = [await arrive(countingFor(request.id)), await arrive(countingFor(request.id))];
  await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  const remove = (row: TransferRow) =>
    database.db.transaction(async (tx) => {
      await tx`delete from transfers where tx_hash = ${row.tx_hash}`;
      await undoRemoved(tx, [toRemoved(chain.chainId, row)]);
    });
  await remove(first);
  assert.equal(await proofOf(request), 'attached');
  await remove(second);
  assert.equal(await proofOf(request), 'none');
});

test('what was decided about a removed transfer → the latest decision counts, for the same money only', async () => {
  const [first, second] = [await ask(), await ask()];
  const row = await arrive({});
  const heir = await makeMerchant(database.db, scope);
  const decided: KeptBinding = {
    ...{ chainId: chain.chainId, txHash: row.tx_hash, ordinal: 0, partnerId: scope.partnerId, testMode: true },
    ...{ requestId: first.id, rule: 'merchant', tokenAddress: '0xother', fromAddress: '0xother', toAddress: '0xother' },
    value: 1n,
  };
  const keep = (binding: KeptBinding) => database.db.transaction((tx) => upsertKeptBinding(tx, binding));
  const kept = (of: TransferRow) => database.db.transaction(async (tx) => [...(await selectKeptBindings(tx, [of]))]);
  const money = {
    ...{ tokenAddress: row.token_address, fromAddress: row.from_address, toAddress: row.to_address },
    value: BigInt(row.value),
  };
  await keep(decided);
  assert.deepEqual(await kept(row), []);
  await keep({ ...decided, ...money, requestId: second.id });
  assert.deepEqual(await kept(row), [{ place: 0, request_id: second.id, rule: 'merchant' }]);
  assert.deepEqual(await kept({ ...row, account_id: heir.id }), [], 'the money is no longer that merchant’s');
  assert.deepEqual(await kept({ ...row, partner_id: randomUUID() }), [], 'nor that partner’s');
  await keep({ ...decided, ...money, rule: 'claim' });
  const signed = [{ place: 0, request_id: first.id, rule: 'claim' }];
  assert.deepEqual(await kept({ ...row, account_id: heir.id }), signed, 'a signature says whom it is for');
});

test('an unmatched payment is offered no request that is paid already', async () => {
  const [paid, open] = [await ask(), await ask()];
  await arrive(countingFor(paid.id));
  await database.db.sql`update requests set proof_status = 'attached' where id = ${paid.id}`;
  const row = await arrive({ ...unmatched('no_match'), candidate_request_id: paid.id, value: open.usdc_micro });
  const key = { chainId: chain.chainId, txHash: row.tx_hash, ordinal: 0 };
  const payment = await readOpenPayment(ctx, scope, merchant.id, key);
  assert.ok('attachable' in payment);
  const ids = payment.attachable.map(({ requestId }) => requestId);
  assert.deepEqual([ids.includes(paid.id), ids.includes(open.id)], [false, true]);
});

test('the payments that wait for their merchant → neither those not matched yet, nor refunded ones', async () => {
  const refunded = await arrive(unmatched('no_match'));
  await arrive({});
  await arrive(unmatched('no_match'));
  await database.db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, to_address, usdc_micro, noted_at,
      state, return_tx_hash, from_address, token_address)
    values (${scope.partnerId}, true, ${chain.chainId}, ${refunded.tx_hash}, 0, ${merchant.id}, ${refunded.from_address},
      10000000, now(), 'sent', ${`0x${'ef'.repeat(32)}`}, ${merchant.wallet}, ${refunded.token_address})`;
  assert.equal(await countOpenPayments(database.db, scope, merchant.id), 1);
});
