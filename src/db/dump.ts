import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beginningOf } from '../lib/processes.ts';
import type { Sql } from './connection.ts';
import { createGroups } from './logins.ts';

const run = promisify(execFile);
/** The limit for a program's output; a dump's table of contents has a line for each object. */
const outputLimit = 64 * 1024 * 1024;

/** How a long run tells that it is under way: the bytes so far, each time that this many milliseconds have passed. */
export type Progress = { everyMs: number; tell(bytes: number): void };

/** Why a backup cannot be written or read. The message is a sentence that says what to do. */
export class BackupFault extends Error {}

/**
 * Writes the whole database to a file for `pg_restore`, as one consistent state, while the service runs. The file gets
 * its name when it is complete. Only its owner can read it.
 *
 * @param owner the tables' owner; sees all rows
 * @param url the address of the same connection
 * @throws BackupFault
 */
export async function dumpDatabase(owner: Sql, url: string, file: string, progress: Progress): Promise<void> {
  const program = await findProgram(owner, 'pg_dump');
  await removeAbandoned(file);
  const partial = `${file}${partialMark}${process.pid}`;
  // Row-level security also applies to the tables' owner, but a policy shows the owner all rows.
  const options = ['--format=custom', '--no-owner', '--enable-row-security', `--file=${partial}`];
  try {
    await rm(partial, { force: true });
    // The file is created here, because the program would make it readable by every user of the machine.
    await (await open(partial, 'wx', 0o600)).close();
    const written = async () => (await stat(partial)).size;
    await tellingOf(progress, written, () => runProgram(program, [...options, ...addressOf(url)], url));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Precedes the id of the process that writes it. Two backups to one file at once must not write the same partial file.
 */
const partialMark = '.partial-';

/** Removes what killed backups to this file have left, which may be as large as the database. */
async function removeAbandoned(file: string): Promise<void> {
  const start = `${basename(file)}${partialMark}`;
  const names = await readdir(dirname(file)).catch(() => []); // without the folder, creating the file says so
  for (const name of names.filter((one) => one.startsWith(start))) {
    if (beginningOf(Number(name.slice(start.length))) === null) await rm(join(dirname(file), name), { force: true });
  }
}

/** Tells how far some work is until it ends. What cannot be measured is not told. */
async function tellingOf<T>({ everyMs, tell }: Progress, measure: () => Promise<number>, work: () => Promise<T>) {
  const timer = setInterval(() => void measure().then(tell, () => {}), everyMs);
  return work().finally(() => clearInterval(timer));
}

/**
 * Restores a backup into an empty database, completely or not at all. The caller creates the logins.
 *
 * @returns when the backup was begun, as its file says (`2026-01-31 12:00:00 UTC`)
 * @throws BackupFault if the file is no backup of this service, or the database is not empty
 */
export async function restoreDatabase(owner: Sql, url: string, file: string, progress: Progress): Promise<string> {
  const program = await findProgram(owner, 'pg_restore');
  const [table] = await owner`
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') limit 1`;
  if (table)
    throw new BackupFault(
      'This database already has tables. Restore into a new, empty database, so that two installations never mix.',
    );
  const contents = await runProgram(program, ['--list', file], url);
  if (!/ TABLE DATA public schema_migrations /.test(contents))
    throw new BackupFault(`${file} is not a backup of this service.`);
  await createGroups(owner);
  const list = `${file}.list-${process.pid}`;
  await rm(list, { force: true });
  await writeFile(list, withoutOwner(contents), { mode: 0o600, flag: 'wx' });
  const options = ['--no-owner', '--no-comments', '--single-transaction', '--exit-on-error', `--use-list=${list}`];
  try {
    await tellingOf(progress, sizeOf(owner), () => runProgram(program, [...options, ...addressOf(url), file], url));
  } finally {
    await rm(list, { force: true });
  }
  await giveToOwner(owner);
  return /^; *Archive created at (.+)$/m.exec(contents)?.[1] ?? 'an unknown time';
}

const sizeOf = (owner: Sql) => async () => {
  const [row] = await owner<{ bytes: string }[]>`select pg_database_size(current_database()) as bytes`;
  return Number(row?.bytes);
};

/** Removes policies and default privileges of the previous owner; `giveToOwner` creates those of the current one. */
const withoutOwner = (contents: string): string =>
  contents
    .split('\n')
    .filter((line) => !/ POLICY public \S+ owner /.test(line) && !/ DEFAULT ACL /.test(line))
    .join('\n');

/** Creates the current owner's policies and default privileges, as migration 0043 does. */
async function giveToOwner(owner: Sql): Promise<void> {
  await owner.unsafe(`do $$ declare t text; begin
    for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity loop
      execute format('create policy owner on %I to current_user using (true) with check (true)', t);
    end loop;
  end $$;
  alter default privileges in schema public grant select, insert, update, delete on tables to quittance_service;
  alter default privileges revoke execute on functions from public`);
}

/**
 * Finds a program of the server's version or a newer one.
 *
 * @throws BackupFault if there is none
 */
async function findProgram(owner: Sql, name: 'pg_dump' | 'pg_restore'): Promise<string> {
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

async function runProgram(program: string, args: string[], url: string): Promise<string> {
  const { password, searchParams } = new URL(url);
  const secret = decodeURIComponent(password) || searchParams.get('password') || '';
  const env = { PGPASSWORD: secret };
  try {
    return (await run(program, args, { env, maxBuffer: outputLimit })).stdout;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new BackupFault((stderr || message).trim(), { cause: error });
  }
}
