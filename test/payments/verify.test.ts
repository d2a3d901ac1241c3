import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { matchPending } from '../../src/payments/match.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { movableClock } from '../support/payments/pay-fixtures.ts';
import { readUpTo, store, tableEndpoint } from '../support/payments/table-chain.ts';

const finality = [
  { upToUsdcMicro: 1_000_000_000n, confirmations: 2 },
  { upToUsdcMicro: null, confirmations: 60 },
];
/** `alone` has one endpoint; the two of `pair`, below, must agree. */
const alone: ChainConfig = { ...idleChain(31337), finality };
const dead: ChainConfig = { ...idleChain(31340), rpcUrls: ['http://127.0.0.1:9', 'http://127.0.0.1:9/2'] };
const dearMicro = 5_000_000_000n;

let database: Awaited<ReturnType<typeof testDatabase>>;
let endpoints: Awaited<ReturnType<typeof tableEndpoint>>[] = [];
let pair: ChainConfig;
let ctx: Context;
let clock: ReturnType<typeof movableClock>;
before(async () => {
  database = await testDatabase();
  endpoints = [await tableEndpoint(database.db), await tableEndpoint(database.db)];
  pair = { ...idleChain(31339), rpcUrls: endpoints.map(({ url }) => url) };
  clock = movableClock();
  ctx = testContext(database.db, { chains: { test: [alone, pair, dead], live: [] }, clock });
  for (const { chainId } of ctx.chains.test) await readUpTo(database.db, chainId, 100);
});
beforeEach(() => {
  for (const { endpoint } of endpoints) endpoint.lies.clear();
});
after(async () => {
  for (const { stop } of endpoints) await stop();
  await database?.drop();
});

type Payee = { scope: Scope; wallet: string; accountId: string };

async function newPayee(): Promise<Payee> {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  return { scope, wallet: merchant.wallet, accountId: merchant.id };
}

const ask = ({ scope, wallet, accountId }: Payee, details: Parameters<typeof makeRequest>[3] = {}) =>
  makeRequest(database.db, scope, { id: accountId, wallet }, details);

/** Stores partial payments already applied to a request; if they cover it in full, the request is attached. */
async function pay(to: Payee, request: RequestRow, chain: ChainConfig, blockNumber: number, values: string[]) {
  const hashes = await store(
    database.db,
    chain,
    to,
    values.map((value) => ({ blockNumber, value, request })),
    true,
  );
  const paid = values.reduce((sum, value) => sum + BigInt(value), 0n);
  if (paid >= BigInt(request.usdc_micro)) {
    await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  }
  return hashes;
}

async function proofOf(request: RequestRow): Promise<string> {
  const [row] = await database.db.sql`select proof_status, tx_hash from requests where id = ${request.id}`;
  return row?.proof_status;
}

const alarms = async () => [...(await raisedAlarms(database.db.sql)).keys()];
/** Makes transfers that were put off due again. */
const dueAgain = () => database.db.sql`update transfers set look_at = now() - interval '1 ms'`;

test('tiny parts of large requests that wait for the strict tier → other payments are not delayed', async () => {
  const hostile = await newPayee();
  for (let i = 0; i < 5; i++) {
    const large = await ask(hostile, { exactMicro: dearMicro });
    await pay(hostile, large, alone, 60, Array(50).fill('1'));
  }
  const [same, other] = [hostile, await newPayee()];
  for (const payee of [same, other]) {
    const request = await ask(payee);
    await pay(payee, request, alone, 95, [request.usdc_micro]);
    await verifyFinal(ctx);
    assert.equal(await proofOf(request), 'verified');
  }
});

test('an amount that is exactly the limit of a tier → final by that tier; one unit more → by the stricter one', async () => {
  const proofs: string[] = [];
  for (const exactMicro of [1_000_000_000n, 1_000_000_001n]) {
    const payee = await newPayee();
    const request = await ask(payee, { exactMicro });
    await pay(payee, request, alone, 95, [request.usdc_micro]);
    await verifyFinal(ctx);
    proofs.push(await proofOf(request));
  }
  assert.deepEqual(proofs, ['verified', 'attached']);
});

test('final parts without end of one partner delay no payment to another', async () => {
  const hostile = await newPayee();
  for (let i = 0; i < 20; i++) {
    const request = await ask(hostile);
    await pay(hostile, request, alone, 60, Array(50).fill('1'));
  }
  const other = await newPayee();
  const request = await ask(other);
  await pay(other, request, alone, 95, [request.usdc_micro]);
  await verifyFinal(ctx);
  assert.equal(await proofOf(request), 'verified');
});

test('final parts without end of one merchant delay no payment to another of its partner', async () => {
  const { test: scope } = await makePartner(database.db);
  const [flooded, neighbour, other] = await Promise.all(
    [scope, scope, (await newPayee()).scope].map(async (own) => {
      const { id, wallet } = await makeMerchant(database.db, own);
      return { scope: own, wallet, accountId: id };
    }),
  );
  assert.ok(flooded && neighbour && other);
  for (let i = 0; i < 12; i++) await pay(flooded, await ask(flooded), alone, 60, Array(50).fill('1'));
  const requests: RequestRow[] = [];
  for (const payee of [neighbour, other]) {
    const request = await ask(payee);
    await pay(payee, request, alone, 95, [request.usdc_micro]);
    requests.push(request);
  }
  await verifyFinal(ctx, [alone]);
  assert.deepEqual(await Promise.all(requests.map(proofOf)), ['verified', 'verified']);
  await database.db.sql`delete from transfers where to_address = ${flooded.wallet}`;
});

test('an endpoint that refuses one receipt → the others are verified; that one waits, and an alarm is raised after 2 minutes', async () => {
  const lies = {
    refused: { error: { code: -32000, message: 'response too large' } },
    malformed: { result: { status: 'well' } },
    silent: 'silent' as const,
    dropped: 'away' as const,
  };
  for (const [what, lie] of Object.entries(lies)) {
    const payee = await newPayee();
    const [bad, good] = [await ask(payee), await ask(payee)];
    const [badTx = ''] = await pay(payee, bad, pair, 90, [bad.usdc_micro]);
    await pay(payee, good, pair, 91, [good.usdc_micro]);
    const [, second] = endpoints;
    second?.endpoint.lies.set(badTx, lie);
    await verifyFinal(ctx);
    assert.equal(await proofOf(good), 'verified', what);
    assert.equal(await proofOf(bad), 'attached', what);

    const [row] = await database.db
      .sql`select looks, look_at > judged_at as later from transfers where tx_hash = ${badTx}`;
    assert.ok(row?.looks > 0 && row?.later, `${what}: it is put off`);
    clock.forward(2 * 60_000);
    // The alarm is raised even while the transfer is put off.
    await verifyFinal(ctx);
    assert.deepEqual(await alarms(), ['chain-unconfirmed:31339'], what);

    second?.endpoint.lies.clear();
    await dueAgain();
    await verifyFinal(ctx);
    assert.equal(await proofOf(bad), 'verified', what);
    assert.deepEqual(await alarms(), [], what);
  }
});

test('a final payment is matched alone, as a part before it is → verified at once only if all endpoints confirm it', async () => {
  for (const isConfirmed of [false, true]) {
    const payee = await newPayee();
    const request = await ask(payee);
    // What is left after the part is reserved alone, so what follows for the same request is matched alone too.
    const [part = '', whole = ''] = await store(database.db, pair, payee, [
      { blockNumber: 80, value: '20000', request },
      { blockNumber: 81, value: request.usdc_micro, request },
    ]);
    if (!isConfirmed) endpoints[1]?.endpoint.lies.set(whole, { result: null });
    assert.equal(await matchPending(ctx), 2);
    assert.equal(await proofOf(request), isConfirmed ? 'verified' : 'attached');
    const taken = await database.db.sql`
      select tx_hash from transfers where request_id = ${request.id} and counts order by block_number`;
    assert.deepEqual(
      taken.map(({ tx_hash }) => tx_hash),
      [part, whole],
    );
    endpoints[1]?.endpoint.lies.clear();
  }
});

test('no block is named by a tag that finality uses → an alarm after 2 minutes, whatever was paid meanwhile; it is named → none', async () => {
  const tagged: ChainConfig = {
    ...alone,
    finality: [
      { upToUsdcMicro: 1_000_000_000n, confirmations: 2 },
      { upToUsdcMicro: null, tag: 'finalized' },
    ],
  };
  const settled = () => verifyFinal({ ...ctx, chains: { test: [tagged], live: [] } });
  const name = (number: number | null) =>
    database.db.sql`update chain_cursors set finalized_number = ${number} where chain_id = ${tagged.chainId}`;
  const payee = await newPayee();
  const dear = await ask(payee, { exactMicro: dearMicro });
  await pay(payee, dear, tagged, 50, [dear.usdc_micro]);
  await settled();
  clock.forward(60_000);
  const cheap = await ask(payee);
  await pay(payee, cheap, tagged, 60, [cheap.usdc_micro]);
  await settled();
  assert.deepEqual([await proofOf(dear), await proofOf(cheap), await alarms()], ['attached', 'verified', []]);
  clock.forward(60_000);
  await settled();
  assert.deepEqual(await alarms(), ['chain-unconfirmed:31337']);
  await name(40);
  await settled();
  assert.deepEqual(await alarms(), [], 'it is named: the payment is only not final yet');
  await name(50);
  await settled();
  assert.equal(await proofOf(dear), 'verified');
  await name(null);
  await settled();
  assert.deepEqual(await alarms(), [], 'nothing waits');
});

test('an endpoint that is away puts nothing off for longer than a second: its payments are verified once it is back', async () => {
  const payee = await newPayee();
  const requests = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ask(payee)));
  for (const request of requests) await pay(payee, request, pair, 90, [request.usdc_micro]);
  const [, second] = endpoints;
  second?.endpoint.lies.set('all', 'away');
  for (let pass = 0; pass < 5; pass++) {
    await verifyFinal(ctx);
    await dueAgain();
  }
  await verifyFinal(ctx);
  for (const request of requests) assert.equal(await proofOf(request), 'attached');
  const [late] = await database.db.sql`
    select from transfers where chain_id = ${pair.chainId} and final_at is null and look_at > now() + interval '1 second'`;
  assert.equal(late, undefined);
  second?.endpoint.lies.clear();
  await dueAgain();
  await verifyFinal(ctx);
  for (const request of requests) assert.equal(await proofOf(request), 'verified');
});

test('dust of four partners on which an endpoint drops the connection → other payments are verified in the same pass', async () => {
  const [, second] = endpoints;
  for (let i = 0; i < 4; i++) {
    const hostile = await newPayee();
    const [dust = ''] = await pay(hostile, await ask(hostile), pair, 60, ['1']);
    second?.endpoint.lies.set(dust, 'away');
  }
  const payee = await newPayee();
  const request = await ask(payee);
  await pay(payee, request, pair, 95, [request.usdc_micro]);
  await verifyFinal(ctx);
  assert.equal(await proofOf(request), 'verified');
});

test('a request that is attached by what no endpoint confirms → its next sufficient payment is taken, and verifies it', async () => {
  const payee = await newPayee();
  const [, second] = endpoints;
  const doubts = () => database.db.sql`update transfers set looks = 7 where final_at is null and looks between 1 and 6`;
  const lies = [{ result: null }, { error: { code: -32000, message: 'response too large' } }];
  for (const [i, lie] of lies.entries()) {
    const request = await ask(payee);
    const [foreign = ''] = await pay(payee, request, pair, 60, [request.usdc_micro]);
    second?.endpoint.lies.set(foreign, lie);
    const pays = (value: string) => store(database.db, pair, payee, [{ blockNumber: 70, value, request }]);
    const [early = ''] = i === 0 ? await pays(request.usdc_micro) : [];
    await matchPending(ctx, [pair]);
    await verifyFinal(ctx, [pair]);
    assert.equal(await proofOf(request), 'attached');
    const reasonOf = async (txHash: string) =>
      (await database.db.sql`select reason from transfers where tx_hash = ${txHash}`)[0]?.reason;
    if (early) assert.equal(await reasonOf(early), 'already_paid', 'while the first may still be confirmed');

    await doubts();
    await dueAgain();
    await verifyFinal(ctx, [pair]);
    const [dust = ''] = await pays('1');
    if (i > 0) await pays(request.usdc_micro);
    for (let pass = 0; pass < 3; pass++) {
      await matchPending(ctx, [pair]);
      await verifyFinal(ctx, [pair]);
    }
    assert.equal(await proofOf(request), 'verified');
    assert.equal(await reasonOf(dust), 'already_paid');
    const [third = ''] = await pays(request.usdc_micro);
    await matchPending(ctx, [pair]);
    assert.equal(await reasonOf(third), 'already_paid');
  }
});

test('a final transfer that all endpoints deny for two minutes → removed as by a reorganisation, with an alarm; if one denies it, it waits', async () => {
  const payee = await newPayee();
  for (const liars of [endpoints.slice(1), endpoints]) {
    const request = await ask(payee);
    const [txHash = ''] = await pay(payee, request, pair, 60, [request.usdc_micro]);
    for (const { endpoint } of liars) endpoint.lies.set(txHash, { result: null });
    await verifyFinal(ctx, [pair]);
    assert.equal(await proofOf(request), 'attached');
    await longDenied();
    await dueAgain();
    await verifyFinal(ctx, [pair]);
    const all = liars.length === endpoints.length;
    const [row] = await database.db.sql`select proof_status, proof_note from requests where id = ${request.id}`;
    assert.deepEqual(
      { ...row },
      all ? { proof_status: 'none', proof_note: 'reorged' } : { proof_status: 'attached', proof_note: null },
    );
    const left = await database.db.sql`select from transfers where tx_hash = ${txHash}`;
    assert.equal(left.length, all ? 0 : 1);
    assert.equal((await alarms()).includes(`chain-final-reorged:31339:${txHash}`), all);
    await database.db.sql`delete from transfers where tx_hash = ${txHash}`;
  }
  await database.db.sql`delete from alarms`;
});

test('endpoints fail to confirm a part for long → the rest without it is due, and reserved', async () => {
  const payee = await newPayee();
  const request = await ask(payee, { exactMicro: 12_345_678n });
  const [doubted = ''] = await pay(payee, request, pair, 60, ['5000000', '2000000']);
  endpoints[1]?.endpoint.lies.set(doubted, { result: null });
  await verifyFinal(ctx, [pair]);
  await database.db.sql`update transfers set looks = 7 where tx_hash = ${doubted}`;
  await dueAgain();
  await verifyFinal(ctx, [pair]);
  const { asked } = await readProgress(ctx, payee.scope, request.id);
  assert.deepEqual(asked, { micro: 10_345_678n, isRest: true, isReserved: true });
});

/** Ages open checks to eight looks; what all endpoints denied, to seven denials and two more minutes. */
const longDenied = () => database.db.sql`
  update transfers set looks = 8, denials = 7 * sign(denials), denied_at = denied_at - interval '2 minutes'
  where final_at is null and looks > 0`;

test('a final transfer that one endpoint denies for long and the honest one for one check → stays', async () => {
  const payee = await newPayee();
  const request = await ask(payee);
  const [txHash = ''] = await pay(payee, request, pair, 60, [request.usdc_micro]);
  const checkAgain = async (...liars: typeof endpoints) => {
    for (const { endpoint } of endpoints) endpoint.lies.clear();
    for (const { endpoint } of liars) endpoint.lies.set(txHash, { result: null });
    await dueAgain();
    await verifyFinal(ctx, [pair]);
  };
  await checkAgain(...endpoints.slice(1));
  await longDenied();
  await checkAgain(...endpoints);
  assert.equal(await proofOf(request), 'attached', 'one check is not long');
  await longDenied();
  await checkAgain(...endpoints.slice(1));
  await checkAgain(...endpoints);
  assert.equal(await proofOf(request), 'attached', 'a check in which one reported it restarts the count');
  await database.db.sql`update transfers set denials = 30 where tx_hash = ${txHash}`;
  await checkAgain(...endpoints);
  assert.equal(await proofOf(request), 'attached', 'many checks in a moment are not long');
  await checkAgain();
  assert.equal(await proofOf(request), 'verified');
});

test('a transfer stored without what its transaction carries is confirmed without it', async () => {
  const payee = await newPayee();
  const request = await ask(payee);
  const [txHash = ''] = await pay(payee, request, pair, 90, [request.usdc_micro]);
  await database.db
    .sql`update transfers set calldata_read = false, calldata_reference = null, rule = 'amount' where tx_hash = ${txHash}`;
  const { from_address, to_address } =
    (await database.db.sql`select * from transfers where tx_hash = ${txHash}`)[0] ?? {};
  const hex = Buffer.from(request.reference).toString('hex');
  const told = {
    hash: txHash,
    from: from_address,
    nonce: '0x0',
    to: pair.tokens[0]?.address,
    input: `0x${to_address.slice(2)}${hex}`,
  };
  for (const { endpoint } of endpoints) endpoint.transactions.set(txHash, told);
  await verifyFinal(ctx, [pair]);
  assert.equal(await proofOf(request), 'verified');
});

test('endpoints report other calldata and other logs of a transaction → what was signed or decided is verified, nothing else is', async () => {
  const payee = await newPayee();
  const requestOf = new Map<string, RequestRow>();
  for (const rule of ['claim', 'merchant', 'authorization', 'charge', 'reference', 'amount']) {
    const request = await ask(payee);
    requestOf.set(rule, request);
    const [txHash = ''] = await pay(payee, request, pair, 90, [request.usdc_micro]);
    const [row] = await database.db.sql`
      update transfers set rule = ${rule}, logs_read = true, authorization_nonce = ${Buffer.alloc(32, 7)}
      where tx_hash = ${txHash} returning from_address`;
    const reported = { hash: txHash, from: row?.from_address, nonce: '0x0', to: pair.tokens[0]?.address, input: '0x' };
    for (const { endpoint } of endpoints) endpoint.transactions.set(txHash, reported);
  }
  await verifyFinal(ctx, [pair]);
  const proofs = await Promise.all([...requestOf].map(async ([rule, request]) => [rule, await proofOf(request)]));
  assert.deepEqual(Object.fromEntries(proofs), {
    ...{ claim: 'verified', merchant: 'verified' },
    ...{ authorization: 'attached', charge: 'attached', reference: 'attached', amount: 'attached' },
  });
});

test('dust to one merchant → payments to the partner’s other merchants are verified without delay', async () => {
  const { test: scope } = await makePartner(database.db);
  const [flooded, neighbour] = await Promise.all(
    [1, 2].map(async () => {
      const { id, wallet } = await makeMerchant(database.db, scope);
      return { scope, wallet, accountId: id };
    }),
  );
  assert.ok(flooded && neighbour);
  await store(database.db, alone, flooded, Array(2_000).fill({ blockNumber: 90, value: '1' }));
  const [txHash = ''] = await store(database.db, alone, neighbour, [{ blockNumber: 95, value: '5' }]);
  await matchPending(ctx, [alone]);
  const [row] = await database.db.sql`select judged_at from transfers where tx_hash = ${txHash}`;
  assert.ok(row?.judged_at);
  await database.db.sql`delete from transfers where partner_id = ${scope.partnerId}`;
});

test('payments that are never confirmed → later ones still get their turn', async () => {
  const hostile = await newPayee();
  const denied: string[] = [];
  for (let i = 0; i < 10; i++) {
    const request = await ask(hostile);
    denied.push(...(await pay(hostile, request, pair, 60, Array(50).fill('1'))));
  }
  for (const txHash of denied) endpoints[1]?.endpoint.lies.set(txHash, { result: null });
  const request = await ask(hostile);
  await pay(hostile, request, pair, 95, [request.usdc_micro]);
  for (let pass = 0; pass < 4 && (await proofOf(request)) !== 'verified'; pass++) await verifyFinal(ctx);
  assert.equal(await proofOf(request), 'verified');
  await database.db.sql`delete from transfers where tx_hash = any(${denied}::text[])`;
});

test('a partial payment on a chain that nobody answers for holds back no payment that suffices without it', async () => {
  const payee = await newPayee();
  const request = await ask(payee);
  const [dust = ''] = await pay(payee, request, dead, 90, ['1']);
  const [paid] = await pay(payee, request, alone, 95, [request.usdc_micro]);
  // The pass that puts the dust off leaves its request to the next pass.
  for (let pass = 0; pass < 3 && (await proofOf(request)) !== 'verified'; pass++) await verifyFinal(ctx);
  const [row] = await database.db.sql`select proof_status, tx_hash from requests where id = ${request.id}`;
  assert.equal(row?.proof_status, 'verified');
  assert.equal(row?.tx_hash, paid);
  const [part] = await database.db.sql`select final_at, request_id from transfers where tx_hash = ${dust}`;
  assert.equal(part?.final_at, null, 'what nobody confirmed is not final');
  assert.equal(part?.request_id, request.id);
});

test('a partial payment that was final for a cheap request waits for the tier of the dear one that it is attached to', async () => {
  const payee = await newPayee();
  const cheap = await ask(payee);
  const [txHash = ''] = await pay(payee, cheap, alone, 95, ['1']);
  await verifyFinal(ctx);
  const finalAt = async () =>
    (await database.db.sql`select final_at from transfers where tx_hash = ${txHash}`)[0]?.final_at;
  assert.ok(await finalAt());
  // As a cancel detaches it.
  await database.db.sql`
    update transfers set request_id = null, rule = null, counts = false, reason = 'voided', value = ${String(dearMicro)}
    where tx_hash = ${txHash}`;
  const dear = await ask(payee, { exactMicro: dearMicro });
  await database.db.sql`update transfers set value = ${dear.usdc_micro} where tx_hash = ${txHash}`;
  const key = { chainId: alone.chainId, txHash, ordinal: 0, accountId: payee.accountId };
  assert.deepEqual(await attachUnmatched(ctx, theService, payee.scope, { ...key, requestId: dear.id }), {
    kind: 'counted',
    proofStatus: 'attached',
  });
  assert.equal(await finalAt(), null);
  await verifyFinal(ctx);
  assert.equal(await proofOf(dear), 'attached');
  await readUpTo(database.db, alone.chainId, 154);
  await verifyFinal(ctx);
  assert.equal(await proofOf(dear), 'verified');
  await readUpTo(database.db, alone.chainId, 100);
});
