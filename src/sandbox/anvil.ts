import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { callRpc } from '../chain/rpc.ts';
import { replaceFile } from '../lib/files.ts';
import { freePort } from '../lib/ports.ts';
import { listCommands, signalProcess } from '../lib/processes.ts';
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
/**
 * How long a chain that has just ended may hold its port: its process disappears from the lists before its sockets do.
 */
const portWaitMs = 1_000;

/**
 * Starts anvil on a state file. It saves its state every second and when it ends; a hard kill loses at most that
 * second. It mines only for a transaction or on demand.
 *
 * @param wishedPort used when it is free
 * @throws StartFault when it does not answer within 10 s
 */
export async function spawnAnvil(chainId: number, stateFile: string, wishedPort = 0): Promise<DevProcess> {
  restoreState(stateFile);
  // A free port can be taken by somebody else before anvil opens it: then it ends at once, and another one is tried.
  for (let attempt = 1; attempt <= startAttempts; attempt++) {
    const port = await (attempt === 1 ? freePort(wishedPort, portWaitMs) : freePort());
    const started = await spawnAnvilOn(port, chainId, stateFile);
    if (started) return started;
  }
  throw new StartFault(`The local chain ${chainId} did not start; see ${stateFile}.log`);
}

/** Starts anvil on a port; null when it ended, as where the port is taken, or is not ready in time and was ended. */
export async function spawnAnvilOn(port: number, chainId: number, stateFile: string): Promise<DevProcess | null> {
  const logFile = `${stateFile}.log`;
  const loggedBefore = existsSync(logFile) ? statSync(logFile).size : 0;
  const child = launch(chainId, stateFile, port);
  // What answers on the port may be somebody else's chain with the same id; only ours writes to this file.
  const said = `Listening on 127.0.0.1:${port}`;
  const isListening = () => readFileSync(logFile).subarray(loggedBefore).includes(said);
  const url = `http://127.0.0.1:${port}`;
  if (!(await waitForChain(child, isListening))) return null;
  await callRpc(url, 'anvil_setLoggingEnabled', [false]); // else it writes a line for each call
  // A chain loaded from a file goes on at the time of its last block; people pay now.
  await setTimeToNow(url);
  const pid = child.pid as number;
  return { url, pid, stop: () => endProcess(pid, stateFile) };
}

function launch(chainId: number, stateFile: string, port: number): ChildProcess {
  const args = ['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)];
  args.push('--state', stateFile, '--state-interval', '1', '--slots-in-an-epoch', '4', '--order', 'fifo');
  // States older than these blocks are forgotten, which bounds memory and the depth of a rehearsed reorganisation.
  args.push('--prune-history', '256', '--cache-path', `${stateFile}.cache`);
  const log = openSync(`${stateFile}.log`, 'a');
  // Detached: a Ctrl-C in the terminal must reach the service first.
  const child = spawn(findAnvil(), args, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  child.unref();
  return child;
}

/** False when the process ended, or is not ready in time and was ended. */
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

/** True when a chain with this id answers there. */
export async function answersAs(url: string, chainId: number): Promise<boolean> {
  try {
    return Number(await callRpc(url, 'eth_chainId', [], 2_000)) === chainId;
  } catch {
    return false; // not up yet, or not ours: whoever asks has a limit of its own
  }
}

/**
 * Makes the chain's clock show the real time again. Of a chain that is behind, even by the second in which the call was
 * under way, a contract would say that what starts now has not started.
 */
export async function setTimeToNow(url: string): Promise<void> {
  await callRpc(url, 'evm_setTime', [Math.floor(Date.now() / 1000)]);
  const aheadS = Number(await callRpc(url, 'evm_increaseTime', [0]));
  if (aheadS < 0) await callRpc(url, 'evm_increaseTime', [-aheadS]);
}

/** The anvil that a killed service left behind on a state file; null when there is none. */
export function findAnvilOn(stateFile: string): DevProcess | null {
  for (const [pid, command] of listCommands()) {
    const port = command.includes(` --state ${stateFile} `) ? / --port (\d+) /.exec(command)?.[1] : undefined;
    if (port) return { url: `http://127.0.0.1:${port}`, pid, stop: () => endProcess(pid, stateFile) };
  }
  return null;
}

/** Ends an anvil, which saves its state first; by force after 15 s. */
async function endProcess(pid: number, stateFile: string): Promise<void> {
  const runs = () => findAnvilOn(stateFile)?.pid === pid;
  for (let waitedMs = 0; runs(); waitedMs += 20) {
    if (waitedMs === 0) signalProcess(pid, 'SIGTERM');
    if (waitedMs === 15_000) signalProcess(pid, 'SIGKILL');
    if (waitedMs > 20_000) return;
    await pause(20);
  }
}

const backupOf = (stateFile: string) => `${stateFile}.backup`;

/** Anvil overwrites its state in place, so a kill at the wrong moment tears the file: then the copy is used. */
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

/** The end of a complete state file: anvil writes its keys in a fixed order, the last of which is not used here. */
const completeEnd = Buffer.from('"historical_states":null}');

/**
 * Copies a complete state file to a file beside it, atomically.
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
