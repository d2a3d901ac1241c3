import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { dispatchAll } from '../../src/chain/relay/relay.ts';
import type { Context } from '../../src/context.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';

let f: RelayFixtures;
before(async () => {
  f = await relayFixtures();
});
/** Each test begins with everything mined and final. */
afterEach(async () => {
  await f.rpc('evm_setAutomine', [true]);
  for (let passes = 0; passes < 4; passes++) {
    await f.node.mine(3);
    await f.read();
    await f.follow();
  }
});
after(() => f.stop());

/** The gas of the call that an endpoint finds fault with, by which its signed bytes are known. */
const oddGas = 123_456;
type OddAnswer = Awaited<ReturnType<Lie>>;

/** Six calls, the fourth of which an endpoint answers in its own way. Mining is off. */
async function withOddCall(
  answer: OddAnswer,
  work: (ctx: Context, ids: string[], urls: string[]) => Promise<void>,
): Promise<void> {
  const provider = await fakeProvider(f.url);
  provider.fake.lie = async ({ method, params }) =>
    method === 'eth_sendRawTransaction' && String(params[0]).includes(`83${oddGas.toString(16).padStart(6, '0')}`)
      ? answer
      : null;
  try {
    await f.rpc('evm_setAutomine', [false]);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await f.allot(f.call({ purpose: 'revoke' })));
    await f.db.sql`update relay_transactions set gas = ${oddGas} where id = ${ids[3] ?? ''}`;
    await work(behind([provider.url]), ids, [provider.url, f.url]);
  } finally {
    await provider.stop();
  }
}
const behind = (rpcUrls: string[]): Context => ({ ...f.ctx, chains: { test: [{ ...f.chain, rpcUrls }], live: [] } });
const rowsOf = (ids: readonly string[]) =>
  f.db.sql<{ state: string; reached: boolean; trouble: string | null }[]>`
    select state, reached, trouble from relay_transactions where id = any(${[...ids]}::uuid[]) order by nonce`;

const answers: Record<string, OddAnswer> = {
  'words that cannot be stored': { error: { code: -32000, message: 'not valid: \0, \uD800' } },
  'more words than are read': { error: { code: -32000, message: 'x'.repeat(70_000) } },
  'a dropped connection': 'hang up',
  'a status without words': { status: 403 },
};

for (const [what, answer] of Object.entries(answers)) {
  test(`an endpoint answers one call of several with ${what} → the others are sent, and its nonce is used up in time`, () =>
    withOddCall(answer, async (ctx, ids) => {
      await dispatchAll(ctx, ids);
      const rows = await rowsOf(ids);
      assert.deepEqual(
        rows.map(({ reached }) => reached),
        [true, true, true, false, true, true],
      );
      assert.match(rows[3]?.trouble ?? '', /^refused: /);
      for (let passes = 0; passes < 4; passes++) {
        await f.node.mine(1);
        await f.read();
        await f.follow(ctx);
      }
      await f.node.mine(4);
      for (let passes = 0; passes < 2; passes++) {
        await f.read();
        await f.follow(ctx);
      }
      assert.deepEqual(
        (await rowsOf(ids)).map(({ state }) => state),
        ['final', 'final', 'final', 'lost', 'final', 'final'],
      );
    }));
}

test('one endpoint refuses a call or does not answer it → the next one gets it', async () => {
  for (const answer of Object.values(answers)) {
    await withOddCall(answer, async (_, ids, urls) => {
      await dispatchAll(behind(urls), ids);
      assert.ok((await rowsOf(ids)).every(({ reached }) => reached));
      await f.node.mine(1);
      await f.read();
      await f.follow();
    });
  }
});

test('an endpoint returns no receipts for more calls than a pass queries → a later call is still decided', async () => {
  const provider = await fakeProvider(f.url);
  try {
    const ids: string[] = [];
    for (let i = 0; i < 54; i++) ids.push(await f.allot(f.call({ purpose: 'revoke' })));
    await dispatchAll(f.ctx, ids);
    const last = ids.at(-1) ?? '';
    const [told] = await f.db.sql<{ hash: string }[]>`select hash from relay_variants where relay_id = ${last}`;
    provider.fake.lie = async ({ method, params }) =>
      method === 'eth_getTransactionReceipt' && params[0] !== told?.hash
        ? { error: { code: -32000, message: 'missing trie node' } }
        : null;
    const ctx = behind([provider.url]);
    for (let passes = 0; passes < 8; passes++) {
      await f.node.mine(3);
      await f.read();
      await f.follow(ctx);
    }
    assert.equal(await f.state(last), 'final');
  } finally {
    await provider.stop();
  }
});
