import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import type { Sql } from './connection.ts';

const run = promisify(execFile);
/** The limit for a program's output; a dump's table of contents has a line for each object. */
const outputLimit = 64 * 1024 * 1024;
/** How long a program that was told to end may take; it may wait for a server that does not answer. */
const endMs = 5_000;

/** Why a backup cannot be written or read. The message is a sentence that says what to do. */
export class BackupFault extends Error {}

/**
 * Finds a program of the server's version or a newer one.
 *
 * @throws BackupFault if there is none
 */
export async function findProgram(owner: Sql, name: 'pg_dump' | 'pg_restore'): Promise<string> {
  const [row] = await owner<{ version: string }[]>`select current_setting('server_version') as version`;
  const needed = Number.parseInt(row?.version ?? '', 10);
  for (const path of candidates(name)) {
    // `runProgram` also runs it without this process's environment.
    const { stdout } = await run(path, ['--version'], { env: {} }).catch(() => ({ stdout: '' }));
    const major = Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0);
    if (major >= needed) return path;
  }
  throw new BackupFault(
    `The server is PostgreSQL ${needed}, and no ${name} of that version or a newer one was found. Install postgresql-client-${needed}.`,
  );
}

/** Where a program may be: on the default path, and in Debian's folders of PostgreSQL versions, the newest first. */
function candidates(name: string): string[] {
  const versions = '/usr/lib/postgresql';
  const installed = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  return [name, ...installed.map((version) => join(versions, version, 'bin', name))];
}

/** The argument with the address, without its password, which would be visible in the list of processes. */
export function addressOf(url: string): string[] {
  const address = new URL(url);
  address.password = '';
  address.searchParams.delete('password');
  return [`--dbname=${address.href}`];
}

/** Where the database is, and what ends a program that works on it. */
export type Running = { url: string; stopping: AbortSignal };

/**
 * Runs a program of PostgreSQL until it ends. It trusts the certificate authorities that this process trusts.
 *
 * @returns its standard output
 * @throws BackupFault with what it said, or if it was stopped
 */
export async function runProgram(program: string, args: string[], running: Running): Promise<string> {
  const { password, searchParams } = new URL(running.url);
  const PGPASSWORD = decodeURIComponent(password) || searchParams.get('password') || '';
  // With authorities, libpq takes `require` for `verify-ca`.
  if (!searchParams.get('sslmode')?.startsWith('verify')) return runStoppable(program, args, { PGPASSWORD }, running);
  return withFile(getCACertificates('default').join('\n'), (PGSSLROOTCERT) =>
    runStoppable(program, args, { PGPASSWORD, PGSSLROOTCERT }, running),
  );
}

/** Gives a program a text as a file, which only this user can read, and removes it afterwards. */
export async function withFile<T>(text: string, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-')).catch((error: NodeJS.ErrnoException) => {
    const fault = `No file can be written in ${tmpdir()} (${error.code}). Set TMPDIR to a folder that this user can write.`;
    throw new BackupFault(fault, { cause: error });
  });
  try {
    const file = join(folder, 'given');
    await writeFile(file, text, { mode: 0o600 });
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Ends the program when it is told to stop: a program that goes on alone would fill the disk or the database. */
async function runStoppable(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  { stopping }: Running,
): Promise<string> {
  if (stopping.aborted) throw new BackupFault(stopped);
  const running = run(program, args, { env, maxBuffer: outputLimit });
  const { child } = running;
  let hardEnd: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill('SIGTERM');
    hardEnd = setTimeout(() => child.kill('SIGKILL'), endMs);
  };
  stopping.addEventListener('abort', stop, { once: true });
  try {
    return (await running).stdout;
  } catch (error) {
    if (stopping.aborted) throw new BackupFault(stopped, { cause: error });
    const { stderr, message } = error as { stderr?: string; message: string };
    // The program indents the lines of a failed statement with tabs.
    throw new BackupFault((stderr || message).trim().replaceAll('\t', '  '), { cause: error });
  } finally {
    stopping.removeEventListener('abort', stop);
    clearTimeout(hardEnd);
  }
}

/** The message of a command that a signal has ended. */
export const stopped = 'It was stopped before its end, and has left nothing behind. Run it again.';
