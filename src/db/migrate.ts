import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from './connection.ts';

const folder = join(import.meta.dirname, '../../migrations');
/** An arbitrary constant: two nodes that start at once migrate one after the other. */
const migrationLock = 7_188_254;
/** The limit for one migration, and for waiting for it. */
export const migrationSeconds = 3_600;

/** The numbered migrations of this version, in order. */
async function listMigrations(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}_.+\.sql$/.test(name)).sort();
}

/** The migrations of this version that have not been applied. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const [table] = await sql`select to_regclass('schema_migrations') as name`;
  const names = await listMigrations();
  if (!table?.name) return names;
  const done = new Set((await sql`select name from schema_migrations`).map((row) => row.name));
  return names.filter((name) => !done.has(name));
}

/**
 * Migrates the database to this version, each migration in its own transaction.
 *
 * @returns the names of the migrations that ran
 */
export async function migrate(sql: Sql): Promise<string[]> {
  await sql`create table if not exists schema_migrations (name text primary key, applied_at timestamptz default now())`;
  const ran: string[] = [];
  for (const name of await listMigrations()) {
    const text = await readFile(join(folder, name), 'utf8');
    await sql.begin(async (tx) => {
      // More than an ordinary statement may take: migrations scan large tables, and may wait for another node's
      // migration.
      await tx.unsafe(`set local statement_timeout = ${migrationSeconds * 1000}`);
      await tx`select pg_advisory_xact_lock(${migrationLock})`;
      const [mine] =
        await tx`insert into schema_migrations (name) values (${name}) on conflict do nothing returning name`;
      if (!mine) return;
      await tx.unsafe(text);
      ran.push(name);
    });
  }
  return ran;
}
