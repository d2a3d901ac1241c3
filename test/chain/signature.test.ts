import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { concat, type Hex, hashMessage, serializeErc6492Signature, zeroAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { callRpc } from '../../src/chain/rpc.ts';
import { isKeySigned, queryContract, readSignature } from '../../src/chain/signature.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import { testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { randomAddress } from '../support/fixtures.ts';

let node: Awaited<ReturnType<typeof testChain>>;
let liar: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  node = await testChain();
  liar = await fakeProvider(node.chain.rpcUrls[0] ?? '');
});
after(async () => {
  await liar?.stop();
  await node?.stop();
});

const hash = hashMessage('a message');
const anything: Hex = '0x1234';
const magic = `1626ba7e${'00'.repeat(28)}`;
/** Contract code that returns the first bytes of a word, up to 32. */
const answers = (word: string, bytes: number): Hex => `0x7f${word}5f5260${bytes.toString(16).padStart(2, '0')}5ff3`;
const accepts = answers(magic, 32);
const refuses = answers('00'.repeat(32), 32);

/** Code that answers with the magic value after this many empty rounds of 26 gas. */
const afterRounds = (rounds: number): Hex =>
  `0x62${rounds.toString(16).padStart(6, '0')}5b6001900380600457631626ba7e60e01b5f5260205ff3`;

async function withCode(code: Hex): Promise<string> {
  const address = randomAddress();
  await callRpc(node.chain.rpcUrls[0] ?? '', 'anvil_setCode', [address, code]);
  return address;
}

const ask = (address: string, signature: Hex = anything, chain: ChainConfig = node.chain) =>
  queryContract(chain, { address, hash, signature }, { undeployed: true });

const words: Record<string, [code: Hex, word: string]> = {
  'the magic value': [accepts, 'accepted'],
  'another value': [refuses, 'refused'],
  'the magic value and nothing else in the word': [answers(`1626ba7e${'00'.repeat(27)}01`, 32), 'refused'],
  'the magic value alone, in four bytes': [answers(magic, 4), 'refused'],
  'the magic value in more than a word': [answers(magic, 64), 'refused'],
  'what it was called with, which begins with the magic value': ['0x365f5f37365ff3', 'refused'],
  nothing: ['0x00', 'refused'],
  'a revert': ['0x5f5ffd', 'refused'],
  'a megabyte': ['0x620f42405ff3', 'refused'],
  'no end': ['0x5b5f56', 'refused'],
  'the magic value after half a million rounds': [afterRounds(500_000), 'refused'],
  'the magic value after sixty thousand rounds': [afterRounds(60_000), 'accepted'],
  'the magic value to the zero address only': [`0x331560065700${'5b'}${accepts.slice(2)}`, 'refused'],
};
for (const [what, [code, word]] of Object.entries(words)) {
  test(`a contract that answers with ${what} → ${word}`, async () => {
    assert.equal(await ask(await withCode(code)), word);
  });
}

test('an address without code → not_deployed, whatever was signed; the zero address signs nothing, with any signature', async () => {
  const junk: Hex = `0x${'00'.repeat(64)}1b`;
  assert.equal(await ask(randomAddress(), junk), 'not_deployed');
  const wrapped = serializeErc6492Signature({ address: randomAddress() as Hex, data: '0x', signature: junk });
  assert.equal(await ask(randomAddress(), wrapped), 'refused');
  for (const signature of [junk, wrapped]) {
    assert.equal(await isKeySigned({ address: zeroAddress, hash, signature }), false);
    assert.equal(await ask(zeroAddress, signature), 'refused');
  }
});

test('an account with a key and code (EIP-7702) → its key signs; for the code the delegate speaks', async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  const address = account.address.toLowerCase();
  const signature = await account.signMessage({ message: 'a message' });
  assert.equal(await isKeySigned({ address, hash, signature }), true);
  const delegate = await withCode(accepts);
  await callRpc(node.chain.rpcUrls[0] ?? '', 'anvil_setCode', [address, concat(['0xef0100', delegate as Hex])]);
  assert.equal(await ask(address), 'accepted');
});

test('malformed signatures are refused: odd length or foreign characters, more than 8 kB, the wrapper of ERC-8010', () => {
  const none = [
    '',
    'hello',
    '0x1',
    '0x12g4',
    `0x${'ff'.repeat(8_193)}`,
    `0x${'8010'.repeat(16)}`,
    `0x12${'8010'.repeat(16)}`,
  ];
  for (const typed of none) assert.equal(readSignature(typed), null, typed.slice(0, 80));
  assert.equal(readSignature(' 0xAb12\n'), '0xab12');
});

test('two endpoints that do not say the same → nobody is believed who says that a contract signed', async () => {
  const both = { ...node.chain, rpcUrls: [liar.url, ...node.chain.rpcUrls] };
  const lies = (result: string) => {
    liar.fake.lie = async ({ method }) => (method === 'eth_call' ? { result } : null);
  };
  const refusing = await withCode(refuses);
  lies(`0x${magic}`);
  assert.equal(await ask(refusing, anything, both), 'refused');
  assert.equal(await ask(refusing, anything, { ...both, rpcUrls: both.rpcUrls.toReversed() }), 'refused');

  const nobody = randomAddress();
  liar.fake.lie = async ({ method }) => {
    if (method === 'eth_getCode') return { result: accepts };
    return method === 'eth_call' ? { result: `0x${magic}` } : null;
  };
  assert.equal(await ask(nobody, anything, both), 'unreachable');

  const accepting = await withCode(accepts);
  for (const lie of ['hang up', { status: 503 }, { result: 'no hex' }] as const) {
    liar.fake.lie = async ({ method }) => (method === 'eth_call' ? lie : null);
    assert.equal(await ask(accepting, anything, both), 'unreachable');
  }
  liar.fake.lie = async () => null;
  assert.equal(await ask(accepting, anything, both), 'accepted');
});

test('an endpoint of another chain accepts a signature → it says nothing about ours', async () => {
  const accepting = await withCode(accepts);
  assert.equal(await ask(accepting, anything, { ...node.chain, chainId: 4_711 }), 'unreachable');
});
