import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { connect, type Database } from '../../src/db/connection.ts';

/**
 * A database of its own for one test file, cloned from the migrated template that `test/run.ts` made.
 *
 * @returns the pool, its address for processes of their own, and what drops it again
 */
export async function testDatabase(): Promise<{ db: Database; url: string; drop(): Promise<void> }> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) throw new Error('Run tests with `npm test -- <file>`: it starts the database they need.');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${name} template quittance_template`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const db = connect(url.href, 8);
  return {
    db,
    url: url.href,
    drop: async () => {
      await db.close();
      await admin.unsafe(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}
