import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import { followRelays } from '../../src/chain/relay/follow.ts';
import { canRelay, dispatch, readRelay, relayerAddresses, simulate } from '../../src/chain/relay/relay.ts';
import type { Hex } from '../../src/chain/rpc.ts';
import { type Change, listenForChanges } from '../../src/db/changes.ts';
import { findOvertaken } from '../../src/plans/collect/overtaken.ts';
import { headNumber, sendTransaction } from '../../src/sandbox/wallet.ts';
import { passTime, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { testRelayer } from '../support/chain/relayer.ts';
import { makeMerchant, makeRequest, randomAddress } from '../support/fixtures.ts';
import { secondEndpoint } from '../support/payments/second-endpoint.ts';
import { until } from '../support/until.ts';

let f: RelayFixtures;
before(async () => {
  f = await relayFixtures();
});
after(() => f.stop());

test('a call is enqueued, sent, mined and final → its real cost is stored', async () => {
  assert.deepEqual(relayerAddresses(f.ctx), [testRelayer.address]);
  assert.equal(await canRelay(f.ctx, f.chain), true);
  const id = await f.allot(f.call());
  assert.equal((await readRelay(f.db.sql, id))?.state, 'allotted');
  const reserved = (await readRelay(f.db.sql, id))?.feeWei ?? 0n;
  await dispatch(f.ctx, id);
  const sent = await readRelay(f.db.sql, id);
  assert.equal(sent?.state, 'sent');
  assert.equal(await f.mined(), 1);
  await f.read();
  await f.follow();
  const mined = await readRelay(f.db.sql, id);
  assert.equal(mined?.state, 'mined');
  assert.equal(mined.hash, sent.hash);
  assert.equal(mined.succeeded, true);
  assert.ok(mined.feeWei > 0n && mined.feeWei < reserved);
  const [spent] = await f.db.sql`select wei from relay_spending`;
  assert.equal(BigInt(spent?.wei), mined.feeWei);
  await f.node.mine(5);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'final');
});

test('a process dispatches what it enqueued eleven seconds ago → the loop decides whether it is still wanted, and sends it', async () => {
  const id = await f.allot(f.call());
  await passTime(f.db, 11);
  await dispatch(f.ctx, id);
  assert.equal(await f.state(id), 'allotted');
  await f.follow();
  assert.equal(await f.state(id), 'sent');
});

test('a call that fails when it is mined is reverted once its block is final, and its nonce is used', async () => {
  const call = f.call({ data: transferFrom(randomAddress() as Hex, randomAddress() as Hex, 5n), purpose: 'revoke' });
  assert.equal((await simulate(f.ctx, call)).kind, 'reverted');
  const id = await f.allot(call); // as if it had failed only after the simulation
  await dispatch(f.ctx, id);
  await f.follow();
  const mined = await readRelay(f.db.sql, id);
  assert.deepEqual([mined?.state, mined?.succeeded], ['mined', false]);
  await f.node.mine(5);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'reverted');
  const next = await f.allot(f.call());
  await dispatch(f.ctx, next);
  await f.read();
  await f.follow();
  assert.equal(await f.state(next), 'mined');
});

test('the reader finds a charge that pays a merchant: the relayer requests no receipt, and announces it', async (t) => {
  await f.node.mine(5);
  await f.read();
  await f.follow(); // what earlier tests have left
  const merchant = await makeMerchant(f.db, f.scope);
  await makeRequest(f.db, f.scope, merchant);
  const payer = f.node.wallet();
  await f.node.fund(payer.address, 10_000_000n);
  const token = f.chain.tokens[0]?.address ?? '';
  const approve = encodeFunctionData({
    ...{ abi: erc20Abi, functionName: 'approve' },
    args: [testRelayer.address, 10_000_000n],
  } as const);
  await sendTransaction(f.chain, payer.privateKey, token, approve);
  const endpoint = await secondEndpoint();
  t.after(() => endpoint.stop());
  endpoint.endpoint.target = f.url;
  const chain = { ...f.chain, rpcUrls: [endpoint.url] };
  const ctx = { ...f.ctx, chains: { test: [chain], live: [] } };
  const id = await f.allot(f.call({ chain, data: transferFrom(payer.address, merchant.wallet as Hex, 7n) }), ctx);
  await dispatch(ctx, id);
  await f.read();
  const told: string[] = [];
  const listening = Promise.withResolvers<void>();
  const hear = ({ kind }: Change) => (kind === 'anything' ? listening.resolve() : told.push(kind));
  t.after(listenForChanges(f.db, hear, listening.reject));
  await listening.promise;
  await f.follow(ctx);
  await until(() => told.includes('charges'), 'the loop of charges to be told');
  const mined = await readRelay(f.db.sql, id);
  assert.deepEqual([mined?.state, mined?.succeeded], ['mined', true]);
  const [spent] = await f.db.sql`select sum(fee_wei) as wei from relay_transactions`;
  const [counted] = await f.db.sql`select sum(wei) as wei from relay_spending`;
  assert.equal(spent?.wei, counted?.wei);
  assert.ok((mined?.feeWei ?? 0n) < 10n ** 15n, 'what the reader read of its receipt');
  await f.db.sql`update transfers set counts = false, final_at = now() where tx_hash = ${mined?.hash ?? ''}`;
  await f.follow(ctx);
  assert.equal(await f.state(id), 'final');
  assert.equal(endpoint.endpoint.receiptsAsked, 0);
});

test('mined → reorganised away → sent again → mined again', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  const nonce = await f.mined();
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
  await f.rpc('evm_setAutomine', [false]);
  await f.node.reorg(1);
  await f.rpc('anvil_dropAllTransactions');
  assert.equal(await f.mined(), nonce - 1);
  await f.follow();
  assert.equal(await f.state(id), 'sent');
  await f.follow();
  await f.node.mine(1);
  await f.rpc('evm_setAutomine', [true]);
  assert.equal(await f.mined(), nonce);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
});

test('reorganised away before it was seen mined, on a chain that makes no blocks → sent again', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  const nonce = await f.mined();
  await f.node.reorg(1);
  assert.deepEqual([await f.state(id), await f.mined()], ['sent', nonce - 1]);
  await f.follow();
  assert.equal(await f.mined(), nonce);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
});

test('a block replaced by another of the same number → the relayer asks at once, not only after a while', async () => {
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  await f.mined();
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
  await f.rpc('evm_setAutomine', [false]);
  const height = await headNumber(f.chain);
  await f.node.reorg(1);
  await f.rpc('anvil_dropAllTransactions');
  await f.rpc('evm_setAutomine', [true]);
  assert.equal(await headNumber(f.chain), height);
  await f.read();
  // Nothing is older than it is: only the replaced block can be why the chain is asked.
  await f.db.sql`update relay_accounts set look_at = now(), counted_at = now(), checked_at = now()`;
  await followRelays(f.ctx, f.chain, findOvertaken);
  assert.equal(await f.state(id), 'sent');
  await f.follow();
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'mined');
});

const transferFrom = (from: Hex, to: Hex, usdcMicro: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from, to, usdcMicro] });
