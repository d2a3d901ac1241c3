import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { asRefusal } from '../../src/db/conflict.ts';
import { connect, openOwner } from '../../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { Refusal } from '../../src/errors.ts';
import { accessTo } from '../support/database.ts';
import { secretsText, testSecrets } from '../support/fixtures.ts';
import { dataFolder, embeddedPids, endAll, runService } from '../support/service.ts';

/** Newer servers say with a code of its own that this failed for want of room. */
const programs = '/usr/lib/postgresql/15';
const isThere = existsSync(join(programs, 'bin/postgres')) && spawnSync('prlimit', ['--version']).status === 0;
const skip = !isThere && 'needs PostgreSQL 15 and prlimit';

let folder: string;
let server: EmbeddedPostgres;
before(async () => {
  if (!isThere) return;
  folder = dataFolder();
  server = await startEmbedded(folder, programs);
  const owner = openOwner(server.url);
  await migrate(owner);
  await ensureLogins(owner, testSecrets);
  await owner.end();
});
after(async () => {
  await server?.stop();
  await endAll();
});

/** How much new sessions of the server may write into one file. They see a longer one as a full disk. */
function limitFiles(bytes: number | 'unlimited'): void {
  const [pid] = embeddedPids(folder).postgres;
  execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`]);
}

test('a full disk, and a server that cannot write the file with which each session begins → 503 and a sentence at start; then it works by itself', {
  skip,
}, async () => {
  const db = connect(accessTo(server.url));
  try {
    // The server removes these files itself when it starts after a crash, and when a system table changes.
    for (const file of globSync(join(folder, 'postgres/{global,base/*}/pg_internal.init'))) rmSync(file);
    limitFiles(4096);
    await assert.rejects(
      async () => db.sql`select 1`,
      (error: Error) => {
        assert.equal(error.message, 'could not write init file');
        const refusal = asRefusal(error);
        assert.ok(refusal instanceof Refusal && refusal.code === 'unavailable', String(refusal));
        return true;
      },
    );
    const start = await runService({ DATABASE_URL: server.url, DATA_DIR: folder, SECRET_KEYS: secretsText });
    assert.equal(start.code, 1);
    assert.match(
      start.stderr,
      /^Quittance cannot start\. The database of DATABASE_URL cannot be used: could not write init file\. .* room on its disk\.\n$/,
    );
    limitFiles('unlimited');
    assert.equal((await db.sql`select 1 as one`)[0]?.one, 1);
  } finally {
    await db.close();
  }
});
