import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { paymentCommands } from '../../src/cli/payments.ts';
import { browseUnmatched } from '../../src/payments/browse-unmatched.ts';
import { judgePending } from '../../src/payments/match.ts';
import { readProgress } from '../../src/payments/progress.ts';
import { submitHash } from '../../src/payments/submit.ts';
import { attachUnmatched } from '../../src/payments/unmatched.ts';
import { settle } from '../../src/payments/verify.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { type PayWorld, payWorld } from '../payments/support.ts';
import { makeMerchant, makeRequest } from '../support/world.ts';

let world: PayWorld;
before(async () => {
  world = await payWorld();
});
after(() => world?.stop());

const minuteMs = 60_000;

/** Moves a request's expiry so that what is mined now came so many minutes after it. */
async function expiredFor(request: { id: string }, minutes: number): Promise<void> {
  await world.db.sql`
    update requests set status = 'expired', expires_at = now() - ${minutes} * interval '1 minute' where id = ${request.id}`;
}

test('a tagged payment → attached, and verified with exactly one event once it is final', async () => {
  const request = await world.request({ metadata: '{"order":"7"}' });
  const { txHash, from } = await world.pay(request);
  await world.turn();
  const attached = await world.read(request);
  assert.equal(attached.proof_status, 'attached');
  assert.equal(attached.tx_hash, null);
  assert.equal(attached.asset_id, `eip155:31337/erc20:${world.node.chain.tokens[0]?.address}`);
  const progress = await readProgress(world.ctx, world.scope, request.id);
  assert.equal(progress.missingMicro, 0n);
  assert.deepEqual(
    progress.transfers.map(({ confirmations, neededConfirmations, final }) => ({
      confirmations,
      neededConfirmations,
      final,
    })),
    [{ confirmations: 1, neededConfirmations: 2, final: false }],
  );
  assert.deepEqual(await submitHash(world.ctx, request.id, { txHash }), { kind: 'counted', proofStatus: 'attached' });

  await world.node.mine(1);
  await world.turn();
  const verified = await world.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.tx_hash, txHash);
  assert.equal(verified.payer_address, from.address);
  assert.ok(verified.proof_verified_at);
  const [event, ...more] = await world.events(request);
  assert.equal(more.length, 0);
  const body = JSON.parse(event?.body);
  assert.equal(body.tx_hash, txHash);
  assert.equal(body.timestamp, verified.proof_verified_at.toISOString());
  const [reserved] = await world.db.sql`select * from amount_reservations where request_id = ${request.id}`;
  assert.equal(reserved?.reserved_until.getTime(), verified.proof_verified_at.getTime() + 24 * 60 * minuteMs);
});

test('a payment that is final at first sight → from none to verified directly', async () => {
  const request = await world.request();
  await world.pay(request);
  await world.node.mine(3);
  await world.caughtUp();
  await judgePending(world.ctx);
  assert.equal((await world.read(request)).proof_status, 'verified');
  assert.equal((await world.events(request)).length, 1);
});

test('an untagged payment of the exact amount → its request', async () => {
  const request = await world.request();
  const other = await world.request();
  assert.notEqual(request.usdc_micro, other.usdc_micro);
  const { txHash } = await world.pay(other, { tagged: false });
  await world.turn();
  assert.equal((await world.read(other)).proof_status, 'attached');
  assert.equal((await world.read(request)).proof_status, 'none');
  assert.equal((await world.transfer(txHash))?.rule, 'amount');
});

test('an untagged whole cent while an amount close to it is reserved → unmatched, and the merchant attaches it', async () => {
  const dearer = await world.request({ exactMicro: 6_000_000n });
  const exact = await world.request({ exactMicro: 5_000_000n });
  await world.request({ exactMicro: 5_000_000n });
  const { txHash, from } = await world.pay(exact, { tagged: false });
  await world.turn();
  assert.equal((await world.read(exact)).proof_status, 'none');
  assert.equal((await world.transfer(txHash))?.reason, 'ambiguous');
  const hint = await submitHash(world.ctx, exact.id, { txHash });
  assert.equal(hint.kind, 'needs_signature');
  const { rows } = await browseUnmatched(world.ctx, world.scope, { accountId: world.merchant.id }, null);
  const unmatched = rows.find((payment) => payment.tx_hash === txHash);
  assert.equal(unmatched?.from_address, from.address);
  assert.equal(unmatched?.reason, 'ambiguous');
  assert.ok(unmatched);

  const attach = { chainId: 31337, txHash, ordinal: unmatched.ordinal, accountId: world.merchant.id };
  assert.deepEqual(await attachUnmatched(world.ctx, world.scope, { ...attach, requestId: dearer.id }), {
    kind: 'underpaid',
    missingMicro: 1_000_000n,
  });
  const done = await attachUnmatched(world.ctx, world.scope, { ...attach, requestId: exact.id });
  assert.deepEqual(done, { kind: 'counted', proofStatus: 'attached' });
  assert.equal((await world.transfer(txHash))?.rule, 'merchant');
  assert.equal(
    (await attachUnmatched(world.ctx, world.scope, { ...attach, requestId: dearer.id })).kind,
    'already_used',
  );
});

test('an underpaid request stays none and tells what is missing; topped up, the second transfer is its proof', async () => {
  const request = await world.request();
  const due = BigInt(request.usdc_micro);
  const first = await world.pay(request, { usdcMicro: due - 1_000_000n });
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'none');
  assert.equal((await readProgress(world.ctx, world.scope, request.id)).missingMicro, 1_000_000n);
  assert.deepEqual(await submitHash(world.ctx, request.id, { txHash: first.txHash }), {
    kind: 'underpaid',
    missingMicro: 1_000_000n,
  });
  const second = await world.pay(request, { usdcMicro: 1_000_000n });
  await world.node.mine(2);
  await world.turn();
  await world.turn();
  const verified = await world.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.tx_hash, second.txHash);
  assert.equal(verified.payer_address, second.from.address);
});

test('an overpaid request is paid; a second payment stands among the unmatched ones', async () => {
  const request = await world.request();
  const first = await world.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 5n });
  await world.turn();
  const second = await world.pay(request);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'verified');
  assert.equal((await world.read(request)).tx_hash, first.txHash);
  const row = await world.transfer(second.txHash);
  assert.equal(row?.request_id, null);
  assert.equal(row?.reason, 'already_paid');
  assert.equal(row?.candidate_request_id, request.id);
  assert.deepEqual(await submitHash(world.ctx, request.id, { txHash: second.txHash }), { kind: 'already_paid' });
  assert.equal((await world.events(request)).length, 1);
  const progress = await readProgress(world.ctx, world.scope, request.id);
  assert.equal(progress.overpaidMicro, 5n);
  assert.equal(progress.missingMicro, 0n);
  assert.deepEqual(
    progress.transfers.map(({ txHash, fromAddress, final }) => ({ txHash, fromAddress, final })),
    [{ txHash: first.txHash, fromAddress: first.from.address, final: true }],
  );
  assert.deepEqual(
    progress.unmatched.map(({ txHash, fromAddress, usdcMicro, reason }) => ({
      txHash,
      fromAddress,
      usdcMicro,
      reason,
    })),
    [
      {
        txHash: second.txHash,
        fromAddress: second.from.address,
        usdcMicro: BigInt(request.usdc_micro),
        reason: 'already_paid',
      },
    ],
  );
});

test('money mined within 30 minutes after expiry counts and the status stays expired; later money waits for the merchant', async () => {
  const soon = await world.request();
  const late = await world.request();
  await expiredFor(soon, 20);
  await expiredFor(late, 40);
  await world.pay(soon);
  const { txHash } = await world.pay(late);
  await world.node.mine(2);
  await world.turn();
  const paid = await world.read(soon);
  assert.equal(paid.status, 'expired');
  assert.equal(paid.proof_status, 'verified');
  assert.equal((await world.events(soon)).length, 1);
  assert.equal((await world.read(late)).proof_status, 'none');
  assert.equal((await world.transfer(txHash))?.reason, 'late');
  const [told] = (await readProgress(world.ctx, world.scope, late.id)).unmatched;
  assert.deepEqual([told?.txHash, told?.reason], [txHash, 'late']);
  assert.deepEqual(await submitHash(world.ctx, late.id, { txHash }), { kind: 'late' });

  const { rows } = await browseUnmatched(world.ctx, world.scope, {}, null);
  const found = rows.find((payment) => payment.tx_hash === txHash);
  assert.equal(found?.candidate_request_id, late.id);
  const attach = { chainId: 31337, txHash, ordinal: found?.ordinal ?? -1, accountId: world.merchant.id };
  const done = await attachUnmatched(world.ctx, world.scope, { ...attach, requestId: late.id });
  assert.deepEqual(done, { kind: 'counted', proofStatus: 'verified' });
  assert.equal((await world.read(late)).status, 'expired');
});

test('an expiry that readers have seen stays, also where it was not stored before the payment', async () => {
  const request = await world.request();
  await world.db.sql`update requests set expires_at = now() - interval '1 minute' where id = ${request.id}`;
  await world.pay(request);
  await world.turn();
  const row = await world.read(request);
  assert.equal(row.proof_status, 'attached');
  assert.equal(row.status, 'expired');
});

test('money for a voided request, and what came in part before, stands among the unmatched payments', async () => {
  const request = await world.request();
  const part = await world.pay(request, { usdcMicro: 1_000_000n });
  await world.turn();
  await cancelRequest(world.ctx, world.scope, request.id);
  const rest = await world.pay(request);
  await world.turn();
  const row = await world.read(request);
  assert.equal(row.status, 'voided');
  assert.equal(row.proof_status, 'none');
  for (const { txHash } of [part, rest]) {
    const transfer = await world.transfer(txHash);
    assert.equal(transfer?.counts, false);
    assert.equal(transfer?.reason, 'voided');
    assert.equal(transfer?.candidate_request_id, request.id);
  }
  assert.deepEqual(await submitHash(world.ctx, request.id, { txHash: rest.txHash }), { kind: 'voided' });
});

test('a transaction that proves nothing is answered plainly and binds nothing', async () => {
  const newcomer = await makeMerchant(world.db, world.scope);
  const unwatched = await world.node.pay({ from: world.node.wallet(), to: newcomer.wallet, usdcMicro: 3n });
  const before = await world.node.pay({ from: world.node.wallet(), to: world.merchant.wallet, usdcMicro: 3n });
  await world.turn();
  const [cursor] = await world.db.sql`select number from chain_cursors`;
  for (const [number, expected] of [
    [Number(cursor?.number), 'before_request'],
    [0, 'seen'],
  ] as const) {
    const first = await makeRequest(world.db, world.scope, newcomer, { startBlocks: { 31337: number } });
    assert.equal((await submitHash(world.ctx, first.id, { txHash: unwatched })).kind, expected);
  }
  const request = await world.request();
  const outcome = async (txHash: string) => (await submitHash(world.ctx, request.id, { txHash })).kind;
  assert.equal(await outcome(before), 'needs_signature', 'its sender can say so');
  assert.equal(await outcome('0x12'), 'malformed');
  assert.equal(await outcome(`0x${'12'.repeat(32)}`), 'not_found');
  const elsewhere = await world.node.pay({ from: world.node.wallet(), to: world.node.wallet().address, usdcMicro: 3n });
  assert.equal(await outcome(elsewhere), 'wrong_recipient');
  const paidOther = await world.request();
  const { txHash } = await world.pay(paidOther);
  await world.turn();
  assert.equal(await outcome(txHash), 'already_used');
  const open = await world.pay(request, { usdcMicro: 7n, tagged: false });
  await world.turn();
  assert.equal(await outcome(open.txHash), 'needs_signature');
  assert.equal((await world.read(request)).proof_status, 'none');
});

test('a reference of one merchant on a transfer to another → unmatched as a conflict', async () => {
  const merchant = await makeMerchant(world.db, world.scope);
  const other = await makeRequest(world.db, world.scope, merchant);
  const request = await world.request();
  const txHash = await world.node.pay({
    from: world.node.wallet(),
    to: request.wallet_address,
    usdcMicro: BigInt(request.usdc_micro),
    reference: other.reference,
  });
  await world.turn();
  assert.equal((await world.transfer(txHash))?.reason, 'conflict');
  assert.equal((await world.read(request)).proof_status, 'none');
  assert.equal((await world.read(other)).proof_status, 'none');
});

test('ten turns of the loops at once → one judgement and one event for each request', async () => {
  const requests = await Promise.all([1, 2, 3, 4, 5].map(() => world.request()));
  for (const request of requests) {
    await world.pay(request);
    await world.pay(request);
  }
  await world.node.mine(2);
  await world.caughtUp();
  const judged = await Promise.all(Array.from({ length: 5 }, () => judgePending(world.ctx)));
  await judgePending(world.ctx);
  await Promise.all(Array.from({ length: 5 }, () => settle(world.ctx)));
  await settle(world.ctx);
  assert.ok(judged.reduce((a, b) => a + b) <= 10);
  for (const request of requests) {
    assert.equal((await world.read(request)).proof_status, 'verified');
    assert.equal((await world.events(request)).length, 1);
    const counted = await world.db.sql`select from transfers where request_id = ${request.id} and counts`;
    assert.equal(counted.length, 1);
  }
});

test('sandbox expire › a waiting request expires now; a paid one is left alone', async () => {
  const expire = paymentCommands.find(({ name }) => name === 'sandbox expire');
  const request = await world.request();
  const answer = await expire?.run(world.ctx, { words: [request.id], options: {} });
  assert.equal(answer?.status, 'expired');
  await world.pay(request);
  await world.turn();
  assert.equal((await world.read(request)).proof_status, 'attached');
  await assert.rejects(
    async () => expire?.run(world.ctx, { words: [request.id], options: {} }),
    /waits for no payment/,
  );
});

test('sandbox pay › pays with the reference, or untagged, and with a key and an amount of one’s choice', async () => {
  const pay = paymentCommands.find(({ name }) => name === 'sandbox pay');
  const ctx = { ...world.ctx, config: { ...world.ctx.config, dataDir: world.node.folder } };
  const [url] = world.node.chain.rpcUrls;
  const entry = { ...world.node.chain, chain_id: 31337, rpc_urls: [url], finality: [{ confirmations: 2 }] };
  const chains = { test: [entry], live: [{ ...entry, chain_id: 31338 }] };
  writeFileSync(join(world.node.folder, 'chains.json'), JSON.stringify(chains));
  const run = async (id: string, options: Record<string, string | true>) =>
    (await pay?.run(ctx, { words: [id], options }))?.tx_hash as string;

  const request = await world.request();
  const payer = world.node.wallet();
  const part = await run(request.id, { 'usdc-micro': '1000000', 'private-key': payer.privateKey });
  await world.turn();
  assert.equal((await world.transfer(part))?.rule, 'reference');
  assert.equal((await world.transfer(part))?.from_address, payer.address);
  await run(request.id, { 'usdc-micro': String(BigInt(request.usdc_micro) - 1_000_000n) });
  await world.turn();
  assert.notEqual((await world.read(request)).proof_status, 'none');

  const untagged = await world.request();
  const hash = await run(untagged.id, { untagged: 'true' });
  await world.turn();
  assert.equal((await world.transfer(hash))?.rule, 'amount');
  await assert.rejects(run(request.id, { 'usdc-micro': '1.5' }), /whole number of micro units/);
  await assert.rejects(run('00000000-0000-4000-8000-000000000000', {}), /There is no request/);
});
