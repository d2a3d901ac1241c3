import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import { createInScope } from '../../src/requests/create-in-scope.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

const rpc = (method: string, params: unknown[]) => callRpc(fixtures.node.chain.rpcUrls[0] ?? '', method, params);

/** Creates a request as usual, with the head known at that moment. */
async function create(fiatInt = 1250): Promise<RequestRow> {
  await fixtures.node.mine(1);
  await fixtures.caughtUp();
  const fields = {
    account_id: fixtures.merchant.id,
    fiat_amount_int: fiatInt,
    idempotency_key: randomBytes(24).toString('base64url'),
  };
  return (await createInScope(fixtures.ctx, fixtures.scope, fields)).row;
}
const startOf = (request: RequestRow) => Number(request.start_blocks['31337']);

/** Pays in the block after the head at creation. Then both blocks are replaced, and it is mined in the head's place. */
async function paidThenMoved(usdcMicro: bigint | null, tagged: boolean) {
  const from = fixtures.node.wallet();
  await fixtures.node.fund(from.address, 20_000_000n);
  const request = await create();
  const start = startOf(request);
  const { txHash } = await fixtures.pay(request, { from, tagged, ...(usdcMicro !== null && { usdcMicro }) });
  await fixtures.turn();
  const raw = await rpc('eth_getRawTransactionByHash', [txHash]);
  const head = Number(await rpc('eth_blockNumber', []));
  assert.equal(head, start + 1, 'in the block after the head');
  await rpc('anvil_reorg', [2, [[raw, 0]]]);
  await fixtures.turn();
  assert.equal(Number((await fixtures.transfer(txHash))?.block_number), start, 'where the head was');
  await fixtures.node.mine(3);
  await fixtures.turn();
  return { request, txHash };
}

test('A payment that a reorganisation moves into the place of the head known at create still pays: by amount and by reference', async () => {
  for (const tagged of [false, true]) {
    const { request, txHash } = await paidThenMoved(null, tagged);
    assert.equal((await fixtures.read(request)).proof_status, 'verified', tagged ? 'by reference' : 'by amount');
    assert.equal((await fixtures.transfer(txHash))?.rule, tagged ? 'reference' : 'amount');
  }
});

test('a payment of another amount that a reorganisation moves so → its merchant can attach it', async () => {
  const { request, txHash } = await paidThenMoved(19_000_077n, false);
  const attach = { chainId: 31337, txHash, ordinal: 0, accountId: fixtures.merchant.id, requestId: request.id };
  assert.equal((await attachUnmatched(fixtures.ctx, theService, fixtures.scope, attach)).kind, 'counted');
});

test('a payment mined in the head known at create, or before it → does not match by amount', async () => {
  const from = fixtures.node.wallet();
  const txHash = await fixtures.node.pay({ from, to: fixtures.merchant.wallet, usdcMicro: 29_891_305n });
  await fixtures.caughtUp();
  const request = await create(2750);
  assert.equal(request.usdc_micro, '29891305');
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.reason, 'before_request');
  assert.equal((await fixtures.read(request)).proof_status, 'none');
});
