import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { poll } from '../../src/chain/reader/read.ts';
import { toHex } from '../../src/chain/rpc.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';

let fixtures: WatchFixtures;
let provider: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  fixtures = await watchFixtures();
  await fixtures.request();
  await poll(await fixtures.reader()); // from here on it reads
  provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
});
after(async () => {
  await provider?.stop();
  await fixtures?.stop();
});

type Entry = Record<string, unknown>;
type Ask = (method: string, params: unknown[]) => Promise<unknown>;

test('the first of two endpoints tells of one transaction in two blocks of a range → the payment is read from the second', async () => {
  const { node } = fixtures;
  const txHash = await fixtures.pay(1_000_000n);
  await node.mine(6);
  const reader = await fixtures.reader([provider.url, ...node.chain.rpcUrls]);
  const moved = async (entry: Entry, ask: Ask): Promise<Entry> => {
    const number = Number(entry.blockNumber) + 1;
    const { hash } = (await ask('eth_getBlockByNumber', [toHex(number), false])) as Entry;
    return { ...entry, blockNumber: toHex(number), blockHash: hash };
  };
  let receipts = 0;
  let told = 0;
  provider.fake.lie = async ({ method, params, ask }) => {
    if (method === 'eth_getLogs') {
      const logs = (await ask(method, params)) as Entry[];
      const again = await Promise.all(
        logs.filter(({ transactionHash }) => transactionHash === txHash).map((log) => moved(log, ask)),
      );
      told += again.length;
      return { result: [...logs, ...again] };
    }
    if (method !== 'eth_getTransactionReceipt' || params[0] !== txHash) return null;
    const receipt = (await ask(method, params)) as { logs: Entry[] } & Entry;
    return { result: receipts++ % 2 === 0 ? receipt : await moved(receipt, ask) };
  };
  await pollUntil(reader, async () => (await fixtures.transfers()).length > 0);
  assert.ok(told > 0);
  const [row, ...more] = await fixtures.transfers();
  assert.deepEqual([row?.tx_hash, more.length], [txHash, 0]);
});
