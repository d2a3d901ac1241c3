import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { acquireLease, releaseLease, renewLease, whileLeading } from '../../src/chain/lease.ts';
import { poll } from '../../src/chain/read.ts';
import { Deposed } from '../../src/chain/store.ts';
import { leaseName, startWatching } from '../../src/chain/watcher.ts';
import { pause } from '../../src/lib/time.ts';
import { type WatchWorld, watchWorld } from './world.ts';

let world: WatchWorld;
before(async () => {
  world = await watchWorld();
  await world.request();
});
after(() => world?.stop());

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within 30 s`);
    await pause(20);
  }
}

test('a lease has one holder; its fence grows with every new one', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const first = await acquireLease(world.db, 'job', one);
  assert.equal(first?.fence, 1);
  assert.equal(await acquireLease(world.db, 'job', two), null);
  assert.ok(first && (await renewLease(world.db, first)));
  await releaseLease(world.db, first);
  const second = await acquireLease(world.db, 'job', two);
  assert.equal(second?.fence, 2);
  assert.equal(await renewLease(world.db, first), false);
});

test('many processes ask for a free lease at once → one gets it', async () => {
  const asked = await Promise.all(Array.from({ length: 20 }, () => acquireLease(world.db, 'rush', randomUUID())));
  assert.equal(asked.filter(Boolean).length, 1);
});

test('a deposed leader writes nothing, neither before nor after its successor has written', async () => {
  const old = await world.reader();
  await poll(old);
  const paid = await world.pay(1n);
  const successor = await world.reader();
  await assert.rejects(poll(old), Deposed);
  assert.equal((await world.transfers()).length, 0);
  await poll(successor);
  await world.node.reorg(1);
  await assert.rejects(poll(old), Deposed);
  assert.deepEqual(
    (await world.transfers()).map(({ tx_hash }) => tx_hash),
    [paid],
  );
  await poll(successor);
  assert.equal((await world.transfers()).length, 0);
});

test('work ends when the lease is taken away, and begins again when it is won back', async () => {
  const stop = new AbortController();
  const name = 'taken';
  let fence = 0;
  const leading = whileLeading(
    world.db,
    name,
    randomUUID(),
    stop.signal,
    async (lease, signal) => {
      fence = lease.fence;
      await pause(60_000, signal);
    },
    (error) => assert.fail(error as Error),
  );
  await until('leads', async () => fence === 1);
  await world.db
    .sql`update leases set fence = fence + 1, holder = ${randomUUID()}, held_until = now() where name = ${name}`;
  await until('leads again', async () => fence === 3);
  stop.abort();
  await leading;
  assert.ok(await acquireLease(world.db, name, randomUUID()), 'given back at once when it stops');
});

test('the leader is killed → another process takes over within 15 s and finds what was paid meanwhile', async () => {
  await world.lease().then((lease) => releaseLease(world.db, lease));
  const script = new URL('leader.ts', import.meta.url).pathname;
  const [row] = await world.db.sql`select current_database() as name`;
  const url = new URL(process.env.TEST_DATABASE_URL ?? '');
  url.pathname = `/${row?.name}`;
  const env = { ...process.env, LEADER_DATABASE: url.href, LEADER_RPC: world.node.chain.rpcUrls[0] };
  const leader = spawn(process.execPath, [script], { env, stdio: 'inherit' });
  const seen = async (txHash: string) => (await world.transfers()).some((found) => found.tx_hash === txHash);
  const first = await world.pay(2n);
  await until('the leader reads', () => seen(first));

  const stop = new AbortController();
  const watching = startWatching(world.ctx, world.hooks, stop.signal);
  const [before] = await world.db.sql`select fence from leases where name = ${leaseName(world.node.chain)}`;
  leader.kill('SIGKILL');
  const second = await world.pay(3n);
  await until('the other reads', () => seen(second));
  const [later] = await world.db.sql`select fence from leases where name = ${leaseName(world.node.chain)}`;
  assert.equal(Number(later?.fence), Number(before?.fence) + 1);
  stop.abort();
  await watching;
});
