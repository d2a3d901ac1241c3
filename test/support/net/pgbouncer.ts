import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from '../../../src/db/connection.ts';
import { freePort } from '../../../src/lib/ports.ts';
import { until } from '../until.ts';

const programs = ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer'];
const nobody = 65534;

/** The path of PgBouncer; null where it is not installed. */
export const findPgbouncer = (): string | null => programs.find((path) => existsSync(path)) ?? null;

export type Pooler = { url: string; stop(): Promise<void> };

/**
 * The pooler of docs/operating.md in front of a database: it looks up the service's logins there.
 *
 * @param more lines of its configuration
 */
export async function startPooler(owner: Sql, databaseUrl: string, ...more: string[]): Promise<Pooler> {
  const program = findPgbouncer();
  if (!program) throw new Error('These tests need pgbouncer: apt-get install pgbouncer');
  const port = await freePort();
  const [login, lookUp, password] = [`pooler_${port}`, `pooler_login_${port}`, randomBytes(12).toString('hex')];
  await owner.unsafe(`create role ${login} login password '${password}'`);
  await owner.unsafe(`
    create function ${lookUp}(name text, out usename text, out passwd text) language sql
    security definer set search_path = pg_catalog, pg_temp as $$
      select rolname, rolpassword from pg_authid where rolname = name and rolname ~ '^quittance_(service|scoped)_'
    $$`);
  await owner.unsafe(`revoke execute on function ${lookUp} from public`);
  await owner.unsafe(`grant execute on function ${lookUp} to ${login}`);
  const folder = mkdtempSync(join(tmpdir(), 'quittance-pooler-'));
  chmodSync(folder, 0o755); // the pooler refuses root
  const { port: serverPort, pathname } = new URL(databaseUrl);
  writeFileSync(join(folder, 'users.txt'), `"${login}" "${password}"\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
auth_user = ${login}
auth_query = select usename, passwd from public.${lookUp}($1)
max_client_conn = 500
${more.length > 0 ? more.join('\n') : 'pool_mode = transaction'}
`,
  );
  const ids = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const child = spawn(program, [join(folder, 'pgbouncer.ini')], { stdio: ['ignore', 'pipe', 'pipe'], ...ids });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  await until(() => child.exitCode !== null || log.includes('process up'), 'the pooler to start');
  if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${log}`);
  return {
    url: `postgres://127.0.0.1:${port}${pathname}`,
    stop: async () => {
      if (child.exitCode === null) child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
      await owner.unsafe(`drop function ${lookUp}`);
      await owner.unsafe(`drop role ${login}`);
    },
  };
}
