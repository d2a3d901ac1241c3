import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { callRpc } from '../../src/chain/rpc.ts';
import { chainCommands } from '../../src/cli/chain.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import { freePort } from '../../src/lib/ports.ts';
import { pause } from '../../src/lib/time.ts';
import { backUpState, findAnvilOn, setTimeToNow, spawnAnvilOn } from '../../src/sandbox/anvil.ts';
import { readDevChains, startDevChains } from '../../src/sandbox/chain.ts';
import * as wallet from '../../src/sandbox/wallet.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { randomAddress } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { until } from '../support/until.ts';

let dataDir: string;
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
  dataDir = mkdtempSync(join(tmpdir(), 'quittance-dev-'));
});
after(async () => {
  for (const mode of ['test', 'live']) await findAnvilOn(stateOf(dataDir, mode))?.stop();
  rmSync(dataDir, { recursive: true, force: true });
  await database.drop();
});

const stateOf = (folder: string, mode: string) => join(folder, 'chains', `${mode}.json`);
const only = (chains: ChainConfig[]): ChainConfig => chains[0] as ChainConfig;
const payer = wallet.defaultWallet();

/** Waits until the running chain has saved its current state. */
async function saved(stateFile: string): Promise<void> {
  const written = () => statSync(stateFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // Waits for two saves: the first may have begun before this call.
  for (let times = 0, at = written(); times < 2; times++, at = written()) {
    const deadline = performance.now() + patienceMs;
    while (written() === at) {
      if (performance.now() > deadline) throw new Error('the chain does not save its state');
      await pause(20);
    }
  }
}

async function killHard(stateFile: string): Promise<void> {
  const running = findAnvilOn(stateFile);
  assert.ok(running);
  process.kill(running.pid, 'SIGKILL');
  await until(() => findAnvilOn(stateFile) === null, 'the chain to end');
}

test('a service is killed while it deploys the token, which leaves automatic mining off → the adopted chain mines again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-dev-'));
  const killed = await startDevChains(folder);
  const [chain] = killed.chains.test as [ChainConfig];
  await callRpc(chain.rpcUrls[0] as string, 'evm_setAutomine', [false]);

  const adopted = await startDevChains(folder);
  try {
    assert.equal(adopted.started, false);
    assert.ok(await wallet.fund(chain, randomAddress(), 1n));
  } finally {
    await adopted.stop();
    await killed.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('two chains start with real USDC, keep everything over a stop, and come back on their ports', async () => {
  const first = await startDevChains(dataDir);
  assert.ok(first.started);
  assert.deepEqual(readDevChains(dataDir), first.chains);
  const [chain, live] = [only(first.chains.test), only(first.chains.live)];
  assert.deepEqual([chain.chainId, live.chainId], [31337, 31338]);
  const to = randomAddress();
  await wallet.fund(chain, payer.address, 5_000_000n);
  await wallet.sendUsdc(chain, { privateKey: payer.privateKey, to, usdcMicro: 1_500_000n });
  assert.equal(await wallet.usdcBalance(chain, to), 1_500_000n);
  assert.equal(await wallet.usdcBalance(live, to), 0n);
  await first.stop();
  assert.equal(findAnvilOn(stateOf(dataDir, 'test')), null);

  const second = await startDevChains(dataDir);
  assert.deepEqual(second.chains, first.chains);
  assert.equal(await wallet.usdcBalance(chain, to), 1_500_000n);
  await second.stop();
});

test('a chain killed hard keeps its blocks, receipts and balances, and shows the real time in new blocks', async () => {
  const { chains, stop } = await startDevChains(dataDir);
  const chain = only(chains.test);
  const to = randomAddress();
  await wallet.fund(chain, payer.address, 9n);
  const txHash = await wallet.sendUsdc(chain, { privateKey: payer.privateKey, to, usdcMicro: 9n });
  const url = chain.rpcUrls[0] ?? '';
  const receipt = await callRpc(url, 'eth_getTransactionReceipt', [txHash]);
  await saved(stateOf(dataDir, 'test'));
  await killHard(stateOf(dataDir, 'test'));

  const again = await startDevChains(dataDir);
  assert.deepEqual(again.chains, chains, 'on the same ports');
  assert.deepEqual(await callRpc(url, 'eth_getTransactionReceipt', [txHash]), receipt);
  assert.equal(await wallet.usdcBalance(chain, to), 9n);
  await wallet.mine(chain, 1);
  const block = (await callRpc(url, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  assert.ok(Math.abs(Number(block.timestamp) * 1000 - Date.now()) < 60_000);
  await again.stop();
  await stop();
});

test('a chain’s time is set by a call that takes seconds → its clock is not behind', async () => {
  const { chains, stop } = await startDevChains(dataDir);
  const url = only(chains.test).rpcUrls[0] ?? '';
  const pid = findAnvilOn(stateOf(dataDir, 'test'))?.pid as number;
  const seconds = () => Math.floor(Date.now() / 1000);
  const from = seconds();
  process.kill(pid, 'SIGSTOP');
  const told = setTimeToNow(url);
  await until(() => seconds() > from + 1, 'two seconds to pass');
  process.kill(pid, 'SIGCONT');
  await told;
  const earliest = seconds();
  await wallet.mine(only(chains.test), 1);
  const block = (await callRpc(url, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  assert.ok(Number(block.timestamp) >= earliest);
  await stop();
});

test('a state file torn by a kill while it was written → the copy beside it is used', async () => {
  const stateFile = stateOf(dataDir, 'test');
  const before = readFileSync(stateFile);
  assert.ok(backUpState(stateFile, null)?.equals(before));
  truncateSync(stateFile, Math.floor(before.length / 2));
  assert.equal(backUpState(stateFile, null), null, 'a torn file is never copied');
  const { chains, stop } = await startDevChains(dataDir);
  assert.ok((await wallet.headNumber(only(chains.test))) > 1);
  await stop();
});

test('chains from before the contract of recurring payments → it is deployed when they are adopted or started', async () => {
  const first = await startDevChains(dataDir);
  const url = only(first.chains.test).rpcUrls[0] ?? '';
  const codeAt = (address: string) => callRpc(url, 'eth_getCode', [address, 'latest']);
  const address = only(first.chains.test).recurringContract ?? '';
  const code = await codeAt(address);
  const forget = async () => {
    await callRpc(url, 'anvil_setCode', [address, '0x']);
    await callRpc(url, 'anvil_setNonce', [address, '0x0']); // as an address that never had code
  };
  await forget();
  assert.equal((await startDevChains(dataDir)).started, false);
  assert.equal(await codeAt(address), code);
  await forget();
  await first.stop();
  const second = await startDevChains(dataDir);
  assert.ok(second.started);
  assert.equal(await codeAt(address), code);
  await second.stop();
});

test('chains that a killed service left running are adopted; one that answers wrongly is ended and restarted', async () => {
  const left = await startDevChains(dataDir);
  const pids = ['test', 'live'].map((mode) => findAnvilOn(stateOf(dataDir, mode))?.pid);
  const adopted = await startDevChains(dataDir);
  assert.equal(adopted.started, false);
  assert.deepEqual(adopted.chains, left.chains);
  assert.deepEqual(
    ['test', 'live'].map((mode) => findAnvilOn(stateOf(dataDir, mode))?.pid),
    pids,
  );
  const chain = only(adopted.chains.test);
  await callRpc(chain.rpcUrls[0] ?? '', 'anvil_setCode', [chain.tokens[0]?.address, '0x']);
  const renewed = await startDevChains(dataDir);
  assert.notEqual(findAnvilOn(stateOf(dataDir, 'test'))?.pid, pids[0]);
  assert.equal(findAnvilOn(stateOf(dataDir, 'live'))?.pid, pids[1]);
  await wallet.fund(only(renewed.chains.test), payer.address, 1n);
  await renewed.stop();
  await left.stop();
});

test('two sandboxes with different data folders → separate chains', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance dev with spaces '));
  const [one, two] = await Promise.all([startDevChains(dataDir), startDevChains(folder)]);
  const to = randomAddress();
  await wallet.fund(only(one.chains.test), to, 3n);
  assert.equal(await wallet.usdcBalance(only(two.chains.test), to), 0n);
  await two.stop();
  assert.ok(await wallet.headNumber(only(one.chains.test)));
  await one.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a port that somebody else’s chain with the same id has just taken → theirs is never taken for ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-dev-'));
  const port = await freePort();
  const theirs = await spawnAnvilOn(port, 31337, join(folder, 'theirs.json'));
  assert.equal(theirs?.url, `http://127.0.0.1:${port}`);
  const ours = join(folder, 'ours.json');
  assert.equal(await spawnAnvilOn(port, 31337, ours), null);
  assert.equal(findAnvilOn(ours), null);
  const elsewhere = await spawnAnvilOn(await freePort(), 31337, ours);
  assert.ok(elsewhere, 'on another port it starts');
  const logged = statSync(`${ours}.log`).size;
  await callRpc(elsewhere.url, 'eth_blockNumber', []);
  assert.equal(statSync(`${ours}.log`).size, logged, 'calls are not logged');
  await Promise.all([theirs?.stop(), elsewhere.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

test('payments of one wallet at the same moment are all mined', async () => {
  const { chains, stop } = await startDevChains(dataDir);
  const chain = only(chains.live);
  await wallet.fund(chain, payer.address, 100n);
  const wallets = Array.from({ length: 6 }, randomAddress);
  await Promise.all(wallets.map((to) => wallet.sendUsdc(chain, { privateKey: payer.privateKey, to, usdcMicro: 2n })));
  for (const to of wallets) assert.equal(await wallet.usdcBalance(chain, to), 2n);
  const tooMuch = { privateKey: payer.privateKey, to: randomAddress(), usdcMicro: 10n ** 15n };
  await assert.rejects(wallet.sendUsdc(chain, tooMuch), /Does the wallet have enough USDC\?/);
  const reference = randomBytes(16);
  const txHash = await wallet.sendUsdc(chain, { ...tooMuch, usdcMicro: 1n, reference });
  const tx = (await callRpc(chain.rpcUrls[0] ?? '', 'eth_getTransactionByHash', [txHash])) as { input: string };
  assert.ok(tx.input.endsWith(reference.toString('hex')));
  await stop();
});

test('the commands sandbox chain, fund, mine and reorg work on the running chains and say what is wrong', async () => {
  const { chains, stop } = await startDevChains(dataDir);
  const ctx = testContext(database.db, { config: testConfig({ dataDir }) });
  const run = (name: string, words: string[], options: Record<string, string>) => {
    const command = chainCommands.find((candidate) => candidate.name === name);
    assert.ok(command);
    return command.run(ctx, { words, options });
  };
  const chain = only(chains.live);
  const shown = (await run('sandbox chain', [], {})) as Record<string, Record<string, unknown>>;
  assert.deepEqual(shown.live, { chain_id: 31338, rpc_url: chain.rpcUrls[0], usdc: chain.tokens[0]?.address });
  assert.equal(shown.test?.chain_id, 31337);

  const address = randomAddress();
  const funded = await run('sandbox fund', [address.toUpperCase().replace('0X', '0x')], {
    'usdc-micro': '2500000',
    mode: 'live',
  });
  assert.equal(funded.usdc_micro, '2500000');
  const head = await wallet.headNumber(chain);
  assert.deepEqual(await run('sandbox mine', [], { mode: 'live', blocks: '4' }), {
    chain_id: 31338,
    block_number: head + 4,
  });
  assert.deepEqual(await run('sandbox reorg', [], { mode: 'live', depth: '5' }), {
    chain_id: 31338,
    block_number: head + 4,
  });
  assert.equal(await wallet.usdcBalance(chain, address), 0n, 'the funding was in a block that is gone');
  await assert.rejects(run('sandbox reorg', [], { mode: 'live', depth: '150' }), /knows only states since its start/);
  await assert.rejects(run('sandbox mine', [], { mode: 'live', blocks: '0' }), /--blocks must be a whole number/);
  await assert.rejects(run('sandbox fund', ['bob'], { 'usdc-micro': '1', mode: 'test' }), /40 hex digits/);
  await stop();
});
