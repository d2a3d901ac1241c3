import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { list } from '../../src/db/sql.ts';
import { readFinalPayment } from '../../src/payments/proof/final-payment.ts';
import { readProgress } from '../../src/payments/proof/progress.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { cancelRefund } from '../../src/refunds/cancel.ts';
import { prepareRefund } from '../../src/refunds/refund.ts';
import { startRefund } from '../../src/refunds/start.ts';
import { readPortalStatus } from '../../src/requests/lists/browse.ts';
import { idleChain, testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type LyingReader, lyingReader } from '../support/payments/lying-reader.ts';
import { readUpTo, store, tableEndpoint } from '../support/payments/table-chain.ts';

/** The endpoint that is read can lie; the other one is honest. */
let fixtures: LyingReader;
before(async () => {
  fixtures = await lyingReader();
  await fixtures.request(); // from then on its wallet is watched
});
after(() => fixtures?.stop());

const keyFor = (txHash: string, chainId = 31337) => ({ chainId, txHash, ordinal: 0 });
const offered = async (txHash: string) =>
  (await prepareRefund(fixtures.ctx, fixtures.scope, fixtures.merchant.id, keyFor(txHash))).data;
const finalOf = (txHash: string) =>
  readFinalPayment(fixtures.ctx, fixtures.scope, fixtures.merchant.id, keyFor(txHash));
const start = async (txHash: string, final: Awaited<ReturnType<typeof finalOf>>) =>
  (
    await startRefund(fixtures.ctx, theService, fixtures.scope, {
      accountId: fixtures.merchant.id,
      key: keyFor(txHash),
      final,
    })
  ).kind;

async function stray(usdcMicro: bigint, from = fixtures.node.wallet()): Promise<string> {
  const txHash = await fixtures.node.pay({ from, to: fixtures.merchant.wallet, usdcMicro });
  await fixtures.turn();
  return txHash;
}

/** From now on a payment of up to 1,000 USDC is final after 4 blocks, a larger one after 6. */
const finalBySize = () =>
  fixtures.node.chain.finality.splice(
    0,
    9,
    { upToUsdcMicro: 1_000_000_000n, confirmations: 4 },
    { upToUsdcMicro: null, confirmations: 6 },
  );

test('an unmatched payment → its refund neither started nor offered before it is final for its value', async () => {
  const [small, large] = [await stray(66_000_000n), await stray(1_500_000_000n)];
  await fixtures.db.sql`update transfers set reason = 'no_match' where tx_hash in ${list([small, large])}`;
  finalBySize();
  for (const txHash of [small, large]) {
    assert.equal(await start(txHash, await finalOf(txHash)), 'too_early');
    assert.equal(await offered(txHash), null);
  }
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.ok(await offered(small));
  assert.equal(await start(small, await finalOf(small)), 'started');
  assert.equal(await start(small, await finalOf(small)), 'again');
  assert.equal(await start(large, await finalOf(large)), 'too_early');
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal(await start(large, await finalOf(large)), 'started');
});

test('an unmatched payment on a chain with one endpoint → no refund before it is final for its value', async () => {
  const txHash = await stray(1_670_000_000n);
  await fixtures.db.sql`update transfers set reason = 'no_match' where tx_hash = ${txHash}`;
  finalBySize();
  const others = fixtures.node.chain.rpcUrls.splice(1);
  try {
    await fixtures.node.mine(4);
    await fixtures.turn();
    assert.equal(await start(txHash, await finalOf(txHash)), 'too_early');
    assert.equal(await offered(txHash), null);
    await fixtures.node.mine(1);
    await fixtures.turn();
    assert.equal(await start(txHash, await finalOf(txHash)), 'started');
  } finally {
    fixtures.node.chain.rpcUrls.push(...others);
  }
});

test('a late payment with a reference, whose receipt one endpoint refuses → refunded: its own log decides', async () => {
  const txHash = await stray(69_000_000n);
  await fixtures.db.sql`
    update transfers set reason = 'late', calldata_reference = ${Buffer.alloc(16, 7)}, authorization_nonce = ${Buffer.alloc(32, 7)}
    where tx_hash = ${txHash}`;
  await fixtures.node.mine(8);
  await fixtures.turn();
  fixtures.liar.fake.lie = async ({ method }) =>
    method === 'eth_getTransactionReceipt' ? { error: { code: -32000, message: 'too large' } } : null;
  assert.equal(await start(txHash, await finalOf(txHash)), 'started');
  fixtures.liar.fake.lie = async () => null;
});

test('an unmatched payment whose block was reported as older when it was read, and no longer is → refunded', async () => {
  fixtures.liar.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber') return null;
    const block = (await ask(method, params)) as { timestamp: string } | null;
    return { result: block && { ...block, timestamp: `0x${(Number(block.timestamp) - 1).toString(16)}` } };
  };
  const txHash = await stray(71_000_000n);
  await fixtures.node.mine(8);
  await fixtures.turn();
  assert.equal(await start(txHash, await finalOf(txHash)), 'too_early');
  fixtures.liar.fake.lie = async () => null;
  assert.equal(await start(txHash, await finalOf(txHash)), 'started');
});

test('an unmatched payment whose sender one endpoint swapped → its money goes to nobody', async () => {
  const [victim, thief] = [fixtures.node.wallet(), 'ad'.repeat(20)];
  fixtures.liar.fake.lie = async ({ method, params, ask }) => {
    if (!/getLogs|Receipt|getTransactionByHash/.test(method)) return null;
    return {
      result: JSON.parse(JSON.stringify(await ask(method, params)).replaceAll(victim.address.slice(2), thief)),
    };
  };
  const txHash = await stray(77_000_000n, victim);
  await fixtures.node.mine(8);
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.from_address, `0x${thief}`);
  assert.equal(await finalOf(txHash), null);
  assert.equal(await start(txHash, null), 'too_early');
  assert.equal(await offered(txHash), null);
  fixtures.liar.fake.lie = async () => null;
});

test('a payment that is in another block than the confirmed one → its refund is not started', async () => {
  const txHash = await stray(55_000_000n);
  await fixtures.node.mine(8);
  await fixtures.turn();
  const final = await finalOf(txHash);
  assert.ok(final);
  assert.equal(await start(txHash, { ...final, block_hash: `0x${'1'.repeat(64)}` }), 'too_early');
  assert.equal(await start(txHash, { ...final, from_address: `0x${'1'.repeat(40)}` }), 'too_early');
  assert.equal(await start(txHash, final), 'started');
});

test('a final payment that a reorganisation removes → its surplus is not refunded while another block is in its place', async () => {
  const request = await fixtures.request();
  const { txHash } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 5_000_000n });
  await fixtures.node.mine(8);
  await fixtures.turn();
  assert.ok((await fixtures.transfer(txHash))?.final_at);
  assert.ok(await offered(txHash));
  fixtures.liar.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber') return null;
    return { result: { ...((await ask(method, params)) as object), hash: `0x${'12'.repeat(32)}` } };
  };
  assert.equal(await offered(txHash), null, 'one endpoint alone has another block');
  fixtures.liar.fake.lie = async () => 'hang up';
  assert.ok(await offered(txHash), 'one endpoint does not answer');
  fixtures.liar.fake.lie = async () => null;
  await fixtures.node.reorg(12);
  await callRpc(fixtures.node.chain.rpcUrls[1] ?? '', 'anvil_dropAllTransactions', []);
  await fixtures.node.mine(12);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.equal(await offered(txHash), null);
  assert.equal(await start(txHash, await finalOf(txHash)), 'too_early');
});

test('an unmatched payment that is not final for its value at one endpoint, which is behind → no refund', async () => {
  const txHash = await stray(1_680_000_000n);
  finalBySize();
  await fixtures.node.mine(5);
  await fixtures.turn();
  fixtures.liar.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return null;
    const { number } = (await ask(method, params)) as { number: string };
    return { result: await ask(method, [`0x${(Number(number) - 1).toString(16)}`, false]) };
  };
  assert.equal(await start(txHash, await finalOf(txHash)), 'too_early');
  assert.equal(await offered(txHash), null);
  fixtures.liar.fake.lie = async () => null;
  assert.equal(await start(txHash, await finalOf(txHash)), 'started');
});

test('another merchant’s payment that is locked → not found, and not waited for', async () => {
  const txHash = await stray(1_000_000n);
  const other = await makeMerchant(fixtures.db, fixtures.scope);
  await fixtures.db.sql.begin(async (tx) => {
    await tx`select from transfers where tx_hash = ${txHash} for update nowait`;
    await assert.rejects(cancelRefund(fixtures.ctx, theService, fixtures.scope, other.id, keyFor(txHash)), {
      code: 'not_found',
    });
    await assert.rejects(
      startRefund(fixtures.ctx, theService, fixtures.scope, { accountId: other.id, key: keyFor(txHash), final: null }),
      {
        code: 'not_found',
      },
    );
  });
});

/** Chains that were read up to block 100, and a request that is paid on them without being matched. */
async function paidOn<C extends ReturnType<typeof idleChain>>(database: TestDatabase, chains: C[]) {
  const ctx = testContext(database.db, { chains: { test: chains, live: [] } });
  for (const { chainId } of chains) await readUpTo(database.db, chainId, 100);
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const request = await makeRequest(database.db, scope, merchant);
  const to = { scope, wallet: merchant.wallet, accountId: merchant.id };
  return {
    ...{ ctx, scope, merchant, request, due: BigInt(request.usdc_micro) },
    sent: async (chain: C, value: bigint, blockNumber: number) =>
      (await store(database.db, chain, to, [{ blockNumber, value: String(value), request }], true))[0] ?? '',
    offer: (txHash: string, chainId: number) => prepareRefund(ctx, scope, merchant.id, keyFor(txHash, chainId)),
  };
}

test('a request with a partial payment that nobody confirmed → it is no surplus', async () => {
  const database = await testDatabase();
  const alone = { ...idleChain(31337), finality: [{ upToUsdcMicro: null, confirmations: 2 }] };
  const dead = { ...alone, chainId: 31340, rpcUrls: ['http://127.0.0.1:9', 'http://127.0.0.1:9/2'] };
  const { ctx, request, due, sent, offer } = await paidOn(database, [alone, dead]);
  const unconfirmed = await sent(dead, due - 1n, 100);
  const paid = await sent(alone, due + 5n, 90);
  await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  assert.equal(await verifyFinal(ctx), 1);
  await assert.rejects(offer(unconfirmed, 31340), { code: 'not_found' });
  const { usdcMicro, data } = await offer(paid, 31337);
  assert.deepEqual([usdcMicro, data !== null], [5n, true]);
  await database.drop();
});

test('a partial payment that is confirmed after the surplus was refunded → brings a surplus of its own, refunded to its sender', async (t) => {
  const database = await testDatabase();
  t.after(() => database.drop());
  const endpoint = await tableEndpoint(database.db);
  t.after(() => endpoint.stop());
  const usual = { ...idleChain(31337), finality: [{ upToUsdcMicro: null, confirmations: 2 }] };
  const fast = { ...usual, rpcUrls: [endpoint.url] };
  const slow = { ...usual, chainId: 31340, rpcUrls: ['http://127.0.0.1:9', 'http://127.0.0.1:9/2'] };
  const { ctx, scope, merchant, request, due, sent, offer } = await paidOn(database, [fast, slow]);
  const late = await sent(slow, due - 1n, 80);
  const paid = await sent(fast, due + 5n, 90);
  await database.db.sql`
    update transfers set block_time = block_time - interval '1 minute' where tx_hash = ${late}`;
  await database.db.sql`update requests set proof_status = 'attached' where id = ${request.id}`;
  assert.equal(await verifyFinal(ctx), 1);
  const final = await readFinalPayment(ctx, scope, merchant.id, keyFor(paid));
  await startRefund(ctx, theService, scope, { accountId: merchant.id, key: keyFor(paid), final });
  const refunded = () => database.db.sql`
    update returns set state = 'confirmed', return_tx_hash = ${`0x${'d2'.repeat(32)}`}`;
  const status = () => readPortalStatus(ctx, scope, request.id);
  assert.equal(await status(), 'overpaid');
  await refunded();
  assert.equal(await status(), 'paid');
  await database.db.sql`update transfers set look_at = now()`;
  // A node whose clock is behind settles it.
  const now = () => new Date(Date.now() - 60_000);
  const chains = { test: [fast, { ...slow, rpcUrls: [endpoint.url] }], live: [] };
  assert.equal(await verifyFinal({ ...ctx, chains, clock: { ...ctx.clock, now } }), 0);
  assert.equal((await offer(paid, 31337)).usdcMicro, 5n);
  const { usdcMicro, data } = await offer(late, 31340);
  assert.deepEqual([usdcMicro, data !== null], [due - 1n, true]);
  assert.equal(await status(), 'overpaid');
  const finalLate = await readFinalPayment(ctx, scope, merchant.id, keyFor(late, 31340));
  await startRefund(ctx, theService, scope, { accountId: merchant.id, key: keyFor(late, 31340), final: finalLate });
  await refunded();
  assert.equal(await status(), 'paid');
  const { surpluses } = await readProgress(ctx, scope, request.id);
  assert.deepEqual(
    surpluses.map(({ txHash, micro }) => [txHash, micro]),
    [
      [late, due - 1n],
      [paid, 5n],
    ],
  );
});
