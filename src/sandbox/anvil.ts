import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { callRpc } from '../chain/rpc.ts';
import { replaceFile } from '../lib/files.ts';
import { freePort } from '../lib/ports.ts';
import { endProcess, listCommands } from '../lib/processes.ts';
import { StartFault } from '../lib/start-fault.ts';
import { pause } from '../lib/time.ts';

const require = createRequire(import.meta.url);

/**
 * A running development chain. Its process is identified by the state file among its arguments, so no process id is
 * stored.
 */
export type DevProcess = { url: string; pid: number; stop(): Promise<void> };

const platforms: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

function findAnvil(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${platforms[process.arch] ?? process.arch}`;
  return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
}

const startLimitMs = 10_000;
const startAttempts = 3;
/** How long to wait for the port of a chain that has just ended: its process is gone before its sockets are. */
const portWaitMs = 1_000;

/**
 * Starts anvil on a state file. It saves its state every second and when it ends; a hard kill loses at most that
 * second. It mines only for a transaction or on demand.
 *
 * @param wishedPort used if it is free
 * @throws StartFault if it did not start in three attempts of up to 10 s
 */
export async function spawnAnvil(chainId: number, stateFile: string, wishedPort = 0): Promise<DevProcess> {
  restoreState(stateFile);
  // Another program can take a free port before anvil opens it. Then anvil ends at once, and the next port is tried.
  for (let attempt = 1; attempt <= startAttempts; attempt++) {
    const port = await (attempt === 1 ? freePort(wishedPort, portWaitMs) : freePort());
    const started = await spawnAnvilOn(port, chainId, stateFile);
    if (started) return started;
  }
  throw new StartFault(`The local chain ${chainId} did not start; see ${stateFile}.log`);
}

/** Starts anvil on a port; null if it ended (the port may be taken), or was not ready within 10 s and was killed. */
export async function spawnAnvilOn(port: number, chainId: number, stateFile: string): Promise<DevProcess | null> {
  const logFile = `${stateFile}.log`;
  const loggedBefore = existsSync(logFile) ? statSync(logFile).size : 0;
  const child = launch(chainId, stateFile, port);
  // Another chain with the same id may answer on the port, but only ours writes to this file.
  const line = `Listening on 127.0.0.1:${port}`;
  const isListening = () => readFileSync(logFile).subarray(loggedBefore).includes(line);
  const url = `http://127.0.0.1:${port}`;
  if (!(await waitForChain(child, isListening))) return null;
  await callRpc(url, 'anvil_setLoggingEnabled', [false]); // otherwise it logs each call
  // The clock of a chain that was loaded from a file continues at the time of its last block.
  await setTimeToNow(url);
  const pid = child.pid as number;
  return { url, pid, stop: () => endAnvil(pid, stateFile) };
}

function launch(chainId: number, stateFile: string, port: number): ChildProcess {
  const args = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)];
  args.push('--state', stateFile, '--state-interval', '1', '--slots-in-an-epoch', '4', '--order', 'fifo');
  // Keeps the state of the last 256 blocks only, which limits memory, and the depth of a reorganisation.
  args.push('--prune-history', '256', '--cache-path', `${stateFile}.cache`);
  const log = openSync(`${stateFile}.log`, 'a');
  // Detached, so that Ctrl-C in the terminal does not end the chain before the service.
  const child = spawn(findAnvil(), args, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  child.unref();
  return child;
}

/** Waits until the chain is ready. False if its process ended, or was not ready within 10 s and was killed. */
async function waitForChain(child: ChildProcess, isReady: () => boolean): Promise<boolean> {
  let failed = false;
  child.once('error', () => {
    failed = true;
  });
  const ended = () => failed || child.exitCode !== null || child.signalCode !== null;
  const deadline = performance.now() + startLimitMs;
  while (!ended() && performance.now() < deadline) {
    if (isReady()) return true;
    await pause(20);
  }
  child.kill('SIGKILL');
  return false;
}

/** Whether a chain with this id answers at this URL. */
export async function answersAs(url: string, chainId: number): Promise<boolean> {
  try {
    return Number(await callRpc(url, 'eth_chainId', [], 2_000)) === chainId;
  } catch {
    return false;
  }
}

/**
 * Sets the chain's clock to the real time. The clock must not be behind, even by the second that the call takes:
 * contracts would then refuse a mandate that starts now.
 */
export async function setTimeToNow(url: string): Promise<void> {
  await callRpc(url, 'evm_setTime', [Math.floor(Date.now() / 1000)]);
  const aheadS = Number(await callRpc(url, 'evm_increaseTime', [0]));
  if (aheadS < 0) await callRpc(url, 'evm_increaseTime', [-aheadS]);
}

/** The anvil that still runs on a state file, for example after the service was killed; null if there is none. */
export function findAnvilOn(stateFile: string): DevProcess | null {
  for (const [pid, command] of listCommands()) {
    const port = command.includes(` --state ${stateFile} `) ? / --port (\d+) /.exec(command)?.[1] : undefined;
    if (port) return { url: `http://127.0.0.1:${port}`, pid, stop: () => endAnvil(pid, stateFile) };
  }
  return null;
}

/** Ends an anvil, which saves its state first. Kills it after 15 s. */
function endAnvil(pid: number, stateFile: string): Promise<void> {
  const runs = () => findAnvilOn(stateFile)?.pid === pid;
  return endProcess(pid, { runs, ask: 'SIGTERM', force: 'SIGKILL', forceAfterMs: 15_000, giveUpAfterMs: 5_000 });
}

const backupOf = (stateFile: string) => `${stateFile}.backup`;

/** Uses the backup if the state file is damaged: anvil overwrites it in place, so a kill can leave half a file. */
function restoreState(stateFile: string): void {
  for (const file of [stateFile, backupOf(stateFile)]) {
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    if (!isJson(text)) continue;
    if (file !== stateFile) replaceFile(stateFile, text);
    return;
  }
  rmSync(stateFile, { force: true });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The end of a complete state file: anvil writes its keys in a fixed order, and the last one is always null here. */
const completeEnd = Buffer.from('"historical_states":null}');

/**
 * Copies a state file to its backup, atomically, unless it is just being written.
 *
 * @param last the copy's current content, to avoid writing the same again
 * @returns the copy's new content
 */
export function backUpState(stateFile: string, last: Buffer | null): Buffer | null {
  if (!existsSync(stateFile)) return last;
  const before = statSync(stateFile).mtimeMs;
  const content = readFileSync(stateFile);
  const settled = statSync(stateFile).mtimeMs === before;
  if (!settled || !content.subarray(-completeEnd.length).equals(completeEnd)) return last;
  if (last?.equals(content)) return last;
  replaceFile(backupOf(stateFile), content);
  return content;
}
