import { randomBytes } from 'node:crypto';
import { type Access, connect, type Database, openOwner, type Sql, type Tx } from '../../src/db/connection.ts';
import { accessOf, ensureLogins } from '../../src/db/logins.ts';
import { openPool, type Pool, type Waits } from '../../src/db/pool.ts';
import { testSecrets } from './fixtures.ts';

/** Waits (s) that are long enough for a busy machine, and for storing more rows than the service ever does at once. */
const patience: Waits = { queue: 120, connect: 60, answer: 300 };

/** A single connection outside the service's pools, with its own settings. */
export const openOne = (url: string, settings: Record<string, string | number> = {}): Pool =>
  openPool({ url, connections: 1, waits: patience, settings });

/** How a service with the tests' secrets connects to a database. */
export const accessTo = (url: string): Access => accessOf(url, testSecrets);

export type TestDatabase = {
  /** The service's own connections, with logins that own nothing. */
  db: Database;
  /** The owner of the tables, for what a test does to the database itself. */
  owner: Sql;
  /** Its address as the owner, for separate processes. */
  url: string;
  access: Access;
  drop(): Promise<void>;
};

/** A separate database for one test file, cloned from the migrated template that `test/run.ts` made. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = process.env.TEST_DATABASE_URL;
  const template = process.env.TEST_TEMPLATE;
  if (!server || !template) throw new Error('Run tests with `npm test -- <file>`: it starts the database they need.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = openOne(server);
  await admin.unsafe(`create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const owner = openOwner(url.href, patience);
  await ensureLogins(owner, testSecrets);
  const access = accessTo(url.href);
  const db = connect(access, undefined, patience);
  return {
    db,
    owner,
    url: url.href,
    access,
    drop: async () => {
      await Promise.all([db.close(), owner.end()]);
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

/**
 * Stores many rows in one transaction, without triggers, foreign keys or a time limit: on a busy machine, a hundred
 * thousand rows take longer than a statement of the service may.
 */
export const withoutLimits = (owner: Sql, work: (tx: Tx) => Promise<unknown>): Promise<unknown> =>
  owner.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`set local statement_timeout = 0`;
    await work(tx);
  });
