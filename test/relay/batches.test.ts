import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { claimAccount, releaseAccount } from '../../src/chain/relay/account-store.ts';
import { dispatch, dispatchAll, readRelay } from '../../src/chain/relay/relay.ts';
import { selectLive } from '../../src/chain/relay/store.ts';
import type { Context } from '../../src/context.ts';
import { runJobs } from '../../src/jobs.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { passTime, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { testRelayer } from '../support/chain/relayer.ts';
import { makePartner } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let f: RelayFixtures;
const key = { chainId: 31337, address: testRelayer.address };
before(async () => {
  f = await relayFixtures();
});
/** Each test begins with everything mined and final. */
afterEach(async () => {
  await f.rpc('evm_setAutomine', [true]);
  for (let passes = 0; passes < 3; passes++) {
    await f.node.mine(3);
    await f.read();
    await f.follow();
  }
});
after(() => f.stop());

/** The service with an endpoint that counts calls and gives false answers. */
async function withProvider(work: (ctx: Context, provider: Awaited<ReturnType<typeof fakeProvider>>) => Promise<void>) {
  const provider = await fakeProvider(f.url);
  try {
    await work({ ...f.ctx, chains: { test: [{ ...f.chain, rpcUrls: [provider.url] }], live: [] } }, provider);
  } finally {
    await provider.stop();
  }
}
async function allotMany(count: number): Promise<string[]> {
  const scopes = [f.scope, (await makePartner(f.db)).test] as const;
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push(await f.allot(f.call({ scope: scopes[i % 2], purpose: 'revoke' })));
  return ids;
}
const rowsOf = (ids: readonly string[]) =>
  f.db.sql<{ id: string; state: string; reached: boolean; trouble: string | null; refused_at: Date | null }[]>`
    select id, state, reached, trouble, refused_at from relay_transactions where id = any(${[...ids]}::uuid[])
    order by nonce`;

test('many calls → few messages, each signed once, all mined; what they cost is counted for each partner', async () => {
  await withProvider(async (ctx, { fake }) => {
    const ids = await allotMany(30);
    await dispatchAll(ctx, ids);
    assert.equal(fake.calls.get('eth_sendRawTransaction'), 30);
    assert.ok((await rowsOf(ids)).every((row) => row.state === 'sent' && row.reached && row.trouble === null));
    await dispatchAll(ctx, ids);
    assert.equal(fake.calls.get('eth_sendRawTransaction'), 30, 'none is sent twice');
    for (let passes = 0; passes < 3; passes++) {
      await f.read();
      await f.follow();
    }
    assert.ok((await rowsOf(ids)).every((row) => row.state === 'mined' || row.state === 'final'));
    const sums = await f.db.sql<{ wei: string; fees: string }[]>`
      select s.wei, (select sum(fee_wei) from relay_transactions r where r.partner_id = s.partner_id) as fees
      from relay_spending s`;
    assert.equal(sums.length, 2);
    for (const { wei, fees } of sums) assert.equal(wei, fees);
  });
});

test('an endpoint that takes no messages with several calls → each is sent by itself', async () => {
  await withProvider(async (ctx, { fake }) => {
    await f.rpc('evm_setAutomine', [false]);
    fake.batch = () => ({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'batches are not allowed' } });
    const ids = await allotMany(6);
    await dispatchAll(ctx, ids);
    assert.ok((await rowsOf(ids)).every((row) => row.reached && row.refused_at === null));
    const calls = fake.calls.get('eth_sendRawTransaction') ?? 0;
    const more = await allotMany(4);
    await dispatchAll(ctx, more);
    assert.equal(fake.calls.get('eth_sendRawTransaction'), calls + 4, 'it is not tried again at once');
  });
});

test('refused within a message → asked about by itself: only that answer says that a transaction is refused', async () => {
  await withProvider(async (ctx, { fake }) => {
    const refused = { jsonrpc: '2.0', error: { code: -32000, message: 'too many calls in a batch' } };
    fake.batch = (answers) =>
      (answers as { id: number }[]).flatMap((one, i) => (i === 0 ? [] : i < 3 ? [{ ...refused, id: one.id }] : [one]));
    await f.rpc('evm_setAutomine', [false]);
    const ids = await allotMany(6);
    await f.db.sql`update relay_transactions set gas = 20000 where id = ${ids[5] ?? ''}`; // below what any needs
    await dispatchAll(ctx, ids);
    const rows = await rowsOf(ids);
    assert.deepEqual(
      rows.map(({ reached }) => reached),
      [true, true, true, true, true, false],
    );
    assert.match(rows[5]?.trouble ?? '', /^refused: /);
    assert.equal(rows.filter(({ refused_at }) => refused_at !== null).length, 1);
    await f.db.sql`update relay_transactions set gas = 90000 where id = ${ids[5] ?? ''}`;
    await f.db.sql`update relay_transactions set state = 'allotted', hash = null where id = ${ids[5] ?? ''}`;
    await dispatch(f.ctx, ids[5] ?? '');
  });
});

test('an endpoint that is away → one message is lost, not each call’s time; the next endpoint gets all', async () => {
  await withProvider(async (ctx, { fake, url }) => {
    let messages = 0;
    const ids = await allotMany(10);
    fake.lie = async ({ method }) => {
      if (method === 'eth_sendRawTransaction') messages++;
      return 'hang up';
    };
    await dispatchAll(ctx, ids);
    assert.equal(messages, 1);
    assert.ok((await rowsOf(ids)).every((row) => !row.reached && row.trouble?.startsWith('unreachable: ')));
    const chain = { ...f.chain, rpcUrls: [url, f.url] };
    await dispatchAll({ ...ctx, chains: { test: [chain], live: [] } }, ids);
    assert.equal(messages, 2);
    assert.ok((await rowsOf(ids)).every((row) => row.reached));
  });
});

test('one signed call cannot be stored → the others of the batch are broadcast', async () => {
  const ids = await allotMany(5);
  await f.owner`
    create function stand_in_the_way() returns trigger language plpgsql as
      'begin raise exception ''this one cannot be stored''; end'`;
  await f.owner.unsafe(`
    create trigger stand_in_the_way before update on relay_transactions for each row
      when (old.id = '${ids[4]}') execute function stand_in_the_way()`);
  try {
    await dispatchAll(f.ctx, ids);
    const rows = await rowsOf(ids);
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['sent', 'sent', 'sent', 'sent', 'allotted'],
    );
  } finally {
    await f.owner`drop function stand_in_the_way() cascade`;
  }
  await dispatch(f.ctx, ids[4] ?? '');
  assert.equal((await readRelay(f.db.sql, ids[4] ?? ''))?.state, 'sent');
});

test('many that wait to be final → those that are not mined are still looked at', async () => {
  const ids = await allotMany(4);
  await f.rpc('evm_setAutomine', [false]);
  await dispatchAll(f.ctx, ids.slice(0, 3));
  await f.node.mine(1);
  await f.read();
  await f.follow();
  const live = await selectLive(f.db.sql, key, { first: 2, anywhere: 0 });
  assert.deepEqual(
    live.map(({ id }) => id),
    [ids[0], ids[1], ids[3]],
  );
  await dispatch(f.ctx, ids[3] ?? '');
});

test('a block was read → the account is looked at before its time, but not while another process has it in hand', async () => {
  await f.follow();
  await f.db.sql`
    update relay_accounts set look_at = now() + interval '14 seconds',
      seen_hash = (select hash from chain_cursors where chain_id = ${key.chainId})`;
  assert.equal(await claimAccount(f.db.sql, key, 15_000), false, 'nothing is new');
  await f.node.mine(1);
  await f.read();
  assert.equal(await claimAccount(f.db.sql, key, 1), false, 'nothing was under way');
  assert.equal(await claimAccount(f.db.sql, key, 15_000), true);
  assert.equal(await claimAccount(f.db.sql, key, 60_000), false, 'it is in hand');

  const dueSince = (seconds: number) => f.db.sql`
    update relay_accounts set look_at = now() - ${seconds} * interval '1 second'
    where chain_id = ${key.chainId} and address = ${key.address}`;
  await dueSince(20);
  assert.equal(await claimAccount(f.db.sql, key, null), false, 'a node with its key comes first');
  await dueSince(31);
  assert.equal(await claimAccount(f.db.sql, key, null), true);
  assert.equal(await claimAccount(f.db.sql, key, null), false);
  await releaseAccount(f.db.sql, key, { liveMs: 10, idleMs: 10 });
});

test('more calls than nodes keep of one sender → the loop sends the later ones as soon as earlier ones are mined', async () => {
  await f.rpc('evm_setAutomine', [false]);
  const ids = await allotMany(150);
  const before = await f.mined();
  await passTime(f.db, 60); // the process that took them on has ended
  const stop = new AbortController();
  const jobs = runJobs(f.ctx, stop.signal, { pollMs: 600_000 }); // nothing is found by looking around
  try {
    const reached = async () => (await rowsOf(ids)).filter((row) => row.reached).length;
    await until(async () => (await reached()) === 128, 'as many to be sent as nodes keep');
    await f.node.mine(1);
    await until(async () => (await reached()) === 150, 'the others to be sent');
    await f.node.mine(1);
    assert.equal(await f.mined(), before + 150);
  } finally {
    stop.abort();
    await jobs;
  }
});
