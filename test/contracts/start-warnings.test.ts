import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Level, pino } from 'pino';
import { announceRecurring } from '../../src/chain/recurring/announce.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Config } from '../../src/config.ts';
import { idleChain, testConfig } from '../support/app.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';

let node: TestChain;
before(async () => {
  node = await testChain();
});
after(() => node?.stop());

/** The log lines of a start. */
async function said(test: ChainConfig[], live: ChainConfig[], change: Partial<Config> = {}): Promise<string[]> {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  await announceRecurring({ config: testConfig({ sandbox: false, ...change }), chains: { test, live }, log });
  return lines.map((line) => {
    const { level, chain, msg } = JSON.parse(line) as { level: number; chain?: number; msg: string };
    return [pino.levels.labels[level] as Level, chain, msg].filter((part) => part !== undefined).join(' ');
  });
}

test('a start in production with a contract → a warning that it has not been audited by an outside party', async () => {
  const [line = '', ...others] = await said([node.chain], [node.chain]);
  assert.match(
    line,
    /^warn plans are charged automatically by a contract that has not been audited by an outside party/,
  );
  assert.deepEqual(others, []);
});

test('a start in production without RECURRING_CONTRACT → a warning that names it and the command', async () => {
  const lines = await said([idleChain(1)], [idleChain(2)]);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^warn plans are not charged automatically.*RECURRING_CONTRACT.*contracts deploy/);
});

test('a start in production with a contract but without a key of the relayer → a warning that nothing is charged', async () => {
  const lines = await said([node.chain], [node.chain], { relayer: { signers: [] } });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /^warn plans are not charged automatically, because the relayer has no key/);
});

test('a start in production with an address that has no code, or other code → logged for each chain', async () => {
  const nothing: ChainConfig = { ...node.chain, recurringContract: `0x${'12'.repeat(20)}` };
  const token: ChainConfig = { ...node.chain, recurringContract: node.chain.tokens[0]?.address ?? null };
  const [, first = '', second = ''] = await said([nothing], [token]);
  assert.match(first, /^warn 31337 .*is not deployed here/);
  assert.match(second, /^error 31337 RECURRING_CONTRACT is not this version’s code/);
});

test('a start of a sandbox → nothing', async () => {
  assert.deepEqual(await said([node.chain], [node.chain], { sandbox: true }), []);
});
