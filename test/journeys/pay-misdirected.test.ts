import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeAbiParameters, type Hex, stringToHex } from 'viem';
import { callRpc } from '../../src/chain/rpc.ts';
import { readSymbol } from '../../src/chain/token-facts.ts';
import type { Context } from '../../src/context.ts';
import { findMisdirected } from '../../src/payments/unmatched/misdirected.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { fundLookalike, lookalikeAddress, lookalikeTransfer } from '../../src/sandbox/lookalike.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { idleChain } from '../support/app.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: PayFixtures;
let live: TestChain;
let ctx: Context;
before(async () => {
  [fixtures, live] = await Promise.all([payFixtures(), testChain({ chainId: 31338 })]);
  ctx = { ...fixtures.ctx, chains: { test: [fixtures.node.chain], live: [live.chain] } };
});
after(() => Promise.all([fixtures?.stop(), live?.stop()]));

/** A request of a new merchant, because what was found for a wallet is cached for ten seconds. */
async function newRequest(): Promise<RequestRow> {
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  const [cursor] = await fixtures.db.sql`select number from chain_cursors`;
  return makeRequest(fixtures.db, fixtures.scope, merchant, { startBlocks: { 31337: Number(cursor?.number) } });
}

const find = (request: RequestRow, where = ctx) => findMisdirected(where, fixtures.scope, request.id);

/** Sends look-alike tokens to the request's wallet; `micro` assumes six decimals. */
async function payLookalike(node: TestChain, request: RequestRow, micro: bigint, reference?: Uint8Array) {
  const from = node.wallet();
  await node.fund(from.address, 0n);
  await fundLookalike(node.chain, from.address, micro);
  const data: Hex = `${lookalikeTransfer(request.wallet_address, micro)}${Buffer.from(reference ?? []).toString('hex')}`;
  return sendTransaction(node.chain, from.privateKey, lookalikeAddress, data);
}

test('a look-alike token in the amount due → wrong_token with what it calls itself; it changes nothing', async () => {
  const request = await newRequest();
  const txHash = await payLookalike(fixtures.node, request, BigInt(request.usdc_micro));
  await fixtures.turn();
  assert.deepEqual(await find(request), [
    {
      kind: 'wrong_token',
      chainId: 31337,
      chainName: fixtures.node.chain.name,
      tokenAddress: lookalikeAddress,
      symbol: 'USDC',
      txHash,
    },
  ]);
  assert.equal((await fixtures.read(request)).proof_status, 'none');
});

test('a payment of another amount → found only with the request’s reference; accepted tokens never', async () => {
  const request = await newRequest();
  await payLookalike(fixtures.node, request, 5_000_000n);
  await fixtures.pay(request, { tagged: false });
  const tagged = await payLookalike(fixtures.node, request, 7_000_000n, request.reference);
  assert.deepEqual(
    (await find(request)).map(({ txHash }) => txHash),
    [tagged],
  );
});

test('on the other mode’s chain → wrong_network, real USDC too; money from before the request is not looked at', async () => {
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  const due = 4_000_001n;
  const pay = (node: TestChain) => node.pay({ from: node.wallet(), to: merchant.wallet, usdcMicro: due });
  await pay(live);
  const request = await makeRequest(fixtures.db, fixtures.scope, merchant, { exactMicro: due });
  // Block times are whole seconds, so the request is moved past the second of the earlier payment.
  await fixtures.db.sql`update requests set made_at = made_at + interval '2 seconds' where id = ${request.id}`;
  await callRpc(live.chain.rpcUrls[0] ?? '', 'evm_increaseTime', [10]);
  const txHash = await pay(live);
  const found = await find(request);
  assert.deepEqual(
    found.map((one) => [one.kind, one.chainId, one.symbol, one.txHash]),
    [['wrong_network', 31338, 'USDC', txHash]],
  );
});

test('a contract wallet that was not checked on this chain → wrong_network', async () => {
  const request = await newRequest();
  await fixtures.db.sql`update requests set wallet_chain_ids = '{1}' where id = ${request.id}`;
  await payLookalike(fixtures.node, request, BigInt(request.usdc_micro));
  assert.deepEqual(
    (await find(request)).map(({ kind }) => kind),
    ['wrong_network'],
  );
});

test('at most five, the newest; nothing for another scope, and a chain in trouble is left out', async () => {
  const request = await newRequest();
  const hashes: string[] = [];
  for (let i = 0; i < 6; i++) hashes.unshift(await payLookalike(fixtures.node, request, BigInt(request.usdc_micro)));
  const broken = { ...ctx, chains: { test: [fixtures.node.chain], live: [idleChain(31338)] } };
  assert.deepEqual(
    (await find(request, broken)).map(({ txHash }) => txHash),
    hashes.slice(0, 5),
  );
  const stranger = await makePartner(fixtures.db);
  assert.deepEqual(await findMisdirected(ctx, stranger.test, request.id), []);
});

test('a provider that answers for few blocks only is asked for fewer, and then not for ten seconds', async () => {
  const provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  try {
    provider.fake.lie = async ({ method, params }) => {
      if (method !== 'eth_getLogs') return null;
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      const blocks = Number(toBlock) - Number(fromBlock) + 1;
      return blocks > 10 ? { error: { code: -32005, message: 'query exceeds max block range 10' } } : null;
    };
    const chain = { ...fixtures.node.chain, rpcUrls: [provider.url] };
    const limited = { ...ctx, chains: { test: [chain], live: [] } };
    const request = await newRequest();
    const txHash = await payLookalike(fixtures.node, request, BigInt(request.usdc_micro));
    await fixtures.node.mine(30);
    const found = await Promise.all([find(request, limited), find(request, limited)]);
    for (const misdirected of found)
      assert.deepEqual(
        misdirected.map(({ txHash }) => txHash),
        [txHash],
      );
    const asked = provider.fake.calls.get('eth_getLogs');
    await find(request, limited);
    assert.equal(provider.fake.calls.get('eth_getLogs'), asked);
  } finally {
    await provider.stop();
  }
});

test('an endpoint makes up payments to the wallets of open pages → a thousand of them wait, and no more', async () => {
  const provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  const { sql } = fixtures.db;
  try {
    const token = fixtures.node.chain.tokens[0]?.address;
    const word = `0x${'1'.padStart(64, '0')}`;
    let made = 0;
    provider.fake.lie = async ({ method, params, ask }) => {
      if (method !== 'eth_getLogs') return null;
      const [{ toBlock, topics }] = params as [{ toBlock: string; topics: [string, null, string] }];
      const { hash } = (await ask('eth_getBlockByNumber', [toBlock, false])) as { hash: string };
      const log = { address: token, topics: [topics[0], word, topics[2]], data: word };
      const place = { blockHash: hash, blockNumber: toBlock, removed: false, logIndex: '0x0' };
      const transaction = () => ({ transactionHash: `0x${(++made).toString(16).padStart(64, '0')}` });
      return { result: Array.from({ length: 60 }, () => ({ ...log, ...place, ...transaction() })) };
    };
    const chain = { ...fixtures.node.chain, rpcUrls: [provider.url] };
    const lied = { ...ctx, chains: { test: [chain], live: [] } };
    await fixtures.turn();
    for (let page = 0; page < 22; page++) {
      const merchant = await makeMerchant(fixtures.db, fixtures.scope);
      await find(await makeRequest(fixtures.db, fixtures.scope, merchant), lied);
    }
    assert.ok(made > 1_100, `${made}`);
    const host = new URL(provider.url).host;
    assert.equal((await sql`select from unread_transactions where told_by = ${host}`).length, 1_000);
    assert.equal((await sql`select from unread_transactions where told_by is null`).length, 0);
  } finally {
    await provider.stop();
    await sql`delete from unread_transactions`;
  }
});

test('a partner’s pages of many wallets are open → sixty are looked for on a chain in ten seconds, and another partner’s besides', async () => {
  const provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  try {
    const at = new Date();
    const chain = { ...fixtures.node.chain, chainId: 77_001, rpcUrls: [provider.url] };
    const still: Context = { ...ctx, chains: { test: [chain], live: [] }, clock: { now: () => at } };
    const { test: other } = await makePartner(fixtures.db);
    const scans = () => provider.fake.calls.get('eth_getLogs') ?? 0;
    const lookFor = async (scope: typeof other, many: number) => {
      for (let i = 0; i < many; i++) {
        const request = await makeRequest(fixtures.db, scope, await makeMerchant(fixtures.db, scope));
        await findMisdirected(still, scope, request.id);
      }
    };
    await lookFor(fixtures.scope, 1);
    const ofOne = scans();
    assert.ok(ofOne > 0);
    await lookFor(fixtures.scope, 62);
    assert.equal(scans(), 60 * ofOne);
    await lookFor(other, 1);
    assert.equal(scans(), 61 * ofOne);
  } finally {
    await provider.stop();
  }
});

test('a token’s name for itself → letters, digits and a few signs, at most twenty', () => {
  const answer = (text: string) => encodeAbiParameters([{ type: 'string' }], [text]);
  assert.equal(readSymbol(answer('USDC')), 'USDC');
  assert.equal(readSymbol(answer('USD₮ <b>\u202e\u0000\n')), 'USD₮ b');
  assert.equal(readSymbol(answer('x'.repeat(500))), 'x'.repeat(20));
  assert.equal(readSymbol(stringToHex('MKR', { size: 32 })), 'MKR');
  for (const nothing of ['0x', '0x12', answer(''), answer('\u200b'), `0x${'00'.repeat(32)}`]) {
    assert.equal(readSymbol(nothing), null);
  }
});
