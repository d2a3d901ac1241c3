import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { callRpc } from '../../src/chain/rpc.ts';
import {
  deleteExpiredSubmitted,
  readSubmitted,
  refreshSubmitted,
  type SubmittedTransaction,
} from '../../src/payments/submitted/follow.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { signCall } from '../../src/sandbox/wallet.ts';
import type { TestWallet } from '../support/chain/chain.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { secondEndpoint } from '../support/payments/second-endpoint.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;

let second: Awaited<ReturnType<typeof secondEndpoint>>;
let fixtures: PayFixtures;
before(async () => {
  second = await secondEndpoint();
  second.endpoint.mode = 'away';
  fixtures = await payFixtures([second.url]);
  second.endpoint.target = fixtures.node.chain.rpcUrls[0] ?? '';
  second.endpoint.mode = 'honest';
});
after(async () => {
  await fixtures?.stop();
  await second?.stop();
});

const rpc = (method: string, params: unknown[]) => callRpc(second.endpoint.target, method, params);
const told = (submitted: SubmittedTransaction[]) => submitted.map(({ txHash, state }) => [txHash, state]);
const read = (request: { id: string }) => readSubmitted(fixtures.ctx, fixtures.scope, request.id);
const submit = (request: { id: string }, txHash: string) => submitHash(fixtures.ctx, request.id, { txHash });

/** A funded wallet that has not sent its first transaction, so later ones wait. */
async function payer(usdcMicro: bigint): Promise<TestWallet> {
  const from = fixtures.node.wallet();
  await fixtures.node.fund(from.address, usdcMicro);
  return from;
}

/** A transaction that waits in the mempool because the wallet's first one is missing. */
async function waiting(request: RequestRow, details: { usdcMicro?: bigint; to?: string; reference?: Uint8Array } = {}) {
  const usdcMicro = details.usdcMicro ?? BigInt(request.usdc_micro);
  const from = await payer(usdcMicro);
  const payment = { from, to: details.to ?? request.wallet_address, usdcMicro, reference: details.reference, ahead: 1 };
  return { from, payment, txHash: await fixtures.node.offer(payment) };
}

/** Sends the wallet's missing first transaction, which moves no money. */
async function fillGap(from: TestWallet): Promise<void> {
  await fixtures.node.offer({ from, to: from.address, usdcMicro: 0n });
  await fixtures.node.mine(1);
}

const becomes = (request: RequestRow, state: SubmittedTransaction['state']) =>
  until(async () => {
    const [submitted] = await refreshSubmitted(fixtures.ctx, fixtures.scope, request.id);
    return submitted?.state === state && submitted;
  }, `the transaction is ${state}`);

test('a transaction in the mempool → shown on the page without a change of state; mined → mined, and then by its transfer', async () => {
  const request = await fixtures.request();
  const { txHash, from } = await waiting(request, { reference: request.reference });
  assert.deepEqual(await submit(request, txHash), { kind: 'pending_in_mempool' });
  const [submitted] = await read(request);
  assert.deepEqual(
    { ...submitted, firstSeenAt: null, reportedAt: null },
    {
      chainId: 31337,
      txHash,
      fromAddress: from.address,
      state: 'seen',
      replacedBy: null,
      firstSeenAt: null,
      reportedAt: null,
      usdcMicro: BigInt(request.usdc_micro),
    },
  );
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'none');

  await fixtures.db.sql`update chain_cursors set fence = 9000000`; // the watcher can no longer write
  await fillGap(from);
  await becomes(request, 'mined');
  await fixtures.db.sql`update chain_cursors set fence = 1`;
  await fixtures.turn();
  assert.deepEqual(await read(request), []);
  assert.notEqual((await fixtures.read(request)).proof_status, 'none');
});

test('a transaction that names the request and pays nothing → not kept; one that was to pay, mined without → dropped', async () => {
  const request = await fixtures.request();
  const from = await payer(0n);
  const reference = Buffer.from(request.reference).toString('hex');
  const send = async (data: string, nonce: number) => {
    const signed = await signCall(fixtures.node.chain, from.privateKey, from.address, `0x${data}`, { nonce });
    return (await rpc('eth_sendRawTransaction', [signed])) as string;
  };
  assert.deepEqual(await submit(request, await send(reference, 1)), { kind: 'pending_in_mempool' });
  assert.deepEqual(await read(request), []);
  const named = await send(request.wallet_address.slice(2) + reference, 2);
  await submit(request, named);
  assert.deepEqual(told(await read(request)), [[named, 'seen']]);
  await fillGap(from);
  await fixtures.node.mine(2);
  await until(
    async () => (await refreshSubmitted(fixtures.ctx, fixtures.scope, request.id)).length === 0,
    'the transaction is dropped',
  );
});

test('another transaction took its nonce → replaced, with the other’s hash', async () => {
  const request = await fixtures.request();
  const { txHash, payment, from } = await waiting(request);
  await submit(request, txHash);
  const other = await fixtures.node.offer({ ...payment, to: from.address, feeFactor: 3n });
  await fixtures.node.mine(5);
  await fillGap(from);
  await fixtures.node.mine(5);
  assert.equal((await becomes(request, 'replaced')).replacedBy, other);
});

test('dropped by the network → gone; sent again → seen', async () => {
  const request = await fixtures.request();
  const { txHash, from } = await waiting(request);
  await submit(request, txHash);
  const signed = await rpc('eth_getRawTransactionByHash', [txHash]);
  await rpc('anvil_removePoolTransactions', [from.address]);
  await becomes(request, 'gone');
  await rpc('eth_sendRawTransaction', [signed]);
  await becomes(request, 'seen');
});

test('mined and reverted → failed, on the page too', async () => {
  const request = await fixtures.request();
  const from = await payer(0n);
  const txHash = await fixtures.node.offer({ from, to: request.wallet_address, usdcMicro: BigInt(request.usdc_micro) });
  await until(() => rpc('eth_getTransactionReceipt', [txHash]), 'it is mined');
  assert.deepEqual(await submit(request, txHash), { kind: 'failed' });
  assert.deepEqual(told(await read(request)), [[txHash, 'failed']]);
});

test('while an endpoint does not answer, a submitted transaction stays as it was', async () => {
  const request = await fixtures.request();
  const { txHash, from } = await waiting(request);
  await submit(request, txHash);
  await rpc('anvil_removePoolTransactions', [from.address]);
  second.endpoint.mode = 'away';
  try {
    const before = await submittedRow(request);
    const asked = async () => {
      await refreshSubmitted(fixtures.ctx, fixtures.scope, request.id);
      return (await submittedRow(request))?.checked_at > before?.checked_at;
    };
    await until(asked, 'the chain was asked');
    assert.deepEqual(told(await read(request)), [[txHash, 'seen']]);
  } finally {
    second.endpoint.mode = 'honest';
  }
  await becomes(request, 'gone');
});

test('all endpoints hang → the caller still gets an answer in time', async () => {
  const request = await fixtures.request();
  const { txHash, from } = await waiting(request);
  await submit(request, txHash);
  await rpc('anvil_removePoolTransactions', [from.address]);
  second.endpoint.mode = 'silent';
  try {
    await isDue(request);
    const chain = { ...fixtures.node.chain, rpcUrls: [second.url, second.url] };
    const ctx = { ...fixtures.ctx, chains: { test: [chain], live: [] } };
    const submitted = await refreshSubmitted(ctx, fixtures.scope, request.id);
    assert.deepEqual(told(submitted), [[txHash, 'seen']]);
  } finally {
    second.endpoint.mode = 'honest';
  }
  await becomes(request, 'gone');
});

test('a chain is queried once a second, however many pages ask', async () => {
  const request = await fixtures.request();
  const { txHash, from } = await waiting(request);
  await submit(request, txHash);
  // The first endpoint no longer knows it, so the second is asked each time.
  await rpc('anvil_removePoolTransactions', [from.address]);
  await isDue(request);
  const askedBefore = second.endpoint.receiptsAsked;
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: 10 }, () => refreshSubmitted(fixtures.ctx, fixtures.scope, request.id)));
  const seconds = Math.floor((performance.now() - startedAt) / 1000);
  const asked = second.endpoint.receiptsAsked - askedBefore;
  assert.ok(asked >= 1 && asked <= 1 + seconds, `asked ${asked} times`);
  assert.deepEqual(told(await read(request)), [[txHash, 'gone']]);
});

const isDue = (request: RequestRow) =>
  until(async () => {
    const due = await fixtures.db.sql`
      select from payment_hints where request_id = ${request.id} and checked_at < clock_timestamp() - interval '1 second'`;
    return due.length > 0;
  }, 'the transaction is due');

async function submittedRow(request: RequestRow) {
  const [row] = await fixtures.db.sql`select * from payment_hints where request_id = ${request.id}`;
  return row;
}

test('transactions of other people, other wallets and other requests are not kept', async () => {
  const request = await fixtures.request();
  const neighbour = await fixtures.request();
  const elsewhere = await makeRequest(fixtures.db, fixtures.scope, await makeMerchant(fixtures.db, fixtures.scope));
  const amount = BigInt(neighbour.usdc_micro);
  const strangers = [
    await waiting(request, { to: fixtures.node.wallet().address }),
    await waiting(request, { to: elsewhere.wallet_address, reference: elsewhere.reference }),
    await waiting(request, { reference: neighbour.reference }),
    await waiting(request, { usdcMicro: amount }),
  ];
  for (const { txHash } of strangers) {
    assert.deepEqual(await submit(request, txHash), { kind: 'pending_in_mempool' });
  }
  assert.deepEqual(await read(request), []);
  const own = await waiting(request, { usdcMicro: 1_234_567n, reference: randomBytes(16) });
  await submit(request, own.txHash);
  assert.deepEqual(told(await read(request)), [[own.txHash, 'seen']]);
});

test('the newest ten of a request are kept, no other scope can read them, and they are deleted after three days', async () => {
  const request = await fixtures.request();
  const from = await payer(1n);
  const hashes: string[] = [];
  for (let ahead = 1; ahead <= 12; ahead++) {
    const txHash = await fixtures.node.offer({ from, to: request.wallet_address, usdcMicro: 1n, ahead });
    await submit(request, txHash);
    hashes.unshift(txHash);
  }
  assert.deepEqual(
    (await read(request)).map(({ txHash }) => txHash),
    hashes.slice(0, 10),
  );
  const stranger = await makePartner(fixtures.db);
  for (const scope of [stranger.test, stranger.live]) {
    assert.deepEqual(await readSubmitted(fixtures.ctx, scope, request.id), []);
    const seen = await fixtures.db.scoped(scope, (tx) => tx`select count(*)::int as n from payment_hints`);
    assert.equal(seen[0]?.n, 0);
  }
  await fixtures.db
    .sql`update payment_hints set first_seen_at = now() - interval '71 hours' where request_id = ${request.id}`;
  assert.equal(await deleteExpiredSubmitted(fixtures.ctx, running), 0);
  await fixtures.db
    .sql`update payment_hints set first_seen_at = now() - interval '73 hours' where request_id = ${request.id}`;
  assert.equal(await deleteExpiredSubmitted(fixtures.ctx, running), 10);
  assert.deepEqual(await read(request), []);
});
