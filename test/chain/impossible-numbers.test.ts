import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { poll } from '../../src/chain/reader/read.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
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

const timed =
  (timestamp: string): Lie =>
  async ({ method, params, ask }) =>
    method === 'eth_getBlockByNumber' ? { result: { ...((await ask(method, params)) as object), timestamp } } : null;

const lies: Record<string, Lie> = {
  'a block at a time that no clock has': timed('0x1fffffffffffff'),
  'a block in the year 200000': timed(`0x${(6.25e12).toString(16)}`),
  'the millionth million of logs in a block': async ({ method, params, ask }) => {
    const answer = (await ask(method, params)) as { logs: object[] } & object[];
    const beyond = (logs: object[]) => logs.map((log) => ({ ...log, logIndex: '0xe8d4a51000' }));
    if (method === 'eth_getLogs') return { result: beyond(answer) };
    return method === 'eth_getTransactionReceipt' ? { result: { ...answer, logs: beyond(answer.logs) } } : null;
  },
  'an error that is no text': async ({ method }) =>
    method === 'eth_getBlockByNumber' ? { error: { code: -1, message: { toString: 1 } as never } } : null,
};

for (const [what, lie] of Object.entries(lies)) {
  test(`the first of two endpoints tells of ${what} → the payment is read from the second`, async () => {
    const { node, merchant } = fixtures;
    const reference = randomBytes(16);
    const from = node.wallet();
    await node.fund(from.address, 1_000_000n);
    await node.offer({ from, to: merchant.wallet, usdcMicro: 1_000_000n, reference });
    await node.mine(1);
    const reader = await fixtures.reader([provider.url, ...node.chain.rpcUrls]);
    provider.fake.lie = lie;
    const isRead = async () => (await fixtures.transfers()).some((row) => row.calldata_reference?.equals(reference));
    await pollUntil(reader, isRead);
    assert.ok(await isRead());
  });
}
