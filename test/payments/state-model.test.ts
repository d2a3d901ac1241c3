import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { matchPending } from '../../src/payments/match.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { keyOf, type TransferRow } from '../../src/payments/transfers.ts';
import { undoRemoved } from '../../src/payments/undo-removed.ts';
import { authorizationNonce } from '../../src/requests/authorization-nonce.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { moveExpiry } from '../../src/requests/move-expiry.ts';
import { openRequest } from '../../src/requests/open.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, randomAddress } from '../support/fixtures.ts';

/** The chain is a table here. These tests cover the order of events; tests with a real chain cover its behaviour. */
const chain = idleChain(31337);
const confirmations = 2;
const graceMs = 30 * 60_000;

let database: Awaited<ReturnType<typeof testDatabase>>;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
});
after(() => database?.drop());

type Pay = {
  kind: 'pay';
  request: number;
  part: 'all' | 'half' | 'double' | 'rest';
  by: 'authorization' | 'charge' | 'reference' | 'amount';
  /** Weaker than a charge or an authorization: the calldata names the other request. */
  contradicted: boolean;
  lateMinutes: number;
  depth: number;
};
type Step =
  | Pay
  | { kind: 'mine'; blocks: number }
  | { kind: 'reorg'; depth: number }
  | { kind: 'cancel' | 'open' | 'expire'; request: number };

const which = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      request: which,
      part: fc.constantFrom(...(['all', 'all', 'half', 'half', 'double', 'rest', 'rest'] as const)),
      by: fc.constantFrom('authorization' as const, 'charge' as const, 'reference' as const, 'amount' as const),
      contradicted: fc.boolean(),
      lateMinutes: fc.constantFrom(0, 0, 0, 40, 50),
      depth: fc.constantFrom(0, 0, 0, 3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel' as const, 'open' as const, 'expire' as const),
      request: which,
    }),
  },
);

/** The rules again, written as simply as possible. */
type ModelTransfer = {
  id: number;
  block: number;
  atMs: number;
  value: bigint;
  for: number;
  rule: string;
  applied: boolean;
  final: boolean;
  reason: string | null;
};
type ModelRequest = { due: bigint; expiresAtMs: number; status: string; proof: string; note: string | null };

class Model {
  head = 100;
  requests: ModelRequest[];
  transfers: ModelTransfer[] = [];
  constructor(requests: ModelRequest[]) {
    this.requests = requests;
  }
  applied(i: number) {
    return this.transfers.filter((t) => t.applied && t.for === i);
  }
  sum(i: number) {
    return this.applied(i).reduce((sum, t) => sum + t.value, 0n);
  }
  isFinal(t: ModelTransfer) {
    return t.final || t.block <= this.head - confirmations + 1;
  }
  judge(t: ModelTransfer) {
    const r = this.requests[t.for] as ModelRequest;
    t.reason = null;
    if (r.status === 'voided') t.reason = 'voided';
    else if (r.proof !== 'none') t.reason = 'already_paid';
    else if (t.atMs > r.expiresAtMs + graceMs) t.reason = 'late';
    t.applied = t.reason === null;
    if (!t.applied || this.sum(t.for) < r.due) return;
    r.proof = 'attached';
    r.note = null;
    this.verifyPaid(t.for);
  }
  /** Verified once the final payments cover the amount; others do not delay it. */
  verifyPaid(i: number) {
    const final = this.applied(i).filter((t) => this.isFinal(t));
    const r = this.requests[i] as ModelRequest;
    if (final.reduce((sum, t) => sum + t.value, 0n) < r.due) return;
    r.proof = 'verified';
    for (const t of final) t.final = true;
  }
  verifyFinal() {
    for (const [i, r] of this.requests.entries()) {
      for (const t of this.applied(i)) t.final = this.isFinal(t);
      if (r.proof === 'attached') this.verifyPaid(i);
    }
  }
  reorg(depth: number) {
    this.head -= depth;
    const lost = this.transfers.filter((t) => t.block > this.head && !t.final);
    this.transfers = this.transfers.filter((t) => !lost.includes(t));
    const again: ModelTransfer[] = [];
    for (const [i, r] of this.requests.entries()) {
      if (r.proof !== 'attached' || this.sum(i) >= r.due) continue;
      r.proof = 'none';
      r.note = 'reorged';
      again.push(...this.transfers.filter((t) => t.for === i && t.reason === 'already_paid'));
    }
    for (const t of again.sort((a, b) => a.block - b.block || a.id - b.id)) this.judge(t);
    return lost;
  }
}

test('every order of payments, blocks, reorganisations, cancels, openings and expiries → the states of the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 22 }), async (steps) => {
      const run = await begin();
      for (const each of steps) {
        await apply(run, each);
        await compare(run);
      }
    }),
    { numRuns: 60 },
  );
});

/** `rests`: of each request, the amounts that were reserved for what was left, the newest last. */
type Run = {
  rests: bigint[][];
  model: Model;
  rows: RequestRow[];
  scope: Scope;
  baseMs: number;
  accountId: string;
  nextId: number;
};

async function begin(): Promise<Run> {
  const { test: scope } = await makePartner(ctx.db);
  const merchant = await makeMerchant(ctx.db, scope);
  const rows = [0, 1].map(() => makeRequest(ctx.db, scope, merchant, { startBlocks: { 31337: 90 } }));
  const requests = await Promise.all(rows);
  await ctx.db.sql`delete from chain_cursors`;
  await ctx.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (31337, 1, 100, '0x', now(), 100, 99, now())`;
  const model = new Model(
    requests.map((row) => ({
      due: BigInt(row.usdc_micro),
      expiresAtMs: row.expires_at.getTime(),
      status: 'requested',
      proof: 'none',
      note: null,
    })),
  );
  return {
    rests: [[], []],
    model,
    rows: requests,
    scope,
    baseMs: Math.floor(Date.now() / 1000) * 1000,
    accountId: merchant.id,
    nextId: 1,
  };
}

async function apply(run: Run, each: Step): Promise<void> {
  const { model, rows, scope } = run;
  if (each.kind === 'pay') await pay(run, each);
  else if (each.kind === 'mine') {
    model.head += each.blocks;
    await moveHead(run);
    await verifyFinal(ctx);
    model.verifyFinal();
  } else if (each.kind === 'reorg') await reorganise(run, each.depth);
  else {
    const row = rows[each.request] as RequestRow;
    const request = model.requests[each.request] as ModelRequest;
    const waits = request.status === 'requested' && request.proof === 'none';
    if (each.kind === 'cancel') {
      const done = await cancelRequest(ctx, theService, scope, row.id).then(
        () => true,
        (error: { code?: string }) => error.code,
      );
      assert.equal(done, waits ? true : 'cannot_cancel');
      if (waits) {
        request.status = 'voided';
        for (const t of model.applied(each.request)) Object.assign(t, { applied: false, reason: 'voided' });
      }
    } else if (each.kind === 'open') {
      await openRequest(ctx, scope, row.id);
      if (waits) request.status = 'opened';
    } else {
      const expired = await ctx.db.scoped(scope, (tx) => moveExpiry(tx, scope, row.id, 0));
      const could = ['requested', 'opened'].includes(request.status) && request.proof === 'none';
      assert.equal(expired !== null, could);
      if (expired) Object.assign(request, { status: 'expired', expiresAtMs: expired.expires_at.getTime() });
    }
  }
}

async function pay(run: Run, each: Pay): Promise<void> {
  const { model, rows, scope } = run;
  const row = rows[each.request] as RequestRow;
  const due = BigInt(row.usdc_micro);
  // Possibly the rest of before: another part, or a reorganisation, may have come since.
  const rest = each.part === 'rest' ? run.rests[each.request]?.at(each.depth > 0 ? 0 : -1) : undefined;
  const value = each.part === 'half' ? due / 2n + 1n : each.part === 'double' ? due * 2n : (rest ?? due);
  // Where nothing names it, only the exact amount matches its request.
  const rule = rest !== undefined ? 'amount' : each.by === 'amount' && value !== due ? 'reference' : each.by;
  const other = rows[1 - each.request] as RequestRow;
  const inCalldata = rule === 'reference' ? row : each.contradicted && rule !== 'amount' ? other : null;
  if (each.depth === 0) model.head += 1;
  await moveHead(run);
  const transfer: ModelTransfer = {
    id: run.nextId++,
    block: model.head - each.depth,
    atMs: run.baseMs + each.lateMinutes * 60_000,
    value,
    for: each.request,
    rule,
    applied: false,
    final: false,
    reason: null,
  };
  if (transfer.block <= 90) return; // older than the requests
  await ctx.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, calldata_reference, charged_reference, authorization_nonce)
    values (31337, ${`0x${randomBytes(32).toString('hex')}`}, ${transfer.id}, ${transfer.block}, '0x', ${new Date(transfer.atMs)},
      ${chain.tokens[0]?.address ?? ''}, ${randomAddress()}, ${row.wallet_address}, ${value.toString()}, ${scope.partnerId}, true,
      ${run.accountId}, ${inCalldata && Buffer.from(inCalldata.reference)},
      ${rule === 'charge' ? Buffer.from(row.reference) : null},
      ${rule === 'authorization' ? authorizationNonce(row.reference, transfer.id) : null})`;
  model.transfers.push(transfer);
  assert.equal(await matchPending(ctx), 1);
  model.judge(transfer);
}

/** Like the watcher: removes the transfers and undoes what they paid in one transaction. */
async function reorganise(run: Run, depth: number): Promise<void> {
  const { model } = run;
  const lost = model.reorg(depth);
  await moveHead(run);
  await ctx.db.sql.begin(async (tx) => {
    const gone = await tx<TransferRow[]>`
      delete from transfers where partner_id = ${run.scope.partnerId} and block_number > ${model.head} and final_at is null
      returning *`;
    assert.equal(gone.length, lost.length);
    await undoRemoved(
      tx,
      gone.map((row) => ({
        ...keyOf(row),
        partnerId: row.partner_id,
        testMode: row.test_mode,
        requestId: row.request_id,
        rule: row.rule,
        tokenAddress: row.token_address,
        fromAddress: row.from_address,
        toAddress: row.to_address,
        value: BigInt(row.value),
      })),
    );
  });
  await matchPending(ctx);
}

async function moveHead({ model }: Run): Promise<void> {
  await ctx.db.sql`update chain_cursors set number = ${model.head}, head_number = ${model.head}`;
}

async function compare({ model, rows, scope, rests }: Run): Promise<void> {
  for (const [i, expected] of model.requests.entries()) {
    const id = rows[i]?.id ?? '';
    const { asked } = await readProgress(ctx, scope, id);
    const left = expected.due - model.sum(i);
    const isRest = model.sum(i) > 0n && left > 0n;
    assert.equal(asked.isRest, isRest);
    assert.ok(asked.micro - (isRest ? left : expected.due) <= (isRest ? 9_999n : 0n));
    if (isRest && asked.isReserved && rests[i]?.at(-1) !== asked.micro) rests[i]?.push(asked.micro);
    const over = rests.flat().filter((micro) => rests.every((own) => own.includes(micro)));
    assert.deepEqual(over, [], 'no amount is reserved for both');
    const [row] = await ctx.db.sql<(RequestRow & { counted: string; events: number })[]>`
      select r.*,
        (select coalesce(sum(value), 0) from transfers t where t.request_id = r.id and t.counts)::text as counted,
        (select count(*)::int from webhook_deliveries d where d.request_id = r.id) as events
      from requests r where r.partner_id = ${scope.partnerId} and r.id = ${id}`;
    assert.deepEqual(
      {
        status: row?.status,
        proof: row?.proof_status,
        note: row?.proof_note,
        counted: row?.counted,
        events: row?.events,
      },
      {
        status: expected.status,
        proof: expected.proof,
        note: expected.note,
        counted: model.sum(i).toString(),
        events: expected.proof === 'verified' ? 1 : 0,
      },
    );
  }
  const stored = await ctx.db.sql`
    select ordinal, rule, reason, counts from transfers where partner_id = ${scope.partnerId} order by ordinal`;
  assert.deepEqual(
    [...stored].map(({ ordinal, rule, reason, counts }) => ({ ordinal, rule, reason, counts })),
    model.transfers.map((t) => ({
      ordinal: t.id,
      rule: t.applied ? t.rule : null,
      reason: t.reason,
      counts: t.applied,
    })),
  );
}
