import { execFile, spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'undici';
import { planning } from '../src/db/connection.ts';
import type { Child } from './child.ts';
import { post, repeat } from './post.ts';
import type { Arm } from './rounds.ts';
import { createBody, merchantOf } from './statements.ts';

export const clients = 16;
export const names = { http: 'creates over HTTP', sql: 'the same statements', yardstick: 'bare insert' };

/** Creates over HTTP: 16 clients on kept connections use the keys in turn; none reaches its limit of 60 a minute. */
export function httpArm(server: Child, keys: string[]): Arm & { close(): Promise<void> } {
  const pool = new Pool(server.origin, { connections: clients, pipelining: 1 });
  let calls = 0;
  const create = async () => {
    const call = calls++;
    const key = call % keys.length;
    const amount = 100 + Math.floor(Math.random() * 99_900);
    const body = createBody(merchantOf(key, Math.floor(call / keys.length)), amount, crypto.randomUUID());
    const headers = { authorization: `Bearer ${keys[key]}`, 'content-type': 'application/json' };
    const status = await post(pool, server.origin, '/api/v1/requests/create', headers, body);
    if (status !== 201) throw new Error(`a create answered ${status}`);
  };
  return { name: names.http, run: (seconds) => repeat(clients, seconds, create), close: () => pool.destroy() };
}

/** The newest pgbench on this machine, or null. */
export function findPgbench(): string | null {
  const found = [...globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse(), 'pgbench'];
  return found.find((path) => spawnSync(path, ['--version']).status === 0) ?? null;
}

/** How pgbench connects: as the service does, with the settings of its connections. */
export function pgbenchLogin(databaseUrl: string): { connection: Record<string, string>; database: string } {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const login = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGPASSWORD: password };
  const settings = Object.entries(planning).map(([key, value]) => `-c ${key}=${value}`);
  return { connection: { ...login, PGOPTIONS: settings.join(' ') }, database: pathname.slice(1) };
}

/**
 * A script that 16 clients of pgbench repeat, with prepared statements, and the settings of the service's connections.
 */
export function pgbenchArm(name: string, databaseUrl: string, script: string, folder: string): Arm {
  const program = findPgbench();
  if (!program) throw new Error('pgbench was not found: apt-get install postgresql');
  const file = join(folder, `${name.replaceAll(' ', '-')}.sql`);
  writeFileSync(file, script);
  const { connection, database } = pgbenchLogin(databaseUrl);
  return {
    name,
    run: async (seconds) => {
      const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(seconds), '-f', file];
      const options = { env: { ...process.env, ...connection }, timeout: (seconds + 20) * 1000 };
      const { stdout } = await promisify(execFile)(program, [...args, database], options);
      const [, rate] = /^tps = ([\d.]+)/m.exec(stdout) ?? [];
      if (!rate || !/failed transactions: 0 /.test(stdout)) throw new Error(`pgbench did not get through:\n${stdout}`);
      return Number(rate);
    },
  };
}
