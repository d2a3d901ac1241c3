import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ChainsFault, readChains, readChainsFile } from './chains.ts';

const good = {
  chain_id: 1,
  rpc_urls: ['https://a.example'],
  tokens: [{ symbol: 'USDC', address: `0x${'AB'.repeat(20)}` }],
  finality: [{ up_to_usdc_micro: '1000000', confirmations: 2 }, { tag: 'finalized' }],
};

function faultsOf(file: unknown): string[] {
  try {
    readChains(typeof file === 'string' ? file : JSON.stringify(file), null);
  } catch (error) {
    assert.ok(error instanceof ChainsFault);
    return error.faults;
  }
  return [];
}

test('a good chains file is read', () => {
  const { test: chains } = readChains(JSON.stringify({ test: [good], live: [{ ...good, chain_id: 2 }] }), null);
  assert.equal(chains[0]?.tokens[0]?.address, `0x${'ab'.repeat(20)}`);
  assert.deepEqual(chains[0]?.finality, [
    { upToUsdcMicro: 1_000_000n, confirmations: 2 },
    { upToUsdcMicro: null, tag: 'finalized' },
  ]);
});

test('a token that is read but not offered is marked; one of a chain must be offered', () => {
  const [first] = good.tokens;
  const second = { symbol: 'USDX', address: `0x${'cd'.repeat(20)}`, offered: false };
  const withTokens = (...tokens: unknown[]) => ({ test: [{ ...good, tokens }], live: [{ ...good, chain_id: 2 }] });
  const { test: chains } = readChains(JSON.stringify(withTokens(second, { ...first, offered: true })), null);
  assert.deepEqual(
    chains[0]?.tokens.map(({ symbol, offered }) => [symbol, offered]),
    [
      ['USDX', false],
      ['USDC', undefined],
    ],
  );
  assert.deepEqual(faultsOf(withTokens(second)), ['chain 1: one token must be offered']);
  assert.deepEqual(faultsOf(withTokens({ ...first, offered: 'no' })), [
    'chain 1: offered of token 1 must be true or false',
  ]);
});

test('a chain that lists an endpoint twice, however written → refused', () => {
  const twice = { ...good, rpc_urls: ['https://a.example/', 'https://b.example', 'https://A.example:443'] };
  assert.deepEqual(faultsOf({ test: [twice], live: [{ ...good, chain_id: 2 }] }), [
    'chain 1: rpc_urls lists an address twice; an endpoint cannot confirm itself',
  ]);
});

test('all faults of a chains file at once, each with its place', () => {
  const bad = { chain_id: 7, rpc_urls: [], tokens: [{ symbol: 'USDC' }], finality: [{ up_to_usdc_micro: 'x' }] };
  assert.deepEqual(faultsOf({ test: [bad, null], live: [good, good] }), [
    'chain 7: rpc_urls must list at least one address',
    'chain 7: token 1 needs symbol and address',
    'chain 7: up_to_usdc_micro of finality tier 1 must be a whole number of micro units',
    'chain 7: finality tier 1 needs confirmations (1 or more) or tag (safe, finalized)',
    'chain 7: the last finality tier must have no up_to_usdc_micro',
    'test chain 2: chain_id must be a number',
    'test chain 2: rpc_urls must list at least one address',
    'test chain 2: tokens must list at least one token',
    'test chain 2: finality must list at least one tier',
    'a chain id appears twice; test and live need different chains',
  ]);
  assert.deepEqual(faultsOf({ test: 5 }), [
    '"test" must list at least one chain',
    '"live" must list at least one chain',
  ]);
  for (const text of ['null', '[]', '5']) assert.equal(faultsOf(text).length, 2, text);
  assert.match(faultsOf('{').join(), /^it is not valid JSON: /);
});

test('RECURRING_CONTRACT › on every chain, in lower case; null without it; a text that is no address → a fault', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-chains-'));
  const CHAINS_FILE = join(folder, 'chains.json');
  writeFileSync(CHAINS_FILE, JSON.stringify({ test: [good], live: [{ ...good, chain_id: 2 }] }));
  const read = (RECURRING_CONTRACT?: string) => {
    const faults: string[] = [];
    const chains = readChainsFile({ CHAINS_FILE, RECURRING_CONTRACT }, false, faults);
    return { faults, addresses: Object.values(chains ?? {}).flatMap(([chain]) => chain?.recurringContract) };
  };
  try {
    assert.deepEqual(read(), { faults: [], addresses: [null, null] });
    const address = `0x${'ab'.repeat(20)}`;
    assert.deepEqual(read(`0x${'AB'.repeat(20)}`), { faults: [], addresses: [address, address] });
    assert.match(read('0x12').faults.join(), /^RECURRING_CONTRACT must be 0x and 40 hex digits/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
