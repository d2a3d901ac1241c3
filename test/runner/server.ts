import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOwner } from '../../src/db/connection.ts';
import { embeddedUrl, startEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { identifiers } from '../../src/db/sql.ts';
import { endWhenOrphaned } from '../support/end-when-orphaned.ts';
import { root } from './graph.ts';

/** A PostgreSQL server for tests, with the migrated template database that each test file clones. */
export type TestServer = { url: string; template: string; stop(): Promise<void> };

/** The data folder of the server of `npm run test:server`, one for each checkout. */
export const keptFolder = join(tmpdir(), `quittance-test-server-${hash(root).slice(0, 12)}`);

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Starts a server that stops at the end of the run. */
export async function startOwnServer(installed: string | null): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-test-'));
  const server = await startServer(folder, installed).catch((error) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const endWatch = endWhenOrphaned(server.pid, 'INT', folder);
  const stop = () => {
    endWatch();
    return server.stop();
  };
  return { url: server.url, template: await makeTemplate(server.url), stop };
}

/** Starts the server in a folder, or uses the one already running there. `stop` removes the folder. */
export async function startServer(folder: string, installed: string | null = null) {
  const server = await startEmbedded(folder, installed);
  const admin = openOwner(server.url);
  // Data of tests is thrown away with the server, so it need not survive a crash of the machine.
  for (const setting of ['fsync', 'full_page_writes']) await admin`alter system set ${identifiers(setting)} = off`;
  await admin`alter system set max_wal_size = '4GB'`;
  await admin`select pg_reload_conf()`;
  await admin.end();
  return {
    url: server.url,
    pid: server.pid,
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server of `npm run test:server`, with a template of the current migrations; null if none is running. */
export async function findKeptServer(): Promise<TestServer | null> {
  const url = embeddedUrl(keptFolder);
  if (!url) return null;
  const admin = openOwner(url);
  const answers = await admin`select 1`.then(
    () => true,
    () => false, // the server was killed and left its folder behind
  );
  await admin.end();
  return answers ? { url, template: await makeTemplate(url), stop: async () => {} } : null;
}

/** Migrates a template database once for each state of the migrations. It gets its name when it is complete. */
async function makeTemplate(url: string): Promise<string> {
  const sources = globSync(['migrations/*.sql', 'src/db/*.ts'], { cwd: root }).sort();
  const state = hash(sources.map((file) => file + readFileSync(join(root, file), 'utf8')).join('\0'));
  const name = `quittance_template_${state.slice(0, 12)}`;
  const admin = openOwner(url);
  try {
    await admin`select pg_advisory_lock(1)`; // if two runs start together, only one makes it
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
