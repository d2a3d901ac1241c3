import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callRpc } from '../../src/chain/rpc.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { until } from '../support/until.ts';

let f: PayFixtures;
before(async () => {
  f = await payFixtures();
});
after(() => f?.stop());

/** Pays a request. The payment is not stored, as if an endpoint had left it out. */
async function payUnread(request: RequestRow): Promise<string> {
  const { txHash } = await f.pay(request);
  await f.caughtUp();
  await f.owner`delete from transfers where tx_hash = ${txHash}`;
  return txHash;
}

test('a payment that was left out, in a block lower than at the create since the chain got shorter → found by its hash', async () => {
  const [url = ''] = f.node.chain.rpcUrls;
  await f.node.mine(12);
  await f.caughtUp();
  const head = (await callRpc(url, 'eth_getBlockByNumber', ['latest', false])) as { number: string; hash: string };
  const startHeads = { [f.node.chain.chainId]: { hash: head.hash, time: new Date().toISOString() } };
  const request = await f.request({ startHeads });
  await callRpc(url, 'anvil_rollback', [8]);
  await f.node.mine(1);
  const txHash = await payUnread(request);
  const receipt = (await callRpc(url, 'eth_getTransactionReceipt', [txHash])) as { blockNumber: string };
  assert.ok(Number(receipt.blockNumber) < Number(head.number));

  assert.equal((await submitHash(f.ctx, request.id, { txHash })).kind, 'seen');
  await until(() => f.transfer(txHash), 'it is read');
  await f.turn();
  assert.equal((await f.read(request)).proof_status, 'attached');
});

test('the same, so long ago that the blocks are not stored any more → found by its hash', async () => {
  const [url = ''] = f.node.chain.rpcUrls;
  await f.node.mine(12);
  await f.caughtUp();
  const head = (await callRpc(url, 'eth_getBlockByNumber', ['latest', false])) as Record<
    'number' | 'hash' | 'timestamp',
    string
  >;
  const time = new Date(Number(head.timestamp) * 1000).toISOString();
  const request = await f.request({ startHeads: { [f.node.chain.chainId]: { hash: head.hash, time } } });
  await callRpc(url, 'anvil_rollback', [8]);
  await callRpc(url, 'evm_setNextBlockTimestamp', [Number(head.timestamp) + 1]);
  await f.node.mine(1);
  const txHash = await payUnread(request);
  await f.node.mine(20);
  await f.caughtUp();
  await f.owner`delete from chain_blocks where number <= ${Number(head.number)}`;

  assert.equal((await submitHash(f.ctx, request.id, { txHash })).kind, 'seen');
  await until(() => f.transfer(txHash), 'it is read');
});

test('a payment that was left out, in a block before the newest one at the create, which still exists → before_request', async () => {
  const txHash = await payUnread(await f.request());
  await f.node.mine(1);
  await f.caughtUp();
  const later = await f.request();
  assert.equal((await submitHash(f.ctx, later.id, { txHash })).kind, 'before_request');
});

test('a payment that was left out, of a request made while no block was known, and long ago → found by its hash', async () => {
  const [url = ''] = f.node.chain.rpcUrls;
  const request = await f.request({ startBlocks: {} });
  const txHash = await payUnread(request);
  const head = (await callRpc(url, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  // The clock of the block's producer is behind.
  await f.owner`update requests set made_at = to_timestamp(${Number(head.timestamp) + 12}) where id = ${request.id}`;
  await f.node.mine(20);
  await f.caughtUp();
  const receipt = (await callRpc(url, 'eth_getTransactionReceipt', [txHash])) as { blockNumber: string };
  await f.owner`delete from chain_blocks where number <= ${Number(receipt.blockNumber)}`;

  assert.equal((await submitHash(f.ctx, request.id, { txHash })).kind, 'seen');
  await until(() => f.transfer(txHash), 'it is read');
});
