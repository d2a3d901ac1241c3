import { stat } from 'node:fs/promises';
import { verifyChains } from '../audit/verify.ts';
import type { Context } from '../context.ts';
import { openOwner, type Sql, usualWaits } from '../db/connection.ts';
import { dumpDatabase, type Progress, restoreDatabase } from '../db/dump.ts';
import { embeddedUrl } from '../db/embedded.ts';
import { ensureLogins } from '../db/logins.ts';
import { compareMigrations, migrationLock, migrationSeconds } from '../db/migrate.ts';
import { findKeyFaults } from '../db/secret-keys.ts';
import type { Tag } from '../db/sql.ts';
import { type Arguments, type Command, word } from './command.ts';

/** Runs work as the owner of the tables, who sees all rows. */
export async function asOwner<T>({ config }: Context, work: (owner: Sql, url: string) => Promise<T>): Promise<T> {
  const url = config.databaseOwnerUrl ?? config.databaseUrl ?? embeddedUrl(config.dataDir);
  if (!url) throw new Error(`There is no database in ${config.dataDir} yet. Set DATABASE_URL.`);
  const owner = openOwner(url, { ...usualWaits, answer: migrationSeconds });
  return work(owner, url).finally(() => owner.end());
}

/** Summarises the database, and names the secret keys that a backup of it needs. */
async function describe(owner: Tag): Promise<Record<string, unknown>> {
  const [row] = await owner`
    select (select count(*)::int from requests) as requests,
      (select count(*)::int from webhook_deliveries where state = 'waiting') as events_waiting,
      (select max(name) from schema_migrations) as migrated_to`;
  const keys = await owner<{ key_id: string }[]>`
    select key_id from secret_key_marks where forgotten_at is null order by key_id`;
  return { ...row, secret_keys: keys.map(({ key_id }) => key_id).join(', ') };
}

/** Says on standard error every ten seconds how far a backup is. */
const progress = (where: string): Progress => ({
  everyMs: 10_000,
  report: (bytes) => process.stderr.write(`${Math.round(bytes / 1_000_000)} MB ${where} so far …\n`),
});

/** Payments are found on the chain again. A refund is only a transfer there: nothing shows what it was for. */
const forgottenSince = (begunAt: string): string =>
  `Requests, keys, settings and refunds made after ${begunAt}. Payments that merchants have refunded since then are unmatched or overpaid again: before a merchant refunds or attaches a payment from before the restore, it must look in its wallet whether it has sent the money back.`;

/** Runs work that a signal to this process ends. A second signal changes nothing. */
async function untilStopped<T>(work: (stopping: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const stop = () => ending.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, stop);
  return work(ending.signal).finally(() => {
    for (const signal of signals) process.off(signal, stop);
  });
}

/** Refuses a database that has no tables yet, or that is being migrated: pg_dump would end with an error of its own. */
async function refuseUnready(owner: Sql): Promise<void> {
  const [turn] = await owner<{ free: boolean }[]>`select pg_try_advisory_lock_shared(${migrationLock}) as free`;
  if (!turn?.free) throw new Error('A node is migrating this database. Make the backup once it serves.');
  await owner`select pg_advisory_unlock_shared(${migrationLock})`;
  const [tables] = await owner<{ name: string | null }[]>`select to_regclass('schema_migrations') as name`;
  if (!tables?.name) throw new Error('This database has no tables yet, so there is nothing to back up.');
}

const backup = (ctx: Context, args: Arguments) =>
  asOwner(ctx, async (owner, url) => {
    const file = word(args, 0, 'The file to write');
    await refuseUnready(owner);
    const described = await untilStopped((stopping) =>
      dumpDatabase(owner, file, { url, stopping, progress: progress('written') }, describe),
    );
    return { file, bytes: (await stat(file)).size, ...described };
  });

async function restore(ctx: Context, args: Arguments): Promise<Record<string, unknown>> {
  const file = word(args, 0, 'The file of the backup');
  return asOwner(ctx, async (owner, url) => {
    const begunAt = await untilStopped((stopping) =>
      restoreDatabase(owner, file, { url, stopping, progress: progress('in the database') }),
    );
    await ensureLogins(owner, ctx.config.secretKeys);
    const held = await describe(owner);
    const { pending, ahead } = await compareMigrations(owner);
    const faults = await findKeyFaults(owner, ctx.config.secretKeys);
    if (ahead.length > 0) faults.push(`This version is older than the backup: it does not know ${ahead.join(', ')}.`);
    if (args.options.verify && faults.length === 0) faults.push(...(await brokenLogs(ctx)));
    const next =
      pending.length > 0 ? 'Start the service: it applies the migrations that are missing.' : 'Start the service.';
    return {
      restored: file,
      begun_at: begunAt,
      ...held,
      faults,
      forgotten: forgottenSince(begunAt),
      next: faults.length > 0 ? 'Fix these faults before you start it.' : next,
    };
  });
}

async function brokenLogs(ctx: Context): Promise<string[]> {
  const checks = await verifyChains(ctx, null);
  return checks.flatMap(({ partnerId, broken }) =>
    broken ? [`The audit log of ${partnerId} is broken at entry ${broken.number}: ${broken.why}.`] : [],
  );
}

export const backupCommands: Command[] = [
  {
    name: 'backup',
    withAnyKeys: true,
    usage: '<file>',
    summary:
      'Writes the whole database to a file, while the service is running, and names the SECRET_KEYS that it needs. The keys are not in it: keep them elsewhere. Needs pg_dump.',
    run: backup,
  },
  {
    name: 'restore',
    withAnyKeys: true,
    usage: '<file> [--verify]',
    summary:
      'Restores a backup into the database of DATABASE_URL, which must be empty, and compares SECRET_KEYS with what the backup needs. --verify also checks the audit logs. Needs pg_restore.',
    run: restore,
    hasFailed: ({ faults }) => (faults as string[]).length > 0,
  },
];
