import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { matchTogether } from '../../src/payments/batches/match.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import type { TransferRow } from '../../src/payments/transfers.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { readUpTo, store } from '../support/payments/table-chain.ts';
import { until } from '../support/until.ts';

const chain: ChainConfig = idleChain(31337);
const [final, recent] = [90, 100];
const parties = 20;

let database: Awaited<ReturnType<typeof testDatabase>>;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  await readUpTo(database.db, chain.chainId, recent);
});
after(() => database?.drop());

type Payee = { scope: Scope; wallet: string; accountId: string };
type Paid = { request: RequestRow; txHash: string };

async function newPayee(): Promise<Payee> {
  const { test: scope } = await makePartner(database.db);
  const { id, wallet } = await makeMerchant(database.db, scope);
  return { scope, wallet, accountId: id };
}

const ask = ({ scope, wallet, accountId }: Payee, details: Parameters<typeof makeRequest>[3] = {}) =>
  makeRequest(database.db, scope, { id: accountId, wallet }, details);

/** A payment in full to each of many partners, by its reference. */
async function payMany(blockNumber: number): Promise<Paid[]> {
  const paid: Paid[] = [];
  for (let i = 0; i < parties; i++) {
    const payee = await newPayee();
    const request = await ask(payee, { metadata: `{"order":${i}}` });
    const [txHash = ''] = await store(database.db, chain, payee, [{ blockNumber, value: request.usdc_micro, request }]);
    paid.push({ request, txHash });
  }
  return paid;
}

async function proofOf({ id }: Pick<RequestRow, 'id'>) {
  const [row] = await database.db.sql`
    select proof_status, tx_hash, (select array_agg(body) from webhook_deliveries d where d.request_id = r.id) as bodies
    from requests r where id = ${id}`;
  return { status: row?.proof_status, txHash: row?.tx_hash, bodies: (row?.bodies ?? []) as string[] };
}

async function assertVerified({ request, txHash }: Paid): Promise<void> {
  const proof = await proofOf(request);
  assert.deepEqual([proof.status, proof.txHash, proof.bodies.length], ['verified', txHash, 1]);
  const event = JSON.parse(proof.bodies[0] ?? '');
  assert.deepEqual(
    [event.request_id, event.tx_hash, event.metadata],
    [request.id, txHash, JSON.parse(request.metadata)],
  );
}

/** Lets the database refuse every change of one transfer. */
async function refuseChangesOf(txHash: string): Promise<() => Promise<unknown>> {
  const name = `refused_${txHash.slice(2, 10)}`;
  await database.owner.unsafe(`
    create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
    create trigger ${name} before update of request_id, final_at on transfers for each row
      when (new.tx_hash = '${txHash}') execute function ${name}()`);
  return () => database.owner.unsafe(`drop function ${name} cascade`);
}

const dueAgain = () => database.db.sql`update transfers set look_at = now() - interval '1 ms'`;

test('payments to many partners in one pass → each verifies its request, with one event with its own body', async () => {
  const paid = await payMany(final);
  assert.equal(await matchPending(ctx), parties);
  for (const one of paid) await assertVerified(one);
});

test('one payment among many that cannot be written → the others are verified, that one when it can be', async () => {
  for (const blockNumber of [final, recent]) {
    const paid = await payMany(blockNumber);
    const [bad, ...others] = [...paid.splice(parties / 2, 1), ...paid] as [Paid, ...Paid[]];
    if (blockNumber === recent) await matchPending(ctx);
    const allow = await refuseChangesOf(bad.txHash);
    if (blockNumber === recent) await readUpTo(database.db, chain.chainId, recent + 10);
    for (const loop of [matchPending, verifyFinal]) await loop(ctx);
    for (const one of others) await assertVerified(one);
    assert.notEqual((await proofOf(bad.request)).status, 'verified');
    const [row] = await database.db.sql`select looks from transfers where tx_hash = ${bad.txHash}`;
    assert.ok(row?.looks > 0, 'it is put off');
    await allow();
    await dueAgain();
    for (const loop of [matchPending, verifyFinal]) await loop(ctx);
    await assertVerified(bad);
    await readUpTo(database.db, chain.chainId, recent);
  }
});

test('a chain was moved to the other mode too early → what it was paid before waits, and holds up no payment of its new mode', async () => {
  const [moved, ...others] = [31340, 31341, 31342].map(idleChain) as [ChainConfig, ChainConfig, ChainConfig];
  const before = testContext(database.db, { chains: { test: [moved], live: others } });
  const since = testContext(database.db, { chains: { test: others, live: [moved] } });
  const pay = async (mode: 'test' | 'live', blockNumber: number): Promise<Paid> => {
    const { [mode]: scope } = await makePartner(database.db);
    const { id: accountId, wallet } = await makeMerchant(database.db, scope);
    const request = await ask({ scope, wallet, accountId });
    const payments = [{ blockNumber, value: request.usdc_micro, request }];
    const [txHash = ''] = await store(database.db, moved, { scope, wallet, accountId }, payments);
    return { request, txHash };
  };
  await readUpTo(database.db, moved.chainId, recent);
  const attached = await pay('test', recent);
  await matchPending(before);
  const unmatched = await pay('test', final);
  const live = [await pay('live', final), await pay('live', recent)];
  await matchPending(since);
  await readUpTo(database.db, moved.chainId, recent + 10);
  await verifyFinal(since);
  for (const one of live) await assertVerified(one);
  assert.equal((await proofOf(attached.request)).status, 'attached');
  assert.equal((await proofOf(unmatched.request)).status, 'none');

  for (const loop of [matchPending, verifyFinal]) await loop(before);
  for (const one of [attached, unmatched]) await assertVerified(one);
});

test('a request that somebody holds → the others are verified meanwhile, and it is once it is free', async () => {
  for (const loop of [matchPending, verifyFinal]) {
    const paid = await payMany(loop === verifyFinal ? recent : final);
    if (loop === verifyFinal) {
      await matchPending(ctx);
      await readUpTo(database.db, chain.chainId, recent + 10);
    }
    const [held, ...others] = paid as [Paid, ...Paid[]];
    let isFree = false;
    const holding = database.db.transaction(async (tx) => {
      await tx`select from requests where id = ${held.request.id} for update`;
      while (!isFree) await tx`select pg_sleep(0.05)`; // the server ends a transaction that is idle for long
    });
    await until(async () => {
      const rows = await database.db.sql`select from requests where id = ${held.request.id} for update skip locked`;
      return rows.length === 0;
    }, 'it is held');
    const running = loop(ctx);
    await until(async () => {
      const [row] = await database.db.sql`
        select count(*)::int as left from requests
        where id = any(${others.map(({ request }) => request.id)}::uuid[]) and proof_status <> 'verified'`;
      return row?.left === 0;
    }, 'the others are verified');
    isFree = true;
    await Promise.all([running, holding]);
    for (const one of paid) await assertVerified(one);
    await readUpTo(database.db, chain.chainId, recent);
  }
});

test('a payment completes a request while somebody holds its earlier part → it is not decided without that part, and pays', async () => {
  const payee = await newPayee();
  const request = await ask(payee);
  const cents = 5_000n; // too little for the rest to be asked for, if it were all that had come
  const value = (BigInt(request.usdc_micro) - cents).toString();
  const [part = ''] = await store(database.db, chain, payee, [{ blockNumber: recent, value, request }]);
  assert.equal(await matchPending(ctx), 1);
  await store(database.db, chain, payee, [{ blockNumber: recent, value: cents.toString(), request }]);
  await database.db.transaction(async (tx) => {
    await tx`select from transfers where tx_hash = ${part} for update`;
    assert.equal(await matchPending(ctx), 0);
  });
  assert.equal(await matchPending(ctx), 1);
  assert.equal((await proofOf(request)).status, 'attached');
});

test('somebody, such as who starts a refund, holds a payment → the batch leaves it, and matches the others without waiting', async () => {
  const [held, ...others] = (await payMany(final)) as [Paid, ...Paid[]];
  const rows = await database.db.sql<TransferRow[]>`select * from transfers where judged_at is null`;
  await database.db.transaction(async (tx) => {
    await tx`select from transfers where tx_hash = ${held.txHash} for update`;
    const taken = await matchTogether(ctx, chain, rows, new Set(rows), new Set());
    assert.deepEqual(new Set(taken.map(({ tx_hash }) => tx_hash)), new Set(others.map(({ txHash }) => txHash)));
  });
  for (const one of others) await assertVerified(one);
  assert.equal(await matchPending(ctx), 1);
  await assertVerified(held);
});

test('a payment is mined again in another block after it was read → nothing is decided by what was known of the first block', async () => {
  const payee = await newPayee();
  const request = await ask(payee);
  const [txHash = ''] = await store(database.db, chain, payee, [
    { blockNumber: final, value: request.usdc_micro, request },
  ]);
  const rows = await database.db.sql<TransferRow[]>`select * from transfers where tx_hash = ${txHash}`;
  const match = () => matchTogether(ctx, chain, rows, new Set(rows), new Set());
  await database.db.sql`update transfers set block_hash = ${`0x${'b'.repeat(64)}`} where tx_hash = ${txHash}`;
  assert.deepEqual(await match(), []);
  assert.equal((await proofOf(request)).status, 'none');
  await database.db.sql`update transfers set block_hash = ${rows[0]?.block_hash ?? ''} where tx_hash = ${txHash}`;
  assert.deepEqual(await match(), [...rows]);
  await assertVerified({ request, txHash });
});

test('the chain is read back, or a payment mined again elsewhere, after it was found final → it is not verified by what was known before', async () => {
  const changes: ((txHash: string) => Promise<unknown>)[] = [
    () => readUpTo(database.db, chain.chainId, recent),
    (txHash) => database.db.sql`update transfers set block_hash = ${`0x${'b'.repeat(64)}`} where tx_hash = ${txHash}`,
  ];
  for (const change of changes) {
    await readUpTo(database.db, chain.chainId, recent);
    const payee = await newPayee();
    const request = await ask(payee);
    const payments = [{ blockNumber: recent, value: request.usdc_micro, request }];
    const [txHash = ''] = await store(database.db, chain, payee, payments);
    const [stored] = await database.db.sql<{ block_hash: string }[]>`
      select block_hash from transfers where tx_hash = ${txHash}`;
    await matchPending(ctx);
    await readUpTo(database.db, chain.chainId, recent + 10);
    const transaction: typeof ctx.db.transaction = async (work) => {
      await change(txHash);
      return ctx.db.transaction(work);
    };
    await verifyFinal({ ...ctx, db: { ...ctx.db, transaction } });
    assert.equal((await proofOf(request)).status, 'attached');
    await readUpTo(database.db, chain.chainId, recent + 10);
    await database.db.sql`update transfers set block_hash = ${stored?.block_hash ?? ''} where tx_hash = ${txHash}`;
    await verifyFinal(ctx);
    await assertVerified({ request, txHash });
  }
  await readUpTo(database.db, chain.chainId, recent);
});

/** Several payments of two requests of one merchant, as fractions of what is due, in the order of the chain. */
test('more partial payments than a pass takes one by one → a request paid meanwhile comes in the next pass, before the rest', async () => {
  const value = '20000';
  for (let i = 0; i < 5; i++) {
    const payee = await newPayee();
    const request = await ask(payee);
    const parts = Array.from({ length: 50 }, () => ({ blockNumber: recent, value, request }));
    await store(database.db, chain, payee, parts);
  }
  const left = async () =>
    (await database.db.sql`select from transfers where value = ${value} and judged_at is null`).length;
  const taken = await matchPending(ctx);
  assert.equal(await left(), 250 - taken);
  assert.ok(taken > 0 && taken <= 100, String(taken));

  const late = await newPayee();
  const request = await ask(late);
  const [txHash = ''] = await store(database.db, chain, late, [
    { blockNumber: final, value: request.usdc_micro, request },
  ]);
  const next = await matchPending(ctx);
  await assertVerified({ request, txHash });
  assert.equal(await left(), 250 - taken - (next - 1));
  assert.ok((await left()) > 0, 'the rest is still to come');
  while ((await left()) > 0) assert.ok((await matchPending(ctx)) > 0, 'each pass goes on');
});

const sequences: { of: 0 | 1; part: 'all' | 'half' | 'dust' | 'double'; at: number }[][] = [
  [
    { of: 0, part: 'all', at: final },
    { of: 0, part: 'all', at: final + 1 },
    { of: 1, part: 'all', at: final + 2 },
  ],
  [
    { of: 0, part: 'dust', at: final },
    { of: 0, part: 'all', at: final + 1 },
    { of: 0, part: 'dust', at: final + 2 },
  ],
  [
    { of: 0, part: 'half', at: final },
    { of: 1, part: 'double', at: final + 1 },
    { of: 0, part: 'half', at: final + 2 },
    { of: 0, part: 'half', at: final + 3 },
  ],
  [
    { of: 0, part: 'all', at: recent },
    { of: 0, part: 'all', at: recent },
    { of: 1, part: 'dust', at: recent },
    { of: 1, part: 'half', at: recent },
    { of: 1, part: 'half', at: recent },
  ],
  [
    { of: 0, part: 'half', at: recent },
    { of: 0, part: 'all', at: recent },
  ],
  [
    { of: 1, part: 'dust', at: final },
    { of: 1, part: 'dust', at: recent },
    { of: 1, part: 'all', at: recent },
    { of: 0, part: 'all', at: final + 4 },
  ],
];

test('several payments of the same requests in one batch → the same as one after the other', async () => {
  for (const [i, sequence] of sequences.entries()) {
    const outcomes: unknown[] = [];
    for (const together of [true, false]) {
      const payee = await newPayee();
      const requests = [await ask(payee), await ask(payee)];
      for (const { of, part, at } of sequence) {
        const request = requests[of] as RequestRow;
        const due = BigInt(request.usdc_micro);
        const value = { all: due, half: due / 2n + 1n, dust: 7n, double: due * 2n }[part].toString();
        await store(database.db, chain, payee, [{ blockNumber: at, value, request }]);
        if (!together) await matchPending(ctx);
      }
      while ((await matchPending(ctx)) > 0);
      const transfers = await database.db.sql`
        select block_number, value, reason, rule, counts, final_at is not null as final from transfers
        where to_address = ${payee.wallet} order by block_number, value, reason nulls first`;
      const proofs = await Promise.all(
        requests.map(async (one) => [(await proofOf(one)).status, (await proofOf(one)).bodies.length]),
      );
      const rests = await database.db.sql`
        select count(*)::int as reserved from reserved_rests where wallet_address = ${payee.wallet}`;
      outcomes.push({
        transfers: transfers.map(({ value, ...row }) => ({ ...row, size: value.length })),
        proofs,
        rests: [...rests],
      });
    }
    assert.deepEqual(outcomes[0], outcomes[1], `sequence ${i}`);
  }
});
