import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { paymentCommands } from '../../src/cli/payments.ts';
import { matchPending } from '../../src/payments/match.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import { browseUnmatched } from '../../src/payments/unmatched/browse.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { payPageUrl } from '../../src/requests/render.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
});
after(() => fixtures?.stop());

const minuteMs = 60_000;

/** Moves a request's expiry so that a payment mined now is this many minutes late. */
async function expiredFor(request: { id: string }, minutes: number): Promise<void> {
  await fixtures.db.sql`
    update requests set status = 'expired', expires_at = now() - ${minutes} * interval '1 minute' where id = ${request.id}`;
}

test('a tagged payment → attached, and verified with exactly one event once it is final', async () => {
  const request = await fixtures.request({ metadata: '{"order":"7"}' });
  const { txHash, from } = await fixtures.pay(request);
  await fixtures.turn();
  const attached = await fixtures.read(request);
  assert.equal(attached.proof_status, 'attached');
  assert.equal(attached.tx_hash, null);
  assert.equal(attached.asset_id, `eip155:31337/erc20:${fixtures.node.chain.tokens[0]?.address}`);
  const progress = await readProgress(fixtures.ctx, fixtures.scope, request.id);
  assert.equal(progress.missingMicro, 0n);
  assert.deepEqual(
    progress.transfers.map(({ confirmations, neededConfirmations, final }) => ({
      confirmations,
      neededConfirmations,
      final,
    })),
    [{ confirmations: 1, neededConfirmations: 2, final: false }],
  );
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash }), {
    kind: 'counted',
    proofStatus: 'attached',
  });

  await fixtures.node.mine(1);
  await fixtures.turn();
  const verified = await fixtures.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.tx_hash, txHash);
  assert.equal(verified.payer_address, from.address);
  assert.ok(verified.proof_verified_at);
  const [event, ...more] = await fixtures.events(request);
  assert.equal(more.length, 0);
  const body = JSON.parse(event?.body);
  assert.equal(body.tx_hash, txHash);
  assert.equal(body.timestamp, verified.proof_verified_at.toISOString());
  const [reserved] = await fixtures.db.sql`select * from amount_reservations where request_id = ${request.id}`;
  assert.equal(reserved?.reserved_until.getTime(), verified.proof_verified_at.getTime() + 24 * 60 * minuteMs);
});

test('a payment that is final at first sight → from none to verified directly', async () => {
  const request = await fixtures.request();
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await matchPending(fixtures.ctx);
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.equal((await fixtures.events(request)).length, 1);
});

test('an untagged payment of the exact amount → its request', async () => {
  const request = await fixtures.request();
  const other = await fixtures.request();
  assert.notEqual(request.usdc_micro, other.usdc_micro);
  const { txHash } = await fixtures.pay(other, { tagged: false });
  await fixtures.turn();
  assert.equal((await fixtures.read(other)).proof_status, 'attached');
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.equal((await fixtures.transfer(txHash))?.rule, 'amount');
});

test('an untagged whole cent while an amount close to it is reserved → unmatched, and the merchant attaches it', async () => {
  const dearer = await fixtures.request({ exactMicro: 6_000_000n });
  const exact = await fixtures.request({ exactMicro: 5_000_000n });
  await fixtures.request({ exactMicro: 5_000_000n });
  const { txHash, from } = await fixtures.pay(exact, { tagged: false });
  await fixtures.turn();
  assert.equal((await fixtures.read(exact)).proof_status, 'none');
  assert.equal((await fixtures.transfer(txHash))?.reason, 'ambiguous');
  const outcome = await submitHash(fixtures.ctx, exact.id, { txHash });
  assert.equal(outcome.kind, 'needs_signature');
  const { rows } = await browseUnmatched(fixtures.ctx, fixtures.scope, { accountId: fixtures.merchant.id }, null);
  const unmatched = rows.find((payment) => payment.tx_hash === txHash);
  assert.equal(unmatched?.from_address, from.address);
  assert.equal(unmatched?.reason, 'ambiguous');
  assert.ok(unmatched);

  const attach = { chainId: 31337, txHash, ordinal: unmatched.ordinal, accountId: fixtures.merchant.id };
  assert.deepEqual(
    await attachUnmatched(fixtures.ctx, theService, fixtures.scope, { ...attach, requestId: dearer.id }),
    {
      kind: 'underpaid',
      missingMicro: 1_000_000n,
    },
  );
  const done = await attachUnmatched(fixtures.ctx, theService, fixtures.scope, { ...attach, requestId: exact.id });
  assert.deepEqual(done, { kind: 'counted', proofStatus: 'attached' });
  assert.equal((await fixtures.transfer(txHash))?.rule, 'merchant');
  assert.equal(
    (await attachUnmatched(fixtures.ctx, theService, fixtures.scope, { ...attach, requestId: dearer.id })).kind,
    'already_used',
  );
});

test('an underpaid request stays none and shows what is missing; topped up, the second transfer is its proof', async () => {
  const request = await fixtures.request();
  const due = BigInt(request.usdc_micro);
  const first = await fixtures.pay(request, { usdcMicro: due - 1_000_000n });
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.equal((await readProgress(fixtures.ctx, fixtures.scope, request.id)).missingMicro, 1_000_000n);
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash: first.txHash }), {
    kind: 'underpaid',
    missingMicro: 1_000_000n,
  });
  const second = await fixtures.pay(request, { usdcMicro: 1_000_000n });
  await fixtures.node.mine(2);
  await fixtures.turn();
  await fixtures.turn();
  const verified = await fixtures.read(request);
  assert.equal(verified.proof_status, 'verified');
  assert.equal(verified.tx_hash, second.txHash);
  assert.equal(verified.payer_address, second.from.address);
});

test('an overpaid request is paid; a second payment is unmatched', async () => {
  const request = await fixtures.request();
  const first = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 5n });
  await fixtures.turn();
  const second = await fixtures.pay(request);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.equal((await fixtures.read(request)).tx_hash, first.txHash);
  const row = await fixtures.transfer(second.txHash);
  assert.equal(row?.request_id, null);
  assert.equal(row?.reason, 'already_paid');
  assert.equal(row?.candidate_request_id, request.id);
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash: second.txHash }), { kind: 'already_paid' });
  assert.equal((await fixtures.events(request)).length, 1);
  const progress = await readProgress(fixtures.ctx, fixtures.scope, request.id);
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
  const soon = await fixtures.request();
  const late = await fixtures.request();
  await expiredFor(soon, 20);
  await expiredFor(late, 40);
  await fixtures.pay(soon);
  const { txHash } = await fixtures.pay(late);
  await fixtures.node.mine(2);
  await fixtures.turn();
  const paid = await fixtures.read(soon);
  assert.equal(paid.status, 'expired');
  assert.equal(paid.proof_status, 'verified');
  assert.equal((await fixtures.events(soon)).length, 1);
  assert.equal((await fixtures.read(late)).proof_status, 'none');
  assert.equal((await fixtures.transfer(txHash))?.reason, 'late');
  const [told] = (await readProgress(fixtures.ctx, fixtures.scope, late.id)).unmatched;
  assert.deepEqual([told?.txHash, told?.reason], [txHash, 'late']);
  assert.deepEqual(await submitHash(fixtures.ctx, late.id, { txHash }), { kind: 'late' });

  const { rows } = await browseUnmatched(fixtures.ctx, fixtures.scope, {}, null);
  const found = rows.find((payment) => payment.tx_hash === txHash);
  assert.equal(found?.candidate_request_id, late.id);
  const attach = { chainId: 31337, txHash, ordinal: found?.ordinal ?? -1, accountId: fixtures.merchant.id };
  const done = await attachUnmatched(fixtures.ctx, theService, fixtures.scope, { ...attach, requestId: late.id });
  assert.deepEqual(done, { kind: 'counted', proofStatus: 'verified' });
  assert.equal((await fixtures.read(late)).status, 'expired');
});

test('an expiry that readers have seen stays, also where it was not stored before the payment', async () => {
  const request = await fixtures.request();
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 minute' where id = ${request.id}`;
  await fixtures.pay(request);
  await fixtures.turn();
  const row = await fixtures.read(request);
  assert.equal(row.proof_status, 'attached');
  assert.equal(row.status, 'expired');
});

test('money for a voided request, and an earlier partial payment, are unmatched', async () => {
  const request = await fixtures.request();
  const part = await fixtures.pay(request, { usdcMicro: 1_000_000n });
  await fixtures.turn();
  await cancelRequest(fixtures.ctx, theService, fixtures.scope, request.id);
  const rest = await fixtures.pay(request);
  await fixtures.turn();
  const row = await fixtures.read(request);
  assert.equal(row.status, 'voided');
  assert.equal(row.proof_status, 'none');
  for (const { txHash } of [part, rest]) {
    const transfer = await fixtures.transfer(txHash);
    assert.equal(transfer?.counts, false);
    assert.equal(transfer?.reason, 'voided');
    assert.equal(transfer?.candidate_request_id, request.id);
  }
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash: rest.txHash }), { kind: 'voided' });
});

test('a transaction that proves nothing is answered plainly and applied to nothing', async () => {
  const newcomer = await makeMerchant(fixtures.db, fixtures.scope);
  const unwatched = await fixtures.node.pay({ from: fixtures.node.wallet(), to: newcomer.wallet, usdcMicro: 3n });
  const before = await fixtures.node.pay({ from: fixtures.node.wallet(), to: fixtures.merchant.wallet, usdcMicro: 3n });
  await fixtures.turn();
  const [cursor] = await fixtures.db.sql`select number from chain_cursors`;
  for (const [number, expected] of [
    [Number(cursor?.number), 'before_request'],
    [0, 'seen'],
  ] as const) {
    const first = await makeRequest(fixtures.db, fixtures.scope, newcomer, { startBlocks: { 31337: number } });
    assert.equal((await submitHash(fixtures.ctx, first.id, { txHash: unwatched })).kind, expected);
  }
  const request = await fixtures.request();
  const outcome = async (txHash: string) => (await submitHash(fixtures.ctx, request.id, { txHash })).kind;
  assert.equal(await outcome(before), 'needs_signature', 'its sender can say so');
  assert.equal(await outcome('0x12'), 'malformed');
  assert.equal(await outcome(`0x${'12'.repeat(32)}`), 'not_found');
  const elsewhere = await fixtures.node.pay({
    from: fixtures.node.wallet(),
    to: fixtures.node.wallet().address,
    usdcMicro: 3n,
  });
  assert.equal(await outcome(elsewhere), 'wrong_recipient');
  const paidOther = await fixtures.request();
  const { txHash } = await fixtures.pay(paidOther);
  await fixtures.turn();
  assert.equal(await outcome(txHash), 'already_used');
  const open = await fixtures.pay(request, { usdcMicro: 7n, tagged: false });
  await fixtures.turn();
  assert.equal(await outcome(open.txHash), 'needs_signature');
  assert.equal((await fixtures.read(request)).proof_status, 'none');
});

test('a reference of one merchant on a transfer to another → unmatched as a conflict', async () => {
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  const other = await makeRequest(fixtures.db, fixtures.scope, merchant);
  const request = await fixtures.request();
  const txHash = await fixtures.node.pay({
    from: fixtures.node.wallet(),
    to: request.wallet_address,
    usdcMicro: BigInt(request.usdc_micro),
    reference: other.reference,
  });
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.reason, 'conflict');
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.equal((await fixtures.read(other)).proof_status, 'none');
});

test('ten turns of the loops at once → one result and one event for each request', async () => {
  const requests = await Promise.all([1, 2, 3, 4, 5].map(() => fixtures.request()));
  for (const request of requests) {
    await fixtures.pay(request);
    await fixtures.pay(request);
  }
  await fixtures.node.mine(2);
  await fixtures.caughtUp();
  // Transfers of earlier tests may still be waiting for their next turn.
  const [waiting] = await fixtures.db.sql<{ count: number }[]>`
    select count(*)::int as count from transfers where judged_at is null`;
  const matched = await Promise.all(Array.from({ length: 5 }, () => matchPending(fixtures.ctx)));
  await matchPending(fixtures.ctx);
  await Promise.all(Array.from({ length: 5 }, () => verifyFinal(fixtures.ctx)));
  await verifyFinal(fixtures.ctx);
  const total = matched.reduce((a, b) => a + b);
  assert.ok(total <= (waiting?.count ?? 0), `${total} matched of ${waiting?.count}`);
  for (const request of requests) {
    assert.equal((await fixtures.read(request)).proof_status, 'verified');
    assert.equal((await fixtures.events(request)).length, 1);
    const counted = await fixtures.db.sql`select from transfers where request_id = ${request.id} and counts`;
    assert.equal(counted.length, 1);
  }
});

test('sandbox expire › a waiting request expires now; a paid one is left alone', async () => {
  const expire = paymentCommands.find(({ name }) => name === 'sandbox expire');
  const request = await fixtures.request();
  const link = payPageUrl(fixtures.ctx.config, request.id);
  const answer = await expire?.run(fixtures.ctx, { words: [link], options: {} });
  assert.equal(answer?.status, 'expired');
  await fixtures.pay(request);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  await assert.rejects(
    async () => expire?.run(fixtures.ctx, { words: [request.id], options: {} }),
    /is no longer waiting for payment/,
  );
});

test('sandbox pay › pays with the reference, or untagged, and with a key and an amount of one’s choice', async () => {
  const pay = paymentCommands.find(({ name }) => name === 'sandbox pay');
  const ctx = { ...fixtures.ctx, config: { ...fixtures.ctx.config, dataDir: fixtures.node.folder } };
  const [url] = fixtures.node.chain.rpcUrls;
  const { tokens } = fixtures.node.chain;
  const entry = { chain_id: 31337, rpc_urls: [url], tokens, finality: [{ confirmations: 2 }] };
  const chains = { test: [entry], live: [{ ...entry, chain_id: 31338 }] };
  writeFileSync(join(fixtures.node.folder, 'chains.json'), JSON.stringify(chains));
  const run = async (id: string, options: Record<string, string | true>) =>
    (await pay?.run(ctx, { words: [id], options }))?.tx_hash as string;

  const request = await fixtures.request();
  const payer = fixtures.node.wallet();
  const part = await run(request.id, { 'usdc-micro': '1000000', 'private-key': payer.privateKey });
  await fixtures.turn();
  assert.equal((await fixtures.transfer(part))?.rule, 'reference');
  assert.equal((await fixtures.transfer(part))?.from_address, payer.address);
  await run(request.id, { 'usdc-micro': String(BigInt(request.usdc_micro) - 1_000_000n) });
  await fixtures.turn();
  assert.notEqual((await fixtures.read(request)).proof_status, 'none');

  const untagged = await fixtures.request();
  const hash = await run(untagged.id, { untagged: 'true' });
  await fixtures.turn();
  assert.equal((await fixtures.transfer(hash))?.rule, 'amount');
  await assert.rejects(run(request.id, { 'usdc-micro': '1.5' }), /whole number of micro units/);
  await assert.rejects(run('00000000-0000-4000-8000-000000000000', {}), /There is no request/);
});
