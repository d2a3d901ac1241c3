import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { compileArtifact } from '../../contracts/compile.ts';
import { recurringAbi, recurringAddress, recurringCode } from '../../src/chain/recurring/contract.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';

let node: TestChain;
before(async () => {
  node = await testChain();
});
after(() => node.stop());

const artifact = readFileSync(join(import.meta.dirname, '../../contracts/RecurringPayments.json'), 'utf8');

test('the artifact is what the source compiles to', () => {
  assert.equal(compileArtifact(), artifact);
});

test('the interface in the program is the artifact’s', () => {
  const compiled = (JSON.parse(artifact).abi as { type: string }[]).filter(({ type }) => type !== 'constructor');
  assert.deepEqual(recurringAbi.map(comparable).sort(), compiled.map(comparable).sort());
});

/** An entry of an interface as text, without what only one of the two forms says. */
function comparable(entry: object): string {
  const { anonymous: _, ...rest } = entry as { anonymous?: boolean };
  const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(rest, (key, value) => {
    if (key === 'internalType' || value === '' || value === false) return undefined;
    return typeof value === 'object' && !Array.isArray(value) ? Object.fromEntries(sorted(value)) : value;
  });
}

test('a chain of the sandbox has the contract at the address that is the same everywhere, with the expected code', async () => {
  assert.equal(node.chain.recurringContract, recurringAddress());
  const code = await callRpc(node.chain.rpcUrls[0] ?? '', 'eth_getCode', [recurringAddress(), 'latest']);
  assert.equal(code, recurringCode(31337, recurringAddress()));
});
