import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { recurringAddress } from '../chain/recurring/contract.ts';
import { type ChainConfig, readChains } from '../config/chains.ts';
import { replaceFile } from '../lib/files.ts';
import type { Mode } from '../lib/mode.ts';
import { answersAs, backUpState, type DevProcess, findAnvilOn, setTimeToNow, spawnAnvil } from './anvil.ts';
import { ensureRecurringContract } from './recurring.ts';
import { deployUsdc, devUsdcAddress, hasUsdc, mineOnArrival } from './usdc.ts';

/**
 * The sandbox's two chains: one per mode, each with the real USDC contract and the contract of recurring payments.
 * Neither has real money.
 */
export type DevChains = {
  chains: Record<Mode, ChainConfig[]>;
  /** The process of each chain, and the file with its state; beside it is its log. */
  processes: Record<Mode, { pid: number; stateFile: string }>;
  /** False if both were already running: another process may still use them. */
  started: boolean;
  stop(): Promise<void>;
};

/** The chain ids of the two local chains. */
export const devChainIds = { test: 31337, live: 31338 } as const;
const backupEveryMs = 5_000;

/**
 * Starts the two local chains of a data folder, or adopts those that a killed service left running. On first use it
 * deploys USDC and the contract of recurring payments. Free ports are chosen and stored in `<dataDir>/chains.json`.
 *
 * @throws Error when a chain does not start
 */
export async function startDevChains(dataDir: string): Promise<DevChains> {
  mkdirSync(join(dataDir, 'chains'), { recursive: true });
  const folder = realpathSync(join(dataDir, 'chains')); // running chains are found by this path
  const known = readDevChains(dataDir);
  const [test, live] = await allOrNone(
    openChain(devChainIds.test, join(folder, 'test.json'), known?.test),
    openChain(devChainIds.live, join(folder, 'live.json'), known?.live),
  );
  const entries = { test: [chainEntry('test', test.url)], live: [chainEntry('live', live.url)] };
  replaceFile(join(dataDir, 'chains.json'), `${JSON.stringify(entries, null, 2)}\n`);

  const stopBackups = startBackups([test.stateFile, live.stateFile]);
  return {
    chains: readChains(JSON.stringify(entries), recurringAddress()),
    processes: { test, live },
    started: test.started || live.started,
    stop: async () => {
      stopBackups();
      await Promise.all([test.stop(), live.stop()]);
    },
  };
}

/** The local chains of a data folder, for programs that only connect to them; null if none were ever started. */
export function readDevChains(dataDir: string): Record<Mode, ChainConfig[]> | null {
  const file = join(dataDir, 'chains.json');
  return existsSync(file) ? readChains(readFileSync(file, 'utf8'), recurringAddress()) : null;
}

type OpenChain = DevProcess & { stateFile: string; started: boolean };

/** Waits for both chains. If one does not start, ends the other. */
async function allOrNone(...opening: [Promise<OpenChain>, Promise<OpenChain>]): Promise<[OpenChain, OpenChain]> {
  try {
    return await Promise.all(opening);
  } catch (error) {
    const opened = await Promise.allSettled(opening);
    await Promise.all(opened.map((part) => (part.status === 'fulfilled' ? part.value.stop() : null)));
    throw error;
  }
}

/** Adopts the chain that runs on a state file, or starts one, and deploys missing contracts. */
export async function openChain(chainId: number, stateFile: string, known: ChainConfig[] = []): Promise<OpenChain> {
  const running = findAnvilOn(stateFile);
  if (running) {
    if ((await answersAs(running.url, chainId)) && (await hasUsdc(running.url))) {
      await setTimeToNow(running.url);
      // A service that was killed while it deployed contracts has left automatic mining off.
      await mineOnArrival(running.url);
      await ensureRecurringContract(running.url, chainId);
      return { ...running, stateFile, started: false };
    }
    await running.stop();
  }
  const wishedPort = Number(new URL(known[0]?.rpcUrls[0] ?? 'http://localhost').port);
  const chain = await spawnAnvil(chainId, stateFile, wishedPort);
  if (!(await hasUsdc(chain.url))) await deployUsdc(chain.url);
  await ensureRecurringContract(chain.url, chainId);
  return { ...chain, stateFile, started: true };
}

/** The entry of a local chain, as in CHAINS_FILE. */
export function chainEntry(mode: Mode, url: string) {
  return {
    chain_id: devChainIds[mode],
    name: mode === 'test' ? 'Local test chain' : 'Local live chain (no real money)',
    rpc_urls: [url],
    public_rpc_url: url,
    tokens: [{ symbol: 'USDC', address: devUsdcAddress }],
    finality: [{ up_to_usdc_micro: '1000000000', confirmations: 2 }, { confirmations: 4 }],
    poll_ms: 250,
    // A generous budget, because the chain's coin is worth nothing.
    relayer: { budget_per_day: '100', least_balance: '1' },
  };
}

function startBackups(stateFiles: string[]): () => void {
  const copies = new Map<string, Buffer | null>();
  const timer = setInterval(() => {
    for (const file of stateFiles) copies.set(file, backUpState(file, copies.get(file) ?? null));
  }, backupEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}
