import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type CountingProxy, startCountingProxy } from '../../bench/counting-proxy.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { makeRequest } from '../support/fixtures.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';

let of: CollectFixtures;
let proxy: CountingProxy;
before(async () => {
  of = await collectFixtures({
    endpoint: async (target) => {
      proxy = await startCountingProxy(target);
      return proxy.url;
    },
  });
});
after(async () => {
  await of?.stop();
  await proxy?.close();
});

/** Pays this many requests in one block, each by its reference. */
async function payTogether(count: number) {
  const requests: RequestRow[] = [];
  for (let i = 0; i < count; i++) requests.push(await makeRequest(of.db, of.scope, of.merchant));
  const payers = requests.map(() => of.node.wallet());
  for (const [i, payer] of payers.entries()) await of.node.fund(payer.address, BigInt(requests[i]?.usdc_micro ?? 0));
  await of.caughtUp();
  await of.rpc('evm_setAutomine', [false]);
  try {
    for (const [i, request] of requests.entries()) {
      const from = payers[i];
      if (!from) continue;
      const usdcMicro = BigInt(request.usdc_micro);
      await of.node.offer({ from, to: request.wallet_address, usdcMicro, reference: request.reference });
    }
    proxy.calls.clear();
    await of.node.mine(1);
  } finally {
    await of.rpc('evm_setAutomine', [true]);
  }
  await of.node.mine(1);
  await of.caughtUp();
  await matchPending(of.ctx);
  await verifyFinal(of.ctx);
  return requests;
}

async function assertVerified(requests: RequestRow[]): Promise<void> {
  const rows = await of.db.sql`
    select proof_status from requests where id = any(${requests.map(({ id }) => id)}::uuid[])`;
  assert.deepEqual([...new Set(rows.map((row) => row.proof_status))], ['verified']);
}

test('The receipts of a block with many payments are read in one call, and each pays its request', async () => {
  const requests = await payTogether(6);
  await assertVerified(requests);
  assert.equal(proxy.calls.get('eth_getBlockReceipts'), 1);
  assert.equal(proxy.calls.get('eth_getTransactionReceipt'), undefined);
});

test('a block with a few payments → its receipts are read one by one', async () => {
  const requests = await payTogether(2);
  await assertVerified(requests);
  assert.equal(proxy.calls.get('eth_getBlockReceipts'), undefined);
  assert.equal(proxy.calls.get('eth_getTransactionReceipt'), 2);
});
