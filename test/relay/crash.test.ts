import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, test } from 'node:test';
import { pause } from '../../src/lib/time.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';

const script = new URL('../support/chain/relayer-process.ts', import.meta.url).pathname;

let f: RelayFixtures;
let provider: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  f = await relayFixtures();
  provider = await fakeProvider(f.url);
});
afterEach(() => {
  provider.fake.lie = async () => null;
});
after(async () => {
  await provider.stop();
  await f.stop();
});

function start(more: Record<string, string> = {}): ChildProcess {
  const env = {
    ...process.env,
    RELAY_RPC: provider.url,
    RELAY_DATABASE: f.databaseUrl,
    RELAY_PARTNER: f.scope.partnerId,
    ...more,
  };
  return spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
}
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  assert.equal(child.signalCode, 'SIGKILL');
}

/** A surviving process takes over: every call is mined exactly once, whenever its first process ended. */
async function assertEachOnce(): Promise<void> {
  for (let passes = 0; passes < 40; passes++) {
    await f.node.mine(3);
    await f.read();
    if ((await f.follow()) === 0) break;
  }
  const [row] = await f.db.sql`
    select count(*)::int as calls, count(*) filter (where state = 'final')::int as final, max(nonce)::int + 1 as next
    from relay_transactions`;
  const count = await f.mined();
  assert.deepEqual(row, { calls: count, final: count, next: count });
}

test('killed after a call is enqueued and before it is signed → another process signs and sends it', async () => {
  await ended(start({ RELAY_DIES: 'allotted' }));
  const [row] = await f.db.sql`select state from relay_transactions`;
  assert.equal(row?.state, 'allotted');
  await assertEachOnce();
});

test('killed between signing and broadcasting → the same signed transaction is sent, once', async () => {
  const child = start();
  provider.fake.lie = async ({ method }) => {
    if (method !== 'eth_sendRawTransaction') return null;
    child.kill('SIGKILL');
    return 'hang up';
  };
  await ended(child);
  const [row] = await f.db.sql`select state, hash, reached from relay_transactions where ended_at is null`;
  assert.deepEqual([row?.state, row?.reached], ['sent', false]);
  await assertEachOnce();
  const [after] = await f.db.sql`select state from relay_transactions where hash = ${row?.hash}`;
  assert.equal(after?.state, 'final');
});

test('killed after broadcasting and before its answer → it is found mined, and not sent again', async () => {
  const child = start();
  provider.fake.lie = async ({ method, params, ask }) => {
    if (method !== 'eth_sendRawTransaction') return null;
    await ask(method, params);
    child.kill('SIGKILL');
    return 'hang up';
  };
  await ended(child);
  const before = await f.mined();
  await assertEachOnce();
  assert.equal(await f.mined(), before);
});

test('killed at any moment, again and again, two processes at a time → each call is mined exactly once', async () => {
  const calls = async () =>
    (await f.db.sql<{ calls: number }[]>`select count(*)::int as calls from relay_transactions`)[0]?.calls ?? 0;
  const before = await calls();
  // How many calls a process enqueues before it is killed is up to the machine.
  for (let round = 0; round < 40 && (round < 4 || (await calls()) < before + 10); round++) {
    const children = [start(), start()];
    await Promise.all(children.map((child) => child.stdout && once(child.stdout, 'data')));
    for (const child of children) {
      await pause(Math.random() * 150);
      child.kill('SIGKILL');
      await ended(child);
    }
  }
  assert.ok((await calls()) >= before + 10);
  await assertEachOnce();
});
