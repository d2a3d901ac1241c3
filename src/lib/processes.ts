import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { pause } from './time.ts';

const hasProc = existsSync('/proc/self/cmdline');

/** The command line of a process, with a space after each argument; empty when it is gone. */
export function commandOf(pid: number): string {
  if (hasProc) return (readProc(pid, 'cmdline') ?? '').replaceAll('\0', ' ');
  return `${ps('-o', 'command=', '-p', String(pid))[0]} `;
}

/** All processes with their command lines: from /proc, or from `ps` where there is no /proc. */
export function listCommands(): [pid: number, command: string][] {
  if (!hasProc) return ps('-axo', 'pid=,command=').map((line) => [Number.parseInt(line, 10), `${line} `]);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => [Number(pid), commandOf(Number(pid))]);
}

/**
 * When a process started, in the system's own format. A process id may be reused; this value is not. Null when it is
 * gone.
 */
export function beginningOf(pid: number): string | null {
  if (!hasProc) return ps('-o', 'lstart=', '-p', String(pid))[0]?.trim() || null;
  // The program's name, in parentheses, may contain anything. After it come the state and, 18 fields later, the start
  // time.
  const [state, ...fields] = (readProc(pid, 'stat') ?? '').replace(/^.*\) /s, '').split(' ');
  return state === '' || state === 'Z' ? null : (fields[18] ?? null);
}

/** Sends a signal to a process, unless it has just ended by itself. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export type Ending = {
  /** Whether the process still runs: by now its id may belong to another one. */
  runs(): boolean;
  /** Asks it to end. */
  ask: NodeJS.Signals;
  /** Makes it end, if it still runs after `forceAfterMs`. */
  force: NodeJS.Signals;
  forceAfterMs: number;
  /** How long to wait after that. */
  giveUpAfterMs: number;
};

/** Ends a process. Returns once it is gone, or does not even end by force. */
export async function endProcess(pid: number, ending: Ending): Promise<void> {
  const { runs, ask, force, forceAfterMs, giveUpAfterMs } = ending;
  if (!runs()) return;
  signalProcess(pid, ask);
  if (await isGoneWithin(runs, forceAfterMs)) return;
  signalProcess(pid, force);
  await isGoneWithin(runs, giveUpAfterMs);
}

/** A look at the processes can itself take long, so the clock counts, not the pauses. */
async function isGoneWithin(runs: () => boolean, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (runs()) {
    if (performance.now() >= deadline) return false;
    await pause(endPollMs);
  }
  return true;
}

/** Whether a process exists that this user may signal. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // gone, or its id belongs to another user's process now
  }
}

const endPollMs = 20;
const lookEveryMs = 1_000;

/** Waits until one of the processes has ended. Null once the signal aborts, or if there is none to wait for. */
export async function firstToEnd<T extends { pid: number }>(
  processes: readonly T[],
  signal: AbortSignal,
): Promise<T | null> {
  while (processes.length > 0 && !signal.aborted) {
    const ended = processes.find(({ pid }) => !isRunning(pid));
    if (ended) return ended;
    await pause(lookEveryMs, signal);
  }
  return null;
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null; // it ended
  }
}

function ps(...args: string[]): string[] {
  try {
    return execFileSync('ps', args, { encoding: 'utf8' }).split('\n');
  } catch {
    return []; // that is how ps says that there is none
  }
}
