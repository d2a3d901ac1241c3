import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi, keccak256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { readFinalPayment } from '../../src/payments/proof/final-payment.ts';
import { claim, claimTypedData } from '../../src/payments/submitted/claim.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import { cancelRefund } from '../../src/refunds/cancel.ts';
import { followRefunds } from '../../src/refunds/follow.ts';
import { checkRefund, recordRefund } from '../../src/refunds/refund.ts';
import { startRefund } from '../../src/refunds/start.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { sendTransaction, signCall, transferCall } from '../../src/sandbox/wallet.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

const nameOf = (txHash: string) => `31337_${txHash}_0`;
const keyFor = (txHash: string) => ({ chainId: 31337, txHash, ordinal: 0 });
const begin = (txHash: string) => openRefund(fixtures.visitor, nameOf(txHash));
const hash = (digit: string) => `0x${digit.repeat(64)}`;
const record = async (txHash: string, refundTxHash: string) =>
  fixtures.visitor.send(await begin(txHash), nameOf(txHash), { return_tx_hash: refundTxHash });
const refundOf = async (txHash: string) => {
  const [row] = await fixtures.db.sql`select * from returns where tx_hash = ${txHash}`;
  return row && [row.state, row.given_micro];
};
const rpc = (method: string, params: unknown[]) => callRpc(fixtures.node.chain.rpcUrls[0] ?? '', method, params);
const usdc = () => fixtures.node.chain.tokens[0]?.address ?? '';

type Payer = ReturnType<DashboardFixtures['node']['wallet']>;

const surplusMicro = 77n;
/** An unmatched payment that its sender can claim for the request with a signature. */
async function stray(dueMicro: bigint, payer?: Payer) {
  const request = await fixtures.request({ exactMicro: dueMicro });
  const usdcMicro = BigInt(request.usdc_micro) + surplusMicro;
  const { txHash, from } = await fixtures.pay(request, { usdcMicro, tagged: false, ...(payer && { from: payer }) });
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await submitHash(fixtures.ctx, request.id, { txHash })).kind, 'needs_signature');
  return { request, txHash, from, usdcMicro };
}
async function claimed({ id }: RequestRow, txHash: string, { privateKey }: Payer) {
  const key = keyFor(txHash);
  const data = claimTypedData(fixtures.ctx.config, id, key);
  const signature = await privateKeyToAccount(privateKey).signTypedData(data);
  return (await claim(fixtures.ctx, id, { ...key, signature })).kind;
}
const attached = async ({ id }: RequestRow, txHash: string) =>
  (
    await attachUnmatched(fixtures.ctx, theService, fixtures.scope, {
      ...keyFor(txHash),
      accountId: fixtures.merchant.id,
      requestId: id,
    })
  ).kind;

const merchantKey = () => fixtures.merchant.privateKey as Hex;
async function send(to: string, usdcMicro: bigint) {
  const wallet: Payer = { privateKey: merchantKey(), address: fixtures.merchant.wallet as Hex };
  return fixtures.node.pay({ from: wallet, to, usdcMicro });
}
/** A refund that the wallet has signed but not yet sent. */
async function signedBack(to: string, usdcMicro: bigint) {
  await fixtures.node.fund(fixtures.merchant.wallet, usdcMicro);
  const signed = await signCall(fixtures.node.chain, merchantKey(), usdc(), transferCall({ to, usdcMicro }));
  return { signed, refundTxHash: keccak256(signed) };
}
/** A contract that takes a token and then calldata, and calls the token once with every 100 bytes of it. */
const batcher = '0x00000000000000000000000000000000000ba7c4';
const batcherCode =
  '0x60205b3681101560295760648160003760006000606460006000600035' + '5af115602b57606401600256' + '5b00' + '5b60006000fd';
/** Sends money from the merchant's wallet to several recipients in one transaction. */
async function sendBatch(moves: { to: string; usdcMicro: bigint }[]) {
  const { chain } = fixtures.node;
  await rpc('anvil_setCode', [batcher, batcherCode]);
  await fixtures.node.fund(
    fixtures.merchant.wallet,
    moves.reduce((sum, { usdcMicro }) => sum + usdcMicro, 0n),
  );
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [batcher, 10n ** 12n] });
  await sendTransaction(chain, merchantKey(), usdc(), approve);
  const calls = moves.map(({ to, usdcMicro }) =>
    encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transferFrom',
      args: [fixtures.merchant.wallet as Hex, to as Hex, usdcMicro],
    }).slice(2),
  );
  const data: Hex = `0x${usdc().slice(2).padStart(64, '0')}${calls.join('')}`;
  const txHash = await sendTransaction(chain, merchantKey(), batcher, data);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  return txHash;
}
async function follow(): Promise<void> {
  await fixtures.db.sql`update returns set next_look_at = now()`;
  await fixtures.db.sql`update returns_replaced set next_look_at = now()`;
  await followRefunds(fixtures.ctx);
}
const age = (txHash: string, interval: string) =>
  fixtures.db.sql`update returns set noted_at = now() - ${interval}::interval where tx_hash = ${txHash}`;

test('A payment whose refund is mined but not recorded yet is neither claimed nor attached, days later too', async () => {
  const { request, txHash, from, usdcMicro } = await stray(7_000_000n);
  await begin(txHash);
  await send(from.address, usdcMicro);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal(await claimed(request, txHash, from), 'given_back');
  assert.equal(await attached(request, txHash), 'already_used');
  await age(txHash, '40 days');
  await follow();
  assert.equal(await claimed(request, txHash, from), 'given_back');
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash }), { kind: 'given_back' });
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.equal((await fixtures.events(request)).length, 0);
});

test('A payment whose refund is started pays no request by rule either when it is reorganised and mined again', async () => {
  const [first, from] = [fixtures.node.wallet(), fixtures.node.wallet()];
  for (const { address } of [first, from]) await fixtures.node.fund(address, 2_001_000_000n);
  const request = await fixtures.request({ exactMicro: 2_000_000_000n }); // final after four blocks
  await fixtures.pay(request, { from: first });
  await fixtures.turn();
  const { txHash } = await fixtures.pay(request, { from });
  const raw = (await rpc('eth_getRawTransactionByHash', [txHash])) as string;
  await fixtures.turn();
  const said = { refundTxHash: await send(from.address, BigInt(request.usdc_micro)), elsewhere: false };
  const checked = await checkRefund(fixtures.ctx, fixtures.scope, fixtures.merchant.id, keyFor(txHash), said);
  if (checked.fault !== null) throw new Error(checked.fault);
  assert.equal(await recordRefund(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, checked), null);
  await fixtures.node.reorg(3);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  await fixtures.node.resend(raw);
  await fixtures.node.mine(4);
  await fixtures.turn();
  const row = await fixtures.transfer(txHash);
  assert.deepEqual([row?.request_id, row?.reason], [null, 'released']);
  assert.equal((await fixtures.read(request)).proof_status, 'none');
});

test('Refunding and claiming a payment in the same moment: one of them has it', async () => {
  for (let round = 0n; round < 6n; round++) {
    const { request, txHash, from } = await stray(8_000_000n + round * 100_000n);
    const final = await readFinalPayment(fixtures.ctx, fixtures.scope, fixtures.merchant.id, keyFor(txHash));
    const starting = startRefund(fixtures.ctx, theService, fixtures.scope, {
      accountId: fixtures.merchant.id,
      key: keyFor(txHash),
      final,
    }).catch((error) => {
      assert.equal(error.code, 'not_found');
      return null;
    });
    const [refund, kind] = await Promise.all([starting, claimed(request, txHash, from)]);
    if (refund !== null && refund.kind !== 'started') assert.fail(refund.kind);
    // If the claim comes first, only the surplus is left to refund.
    if (refund !== null && refund.requestId !== null) assert.equal(refund.usdcMicro, surplusMicro);
    assert.equal(kind, refund !== null && refund.requestId === null ? 'given_back' : 'counted');
    assert.equal(((await refundOf(txHash)) ?? null) !== null, refund !== null);
  }
});

test('A refund that was not sent is cancelled by its merchant and the payment then pays; one on its way is not', async () => {
  const { request, txHash, from, usdcMicro } = await stray(9_000_000n);
  const before = await begin(txHash);
  assert.match(before.html, /Set aside for a refund/);
  assert.match((await fixtures.visitor.open('/dashboard/unmatched')).html, /To be refunded<\/span>/);
  const cancelled = await fixtures.visitor.send(before, '/put-back');
  assert.match(cancelled.html, /The refund was undone/);
  const again = await fixtures.visitor.send(cancelled, '/take');
  await fixtures.visitor.send(again, nameOf(txHash), { return_tx_hash: await send(from.address, usdcMicro) });
  assert.equal(
    await cancelRefund(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, keyFor(txHash)),
    false,
  );
  const late = await fixtures.visitor.send(again, '/put-back');
  assert.ok(!late.html.includes('The refund was undone'));
  assert.equal(await claimed(request, txHash, from), 'given_back');
  const acts = (await fixtures.audit()).filter(({ object_id }) => object_id === nameOf(txHash));
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['payment.taken', 'payment.put_back', 'payment.taken', 'payment.returned'],
  );

  const other = await stray(9_500_000n);
  await begin(other.txHash);
  assert.equal(
    await cancelRefund(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, keyFor(other.txHash)),
    true,
  );
  assert.equal(await claimed(other.request, other.txHash, other.from), 'counted');
});

test('A refund that no endpoint knew for days is found when it is mined, and the payment was not claimable meanwhile', async () => {
  const { request, txHash, from, usdcMicro } = await stray(10_000_000n);
  const { signed, refundTxHash } = await signedBack(from.address, usdcMicro);
  await record(txHash, refundTxHash);
  await age(txHash, '3 days');
  await follow();
  assert.deepEqual(await refundOf(txHash), ['missing', null]);
  assert.equal(await claimed(request, txHash, from), 'given_back');
  await fixtures.node.resend(signed);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.deepEqual(await refundOf(txHash), ['confirmed', usdcMicro.toString()]);
  assert.equal(await claimed(request, txHash, from), 'given_back');
});

test('A refund that is mined after it was cancelled counts again; if the payment was applied meanwhile, an alarm is raised', async () => {
  const free = await stray(11_000_000n);
  const first = await signedBack(free.from.address, free.usdcMicro);
  await record(free.txHash, first.refundTxHash);
  await age(free.txHash, '2 days');
  await follow();
  assert.equal(
    await cancelRefund(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, keyFor(free.txHash)),
    true,
  );
  await fixtures.node.resend(first.signed);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.equal((await refundOf(free.txHash))?.[0], 'sent');
  assert.equal(await claimed(free.request, free.txHash, free.from), 'given_back');
  await follow();
  assert.deepEqual(await refundOf(free.txHash), ['confirmed', free.usdcMicro.toString()]);

  const applied = await stray(12_000_000n);
  const second = await signedBack(applied.from.address, applied.usdcMicro);
  await record(applied.txHash, second.refundTxHash);
  await age(applied.txHash, '2 days');
  await follow();
  await fixtures.visitor.send(await begin(applied.txHash), '/put-back');
  assert.equal(await claimed(applied.request, applied.txHash, applied.from), 'counted');
  await fixtures.node.resend(second.signed);
  await fixtures.caughtUp();
  await follow();
  assert.deepEqual(await refundOf(applied.txHash), ['kept', null], 'a reorganisation can still remove it');
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.ok((await raisedAlarms(fixtures.db.sql)).has(`returned-bound:${applied.request.id}`));
  assert.deepEqual(await refundOf(applied.txHash), ['confirmed', applied.usdcMicro.toString()]);
});

test('A refund that is mined after another replaced it is recorded again; if both were mined, an alarm is raised', async () => {
  const mineAndFollow = async () => {
    await fixtures.node.mine(3);
    await fixtures.caughtUp();
    await follow();
    await follow();
  };
  const once = await stray(21_000_000n);
  const only = await signedBack(once.from.address, once.usdcMicro);
  await record(once.txHash, only.refundTxHash);
  await age(once.txHash, '20 hours');
  await record(once.txHash, hash('c'));
  await age(once.txHash, '25 hours');
  await follow();
  assert.deepEqual(await refundOf(once.txHash), ['missing', null]);
  await fixtures.node.resend(only.signed);
  await mineAndFollow();
  assert.deepEqual(await refundOf(once.txHash), ['confirmed', once.usdcMicro.toString()]);

  const paidTwice = await stray(22_000_000n);
  const { address } = paidTwice.from;
  const second = await send(address, paidTwice.usdcMicro);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  const first = await signedBack(address, paidTwice.usdcMicro);
  await record(paidTwice.txHash, first.refundTxHash);
  await age(paidTwice.txHash, '20 hours');
  await record(paidTwice.txHash, second);
  const [{ kept } = {}] = await fixtures.db.sql`
    select noted_at < now() - interval '20 hours' as kept from returns where tx_hash = ${paidTwice.txHash}`;
  assert.equal(kept, true, 'it counts from the first record');
  await mineAndFollow();
  const told = async () => (await raisedAlarms(fixtures.db.sql)).has(`returned-twice:${nameOf(paidTwice.txHash)}`);
  assert.equal(await told(), false);
  await fixtures.node.resend(first.signed);
  await mineAndFollow();
  assert.equal(await told(), true);
  assert.deepEqual(await refundOf(paidTwice.txHash), ['confirmed', paidTwice.usdcMicro.toString()]);
  const left = await fixtures.db.sql`select return_tx_hash from returns_replaced where tx_hash = ${paidTwice.txHash}`;
  assert.equal(left.length, 0, 'it is final');
});

test('A refund that is mined after another replaced it, and after the payment was applied → an alarm, and the payment stays', async () => {
  const payment = await stray(24_000_000n);
  const first = await signedBack(payment.from.address, payment.usdcMicro);
  await record(payment.txHash, first.refundTxHash);
  await age(payment.txHash, '20 hours');
  await record(payment.txHash, hash('e'));
  await age(payment.txHash, '25 hours');
  await follow();
  await fixtures.visitor.send(await begin(payment.txHash), '/put-back');
  assert.equal(await claimed(payment.request, payment.txHash, payment.from), 'counted');
  await fixtures.node.resend(first.signed);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.ok((await raisedAlarms(fixtures.db.sql)).has(`returned-twice:${nameOf(payment.txHash)}`));
  assert.deepEqual(await refundOf(payment.txHash), ['kept', null]);
});

test('A refund that is mined after another replaced it, and after both were cancelled, counts; the other is still followed', async () => {
  const payment = await stray(23_000_000n);
  const first = await signedBack(payment.from.address, payment.usdcMicro);
  await record(payment.txHash, first.refundTxHash);
  await age(payment.txHash, '20 hours');
  await record(payment.txHash, hash('d'));
  await age(payment.txHash, '25 hours');
  await follow();
  await fixtures.visitor.send(await begin(payment.txHash), '/put-back');
  assert.deepEqual(await refundOf(payment.txHash), ['kept', null]);
  await fixtures.node.resend(first.signed);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  await follow();
  assert.deepEqual(await refundOf(payment.txHash), ['confirmed', payment.usdcMicro.toString()]);
  assert.equal((await raisedAlarms(fixtures.db.sql)).has(`returned-twice:${nameOf(payment.txHash)}`), false);
  const followed = await fixtures.db.sql`select return_tx_hash from returns_replaced where tx_hash = ${payment.txHash}`;
  assert.deepEqual(
    followed.map(({ return_tx_hash }) => return_tx_hash),
    [hash('d')],
  );
});

test('A refund that is mined beside the one that replaced it raises an alarm before either is final', async () => {
  const payment = await stray(24_000_000n);
  const { address } = payment.from;
  await fixtures.node.fund(fixtures.merchant.wallet, 2n * payment.usdcMicro);
  const second = await send(address, payment.usdcMicro);
  const first = await signCall(
    fixtures.node.chain,
    merchantKey(),
    usdc(),
    transferCall({ to: address, usdcMicro: payment.usdcMicro }),
  );
  await record(payment.txHash, keccak256(first));
  await age(payment.txHash, '20 hours');
  await record(payment.txHash, second);
  assert.deepEqual(await refundOf(payment.txHash), ['sent', payment.usdcMicro.toString()]);
  await fixtures.node.resend(first);
  await fixtures.caughtUp();
  await fixtures.db.sql`update returns set next_look_at = now() + interval '1 hour'`;
  await fixtures.db.sql`update returns_replaced set next_look_at = now()`;
  await followRefunds(fixtures.ctx);
  assert.ok((await raisedAlarms(fixtures.db.sql)).has(`returned-twice:${nameOf(payment.txHash)}`));
  const left = await fixtures.db.sql`select return_tx_hash from returns_replaced where tx_hash = ${payment.txHash}`;
  assert.equal(left.length, 1, 'it is followed until it is final');
});

test('A payment is claimed while its refund is checked → the refund is not recorded, and the payment counts', async () => {
  const { request, txHash, from, usdcMicro } = await stray(26_000_000n);
  const refundTxHash = await send(from.address, usdcMicro);
  const { ctx, scope, merchant } = fixtures;
  const own = checkRefund(ctx, scope, merchant.id, keyFor(txHash), { refundTxHash: txHash, elsewhere: true });
  assert.equal((await own).fault, 'malformed', 'no payment refunds itself');
  const checked = await checkRefund(ctx, scope, merchant.id, keyFor(txHash), { refundTxHash, elsewhere: false });
  assert.ok(checked.fault === null);
  assert.equal(await claimed(request, txHash, from), 'counted');
  await assert.rejects(recordRefund(ctx, theService, scope, merchant.id, checked), { code: 'not_found' });
  assert.equal(await refundOf(txHash), undefined);
});

test('A replaced refund that its merchant records again while it is looked up → it was made once, and no alarm is raised', async () => {
  const payment = await stray(25_000_000n);
  const first = await signedBack(payment.from.address, payment.usdcMicro);
  await record(payment.txHash, first.refundTxHash);
  await age(payment.txHash, '20 hours');
  await record(payment.txHash, hash('f'));
  await fixtures.node.resend(first.signed);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await fixtures.db
    .sql`update returns set replaced_at = replaced_at - interval '3 minutes', next_look_at = now() + interval '1 hour'`;
  await fixtures.db.sql`update returns_replaced set next_look_at = now() where return_tx_hash = ${first.refundTxHash}`;

  const { chain } = fixtures.node;
  const provider = await fakeProvider(chain.rpcUrls[0] ?? '');
  provider.fake.lie = async ({ method, params }) => {
    const isFirst = method === 'eth_getTransactionReceipt' && params[0] === first.refundTxHash;
    if (isFirst && provider.fake.calls.get(method) === 1) await record(payment.txHash, first.refundTxHash);
    return null;
  };
  const looking = { test: [{ ...chain, rpcUrls: [provider.url] }], live: [] };
  await followRefunds({ ...fixtures.ctx, chains: looking });
  await provider.stop();

  assert.equal((await raisedAlarms(fixtures.db.sql)).has(`returned-twice:${nameOf(payment.txHash)}`), false);
  assert.deepEqual(await refundOf(payment.txHash), ['confirmed', payment.usdcMicro.toString()]);
});

test('One transaction refunds several payments, of one payer and of two, as far as it moved enough for all', async () => {
  const [one, two] = [fixtures.node.wallet(), fixtures.node.wallet()];
  const first = await stray(1_000_000n, one);
  const second = await stray(2_000_000n, one);
  const other = await stray(3_000_000n, two);
  const third = await stray(4_000_000n, one);
  const batch = await sendBatch([
    { to: one.address, usdcMicro: first.usdcMicro },
    { to: two.address, usdcMicro: other.usdcMicro },
    { to: one.address, usdcMicro: second.usdcMicro },
  ]);
  for (const { txHash } of [first, second, other]) {
    assert.match((await record(txHash, batch)).html, /The refund was recorded/);
  }
  for (const { txHash, usdcMicro } of [first, second, other]) {
    assert.deepEqual(await refundOf(txHash), ['confirmed', usdcMicro.toString()]);
  }
  const refused = await record(third.txHash, batch);
  assert.equal(refused.status, 409);
  assert.match(refused.html, /Already recorded/);
  assert.deepEqual(await refundOf(third.txHash), ['returning', null], 'what it moved was not counted twice');
});

test('Payments for which one transaction is recorded before it is mined share what it moves, in the order in which it was', async () => {
  const payer = fixtures.node.wallet();
  const [first, second] = [await stray(1_100_000n, payer), await stray(1_200_000n, payer)];
  const { signed, refundTxHash } = await signedBack(payer.address, first.usdcMicro);
  await record(first.txHash, refundTxHash);
  await record(second.txHash, refundTxHash);
  await fixtures.node.resend(signed);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.deepEqual(await refundOf(first.txHash), ['confirmed', first.usdcMicro.toString()]);
  assert.deepEqual(await refundOf(second.txHash), ['other', null]);
});

test('Only the surplus of a paid request is refunded: it stays paid, and a cancelled refund can be started again', async () => {
  const request = await fixtures.request({ exactMicro: 5_000_000n });
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 2_000_000n });
  await fixtures.turn();
  const early = await fixtures.visitor.open(`/dashboard/give-back/${nameOf(txHash)}`);
  assert.equal(early.status, 404, 'not while the network could take the payment away');
  await fixtures.node.mine(3);
  await fixtures.turn();
  await fixtures.visitor.send(await begin(txHash), '/put-back');
  await record(txHash, await send(from.address, 2_000_000n));
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.deepEqual(await refundOf(txHash), ['confirmed', '2000000']);
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});

test('a recorded hash that was never sent → still looked up, less and less often, without delaying others', async () => {
  const { txHash } = await stray(13_000_000n);
  await record(txHash, hash('9'));
  await age(txHash, '40 days');
  await follow();
  assert.deepEqual(await refundOf(txHash), ['missing', null]);
  const [row] = await fixtures.db.sql`
    select next_look_at > now() + interval '5 hours' as seldom from returns where tx_hash = ${txHash}`;
  assert.equal(row?.seldom, true);
});
