import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { followRelays } from '../../src/chain/relay/follow.ts';
import { dispatch, enqueueCall } from '../../src/chain/relay/relay.ts';
import { toHex } from '../../src/chain/rpc.ts';
import { connect } from '../../src/db/connection.ts';
import { findOvertaken } from '../../src/plans/collect/overtaken.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { allotAlone, approval, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { lookAnew, testRelayerKey } from '../support/chain/relayer.ts';
import { accessTo } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let f: RelayFixtures;
before(async () => {
  f = await relayFixtures();
});
afterEach(async () => {
  await f.rpc('evm_setAutomine', [true]);
  await settled();
});
after(() => f.stop());

/** Everything that was sent is mined and final. */
const settled = async () => {
  for (let passes = 0; passes < 3; passes++) {
    await f.node.mine(3);
    await f.read();
    await f.follow();
  }
};
const noncesOf = async (ids: readonly string[]) => {
  const rows = await f.db.sql<{ nonce: string }[]>`
    select nonce from relay_transactions where id = any(${[...ids]}::uuid[]) order by nonce`;
  return rows.map(({ nonce }) => Number(nonce));
};
/** The relayer's key sends something that this database knows nothing of. */
const sendBehindItsBack = () => sendTransaction(f.chain, testRelayerKey, f.call().to, approval(1n));

test('200 calls of three partners enqueued at once by two nodes → consecutive nonces, all mined', async () => {
  const scopes = [f.scope, (await makePartner(f.db)).test, (await makePartner(f.db)).test] as const;
  const second = { ...f.ctx, db: connect(accessTo(f.databaseUrl)) };
  const first = await f.mined();
  try {
    const all = Array.from({ length: 200 }, (_, i) => {
      const call = f.call({ scope: scopes[i % 3] });
      return allotAlone(i % 4 < 2 ? f.ctx : second, call);
    });
    const ids = await Promise.all(all);
    assert.deepEqual(
      await noncesOf(ids),
      Array.from({ length: 200 }, (_, i) => first + i),
    );
    await Promise.all(ids.map((id, i) => dispatch(i % 3 === 0 ? second : f.ctx, id)));
    const [signed] = await f.db.sql`
      select count(*)::int as variants, count(distinct relay_id)::int as calls, count(distinct hash)::int as hashes
      from relay_variants where relay_id = any(${ids}::uuid[])`;
    assert.ok(signed?.calls > 0, 'those behind the most that nodes keep wait');
    assert.deepEqual([signed?.variants, signed?.hashes], [signed?.calls, signed?.calls], 'each was signed once');
    await Promise.all([f.follow(), f.follow(second)]);
    // On a busy machine an endpoint misses some, which later passes send again.
    for (let passes = 0; passes < 30 && (await f.mined()) < first + 200; passes++) {
      await f.follow(passes % 2 === 0 ? f.ctx : second);
    }
    assert.equal(await f.mined(), first + 200);
    for (let rounds = 0; rounds < 3; rounds++) await settled(); // each pass requests a limited number of receipts
    const [row] = await f.db.sql`
      select count(*)::int as final from relay_transactions where id = any(${ids}::uuid[]) and state = 'final'`;
    assert.equal(row?.final, 200);
  } finally {
    await second.db.close();
  }
});

test('a rolled-back transaction that took nonces → no gap', async () => {
  await assert.rejects(
    f.ctx.db.transaction(async (tx) => {
      await enqueueCall(f.ctx, tx, f.call(), 60_000n);
      throw new Error('the caller changed its mind');
    }),
    /changed its mind/,
  );
  const id = await f.allot(f.call());
  assert.deepEqual(await noncesOf([id]), [await f.mined()]);
  await dispatch(f.ctx, id);
});

test('a nonce that another transaction used → lost once that is final, and later calls pass it over', async () => {
  await f.rpc('evm_setAutomine', [false]);
  const [id, next] = [await f.allot(f.call()), await f.allot(f.call())];
  await f.rpc('evm_setAutomine', [true]);
  await sendBehindItsBack();
  await dispatch(f.ctx, id);
  await f.read();
  await f.follow();
  assert.equal(await f.state(id), 'sent', 'that block is not final');
  await dispatch(f.ctx, next);
  await settled();
  assert.equal(await f.state(id), 'lost');
  assert.equal(await f.state(next), 'final');
  const [row] = await f.db.sql`select fee_wei from relay_transactions where id = ${id}`;
  assert.equal(row?.fee_wei, '0', 'whoever used it has paid');
});

test('a database restored from a backup → its old calls are lost or found, and new ones use later nonces', async () => {
  const [kept, forgotten] = [await f.allot(f.call()), await f.allot(f.call())];
  await dispatch(f.ctx, kept);
  const [backup] = await f.db.sql`select next_nonce from relay_accounts`;
  await f.db.sql`update relay_accounts set next_nonce = ${Number(backup?.next_nonce) - 1}`;
  await f.db.sql`delete from relay_transactions where id = ${forgotten}`; // it was enqueued after the backup
  for (let sent = 0; sent < 3; sent++) await sendBehindItsBack(); // what was sent after it
  const early = await f.allot(f.call()); // before the loop has asked the chain
  await dispatch(f.ctx, early);
  await f.read();
  await f.follow();
  const late = await f.allot(f.call());
  assert.deepEqual(await noncesOf([late]), [await f.mined()]);
  await dispatch(f.ctx, late);
  await settled();
  assert.deepEqual(await Promise.all([kept, early, late].map(f.state)), ['final', 'lost', 'final']);
});

test('a gap that nothing waits behind → the next call gets it', async () => {
  await f.db.sql`update relay_accounts set next_nonce = next_nonce + 7`;
  await f.follow();
  const id = await f.allot(f.call());
  assert.deepEqual(await noncesOf([id]), [await f.mined()]);
  await dispatch(f.ctx, id);
  await settled();
  assert.equal(await f.state(id), 'final');
});

test('a gap that calls wait behind → transfers of nothing close it, and they are mined', async () => {
  await f.db.sql`update relay_accounts set next_nonce = next_nonce + 2`;
  const ids = [await f.allot(f.call()), await f.allot(f.call())];
  for (const id of ids) await dispatch(f.ctx, id);
  await settled();
  await settled();
  assert.deepEqual(await Promise.all(ids.map(f.state)), ['final', 'final']);
  const [row] = await f.db.sql`select gap_nonce from relay_accounts`;
  assert.equal(row?.gap_nonce, null);
});

test('a call is enqueued while the loop finds a gap → the gap is closed, and no later call gets a nonce in it', async () => {
  const first = await f.mined();
  await f.db.sql`update relay_accounts set next_nonce = ${first + 3}`;
  const ids: string[] = [];
  /** The loop asks this between reading an account's calls and closing its gap. */
  const meanwhile: typeof findOvertaken = async () => {
    ids.push(await f.allot(f.call()));
    await dispatch(f.ctx, ids.at(-1) ?? '');
    return new Set();
  };
  for (let passes = 0; passes < 2; passes++) {
    await lookAnew(f.db);
    await followRelays(f.ctx, f.chain, meanwhile);
  }
  await settled();
  await settled();
  assert.deepEqual(await noncesOf(ids), [first + 3, first + 4]);
  assert.deepEqual(await Promise.all(ids.map(f.state)), ['final', 'final']);
});

test('the chain is reorganised beyond final blocks → their calls are sent again, so later calls are mined', async () => {
  const old = await f.allot(f.call());
  await dispatch(f.ctx, old);
  await f.node.mine(4);
  await f.read();
  await f.follow();
  assert.equal(await f.state(old), 'final');
  const count = await f.mined();
  await f.node.reorg(8);
  await f.rpc('anvil_dropAllTransactions');
  assert.ok((await f.mined()) < count);
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  for (let passes = 0; passes < 4; passes++) await settled();
  assert.equal(await f.state(id), 'final');
  assert.equal(await f.state(old), 'final', 'what has ended stays so');
  assert.ok((await f.mined()) > count);
});

test('the chain is reorganised beyond final blocks → a call that had failed is not sent again: its caller has gone on since', async () => {
  const old = await f.allot(f.call());
  await dispatch(f.ctx, old);
  await f.node.mine(4);
  await f.read();
  await f.follow();
  await f.db.sql`update relay_transactions set state = 'reverted', succeeded = false where id = ${old}`;
  const [nonce = 0] = await noncesOf([old]);
  await f.node.reorg(8);
  await f.rpc('anvil_dropAllTransactions');
  assert.ok((await f.mined()) <= nonce);
  for (let passes = 0; passes < 4; passes++) await settled();
  assert.ok((await f.mined()) > nonce, 'its nonce is used up');
  const [row] = await f.db.sql`select hash from relay_transactions where id = ${old}`;
  assert.equal(await f.rpc('eth_getTransactionReceipt', [row?.hash]), null);
});

test('a nonce with a huge number → its account is not lost', async () => {
  await f.rpc('anvil_setNonce', [f.ctx.config.relayer.signers[0]?.address, toHex(5_000_000)]);
  await f.follow();
  const id = await f.allot(f.call());
  assert.deepEqual(await noncesOf([id]), [5_000_000]);
  await dispatch(f.ctx, id);
  await settled();
  assert.equal(await f.state(id), 'final');
});

test('a call is signed, sent and mined by one node, while another that read it before asks the chain → not lost', async () => {
  const provider = await fakeProvider(f.url);
  try {
    const id = await f.allot(f.call({ purpose: 'revoke' }));
    await f.db.sql`update relay_accounts set look_at = now(), counted_at = to_timestamp(0), checked_at = now()`;
    const before = await f.mined();
    provider.fake.lie = async ({ method }) => {
      if (method === 'eth_getTransactionCount' && (await f.state(id)) === 'allotted') await dispatch(f.ctx, id);
      if (method === 'eth_getTransactionCount') await until(async () => (await f.mined()) > before, 'it is mined');
      return null;
    };
    const chain = { ...f.chain, rpcUrls: [provider.url] };
    const late = { ...f.ctx, chains: { test: [chain], live: [] } };
    assert.equal(await followRelays(late, chain, findOvertaken), 1);
    assert.equal(await f.state(id), 'sent');
    await settled();
    assert.equal(await f.state(id), 'final');
  } finally {
    await provider.stop();
  }
});
