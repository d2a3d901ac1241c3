import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { claim, claimTypedData } from '../../src/payments/claim.ts';
import { judgePending } from '../../src/payments/match.ts';
import { type Api, type Party, startApi } from '../support/client.ts';

const chainId = 31337;
const headNumber = 100;
let api: Api;
let party: Party;

before(async () => {
  api = await startApi();
  party = await api.party();
});
after(() => api?.stop());

/** The chain as it is read, with a head that the provider told so many seconds ago. */
async function lastRead(secondsAgo: number): Promise<void> {
  await api.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at,
      head_seen_at)
    values (${chainId}, 1, ${headNumber}, '0x', now(), ${headNumber}, 90, now(), now() - ${secondsAgo} * interval '1 second')
    on conflict (chain_id) do update set head_seen_at = excluded.head_seen_at`;
}

async function create() {
  const { json, text } = await party.test.api.create({ account_id: party.test.merchant.id, fiat_amount_int: 1250 });
  const [row] = await api.db.sql`
    select id, start_blocks, usdc_micro::text as due from requests where id = ${json.request_id}`;
  assert.ok(row, text);
  return row as { id: string; start_blocks: object; due: string };
}

const payer = privateKeyToAccount(generatePrivateKey());

/** A transfer as the watcher stores it, mined so many seconds ago, and signed for by its sender; returns what came of it. */
async function payAndClaim(requestId: string, value: string, secondsAgo: number): Promise<string> {
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  await api.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id)
    values (${chainId}, ${txHash}, 0, ${headNumber + 10}, '0x', date_trunc('second', now() - ${secondsAgo} * interval '1 second'),
      ${api.ctx.chains.test[0]?.tokens[0]?.address ?? ''}, ${payer.address.toLowerCase()}, ${party.test.merchant.wallet},
      ${value}, ${party.test.scope.partnerId}, true, ${party.test.merchant.id})`;
  await judgePending(api.ctx);
  const key = { chainId, txHash, ordinal: 0 };
  const signature = await payer.signTypedData(claimTypedData(api.ctx.config, requestId, key));
  return (await claim(api.ctx, requestId, { ...key, signature })).kind;
}

test('a request keeps the head of each chain of its mode while it is known', async () => {
  await lastRead(5);
  assert.deepEqual((await create()).start_blocks, { [chainId]: headNumber });
});

test('a transfer from before the request, mined while nobody read the chain → cannot be claimed for it', async () => {
  await lastRead(16);
  const request = await create();
  assert.deepEqual(request.start_blocks, {}, 'a head that may be old is not kept');
  assert.equal(await payAndClaim(request.id, '1', 60), 'before_request');
  assert.equal(await payAndClaim(request.id, request.due, 60), 'before_request');
  const [row] = await api.db.sql`select proof_status from requests where id = ${request.id}`;
  assert.equal(row?.proof_status, 'none');
});

test('a transfer from after the request, while nobody reads the chain → counts for it', async () => {
  await lastRead(3600);
  const request = await create();
  assert.equal(await payAndClaim(request.id, '1', 0), 'underpaid');
});
