import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { confirmTransfer } from '../../src/chain/confirm.ts';
import { poll } from '../../src/chain/reader/read.ts';
import { insertCursor, saveBlocks } from '../../src/chain/reader/store.ts';
import { callRpc, toHex } from '../../src/chain/rpc.ts';
import { silentChains } from '../../src/chain/silence.ts';
import { chainStatus } from '../../src/chain/status.ts';
import { checkTokens } from '../../src/chain/tokens.ts';
import { dayMs } from '../../src/lib/durations.ts';
import { mineWhileWaiting } from '../../src/sandbox/mining.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';
import { randomAddress } from '../support/fixtures.ts';

let fixtures: WatchFixtures;
before(async () => {
  fixtures = await watchFixtures();
});
after(() => fixtures?.stop());

const found = async (txHash: string) => (await fixtures.transfers()).some((row) => row.tx_hash === txHash);

test('the first pass begins behind the head; later passes find payments to watched wallets and no others', async () => {
  const early = await fixtures.pay(1_000_000n);
  const reader = await fixtures.reader();
  await poll(reader);
  assert.equal((await fixtures.cursor())?.number, await headNumber(fixtures.node.chain));

  const request = await fixtures.request();
  const payer = fixtures.node.wallet();
  const tagged = await fixtures.node.pay({
    from: payer,
    to: fixtures.merchant.wallet,
    usdcMicro: 2_000_000n,
    reference: request.reference,
  });
  const stranger = await fixtures.node.pay({
    from: fixtures.node.wallet(),
    to: randomAddress(),
    usdcMicro: 3_000_000n,
  });
  await pollUntil(reader, () => found(tagged));

  assert.ok(!(await found(early)) && !(await found(stranger)));
  const [row] = await fixtures.transfers();
  assert.equal(row?.from_address, payer.address);
  assert.equal(row?.to_address, fixtures.merchant.wallet);
  assert.equal(row?.value, '2000000');
  assert.equal(row?.ordinal, 0);
  assert.equal(row?.account_id, fixtures.merchant.id);
  assert.deepEqual(row?.calldata_reference, Buffer.from(request.reference));
});

test('a node that has just started, and no new block → its first pass says that the chain is read', async (t) => {
  await pollUntil(await fixtures.reader(), async () => (await fixtures.cursor()) !== null);
  await fixtures.db.sql`update chain_cursors set updated_at = now() - interval '90 seconds'`;
  const isSilent = async () => (await silentChains(fixtures.ctx, 'test')).length > 0;
  assert.ok(await isSilent());
  t.mock.method(performance, 'now', () => 1_000);
  await poll(await fixtures.reader());
  assert.ok(!(await isSilent()));
});

test('a transfer to oneself or of zero → not a payment; a mint → a payment from the zero address', async () => {
  const reader = await fixtures.reader();
  const self = fixtures.node.wallet();
  await fixtures.db.sql`
    insert into watched_wallets values (${self.address}, ${fixtures.scope.partnerId}, true, ${fixtures.merchant.id},
      now() + interval '1 day', now())`;
  const toSelf = await fixtures.node.pay({ from: self, to: self.address, usdcMicro: 5n });
  const nothing = await fixtures.pay(0n);
  const mint = (await fixtures.node.fund(fixtures.merchant.wallet, 7n)) as string;
  await pollUntil(reader, () => found(mint));
  assert.ok(!(await found(toSelf)) && !(await found(nothing)));
  const row = (await fixtures.transfers()).find(({ tx_hash }) => tx_hash === mint);
  assert.equal(row?.from_address, `0x${'0'.repeat(40)}`);
  assert.equal(row?.calldata_reference, null);
});

test('a reorganisation is walked back: payments in it are removed, and found again where they are mined again', async () => {
  const reader = await fixtures.reader();
  const kept = await fixtures.pay(11n);
  const lost = await fixtures.pay(12n);
  await fixtures.node.mine(2);
  await pollUntil(reader, () => found(lost));
  const before = await fixtures.cursor();

  await fixtures.node.reorg(3);
  await pollUntil(reader, async () => !(await found(lost)));
  assert.ok(await found(kept));
  assert.deepEqual(
    fixtures.removed.map(({ txHash, ordinal, requestId }) => ({ txHash, ordinal, requestId })),
    [{ txHash: lost, ordinal: 0, requestId: null }],
  );
  assert.notEqual((await fixtures.cursor())?.hash, before?.hash);

  const later = await fixtures.pay(13n);
  await pollUntil(reader, () => found(later));
  assert.equal((await fixtures.cursor())?.number, await headNumber(fixtures.node.chain));
  const blocks = await fixtures.db.sql`
    select b.number from chain_blocks b join chain_blocks p on p.chain_id = b.chain_id and p.number = b.number - 1
    where b.parent_hash <> p.hash`;
  assert.deepEqual([...blocks], []);
});

test('a reorganisation to a shorter chain is seen as soon as the shorter one differs', async () => {
  const reader = await fixtures.reader();
  await fixtures.node.mine(3);
  const lost = await fixtures.pay(14n);
  await pollUntil(reader, () => found(lost));
  const number = (await fixtures.cursor())?.number ?? 0;
  // A node that switches branches shows the new branch, which is still shorter than the old one.
  const fork = `0x${'ab'.repeat(32)}`;
  await fixtures.db.sql`update chain_blocks set hash = ${fork} where number >= ${number - 2}`;
  await fixtures.db.sql`
    update chain_cursors set number = ${number + 2}, hash = ${fork} where chain_id = ${fixtures.node.chain.chainId}`;
  reader.cursor = null; // as for a leader that starts here
  fixtures.removed.length = 0;
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === number);
  assert.ok(fixtures.removed.some(({ txHash }) => txHash === lost));
  assert.ok(await found(lost), 'read again on the new branch');
});

test('a reorganisation deeper than the stored blocks → read again from before it, and an alarm is raised', async () => {
  const reader = await fixtures.reader();
  const paid = await fixtures.pay(15n);
  await fixtures.node.mine(2);
  await pollUntil(reader, () => found(paid));
  const fork = `0x${'cd'.repeat(32)}`;
  await fixtures.db.sql`delete from chain_blocks where number < (select number - 5 from chain_cursors)`;
  await fixtures.db.sql`update chain_blocks set hash = ${fork}`;
  await fixtures.db.sql`update chain_cursors set hash = ${fork}`;
  reader.cursor = null; // as for a leader that starts here
  const head = await headNumber(fixtures.node.chain);
  await pollUntil(
    reader,
    async () => (await fixtures.cursor())?.number === head && (await fixtures.cursor())?.hash !== fork,
  );
  assert.ok(await found(paid));
  const alarms = await raisedAlarms(fixtures.db.sql);
  assert.deepEqual([...alarms.keys()], [`chain-deep-reorg:${fixtures.node.chain.chainId}`]);
});

test('a reorganisation deeper than the stored blocks removes payments below them too, down to the last block that still stands', async () => {
  const late = { finality: [{ upToUsdcMicro: null, confirmations: 1_000 }] };
  const reader = await fixtures.reader(undefined, late);
  const kept = await fixtures.pay(16n);
  await fixtures.node.mine(1);
  const [lost, also] = [await fixtures.pay(17n), await fixtures.pay(18n)];
  await fixtures.node.mine(6);
  await pollUntil(reader, () => found(also));
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === (await headNumber(fixtures.node.chain)));
  // As if more blocks were made since than are stored.
  await fixtures.db.sql`delete from chain_blocks where number < (select number - 2 from chain_cursors)`;
  fixtures.removed.length = 0;
  const mined = (await fixtures.transfers()).find(({ tx_hash }) => tx_hash === lost);
  await fixtures.node.reorg((await headNumber(fixtures.node.chain)) - Number(mined?.block_number) + 1);
  await pollUntil(reader, async () => !(await found(lost)) && !(await found(also)));
  assert.ok(await found(kept));
  assert.deepEqual(fixtures.removed.map(({ txHash }) => txHash).sort(), [lost, also].sort());
  const later = await fixtures.pay(19n);
  await pollUntil(reader, () => found(later));
});

test('one of 1024 blocks, and the first, are kept as checkpoints for 31 days', async () => {
  const lease = await fixtures.lease();
  const chain = { chainId: 999, testMode: true };
  const progress = { head: 3_000, final: 3_000, safe: null, finalized: null };
  const block = (number: number, time = new Date()) => {
    const hash = toHex(number);
    return { number, hash, parentHash: toHex(number - 1), time, logsBloom: '0x', transactionCount: 0 };
  };
  const numbers = async () => {
    const rows = await fixtures.db.sql`select number from chain_checkpoints where chain_id = 999 order by number`;
    return rows.map(({ number }) => Number(number));
  };
  const save = (from: number, headers: ReturnType<typeof block>[]) =>
    saveBlocks(fixtures.db, chain, lease, { from: block(from), headers, transfers: [], unread: [], progress });
  await insertCursor(fixtures.db, chain.chainId, lease, block(1_020), progress);
  await save(
    1_020,
    Array.from({ length: 10 }, (_, i) => block(1_021 + i)),
  );
  assert.deepEqual(await numbers(), [1_020, 1_024]);
  await save(1_030, [block(2_048, new Date(Date.now() + 32 * dayMs))]);
  assert.deepEqual(await numbers(), [2_048]);
});

for (const { name, ahead } of [
  { name: 'the true chain has passed the stored blocks', ahead: 0 },
  { name: 'the true chain is below all stored blocks', ahead: 700 },
]) {
  test(`a false chain longer than the stored blocks, and ${name} → read again from a checkpoint, and no payment is missed`, async () => {
    const reader = await fixtures.reader();
    const { chainId } = fixtures.node.chain;
    const caughtUp = async () => (await fixtures.cursor())?.number === (await headNumber(fixtures.node.chain));
    await fixtures.node.mine(1);
    await pollUntil(reader, caughtUp);
    const checkpoint = (await fixtures.cursor()) ?? assert.fail();
    const kept = await fixtures.pay(22n);
    await pollUntil(reader, () => found(kept));
    const last = (await fixtures.cursor()) ?? assert.fail();
    const paid = await fixtures.pay(21n);
    await fixtures.node.mine(8);
    await pollUntil(reader, caughtUp);
    // As if blocks of another chain had been read from the checkpoint on, without the payment, and more than are stored.
    const fork = `0x${'ef'.repeat(32)}`;
    await fixtures.db.sql`
      insert into chain_checkpoints (chain_id, number, hash, block_time)
      values (${chainId}, ${checkpoint.number}, ${checkpoint.hash}, now()),
        (${chainId}, ${checkpoint.number + 4}, ${fork}, now())`;
    await fixtures.db.sql`update transfers set judged_at = now(), final_at = now() where tx_hash = ${kept}`;
    await fixtures.db.sql`delete from transfers where tx_hash = ${paid}`;
    await fixtures.db.sql`delete from chain_blocks where number < ${checkpoint.number + 7}`;
    await fixtures.db.sql`update chain_blocks set hash = ${fork}, number = number + ${ahead}`;
    await fixtures.db.sql`update chain_cursors set hash = ${fork}, number = number + ${ahead}`;
    const read = (await fixtures.cursor())?.number ?? 0;
    reader.cursor = null; // as for a leader that starts here
    await pollUntil(reader, () => found(paid));
    const alarms = await raisedAlarms(fixtures.db.sql);
    assert.equal(alarms.get(`chain-final-reorged:${chainId}`), undefined, 'the final payment still stands');
    const alarm = alarms.get(`chain-deep-reorg:${chainId}`);
    assert.match(alarm ?? '', new RegExp(`its last ${read - last.number} blocks are being read again`));
    const rows = await fixtures.db.sql`
      select from chain_checkpoints where chain_id = ${chainId} and number > ${checkpoint.number}`;
    assert.equal(rows.length, 0);
  });
}

test('the only endpoint leads to another chain for a while → nothing that was read is given up', async () => {
  const foreign = await testChain({ chainId: 31_338 });
  const provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  try {
    const reader = await fixtures.reader([provider.url]);
    const paid = await fixtures.pay(16n);
    await pollUntil(reader, () => found(paid));
    const before = await fixtures.cursor();
    await foreign.mine((before?.number ?? 0) + 5);
    fixtures.removed.length = 0;
    provider.fake.lie = async ({ method, params }) => ({
      result: await callRpc(foreign.chain.rpcUrls[0] ?? '', method, params),
    });
    await pollUntil(reader, async () => (provider.fake.calls.get('eth_chainId') ?? 0) > 3);
    assert.deepEqual(await fixtures.cursor(), before);
    assert.deepEqual([fixtures.removed.length, await found(paid)], [0, true]);
    provider.fake.lie = async () => null;
    const later = await fixtures.pay(17n);
    await pollUntil(reader, () => found(later));
  } finally {
    await Promise.all([provider.stop(), foreign.stop()]);
  }
});

test('after a long time away all blocks are read in ranges, and no payment in them is missed', async () => {
  const paid: string[] = [];
  for (const blocks of [40, 300, 7]) {
    await fixtures.node.mine(blocks);
    paid.push(await fixtures.pay(BigInt(20 + blocks)));
  }
  const reader = await fixtures.reader();
  reader.range = 50;
  const head = await headNumber(fixtures.node.chain);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === head);
  for (const txHash of paid) assert.ok(await found(txHash));
  assert.ok(reader.range > 50, 'the range grows with success');
});

test('a wallet that is watched while its payment is on the way is known when the block is read', async () => {
  const reader = await fixtures.reader();
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === (await headNumber(fixtures.node.chain)));
  for (let round = 0; round < 5; round++) {
    const wallet = randomAddress();
    await fixtures.db.sql`
      insert into watched_wallets values (${wallet}, ${fixtures.scope.partnerId}, true, ${fixtures.merchant.id},
        now() + interval '1 day', now())`;
    const paid = await fixtures.node.pay({ from: fixtures.node.wallet(), to: wallet, usdcMicro: 30n });
    await pollUntil(reader, () => found(paid));
  }
});

/** A payment of 40 micro units that was read, as endpoints are asked about it. */
async function readPayment() {
  const reader = await fixtures.reader();
  const txHash = await fixtures.pay(40n);
  await pollUntil(reader, () => found(txHash));
  const row = (await fixtures.transfers()).find(({ tx_hash }) => tx_hash === txHash);
  assert.ok(row);
  return {
    txHash,
    ordinal: row.ordinal,
    blockNumber: Number(row.block_number),
    logIndex: row.log_index,
    blockHash: row.block_hash,
    blockTime: row.block_time,
    tokenAddress: fixtures.node.chain.tokens[0]?.address ?? '',
    fromAddress: row.from_address,
    toAddress: row.to_address,
    value: 40n,
    calldata: { reference: row.calldata_reference?.toString('hex') ?? null },
    bindings: { authorizationNonce: null, chargedReference: null },
  };
}

test('confirmTransfer › agreed if the transfer is in its block, otherwise how it differs; unavailable without an answer', async () => {
  const { chain } = fixtures.node;
  const key = await readPayment();
  assert.equal(await confirmTransfer(chain, key), 'agreed');
  const calldata = { reference: '00'.repeat(16) };
  for (const [wrong, answer] of [
    [{ value: 41n }, 'absent'],
    [{ ordinal: 1 }, 'missing'],
    [{ blockHash: key.txHash }, 'missing'],
    [{ blockNumber: key.blockNumber - 1 }, 'missing'],
    [{ blockTime: new Date(key.blockTime.getTime() - 1000) }, 'altered'],
    [{ toAddress: key.fromAddress }, 'absent'],
    [{ calldata }, 'altered'],
    [{ calldata: { reference: null } }, 'altered'],
    [{ bindings: { authorizationNonce: 'ab'.repeat(32), chargedReference: null } }, 'altered'],
    [{ bindings: { authorizationNonce: null, chargedReference: 'ab'.repeat(16) } }, 'altered'],
  ] as const) {
    assert.equal(await confirmTransfer(chain, { ...key, ...wrong }), answer);
  }
  assert.equal(await confirmTransfer(chain, { ...key, calldata: null }), 'agreed');
  const away = { ...chain, rpcUrls: [...chain.rpcUrls, 'http://127.0.0.1:9'] };
  assert.equal(await confirmTransfer(away, key), 'unavailable');
});

test('confirmTransfer › an endpoint refuses the receipt → its log and its block decide, unless bytes or other logs are needed', async () => {
  const { chain } = fixtures.node;
  const refusing = await fakeProvider(chain.rpcUrls[0] ?? '');
  refusing.fake.lie = async ({ method }) =>
    method === 'eth_getTransactionReceipt' ? { error: { code: -32000, message: 'no receipts' } } : null;
  try {
    const key = { ...(await readPayment()), calldata: null, bindings: null };
    const ask = (wrong: object) => confirmTransfer({ ...chain, rpcUrls: [refusing.url] }, { ...key, ...wrong });
    assert.equal(await ask({}), 'agreed');
    for (const wrong of [
      { value: 41n },
      { toAddress: key.fromAddress },
      { logIndex: (key.logIndex ?? 0) + 1 },
      { blockTime: new Date(key.blockTime.getTime() - 1000) },
      { blockNumber: key.blockNumber - 1 },
    ]) {
      assert.equal(await ask(wrong), 'missing', Object.keys(wrong).join());
    }
    assert.equal(await ask({ logIndex: null }), 'unreadable');
    assert.equal(await ask({ calldata: { reference: '00'.repeat(16) } }), 'unreadable');
    assert.equal(
      await ask({ bindings: { authorizationNonce: 'ab'.repeat(32), chargedReference: null } }),
      'unreadable',
    );
  } finally {
    await refusing.stop();
  }
});

test('a token gets other decimals behind its address → within a minute nothing is read, until it has six again', async () => {
  const { node } = fixtures;
  const [url = ''] = node.chain.rpcUrls;
  const usdc = node.chain.tokens[0]?.address ?? '';
  const reader = await fixtures.reader();
  await poll(reader);
  const code = await callRpc(url, 'eth_getCode', [usdc, 'latest']);
  // return 18, whatever is asked
  await callRpc(url, 'anvil_setCode', [usdc, '0x601260005260206000f3']);
  const [provider] = reader.pool.providers;
  assert.ok(provider);
  provider.checkedAtMs -= 60_000;
  await node.mine(1);
  const before = await fixtures.cursor();
  await poll(reader);
  assert.deepEqual([await fixtures.cursor(), provider.checked], [before, 'no']);
  await callRpc(url, 'anvil_setCode', [usdc, code]);
  const head = await headNumber(node.chain);
  await pollUntil(reader, async () => (await fixtures.cursor())?.number === head);
});

test('chainStatus reports reachability and lag; checkTokens refuses another chain and a token without six decimals', async () => {
  const { chain } = fixtures.node;
  const [status] = await chainStatus(fixtures.ctx);
  assert.equal(status?.reachable, true);
  assert.equal(status?.head, await headNumber(chain));
  await checkTokens(chain);
  await assert.rejects(checkTokens({ ...chain, chainId: 1 }), /serves chain 31337, not 1/);
  const tokens = [{ symbol: 'FAKE', address: fixtures.node.wallet().address }];
  await assert.rejects(checkTokens({ ...chain, tokens }), /FAKE .* does not have six decimals/);
  await checkTokens({ ...chain, rpcUrls: ['http://127.0.0.1:9'] });
});

test('a payment waits for finality → the sandbox mines blocks; otherwise it mines none', async () => {
  const head = await headNumber(fixtures.node.chain);
  await mineWhileWaiting(fixtures.ctx);
  assert.equal(await headNumber(fixtures.node.chain), head);
  const request = await fixtures.request();
  const [row] = await fixtures.transfers();
  await fixtures.db.sql`
    update transfers set request_id = ${request.id}, rule = 'amount', counts = true, judged_at = now()
    where tx_hash = ${row?.tx_hash ?? ''}`;
  await mineWhileWaiting(fixtures.ctx);
  assert.equal(await headNumber(fixtures.node.chain), head + 1);
});
