import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import { requestReread } from '../../src/chain/reader/unread.ts';
import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { raiseAlarm } from '../../src/db/alarms.ts';
import { matchPending } from '../../src/payments/match.ts';
import { readFinalPayment } from '../../src/payments/proof/final-payment.ts';
import { updateUnconfirmedAlarm } from '../../src/payments/proof/unconfirmed-alarm.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { undoubtedMicroOf } from '../../src/payments/reserve-rest.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import type { TransferRow } from '../../src/payments/transfers.ts';
import { findMisdirected } from '../../src/payments/unmatched/misdirected.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { type LyingReader, lyingReader } from '../support/payments/lying-reader.ts';
import { until } from '../support/until.ts';

/** The endpoint that is read lies; the other one is honest. */
let fixtures: LyingReader;
before(async () => {
  fixtures = await lyingReader();
});
after(() => fixtures?.stop());

type Answer = Record<string, unknown> & { input: string };
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Changes every transaction that the endpoint returns. */
const onTransaction =
  (change: (transaction: Answer) => object): Lie =>
  async ({ method, params, ask }) => {
    if (method !== 'eth_getTransactionByHash') return null;
    const transaction = (await ask(method, params)) as Answer | null;
    return { result: transaction && { ...transaction, ...change(transaction) } };
  };

const swapped = (own: RequestRow, other: RequestRow): Lie =>
  onTransaction(({ input }) => ({ input: input.replace(hex(own.reference), hex(other.reference)) }));

/** The watcher reads the payment, and by the endpoint's blocks it is final. */
async function settleAll(): Promise<void> {
  await fixtures.node.mine(3);
  await fixtures.turn();
  await fixtures.turn();
}

test('another request’s reference is put into the calldata → applied to that request at first, never verified, and an alarm is raised', async () => {
  const [own, other] = [await fixtures.request(), await fixtures.request()];
  fixtures.liar.fake.lie = swapped(own, other);
  const { txHash } = await fixtures.pay(own, { usdcMicro: 50_000_000n });
  await settleAll();
  assert.equal((await fixtures.transfer(txHash))?.request_id, other.id);
  assert.equal((await fixtures.read(other)).proof_status, 'attached');
  assert.equal((await fixtures.events(other)).length, 0);
  fixtures.clock.forward(2 * 60_000);
  await fixtures.turn();
  assert.ok((await raisedAlarms(fixtures.db.sql)).has('chain-unconfirmed:31337'));
});

/** All endpoints have denied for two minutes what was stored of a transaction. */
const longDenied = (txHash: string) => fixtures.db.sql`
  update transfers set denials = 7, denied_at = now() - interval '2 minutes', look_at = now() where tx_hash = ${txHash}`;

test('another request’s reference, which no endpoint reports for two minutes → read and judged again', async () => {
  const [own, other] = [await fixtures.request(), await fixtures.request()];
  fixtures.liar.fake.lie = swapped(own, other);
  const { txHash } = await fixtures.pay(own);
  await settleAll();
  assert.equal((await fixtures.transfer(txHash))?.request_id, other.id);
  fixtures.liar.fake.lie = async () => null;
  await longDenied(txHash);
  await fixtures.turn();
  assert.equal(await fixtures.transfer(txHash), undefined);
  assert.equal((await fixtures.read(other)).proof_status, 'none');
  await until(() => fixtures.transfer(txHash), 'it is read anew');
  await fixtures.turn();
  assert.equal((await fixtures.read(own)).proof_status, 'verified');
});

const read: Record<string, (txHash: string) => Promise<unknown>> = {
  '': async () => {},
  ', stored without its calldata,': (txHash) => fixtures.db.sql`
    insert into unread_transactions (chain_id, block_number, block_hash, block_time, tx_hash, logs, owners, stored_at)
    select chain_id, block_number, block_hash, block_time, tx_hash, '[]', '{}', now() from transfers
    where tx_hash = ${txHash}`,
};
for (const [earlier, set] of Object.entries(read)) {
  test(`a payment${earlier} that all endpoints deny for two minutes, and that one then reports again → read and verified automatically`, async () => {
    const request = await fixtures.request();
    fixtures.liar.fake.lie = async () => null;
    const { txHash } = await fixtures.pay(request);
    await fixtures.node.mine(3);
    await fixtures.caughtUp();
    await set(txHash);
    const denies: Lie = async ({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : null);
    const [honest = ''] = fixtures.node.chain.rpcUrls.splice(1, 1, fixtures.liar.url);
    fixtures.liar.fake.lie = denies;
    await matchPending(fixtures.ctx);
    await verifyFinal(fixtures.ctx);
    await longDenied(txHash);
    await verifyFinal(fixtures.ctx);
    fixtures.liar.fake.lie = async () => null;
    fixtures.node.chain.rpcUrls.splice(1, 1, honest);
    assert.equal((await fixtures.read(request)).proof_status, 'none');
    await until(() => fixtures.transfer(txHash), 'it is read anew');
    await fixtures.turn();
    assert.equal((await fixtures.read(request)).proof_status, 'verified');
  });
}

const lies: Record<string, (own: RequestRow) => Lie> = {
  'without its last 16 bytes': () => onTransaction(({ input }) => ({ input: input.slice(0, 2 + 2 * 68) })),
  'with another sender': () => onTransaction(() => ({ from: `0x${'ad'.repeat(20)}` })),
  'sent to an entry point that knows nothing of it': () =>
    onTransaction(() => ({ to: '0x0000000071727de22e5e9d8baf0edac6f37da032' })),
};
for (const [what, lie] of Object.entries(lies)) {
  test(`a transaction that is told ${what}, so that it pays by its amount → not verified`, async () => {
    const [own, other] = [await fixtures.request(), await fixtures.request()];
    fixtures.liar.fake.lie = lie(own);
    const { txHash } = await fixtures.pay(own, { usdcMicro: BigInt(other.usdc_micro) });
    await settleAll();
    assert.equal((await fixtures.transfer(txHash))?.request_id, other.id);
    assert.equal((await fixtures.read(other)).proof_status, 'attached');
  });
}

/** Each block was a second earlier. */
const older: Lie = async ({ method, params, ask }) => {
  if (method !== 'eth_getBlockByNumber') return null;
  const block = (await ask(method, params)) as { timestamp: string } | null;
  return { result: block && { ...block, timestamp: `0x${(Number(block.timestamp) - 1).toString(16)}` } };
};

test('a block that is reported as older than it is → its transfers are not verified', async () => {
  const request = await fixtures.request();
  fixtures.liar.fake.lie = older;
  await fixtures.pay(request);
  await settleAll();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
});

test('a part in a block that was told as older, and the rest in one that both agree on → not verified with the rest', async () => {
  const request = await fixtures.request();
  fixtures.liar.fake.lie = older;
  const part = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 1_000_000n });
  await settleAll();
  fixtures.liar.fake.lie = async () => null;
  await fixtures.db.sql`update transfers set look_at = now() + interval '1 hour' where tx_hash = ${part.txHash}`;
  const rest = await fixtures.pay(request, { usdcMicro: 1_000_000n });
  // Final at first sight, so that matching it decides.
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await matchPending(fixtures.ctx);
  assert.equal((await fixtures.transfer(rest.txHash))?.request_id, request.id);
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
});

test('a block that no endpoint reports as older for two minutes → its transfers are read again and verified', async () => {
  const request = await fixtures.request();
  fixtures.liar.fake.lie = older;
  const { txHash } = await fixtures.pay(request);
  await settleAll();
  const before = await fixtures.transfer(txHash);
  fixtures.liar.fake.lie = async () => null;
  await fixtures.db.sql`update transfers set look_at = now() where tx_hash = ${txHash}`;
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.denials, 1);
  await longDenied(txHash);
  await fixtures.turn();
  const after = await until(() => fixtures.transfer(txHash), 'it is read anew');
  assert.equal(Number(after.block_time) - Number(before?.block_time), 1000);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});

/** The endpoint reports no transfers, and its blocks' bloom filters are empty. */
const leavesOut =
  (receiptsToo: boolean): Lie =>
  async ({ method, params, ask }) => {
    if (method === 'eth_getLogs') return { result: [] };
    const changed = {
      eth_getBlockByNumber: { logsBloom: `0x${'0'.repeat(512)}` },
      eth_getTransactionReceipt: receiptsToo ? { logs: [] } : {},
    }[method];
    const answer = changed && ((await ask(method, params)) as object | null);
    if (answer) return { result: { ...answer, ...changed } };
    return null;
  };

const ways: Record<string, (paid: { request: RequestRow; txHash: string }) => Promise<unknown>> = {
  'its hash is submitted': ({ request, txHash }) => submitHash(fixtures.ctx, request.id, { txHash }),
  'its page is open': ({ request }) => findMisdirected(fixtures.ctx, fixtures.scope, request.id),
};
for (const [what, point] of Object.entries(ways)) {
  for (const receiptsToo of [false, true]) {
    const how = receiptsToo ? 'logs and receipts' : 'logs';
    test(`a payment that the reading endpoint leaves out of its ${how} → found by the other one once ${what}`, async () => {
      const request = await fixtures.request();
      fixtures.liar.fake.lie = leavesOut(receiptsToo);
      const { txHash } = await fixtures.pay(request);
      await settleAll();
      assert.equal(await fixtures.transfer(txHash), undefined);
      await until(async () => {
        await point({ request, txHash });
        return fixtures.transfer(txHash);
      }, 'the watcher finds it');
      await fixtures.turn();
      assert.equal((await fixtures.read(request)).proof_status, receiptsToo ? 'attached' : 'verified');
      // A transaction that is pointed at again just as it is found is read once more, then done with.
      await until(async () => {
        const left = await fixtures.db.sql`select from unread_transactions where stored_at is null`;
        return left.length === 0;
      }, 'nothing is left to be read');
    });
  }
}

/** A contract whose calldata is a token, then calls of 100 bytes each: it makes each call to the token. */
const batcher = '0x00000000000000000000000000000000000ba7c4';
const batcherCode =
  '0x60205b3681101560295760648160003760006000606460006000600035' + '5af115602b57606401600256' + '5b00' + '5b60006000fd';

test('one transaction that pays two merchants, of whom the reading endpoint hides one → found once its hash is submitted', async () => {
  const hidden = await fixtures.request();
  const neighbour = await makeMerchant(fixtures.db, fixtures.scope);
  const told = await makeRequest(fixtures.db, fixtures.scope, neighbour, { startBlocks: hidden.start_blocks });
  fixtures.liar.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_getLogs') return null;
    const logs = (await ask(method, params)) as { topics: string[] }[];
    return { result: logs.filter(({ topics }) => !topics[2]?.endsWith(hidden.wallet_address.slice(2))) };
  };
  const { chain } = fixtures.node;
  const payer = fixtures.node.wallet();
  const usdc = chain.tokens[0]?.address ?? '';
  await callRpc(fixtures.liar.url, 'anvil_setCode', [batcher, batcherCode]);
  await fixtures.node.fund(payer.address, 10n ** 12n);
  const call = (functionName: 'approve' | 'transferFrom', args: [Hex, bigint] | [Hex, Hex, bigint]) =>
    encodeFunctionData({ abi: erc20Abi, functionName, args } as Parameters<typeof encodeFunctionData>[0]);
  await sendTransaction(chain, payer.privateKey, usdc, call('approve', [batcher, 10n ** 12n]));
  const moves = [hidden, told].map((to) =>
    call('transferFrom', [payer.address, to.wallet_address as Hex, BigInt(to.usdc_micro)]).slice(2),
  );
  const data: Hex = `0x${usdc.slice(2).padStart(64, '0')}${moves.join('')}`;
  const txHash = await sendTransaction(chain, payer.privateKey, batcher, data);
  await settleAll();
  assert.equal((await fixtures.read(told)).proof_status, 'verified');
  assert.equal((await fixtures.read(hidden)).proof_status, 'none');
  await until(async () => {
    await submitHash(fixtures.ctx, hidden.id, { txHash });
    const rows = await fixtures.db.sql`select from transfers where tx_hash = ${txHash}`;
    return rows.length === 2;
  }, 'the watcher finds the other');
  await fixtures.turn();
  assert.equal((await fixtures.read(hidden)).proof_status, 'verified');
});

test('a transaction that one endpoint made up → sought for a day, then given up', async () => {
  fixtures.liar.fake.lie = async () => null;
  const request = await fixtures.request();
  const [block] = await fixtures.db.sql<{ hash: string; number: string }[]>`
    select hash, number from chain_blocks order by number desc limit 1`;
  assert.ok(block);
  const transaction = { txHash: `0x${'ab'.repeat(32)}`, blockHash: block.hash, blockNumber: Number(block.number) };
  const place = { chainId: fixtures.node.chain.chainId, testMode: true };
  await requestReread(fixtures.db, place, {
    wallet: request.wallet_address,
    transactions: [transaction],
    sinceBlock: null,
  });
  const left = () => fixtures.db.sql`select tries from unread_transactions where tx_hash = ${transaction.txHash}`;
  await until(async () => (await left())[0]?.tries > 0, 'it was sought again');
  await fixtures.db.sql`
    update unread_transactions set seen_at = now() - interval '25 hours', look_at = now() where tx_hash = ${transaction.txHash}`;
  await until(async () => (await left()).length === 0, 'it is given up');
});

test('the truth → verified at first sight, by reference, by amount and as a partial payment', async () => {
  fixtures.liar.fake.lie = async () => null;
  for (const tagged of [true, false]) {
    const request = await fixtures.request();
    await fixtures.pay(request, { tagged });
    await settleAll();
    assert.equal((await fixtures.read(request)).proof_status, 'verified');
  }
});

/** The same, without the wait after a check in which not all endpoints agreed. */
async function atOnce(): Promise<void> {
  await fixtures.db.sql`update transfers set look_at = now()`;
  await settleAll();
}

test('one endpoint names a final block that the other does not → not verified before both do', async () => {
  const request = await fixtures.request();
  const configured = fixtures.node.chain.finality.splice(0, 9, { upToUsdcMicro: null, tag: 'finalized' });
  fixtures.liar.fake.lie = async ({ method, params, ask }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized'
      ? { result: await ask(method, ['latest', false]) }
      : null;
  const { txHash } = await fixtures.pay(request);
  await settleAll();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  const key = { chainId: 31337, txHash, ordinal: 0 };
  assert.equal(await readFinalPayment(fixtures.ctx, fixtures.scope, fixtures.merchant.id, key), null, 'nor refunded');
  await fixtures.node.mine(100);
  await atOnce();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  fixtures.node.chain.finality.splice(0, 9, ...configured);
});

/** Puts an endpoint in place of the second one until the test ends; its newest block is the one that `head` names. */
async function laggard(t: TestContext) {
  fixtures.liar.fake.lie = async () => null;
  const honest = fixtures.node.chain.rpcUrls[1] ?? '';
  const behind = await fakeProvider(honest);
  fixtures.node.chain.rpcUrls.splice(1, 1, behind.url);
  t.after(async () => {
    fixtures.node.chain.rpcUrls.splice(1, 1, honest);
    await behind.stop();
  });
  const laggard = { head: null as number | null };
  behind.fake.lie = async ({ method, params, ask }) =>
    laggard.head !== null && method === 'eth_getBlockByNumber' && params[0] === 'latest'
      ? { result: await ask(method, [`0x${laggard.head.toString(16)}`, false]) }
      : null;
  return laggard;
}

test('one endpoint is for long behind the other → the payment waits and is not doubted, and nobody is asked for it again', async (t) => {
  const second = await laggard(t);
  const request = await fixtures.request();
  const { txHash } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 1_000_000n });
  await fixtures.turn();
  second.head = Number((await fixtures.transfer(txHash))?.block_number);
  await settleAll();
  for (let check = 0; check < 10; check++) await atOnce();
  const sound = undoubtedMicroOf([(await fixtures.transfer(txHash)) as TransferRow]);
  assert.equal(BigInt(request.usdc_micro) - sound, 1_000_000n, 'the page asks for what is missing, and no more');
  await fixtures.db.sql`update transfers set look_at = now() + interval '1 hour' where tx_hash <> ${txHash}`;
  await settleAll();
  const [row] = await fixtures.db.sql`
    select look_at <= now() + interval '8 seconds' as soon from transfers where tx_hash = ${txHash}`;
  assert.ok(row?.soon, 'it is looked at again soon');
  second.head = null;
  await atOnce();
  assert.ok((await fixtures.transfer(txHash))?.final_at);
});

test('one endpoint is always a little behind, and payments never stop → no alarm; it stands still → an alarm after 2 minutes', async (t) => {
  const alarm = 'chain-unconfirmed:31337';
  const isRaised = async () => (await raisedAlarms(fixtures.db.sql)).has(alarm);
  await atOnce();
  await fixtures.db.sql`delete from transfers where counts and final_at is null`;
  await fixtures.turn();
  assert.equal(await isRaised(), false);
  const second = await laggard(t);
  const blockOf = async (txHash: string) => Number((await fixtures.transfer(txHash))?.block_number);
  for (let minute = 0; minute < 6; minute++) {
    const request = await fixtures.request();
    const { txHash } = await fixtures.pay(request);
    await fixtures.turn();
    second.head = await blockOf(txHash);
    await settleAll();
    await atOnce();
    assert.equal((await fixtures.transfer(txHash))?.final_at, null);
    fixtures.clock.forward(60_000);
    assert.equal(await isRaised(), false, `minute ${minute}`);
  }
  fixtures.clock.forward(60_000);
  await atOnce();
  assert.equal(await isRaised(), true);
  second.head = null;
  await atOnce();
  await atOnce();
  assert.equal(await isRaised(), false);
});

test('a process that has just started › clears the alarm of the one before it once older payments are settled', async () => {
  const { ctx, db, node } = fixtures;
  await db.sql`delete from transfers where counts and final_at is null`;
  const started = { ...ctx, db: { ...db } };
  const waitsFor = (block: number) =>
    updateUnconfirmedAlarm(started, node.chain, null, [{ block_number: String(block) } as TransferRow]);
  const details = { chainId: 31337, chain: node.chain.name, since: new Date(0).toISOString() };
  await raiseAlarm(db.sql, { kind: 'chain-unconfirmed', subject: '31337', details });
  await waitsFor(10);
  assert.ok((await raisedAlarms(db.sql)).has('chain-unconfirmed:31337'));
  await waitsFor(11);
  assert.equal((await raisedAlarms(db.sql)).has('chain-unconfirmed:31337'), false);
});

test('one endpoint is ahead of the other by the blocks that are needed → not verified before both have them', async (t) => {
  const request = await fixtures.request();
  const second = await laggard(t);
  const { txHash } = await fixtures.pay(request);
  await fixtures.turn();
  second.head = Number((await fixtures.transfer(txHash))?.block_number);
  await settleAll();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  second.head = null;
  await atOnce();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});
