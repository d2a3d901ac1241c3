import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callRpc } from '../../src/chain/rpc.ts';
import type { Context } from '../../src/context.ts';
import { Refusal } from '../../src/errors.ts';
import { matchPending } from '../../src/payments/match.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { readSubmitted, refreshSubmitted } from '../../src/payments/submitted/follow.ts';
import { findMisdirected } from '../../src/payments/unmatched/misdirected.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { mineWhileWaiting } from '../../src/sandbox/mining.ts';
import { type SandboxOutcome, SandboxRefusal, sandboxOutcome } from '../../src/sandbox/outcomes.ts';
import { reorgAway, whileRehearsing } from '../../src/sandbox/rehearsal.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { repeat } from '../support/repeat.ts';
import { until } from '../support/until.ts';

let fixtures: PayFixtures;
let live: TestChain;
let ctx: Context;
const stop = new AbortController();
let loops: Promise<unknown>;
before(async () => {
  [fixtures, live] = await Promise.all([payFixtures(), testChain({ chainId: 31338 })]);
  ctx = { ...fixtures.ctx, chains: { test: [fixtures.node.chain], live: [live.chain] } };
  // The loops that the service runs.
  loops = Promise.all([
    repeat(() => matchPending(fixtures.ctx), 50, stop.signal),
    repeat(() => verifyFinal(fixtures.ctx), 50, stop.signal),
    repeat(() => mineWhileWaiting(fixtures.ctx), 500, stop.signal),
  ]);
});
after(async () => {
  stop.abort();
  await loops;
  await Promise.all([fixtures?.stop(), live?.stop()]);
});

/** Presses again while others rehearse for longer than it waits, as a person would. */
const press = (request: { id: string }, outcome: SandboxOutcome) =>
  until(
    () =>
      sandboxOutcome(ctx, fixtures.scope, request.id, outcome).catch((error) => {
        if (refusedFor('busy')(error)) return null;
        throw error;
      }),
    `${outcome} is rehearsed`,
  );
const progress = (request: { id: string }) => readProgress(ctx, fixtures.scope, request.id);
const rpc = (method: string, params: unknown[]) => callRpc(fixtures.node.chain.rpcUrls[0] ?? '', method, params);

const becomes = (request: RequestRow, proofStatus: string) =>
  until(async () => {
    const row = await fixtures.read(request);
    return row.proof_status === proofStatus && row;
  }, `the request is ${proofStatus}`);
const unmatched = (request: RequestRow) =>
  until(async () => (await progress(request)).unmatched[0], 'a payment stands unmatched');
const refusedFor = (reason: SandboxRefusal['reason']) => (error: unknown) =>
  error instanceof SandboxRefusal && error.reason === reason;

test('exact → verified by the transaction it returned; once more → unmatched as a second payment', async () => {
  const request = await fixtures.request();
  const { txHash, chainId } = await press(request, 'exact');
  assert.equal(chainId, 31337);
  assert.equal((await becomes(request, 'verified')).tx_hash, txHash);
  const again = await press(request, 'exact');
  const second = await unmatched(request);
  assert.deepEqual([second.txHash, second.reason], [again.txHash, 'already_paid']);
});

test('too_little, then rest → half is missing, then verified; nothing is left to pay', async () => {
  const request = await fixtures.request();
  const { txHash } = await press(request, 'too_little');
  const part = await until(async () => {
    const now = await progress(request);
    return now.receivedMicro > 0n && now;
  }, 'a part has come');
  assert.equal(part.transfers[0]?.txHash, txHash);
  assert.equal(part.proofStatus, 'none');
  assert.equal(part.missingMicro, part.dueMicro / 2n);
  const rest = await press(request, 'rest');
  assert.equal((await becomes(request, 'verified')).tx_hash, rest.txHash);
  await assert.rejects(press(request, 'rest'), refusedFor('nothing_missing'));
});

test('too_much → verified, with one USDC too much', async () => {
  const request = await fixtures.request();
  await press(request, 'too_much');
  await becomes(request, 'verified');
  assert.equal((await progress(request)).overpaidMicro, 1_000_000n);
});

test('late → verified although expired; too_late → expired and unmatched', async () => {
  const late = await fixtures.request();
  await press(late, 'late');
  const row = await becomes(late, 'verified');
  assert.equal(row.status, 'expired');

  const tooLate = await fixtures.request();
  const { txHash } = await press(tooLate, 'too_late');
  const found = await unmatched(tooLate);
  assert.deepEqual([found.txHash, found.reason], [txHash, 'late']);
  const after = await fixtures.read(tooLate);
  assert.deepEqual([after.status, after.proof_status], ['expired', 'none']);
  await assert.rejects(press(late, 'too_late'), refusedFor('already_paid'));
});

test('wrong_token and wrong_network → misdirected payments that prove nothing', async () => {
  for (const kind of ['wrong_token', 'wrong_network'] as const) {
    const merchant = await makeMerchant(fixtures.db, fixtures.scope);
    const [cursor] = await fixtures.db.sql`select number from chain_cursors`;
    const startBlocks = { 31337: Number(cursor?.number) };
    const request = await makeRequest(fixtures.db, fixtures.scope, merchant, { startBlocks });
    const { txHash, chainId } = await press(request, kind);
    const misdirected = await findMisdirected(ctx, fixtures.scope, request.id);
    assert.deepEqual(
      misdirected.map((one) => [one.kind, one.chainId, one.symbol, one.txHash]),
      [[kind, chainId, 'USDC', txHash]],
    );
    assert.equal((await fixtures.read(request)).proof_status, 'none');
  }
});

test('failed → a transaction that reverted, which the page says', async () => {
  const request = await fixtures.request();
  const { txHash } = await press(request, 'failed');
  const receipt = (await rpc('eth_getTransactionReceipt', [txHash])) as { status: string };
  assert.equal(receipt.status, '0x0');
  const [submitted] = await readSubmitted(ctx, fixtures.scope, request.id);
  assert.deepEqual([submitted?.txHash, submitted?.state], [txHash, 'failed']);
});

test('pending → seen in the mempool first, then verified', async () => {
  // It is held back for some seconds only, which a busy machine can need to look at it.
  const { request, txHash, submitted } = await until(async () => {
    const request = await fixtures.request();
    const { txHash } = await press(request, 'pending');
    const [submitted] = await refreshSubmitted(ctx, fixtures.scope, request.id);
    return (await rpc('eth_getTransactionReceipt', [txHash])) === null && { request, txHash, submitted };
  }, 'one is looked at while it is held back');
  assert.deepEqual([submitted?.txHash, submitted?.state], [txHash, 'seen']);
  assert.equal((await becomes(request, 'verified')).tx_hash, txHash);
});

/** Pays a request, then removes the payment. Takes another request if a busy machine was too slow to see it paid. */
const reorganised = () =>
  until(async () => {
    const request = await fixtures.request();
    try {
      return { request, txHash: (await press(request, 'reorganised')).txHash };
    } catch (error) {
      if (refusedFor('not_attached')(error)) return null;
      throw error;
    }
  }, 'a payment is reorganised away');

test('reorganised, while others pay at once → that one is without proof again, the others are verified', async () => {
  const others = await Promise.all(Array.from({ length: 4 }, () => fixtures.request()));
  const [, { request, txHash }] = await Promise.all([
    press(others[0] as RequestRow, 'exact'),
    reorganised(),
    ...others.slice(1).map((other) => press(other, 'exact')),
  ]);
  assert.equal(await rpc('eth_getTransactionReceipt', [txHash]), null);
  const back = await until(async () => {
    const row = await fixtures.read(request);
    return row.proof_note === 'reorged' && row;
  }, 'it is taken back');
  assert.equal(back.proof_status, 'none');
  for (const other of others) await becomes(other, 'verified');
  assert.equal((await fixtures.db.sql`select from alarms where cleared_at is null`).length, 0);

  await press(request, 'exact');
  await becomes(request, 'verified');
  await assert.rejects(press(request, 'reorganised'), refusedFor('already_paid'));
});

test('a test reorganisation → removes only the chosen transaction; the others in its block and after it are mined again', async () => {
  const node = live; // no watcher reads this chain
  const url = node.chain.rpcUrls[0] ?? '';
  const wallets = [1, 2, 3].map(() => node.wallet());
  for (const { address } of wallets) await node.fund(address, 5n);
  const [first, second, third] = wallets.map((from) => ({ from, to: node.wallet().address, usdcMicro: 5n }));
  assert.ok(first && second && third);
  await callRpc(url, 'evm_setAutomine', [false]);
  const hashes = [await node.offer(first), await node.offer(second)];
  await node.mine(1);
  await callRpc(url, 'evm_setAutomine', [true]);
  hashes.push(await node.pay(third));
  await reorgAway(node.chain, hashes[0] ?? '');
  const receipts = await Promise.all(hashes.map((hash) => callRpc(url, 'eth_getTransactionReceipt', [hash])));
  assert.deepEqual(
    receipts.map((receipt) => (receipt as { status: string } | null)?.status),
    [undefined, '0x1', '0x1'],
  );
});

test('a test payment is running → no block is mined automatically, and other test payments wait', async () => {
  const request = await fixtures.request();
  let pressing: Promise<unknown> | null = null;
  await whileRehearsing(fixtures.db, fixtures.node.chain, async () => {
    const { txHash } = await fixtures.pay(request);
    await becomes(request, 'attached');
    const head = await rpc('eth_blockNumber', []);
    pressing = press(request, 'exact');
    await mineWhileWaiting(fixtures.ctx);
    assert.equal(await rpc('eth_blockNumber', []), head);
    assert.ok(txHash);
  });
  await pressing;
  await becomes(request, 'verified');
});

test('outside the sandbox’s test mode, and for somebody else’s request → not found, and nothing is sent', async () => {
  const request = await fixtures.request();
  const head = await rpc('eth_blockNumber', []);
  const notFound = (error: unknown) => error instanceof Refusal && error.code === 'not_found';
  const production = { ...ctx, config: { ...ctx.config, sandbox: false } };
  const ownChains = { ...ctx, config: { ...ctx.config, chains: ctx.chains } };
  for (const where of [production, ownChains]) {
    await assert.rejects(sandboxOutcome(where, fixtures.scope, request.id, 'exact'), notFound);
  }
  const stranger = await makePartner(fixtures.db);
  await assert.rejects(sandboxOutcome(ctx, stranger.test, request.id, 'exact'), notFound);
  const { live: liveScope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, liveScope);
  const liveRequest = await makeRequest(fixtures.db, liveScope, merchant);
  await assert.rejects(sandboxOutcome(ctx, liveScope, liveRequest.id, 'exact'), notFound);
  assert.equal(await rpc('eth_blockNumber', []), head);
});
