import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/lib/ports.ts';
import { listCommands, signalProcess } from '../../src/lib/processes.ts';
import { removeFolder } from './folders.ts';
import { patienceMs } from './patience.ts';
import { until } from './until.ts';

const root = join(import.meta.dirname, '../..');

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };
export type Service = {
  pid: number;
  /** `http://127.0.0.1:<port>` */
  url: string;
  stdout(): string;
  stderr(): string;
  ended: Promise<Ended>;
  /** Sends a signal, SIGTERM by default, and waits for the process to end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
};
export type StartOptions = { user?: number; command?: string[] };

const spawned = new Map<number, ChildProcess>();
const folders = new Set<string>();

/** A new data folder for a service. `endAll` removes it and ends whatever still runs on it. */
export function dataFolder(owner?: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-service-'));
  if (owner !== undefined) chownSync(folder, owner, owner);
  folders.add(folder);
  return folder;
}

/** Lets a process reuse what others have compiled. */
const compileCache = process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {};

/** Starts `node src/main.ts` with this environment. Of our own it gets only PATH, HOME and the compile cache. */
function launch(env: Record<string, string>, options: StartOptions) {
  const [file = '', ...args] = options.command ?? [process.execPath, join(root, 'src/main.ts')];
  const child = spawn(file, args, {
    cwd: options.command ? root : '/',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...compileCache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    uid: options.user,
    gid: options.user,
    detached: options.command !== undefined, // a separate process group, like a job in a terminal
  });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk) => {
      text[name] += chunk;
    });
  }
  if (child.pid) spawned.set(child.pid, child);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      spawned.delete(child.pid as number);
      resolve({ code, signal, ...text });
    });
  });
  return { pid: child.pid as number, text, ended };
}

/** Starts a service on a free port and waits until it reports that it is ready. */
export async function startService(env: Record<string, string>, options: StartOptions = {}): Promise<Service> {
  if (env.PORT !== undefined) return startOn(env.PORT, env, options);
  const port = String(await freePort());
  return startOn(port, env, options).catch(async (error) => {
    // Another process may have taken it before the service opened it.
    if (!String(error).includes(`Port ${port} of`)) throw error;
    return startOn(String(await freePort()), env, options);
  });
}

async function startOn(port: string, env: Record<string, string>, options: StartOptions): Promise<Service> {
  const { pid, text, ended } = launch({ ...env, PORT: port }, options);
  let over: Ended | null = null;
  void ended.then((end) => {
    over = end;
  });
  const settled = () => over !== null || text.stdout.includes('is ready at');
  await until(settled, 'the service to be ready').catch((error) => {
    signalProcess(pid, 'SIGKILL'); // or it would keep the port
    throw error;
  });
  if (over) throw new Error(`the service ended: ${JSON.stringify(over)}`);
  return {
    pid,
    url: `http://127.0.0.1:${port}`,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    ended,
    stop: (signal = 'SIGTERM') => {
      signalProcess(pid, signal);
      return withLimit(ended, 'the service to end');
    },
  };
}

/** Starts a service that is expected to exit by itself. */
export function runService(env: Record<string, string>, options: StartOptions = {}): Promise<Ended> {
  return withLimit(launch(env, options).ended, 'the service to refuse the start');
}

/** Starts a service and kills it hard after a while, whatever it is doing. */
export async function crashService(env: Record<string, string>, afterMs: number): Promise<Ended> {
  const { pid, ended } = launch(env, {});
  setTimeout(() => signalProcess(pid, 'SIGKILL'), afterMs);
  return withLimit(ended, 'the killed service to end');
}

/** Starts a service and sends it SIGTERM once this is true, which is before it is ready. */
export async function stopStarting(env: Record<string, string>, isTime: () => Promise<boolean>): Promise<Ended> {
  const { pid, ended } = launch(env, {});
  await until(isTime, 'the service to get so far').finally(() => signalProcess(pid, 'SIGTERM'));
  return withLimit(ended, 'the starting service to end');
}

async function withLimit<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), patienceMs);
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

/** The database server and the chains that run on a data folder. */
export function embeddedPids(dataDir: string): { postgres: number[]; anvil: number[] } {
  const all = listCommands().filter(([, command]) => command.includes(` ${dataDir}/`));
  const pids = new Set(all.map(([pid]) => pid));
  // At first a session of the database server briefly has the same command line as the server itself.
  const own = all.filter(([pid]) => !pids.has(parentOf(pid)));
  const named = (name: string) => own.filter(([, command]) => command.includes(`/bin/${name} `)).map(([pid]) => pid);
  return { postgres: named('postgres'), anvil: named('anvil') };
}

function parentOf(pid: number): number {
  const file = `/proc/${pid}/stat`;
  return existsSync(file)
    ? Number(
        readFileSync(file, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')[1],
      )
    : 0;
}

/** Ends every process started here and everything that runs on the data folders, and removes the folders. */
export async function endAll(): Promise<void> {
  const pids = () => [
    ...spawned.keys(),
    ...[...folders].flatMap((folder) => Object.values(embeddedPids(folder)).flat()),
  ];
  for (const pid of pids()) signalProcess(pid, 'SIGKILL');
  await until(() => pids().length === 0, 'all processes to end');
  // Sessions of a killed database server keep writing for a moment.
  for (const folder of folders) removeFolder(folder);
  folders.clear();
}
