import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect, openOwner } from '../../src/db/connection.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { accessOf, ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { signalProcess } from '../../src/lib/processes.ts';
import { pause } from '../../src/lib/time.ts';
import { testSecrets } from '../support/fixtures.ts';
import { embeddedPids } from '../support/service.ts';

const sizeMiB = 1536;
const minFreeBytes = 64 * 1024;
const startTries = 10;
const maxFreeBytes = 16 * 1024 * 1024;

/** Makes a file of this size; false if it does not fit. */
const allocate = (file: string, bytes: number) =>
  promisify(execFile)('fallocate', ['-l', String(bytes), file]).then(
    () => true,
    () => false,
  );

export type FaultyDatabase = Awaited<ReturnType<typeof startDatabase>>;

/** A PostgreSQL server, on its own disk in memory if this user may mount one: only such a disk can become full. */
export async function startDatabase() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quittance-faults-')));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMiB}m`, 'tmpfs', folder]).status === 0;
  const ballast = join(folder, 'ballast');
  const removeFolder = () => {
    if (mounted) spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  };
  let server = await startEmbedded(folder).catch((error) => {
    removeFolder();
    throw error;
  });
  const { url } = server;
  const owner = openOwner(url);
  await owner.unsafe("alter system set max_wal_size = '128MB'");
  await owner.unsafe("alter system set min_wal_size = '80MB'");
  await owner`select pg_reload_conf()`;
  await migrate(owner);
  await ensureLogins(owner, testSecrets);
  const db = connect(accessOf(url, testSecrets));
  const serverPids = () => embeddedPids(folder).postgres;
  const settingsFile = join(folder, 'postgres.json');
  const settings = readFileSync(settingsFile, 'utf8');
  /** Sessions of a killed server can hold its memory for a moment, and the next one then takes another port. */
  const start = async () => {
    for (let attempt = 1; attempt <= startTries; attempt++) {
      server = await startEmbedded(folder);
      if (server.url === url) return;
      await server.stop();
      writeFileSync(settingsFile, settings);
    }
    throw new Error('the database moved to another port');
  };
  return {
    ...{ url, owner, db, folder },
    canFill: mounted,
    start,
    stop: () => server.stop(),
    /** The whole server at once, without a word to anybody. */
    kill: () => {
      for (const pid of serverPids()) signalProcess(pid, 'SIGKILL');
    },
    /** Ends the sessions of everybody, also ours. */
    disconnect: () =>
      owner`select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    /** Kills one session's process: the server then ends all sessions and recovers. */
    killSession: async (share: number) => {
      const rows = await owner<{ pid: number }[]>`
        select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by pid`;
      const pid = rows[Math.floor(share * rows.length)]?.pid;
      if (pid) signalProcess(pid, 'SIGKILL');
    },
    /** Leaves no room on the disk. `log`: nor in the files that the write-ahead log would use again. */
    fill: async (log: boolean) => {
      // The server writes meanwhile: what was free may be less by now.
      for (let keptBytes = minFreeBytes; keptBytes <= maxFreeBytes; keptBytes *= 4) {
        const { bavail, bsize } = statfsSync(folder);
        const bytes = Math.max(1, bavail * bsize - keptBytes);
        // It takes seconds on a busy machine: a call of ours that is under way meanwhile must not seem unanswered.
        if (await allocate(ballast, bytes)) break;
      }
      // The server may end in the middle of it.
      for (let i = 0; log && i < 12; i++) await owner`select pg_switch_wal()`.catch(() => {});
    },
    empty: () => rmSync(ballast, { force: true }),
    /** Stops everything and removes the disk. */
    end: async () => {
      rmSync(ballast, { force: true });
      await Promise.all([db.close(), owner.end()]);
      await server.stop();
      for (const pid of serverPids()) signalProcess(pid, 'SIGKILL');
      await pause(200);
      removeFolder();
    },
  };
}
