import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beginningOf } from '../lib/processes.ts';
import type { Sql, Tx } from './connection.ts';
import { refuseEncoding } from './encoding.ts';
import { asPermissionFault, createGroups } from './logins.ts';
import { inTurn } from './migrate.ts';
import { giveToOwner, isHalfRestored } from './owner-policies.ts';
import { addressOf, BackupFault, findProgram, type Running, runProgram, stopped, withFile } from './programs.ts';

/** How a long run reports its progress: the bytes so far, each time that this many milliseconds have passed. */
export type Progress = { everyMs: number; report(bytes: number): void };

/** A backup or a restore under way. */
export type Copying = Running & { progress: Progress };

/**
 * Writes the whole database to a file for `pg_restore`, as one consistent state, while the service runs. The file gets
 * its name when it is complete. Only its owner can read it.
 *
 * @param owner the tables' owner; sees all rows
 * @param describe reads the state that is written
 * @returns what `describe` returned
 * @throws BackupFault
 */
export async function dumpDatabase<T>(
  owner: Sql,
  file: string,
  copying: Copying,
  describe: (tx: Tx) => Promise<T>,
): Promise<T> {
  await refuseTarget(file);
  const program = await findProgram(owner, 'pg_dump');
  await removeAbandoned(file);
  const partial = `${file}${partialMark}${process.pid}`;
  // Row-level security also applies to the tables' owner, but a policy shows the owner all rows.
  const options = ['--format=custom', '--no-owner', '--enable-row-security', `--file=${partial}`];
  try {
    await rm(partial, { force: true });
    // The file is created here, because the program would make it readable by every user of the machine.
    const created = await open(partial, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      throw new BackupFault(`No file can be created in ${dirname(file)} (${error.code}). Name one in another folder.`);
    });
    await created.close();
    const written = async () => (await stat(partial)).size;
    const described = await inSnapshot(owner, describe, (snapshot) => {
      const args = [...options, `--snapshot=${snapshot}`, ...addressOf(copying.url)];
      return withProgress(copying.progress, written, () => runProgram(program, args, copying));
    });
    await rename(partial, file);
    return described;
  } finally {
    await rm(partial, { force: true });
  }
}

/** Refuses what cannot become the backup. A device or a pipe, such as /dev/stdout, would be replaced by the file. */
async function refuseTarget(file: string): Promise<void> {
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory())
    throw new BackupFault(`${file} is a folder. Name the file to write, such as ${join(file, 'quittance.dump')}.`);
  if (there && !there.isFile())
    throw new BackupFault(`${file} is not a file. Name a file to write, then send that on.`);
  if (!(await stat(dirname(file)).catch(() => null))?.isDirectory())
    throw new BackupFault(`There is no folder ${dirname(file)}. Create it first, or name another file.`);
}

/**
 * Describes one state of the database, and gives its snapshot to a program. The transaction that holds it does nothing
 * meanwhile, so something on the way may cut its connection. By then the program has taken the snapshot.
 */
async function inSnapshot<T>(
  owner: Sql,
  describe: (tx: Tx) => Promise<T>,
  dump: (snapshot: string) => Promise<unknown>,
): Promise<T> {
  let dumped: { described: T } | undefined;
  const held = owner.begin(async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    await tx`set local idle_in_transaction_session_timeout = 0`;
    const described = await describe(tx);
    const [row] = await tx<{ snapshot: string }[]>`select pg_export_snapshot() as snapshot`;
    await dump(row?.snapshot ?? '');
    dumped = { described };
  });
  await held.catch((error) => {
    if (!dumped) throw error;
  });
  return (dumped as { described: T }).described;
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

/** Reports how far some work is until it ends. What cannot be measured is not reported. */
async function withProgress<T>({ everyMs, report }: Progress, measure: () => Promise<number>, work: () => Promise<T>) {
  const timer = setInterval(() => void measure().then(report, () => {}), everyMs);
  return work().finally(() => clearInterval(timer));
}

/**
 * Restores a backup into an empty database, completely or not at all. The caller creates the logins. A node that starts
 * meanwhile waits for the end.
 *
 * @returns when the backup was begun, as its file says (`2026-01-31 12:00:00 UTC`)
 * @throws BackupFault if the file is no backup of this service, or the database is not empty
 */
export async function restoreDatabase(owner: Sql, file: string, copying: Copying): Promise<string> {
  const { stopping } = copying;
  return inTurn(owner, stopping, () => restoreInto(owner, file, copying)).catch((error) => {
    throw stopping.aborted && error === stopping.reason ? new BackupFault(stopped, { cause: error }) : error;
  });
}

async function restoreInto(owner: Sql, file: string, copying: Copying): Promise<string> {
  const program = await findProgram(owner, 'pg_restore');
  await refuseEncoding(owner);
  await refuseBesideAnother(owner);
  const [table] = await owner`
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') limit 1`;
  if (table && (await isHalfRestored(owner)))
    throw new BackupFault(
      'An earlier restore into this database ended before its last step. All its data is here: start the service, which does that step. Or restore into a new, empty database.',
    );
  if (table)
    throw new BackupFault(
      'This database already has tables. Restore into a new, empty database, so that two installations never mix.',
    );
  const contents = await runProgram(program, ['--list', file], copying).catch((error: BackupFault) => {
    throw isOfNewer(error) ? new BackupFault(`${error.message}\n${newerAdvice}`, { cause: error }) : error;
  });
  if (!/ TABLE DATA public schema_migrations /.test(contents))
    throw new BackupFault(`${file} is not a backup of this service.`);
  await createGroups(owner).catch(async (error) => {
    throw await asPermissionFault(owner, error);
  });
  const options = ['--no-owner', '--single-transaction', '--exit-on-error'];
  await withFile(restorable(contents), (list) => {
    const args = [...options, `--use-list=${list}`, ...addressOf(copying.url), file];
    return withProgress(copying.progress, sizeOf(owner), () => runProgram(program, args, copying));
  }).catch((error: BackupFault) => {
    throw new BackupFault(`${error.message}\nNothing was restored.`, { cause: error });
  });
  await giveToOwner(owner);
  return /^; *Archive created at (.+)$/m.exec(contents)?.[1] ?? 'an unknown time';
}

/**
 * After a restore was killed with SIGKILL, its pg_restore may still be at work. Nobody sees its tables until it ends.
 */
async function refuseBesideAnother(owner: Sql): Promise<void> {
  const [other] = await owner<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and usename = current_user and application_name = 'pg_restore' limit 1`;
  if (other)
    throw new BackupFault(
      `An earlier restore was killed, and its pg_restore is still at work in this database. Wait for its end, or end it and all that it did with: select pg_terminate_backend(${other.pid})`,
    );
}

/** pg_restore has no codes for its errors. Its messages are in English, because no locale is set here. */
const isOfNewer = ({ message }: BackupFault) => message.includes('unsupported version');
const newerAdvice =
  'A newer pg_dump wrote the file. Install the postgresql-client of the server that it was made on, or a newer one.';

const sizeOf = (owner: Sql) => async () => {
  const [row] = await owner<{ bytes: string }[]>`select pg_database_size(current_database()) as bytes`;
  return Number(row?.bytes);
};

/** Policies and default privileges of the previous owner; `giveToOwner` creates those of the current one. */
const ofPreviousOwner = / POLICY public \S+ owner | DEFAULT ACL /;
/** Comments on what an owner of the tables may not own. */
const commentsOnOthers = / COMMENT - (?:EXTENSION|SCHEMA) /;

/** A backup's list of contents with only what any owner can restore. */
const restorable = (contents: string): string =>
  contents
    .split('\n')
    .filter((line) => !ofPreviousOwner.test(line) && !commentsOnOthers.test(line))
    .join('\n');
