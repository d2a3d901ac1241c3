import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Work, whileLeading } from '../../src/chain/reader/leading.ts';
import { acquireLease, releaseLease } from '../../src/chain/reader/lease.ts';
import { poll } from '../../src/chain/reader/read.ts';
import { Deposed, insertCursor } from '../../src/chain/reader/store.ts';
import { leaseName, startWatching } from '../../src/chain/reader/watcher.ts';
import type { Header } from '../../src/chain/rpc.ts';
import { pause } from '../../src/lib/time.ts';
import { type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: WatchFixtures;
before(async () => {
  fixtures = await watchFixtures();
  await fixtures.request();
});
after(() => fixtures?.stop());

/** A term that ends within no test. */
const longMs = 3_600_000;

test('the lease of a chain › has one holder, and a fence that grows with every new one', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const first = await acquireLease(fixtures.db, 'job', one, longMs);
  assert.equal(first?.fence, 1);
  assert.equal(await acquireLease(fixtures.db, 'job', two, longMs), null);
  assert.ok(first);
  await releaseLease(fixtures.db, first);
  const second = await acquireLease(fixtures.db, 'job', two, longMs);
  assert.equal(second?.fence, 2);
  await releaseLease(fixtures.db, first);
  assert.equal(await acquireLease(fixtures.db, 'job', one, longMs), null, 'who lost it cannot release it');
});

test('many processes ask for a free lease at once → one gets it', async () => {
  const asked = await Promise.all(
    Array.from({ length: 20 }, () => acquireLease(fixtures.db, 'rush', randomUUID(), longMs)),
  );
  assert.equal(asked.filter(Boolean).length, 1);
});

test('a deposed leader writes nothing, neither before nor after its successor has written', async () => {
  const old = await fixtures.reader();
  await poll(old);
  const paid = await fixtures.pay(1n);
  const successor = await fixtures.reader();
  await assert.rejects(poll(old), Deposed);
  assert.equal((await fixtures.transfers()).length, 0);
  await poll(successor);
  await fixtures.node.reorg(1);
  await assert.rejects(poll(old), Deposed);
  assert.deepEqual(
    (await fixtures.transfers()).map(({ tx_hash }) => tx_hash),
    [paid],
  );
  await poll(successor);
  assert.equal((await fixtures.transfers()).length, 0);
});

test('two processes start a chain that nobody has read → the slower one changes nothing', async () => {
  const chainId = 4242;
  const progress = { head: 7, final: 5, safe: null, finalized: null };
  const lease = { name: `chain-${chainId}`, holder: randomUUID(), fence: 1 };
  const blockOf = (hash: string) => ({ number: 7, hash, parentHash: '0x', time: new Date() }) as Header;
  for (const hash of ['0xa', '0xb']) await insertCursor(fixtures.db, chainId, lease, blockOf(hash), progress);
  const rows = await fixtures.db.sql`
    select c.hash as read, b.hash as block from chain_cursors c join chain_blocks b using (chain_id)
    where chain_id = ${chainId}`;
  assert.deepEqual([...rows], [{ read: '0xa', block: '0xa' }]);
});

test('whileLeading › the lease is lost → the work ends; it is regained → the work begins again', async () => {
  const stop = new AbortController();
  const name = 'taken';
  let fence = 0;
  const work: Work = async (lease, signal) => {
    fence = lease.fence;
    await pause(60_000, signal);
  };
  const fail = (error: unknown) => assert.fail(error as Error);
  const leading = whileLeading(fixtures.db, new Map([[name, work]]), randomUUID(), stop.signal, fail);
  await until(async () => fence > 0, 'leads');
  const first = fence;
  await fixtures.db
    .sql`update leases set fence = fence + 1, holder = ${randomUUID()}, held_until = now() where name = ${name}`;
  await until(async () => fence > first + 1, 'leads again'); // a busy machine may lose it once more
  stop.abort();
  await leading;
  assert.ok(await acquireLease(fixtures.db, name, randomUUID()), 'given back at once when it stops');
});

test('holders that all want the same leases, and stop one after the other → one at a time has each, and none is left', async () => {
  const names = ['many-a', 'many-b', 'many-c'];
  const leads: { name: string; fence: number; of: number }[] = [];
  const active = new Map<string, number>();
  const faults: unknown[] = [];
  const holders = Array.from({ length: 4 }, (_, of) => {
    const work: Work = async ({ name, fence }, signal) => {
      const others = active.get(name) ?? 0;
      if (others > 0) faults.push(`${name} has two holders`);
      active.set(name, others + 1);
      leads.push({ name, fence, of });
      await pause(60_000, signal);
      active.set(name, (active.get(name) ?? 0) - 1);
    };
    const stop = new AbortController();
    const works = new Map(names.map((name) => [name, work]));
    const ended = whileLeading(fixtures.db, works, randomUUID(), stop.signal, (error) => faults.push(error));
    return { stop, ended };
  });
  for (const [index, { stop, ended }] of holders.entries()) {
    await until(async () => names.every((name) => active.get(name) === 1), 'each lease has a holder');
    assert.deepEqual(faults, [], `before ${index} stops`);
    stop.abort();
    await ended;
  }
  for (const name of names) {
    const fences = leads.filter((lead) => lead.name === name).map(({ fence }) => fence);
    assert.deepEqual(
      fences,
      [...new Set(fences)].sort((a, b) => a - b),
      'each holder has a greater fence',
    );
  }
  const [left] = await fixtures.db.sql`select from leases where name = any(${names}::text[]) and held_until > now()`;
  assert.equal(left, undefined);
});

test('work that fails at once → reported, and begun again', async () => {
  const stop = new AbortController();
  let begun = 0;
  const reported: (string | undefined)[] = [];
  const work: Work = async (_lease, signal) => {
    if (++begun === 1) throw new Error('a fault of the work');
    await pause(60_000, signal);
  };
  const leading = whileLeading(fixtures.db, new Map([['failing', work]]), randomUUID(), stop.signal, (_error, name) =>
    reported.push(name),
  );
  await until(async () => begun === 2, 'began again');
  stop.abort();
  await leading;
  assert.deepEqual(reported, ['failing']);
});

test('the leader is killed → another process takes over and finds what was paid meanwhile', async () => {
  await fixtures.lease().then((lease) => releaseLease(fixtures.db, lease));
  const script = new URL('../support/chain/leader.ts', import.meta.url).pathname;
  const [row] = await fixtures.db.sql`select current_database() as name`;
  const url = new URL(process.env.TEST_DATABASE_URL ?? '');
  url.pathname = `/${row?.name}`;
  const env = { ...process.env, LEADER_DATABASE: url.href, LEADER_RPC: fixtures.node.chain.rpcUrls[0] };
  const leader = spawn(process.execPath, [script], { env, stdio: 'inherit' });
  const seen = async (txHash: string) => (await fixtures.transfers()).some((found) => found.tx_hash === txHash);
  const first = await fixtures.pay(2n);
  await until(() => seen(first), 'the leader reads');

  const [before] = await fixtures.db.sql`select fence from leases where name = ${leaseName(fixtures.node.chain)}`;
  const stop = new AbortController();
  const watching = startWatching(fixtures.ctx, fixtures.hooks, stop.signal);
  leader.kill('SIGKILL');
  const second = await fixtures.pay(3n);
  await until(() => seen(second), 'the other reads');
  const [later] = await fixtures.db.sql`select fence from leases where name = ${leaseName(fixtures.node.chain)}`;
  assert.ok(Number(later?.fence) > Number(before?.fence));
  stop.abort();
  await watching;
});
