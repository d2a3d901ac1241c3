import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sql } from './connection.ts';
import { createGroups } from './logins.ts';

const run = promisify(execFile);
/** A dump's table of contents has a line for each object. */
const outputLimit = 64 * 1024 * 1024;

/** A sentence that says why a backup cannot be written or read, with the way out. */
export class BackupFault extends Error {}

/**
 * Writes the whole database to a file that `pg_restore` reads: one consistent state, while the service works. The file
 * gets its name when it is complete. Only its owner can read it.
 *
 * @param owner the tables' owner; sees all rows
 * @param url the address of the same connection
 * @throws BackupFault
 */
export async function dumpDatabase(owner: Sql, url: string, file: string): Promise<void> {
  const program = await findProgram(owner, 'pg_dump');
  const partial = `${file}.partial`;
  // Each table forces row-level security upon its owner, with a policy that shows the owner everything.
  const options = ['--format=custom', '--no-owner', '--enable-row-security', `--file=${partial}`];
  try {
    await rm(partial, { force: true });
    // Made here, because the program would let every user of the machine read it.
    await (await open(partial, 'wx', 0o600)).close();
    await runProgram(program, [...options, ...addressOf(url)], url);
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Restores a backup into an empty database, all or nothing. The logins are the caller's to create.
 *
 * @throws BackupFault when the file is no backup of this service, or the database is not empty
 */
export async function restoreDatabase(owner: Sql, url: string, file: string): Promise<void> {
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
    await runProgram(program, [...options, ...addressOf(url), file], url);
  } finally {
    await rm(list, { force: true });
  }
  await giveToOwner(owner);
}

/** What names the previous owner is left out, and given to the present one afterwards. */
const withoutOwner = (contents: string): string =>
  contents
    .split('\n')
    .filter((line) => !/ POLICY public \S+ owner /.test(line) && !/ DEFAULT ACL /.test(line))
    .join('\n');

/** As migration 0043 does for the owner who runs it. */
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
 * The server's own version of a program, or a newer one.
 *
 * @throws BackupFault when there is none
 */
async function findProgram(owner: Sql, name: 'pg_dump' | 'pg_restore'): Promise<string> {
  const [row] = await owner<{ version: string }[]>`select current_setting('server_version') as version`;
  const needed = Number.parseInt(row?.version ?? '', 10);
  for (const path of candidates(name)) {
    // Found as it will be when it runs: without this process's own path.
    const { stdout } = await run(path, ['--version'], { env: {} }).catch(() => ({ stdout: '' }));
    const major = Number(/\(PostgreSQL\) (\d+)/.exec(stdout)?.[1] ?? 0);
    if (major >= needed) return path;
  }
  throw new BackupFault(
    `The server is PostgreSQL ${needed}, and no ${name} of that version or a newer one was found. Install postgresql-client-${needed}.`,
  );
}

/** On the path, and where Debian keeps the versions beside each other, the newest first. */
function candidates(name: string): string[] {
  const versions = '/usr/lib/postgresql';
  const installed = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  return [name, ...installed.map((version) => join(versions, version, 'bin', name))];
}

/** The address without its password, which every user of the machine could read in the list of processes. */
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
