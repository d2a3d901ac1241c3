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

test('a valid chains file → read', () => {
  const { test: chains } = readChains(JSON.stringify({ test: [good], live: [{ ...good, chain_id: 2 }] }), null);
  assert.equal(chains[0]?.tokens[0]?.address, `0x${'ab'.repeat(20)}`);
  assert.deepEqual(chains[0]?.finality, [
    { upToUsdcMicro: 1_000_000n, confirmations: 2 },
    { upToUsdcMicro: null, tag: 'finalized' },
  ]);
});

test('a token that is read but not offered is marked; one of a mode must be offered, so a chain may offer none', () => {
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
  assert.deepEqual(faultsOf(withTokens(second)), ['one token of the test chains must be offered']);
  const leaving = { ...good, chain_id: 3, tokens: [second] };
  assert.deepEqual(faultsOf({ test: [leaving, good], live: [{ ...good, chain_id: 2 }] }), []);
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

/** The faults of a file whose first chain has these fields. */
const faultsWith = (fields: object) =>
  faultsOf({ test: [{ ...good, ...fields }], live: [{ ...good, chain_id: 2 }] }).map((fault) =>
    fault.replace(/^chain 1: /, ''),
  );

test('finality tiers of which one would never apply, or whose way to count is unclear → refused', () => {
  const limit = (up_to_usdc_micro: string) => ({ up_to_usdc_micro, confirmations: 2 });
  const tiers = (...finality: object[]) => faultsWith({ finality });
  assert.deepEqual(tiers({ confirmations: 1 }, { tag: 'finalized' }), [
    'finality tier 1 has no up_to_usdc_micro, so the tiers after it would never apply',
  ]);
  assert.deepEqual(tiers(limit('1000'), limit('1000'), { tag: 'safe' }), [
    'up_to_usdc_micro of finality tier 2 must be above that of the tier before it',
  ]);
  for (const tag of ['finalized', 'final'])
    assert.deepEqual(tiers({ tag, confirmations: 1 }), [
      'finality tier 1 has both confirmations and tag; it needs one of them',
    ]);
});

test('a misspelt field, a token listed twice, a pause or an address that cannot be used → refused', () => {
  const [token] = good.tokens;
  assert.deepEqual(faultsWith({ tokens: [{ ...token, offerd: false }] }), [
    '"offerd" of token 1 is unknown; there are symbol, address, offered',
  ]);
  assert.match(faultsWith({ explorer: 'https://a.example' }).join(), /^"explorer" of the chain is unknown; there are/);
  assert.match(faultsWith({ relayer: { budget: '1' } }).join(), /^"budget" of relayer is unknown; there are/);
  assert.deepEqual(faultsOf({ test: [good], live: [{ ...good, chain_id: 2 }], main: [] }), [
    '"main" of the file is unknown; there are test, live',
  ]);
  assert.deepEqual(faultsWith({ tokens: [token, { ...token, symbol: 'USDC.e', address: `0x${'ab'.repeat(20)}` }] }), [
    'tokens lists an address twice',
  ]);
  for (const poll_ms of [0, -5, 1.5, '1000', 1e9])
    assert.deepEqual(faultsWith({ poll_ms }), ['poll_ms must be a whole number from 50 to 60000'], `${poll_ms}`);
  const withLogin = 'https://user:password@a.example';
  assert.deepEqual(faultsWith({ rpc_urls: [withLogin] }), []);
  for (const url of ['ftp://a.example', 'javascript:1', 5, withLogin]) {
    const rule = 'an address with http or https, without user and password';
    if (url !== withLogin)
      assert.deepEqual(faultsWith({ rpc_urls: [url] }), ['each of rpc_urls must be an address with http or https']);
    assert.deepEqual(faultsWith({ explorer_url: url, public_rpc_url: url }), [
      `explorer_url must be ${rule}`,
      `public_rpc_url must be ${rule}`,
    ]);
  }
  assert.deepEqual(faultsWith({ rpc_urls: ['https://a.example/key', 'https://a.example/key/#2'] }), [
    'rpc_urls lists an address twice; an endpoint cannot confirm itself',
  ]);
});

test('an invalid chains file → all faults at once, each with its place', () => {
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
  assert.deepEqual(faultsOf('{'), ['it is not valid JSON, near line 1']);
});

test('a chains file that is no JSON → the line, and nothing of the file: its addresses contain keys', () => {
  for (const text of ['{\n "test": [\nhttps://u:s3cret@a ]}', '{\n\n"a": "s3cret" "s3cret"}', '{"a":\n\n"s3cret\n"}'])
    assert.deepEqual(faultsOf(text), ['it is not valid JSON, near line 3'], text);
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
