import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOwner } from '../../src/db/connection.ts';
import { embeddedUrl, startEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { identifiers } from '../../src/db/sql.ts';
import { root } from './graph.ts';

/** A PostgreSQL server for tests, and the migrated database on it that each test file clones. */
export type TestServer = { url: string; template: string; stop(): Promise<void> };

/** Where the server of `npm run test:server` keeps its data: one for each checkout. */
export const keptFolder = join(tmpdir(), `quittance-test-server-${hash(root).slice(0, 12)}`);

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A server that ends with the run. */
export async function startOwnServer(installed: string | null): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-test-'));
  const server = await startServer(folder, installed).catch((error) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  return { ...server, template: await makeTemplate(server.url) };
}

/** Starts the server in a folder, or takes the one that runs there. `stop` removes the folder. */
export async function startServer(folder: string, installed: string | null = null) {
  const server = await startEmbedded(folder, installed);
  const admin = openOwner(server.url);
  // What tests write is thrown away with the server, so it need not survive the machine.
  for (const setting of ['fsync', 'full_page_writes']) await admin`alter system set ${identifiers(setting)} = off`;
  await admin`alter system set max_wal_size = '4GB'`;
  await admin`select pg_reload_conf()`;
  await admin.end();
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server that `npm run test:server` keeps, with a template of today's migrations; null when there is none. */
export async function findKeptServer(): Promise<TestServer | null> {
  const url = embeddedUrl(keptFolder);
  if (!url) return null;
  const admin = openOwner(url);
  const answers = await admin`select 1`.then(
    () => true,
    () => false, // it was killed, and left its folder
  );
  await admin.end();
  return answers ? { url, template: await makeTemplate(url), stop: async () => {} } : null;
}

/** Migrates a template database, once for each state of the migrations. Its name is there when it is complete. */
async function makeTemplate(url: string): Promise<string> {
  const sources = globSync(['migrations/*.sql', 'src/db/*.ts'], { cwd: root }).sort();
  const state = hash(sources.map((file) => file + readFileSync(join(root, file), 'utf8')).join('\0'));
  const name = `quittance_template_${state.slice(0, 12)}`;
  const admin = openOwner(url);
  try {
    await admin`select pg_advisory_lock(1)`; // of two runs that begin together, one makes it
    const [found] = await admin`select from pg_database where datname = ${name}`;
    if (found) return name;
    const old = await admin<{ name: string }[]>`
      select datname as name from pg_database where datname like 'quittance_template_%'`;
    for (const other of old) await admin`drop database ${identifiers(other.name)} with (force)`;
    const incomplete = `${name}_new`;
    await admin`create database ${identifiers(incomplete)}`;
    const address = new URL(url);
    address.pathname = `/${incomplete}`;
    const owner = openOwner(address.href);
    await migrate(owner).finally(() => owner.end());
    await admin`alter database ${identifiers(incomplete)} rename to ${identifiers(name)}`;
    return name;
  } finally {
    await admin.end();
  }
}
