import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { poll } from '../../src/chain/reader/read.ts';
import { checkChains } from '../../src/cli/chains-check.ts';
import type { FinalityTier } from '../../src/config/chains.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';

let fixtures: WatchFixtures;
before(async () => {
  fixtures = await watchFixtures();
});
after(() => fixtures.stop());

const finality: FinalityTier[] = [
  { upToUsdcMicro: 1_000_000n, confirmations: 1 },
  { upToUsdcMicro: null, tag: 'finalized' },
];

for (const [what, answer] of [
  ['an error', { error: { code: -32602, message: 'unknown block tag' } }],
  ['nothing', { result: null }],
] as const) {
  test(`an endpoint that answers a tag with ${what} › it is read on, asked rarely, told once, and doctor says what it means`, async () => {
    const provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
    let asked = 0;
    let isKnown = false;
    provider.fake.lie = async ({ method, params }) => {
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return null;
      asked++;
      return isKnown ? null : answer;
    };
    try {
      const told: string[] = [];
      const reader = await fixtures.reader([provider.url], { finality });
      reader.log.warn = (_: unknown, message?: string) => void told.push(String(message));
      const passes = 50;
      for (let pass = 0; pass < passes; pass++) {
        await fixtures.node.mine(1);
        await poll(reader);
      }
      const head = reader.cursor?.number ?? -1;
      assert.ok(head >= passes, `it was read up to ${head}`);
      assert.ok(asked < passes / 5, `asked ${asked} times`);
      await pollUntil(reader, async () => told.length > 0);
      const before = asked;
      await pollUntil(reader, async () => asked > before);
      assert.equal(told.length, 1);
      assert.match(told[0] ?? '', /names no block by a tag that finality uses/);

      const chains = { test: [{ ...fixtures.node.chain, rpcUrls: [provider.url], finality }], live: [] };
      const [finding] = await checkChains({ ...fixtures.ctx, chains });
      assert.equal(finding?.state, 'failed');
      assert.match(finding?.advice ?? '', /names no finalized block\. Payments that need it are never verified/);
      isKnown = true;
      assert.equal((await checkChains({ ...fixtures.ctx, chains }))[0]?.state, 'ok');
    } finally {
      await provider.stop();
    }
  });
}
