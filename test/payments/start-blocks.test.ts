import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { matchPending } from '../../src/payments/match.ts';
import { claim, claimTypedData } from '../../src/payments/submitted/claim.ts';
import { type Api, type ApiPartner, startApi } from '../support/api/client.ts';
import { makeTransfer } from '../support/fixtures.ts';

const chainId = 31337;
const headNumber = 100;
let api: Api;
let partner: ApiPartner;

before(async () => {
  api = await startApi();
  partner = await api.partner();
});
after(() => api?.stop());

const hash = `0x${'ab'.repeat(32)}`;

/** The chain was just read up to a block of this age, while a provider reports a far higher head. */
async function readUpTo(secondsAgo: number): Promise<void> {
  await api.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (${chainId}, 1, ${headNumber}, ${hash}, now() - ${secondsAgo} * interval '1 second', 999999999, 90, now())
    on conflict (chain_id) do update set block_time = excluded.block_time`;
  await api.db.sql`
    insert into chain_blocks (chain_id, number, hash, parent_hash, block_time)
    values (${chainId}, ${headNumber}, ${hash}, '0x', now()) on conflict do nothing`;
}

async function create() {
  const { json, text } = await partner.test.api.create({ account_id: partner.test.merchant.id, fiat_amount_int: 1250 });
  const [row] = await api.db.sql`
    select id, start_blocks, usdc_micro::text as due from requests where id = ${json.request_id}`;
  assert.ok(row, text);
  return row as { id: string; start_blocks: object; due: string };
}

const payer = privateKeyToAccount(generatePrivateKey());

const proofOf = async (id: string) =>
  (await api.db.sql`select proof_status from requests where id = ${id}`)[0]?.proof_status;

/** Stores a transfer mined this many seconds ago, as the watcher does, and matches it; returns its hash. */
async function mined(value: string, secondsAgo: number, blockNumber = headNumber + 10): Promise<string> {
  const { scope, merchant } = partner.test;
  const txHash = await makeTransfer(api.db.sql, scope, merchant, {
    chain_id: chainId,
    block_number: blockNumber,
    block_time: new Date(Math.floor(Date.now() / 1000 - secondsAgo) * 1000),
    token_address: api.ctx.chains.test[0]?.tokens[0]?.address ?? '',
    from_address: payer.address.toLowerCase(),
    value,
  });
  await matchPending(api.ctx);
  return txHash;
}

/** Returns why the transfer pays nothing, or null if it pays a request. */
async function pay(value: string, secondsAgo: number, blockNumber?: number): Promise<string | null> {
  const txHash = await mined(value, secondsAgo, blockNumber);
  const [row] = await api.db.sql`select reason from transfers where tx_hash = ${txHash}`;
  return row?.reason ?? null;
}

/** Claims a transfer with its sender's signature; returns the outcome. */
async function payAndClaim(requestId: string, value: string, secondsAgo: number): Promise<string> {
  const key = { chainId, txHash: await mined(value, secondsAgo), ordinal: 0 };
  const signature = await payer.signTypedData(claimTypedData(api.ctx.config, requestId, key));
  return (await claim(api.ctx, requestId, { ...key, signature })).kind;
}

test('a new request → stores number, hash and time of the newest block read on each chain of its mode', async () => {
  const beforeMs = Date.now();
  await readUpTo(5);
  const { start_blocks: start } = (await create()) as unknown as {
    start_blocks: { heads: Record<string, { time: string }> };
  };
  const { time } = start.heads[chainId] ?? {};
  const readMs = Date.parse(time ?? '') + 5_000;
  assert.ok(readMs >= beforeMs - 1_000 && readMs <= Date.now(), time); // it may be in whole seconds
  assert.deepEqual(start, { [chainId]: headNumber, heads: { [chainId]: { hash, time } } });
});

test('a head that a provider reported and nobody read, however high → the amount still pays', async () => {
  await readUpTo(5);
  const request = await create();
  assert.equal(await pay(request.due, 0), null);
  assert.equal(await proofOf(request.id), 'attached');
});

test('a transfer in a block as low as the newest one at create → pays nothing by amount, unless that block was replaced', async () => {
  await readUpTo(5);
  const request = await create();
  assert.equal(await pay(request.due, 0, headNumber), 'before_request');
  const other = await create();
  await api.db.sql`update chain_blocks set hash = ${`0x${'cd'.repeat(32)}`}`;
  assert.equal(await pay(other.due, 0, headNumber), null);
  assert.equal(await proofOf(other.id), 'attached');
  await api.db.sql`update chain_blocks set hash = ${hash}`;
});

// The future one lies further away than a busy machine needs for a create.
for (const secondsAgo of [16, -60, 3600]) {
  test(`a newest block of ${secondsAgo} seconds ago → is not kept`, async () => {
    await readUpTo(secondsAgo);
    assert.deepEqual((await create()).start_blocks, { heads: {} });
  });
}

test('while old blocks are read: a transfer from before the request → does not pay it by amount, whatever its number', async () => {
  for (const secondsAgo of [3600, 0]) {
    await readUpTo(secondsAgo);
    const request = await create();
    assert.equal(await pay(request.due, 60), 'before_request');
    assert.equal(await proofOf(request.id), 'none');
  }
});

test('a transfer from before the request that its sender signs for → counts for it', async () => {
  await readUpTo(3600);
  const request = await create();
  assert.equal(await payAndClaim(request.id, '1', 60), 'underpaid');
  assert.equal(await payAndClaim(request.id, request.due, 60), 'counted');
});

test('a transfer from after the request, while nobody reads the chain → counts for it', async () => {
  await readUpTo(3600);
  const request = await create();
  assert.equal(await payAndClaim(request.id, '1', 0), 'underpaid');
});
