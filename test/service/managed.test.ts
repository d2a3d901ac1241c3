import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { openOwner, type Sql, sqlState } from '../../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { accessOf } from '../../src/db/logins.ts';
import { send } from '../support/api/client.ts';
import { secretsText, testSecrets } from '../support/fixtures.ts';
import { dataFolder, endAll, runService, startService } from '../support/service.ts';

/** Servers as a provider supplies them: new, with a first user who is no superuser. */
const versions: [string, string | null][] = [
  ['PostgreSQL as embedded', null],
  ['PostgreSQL 15', '/usr/lib/postgresql/15'],
];
const script = join(import.meta.dirname, '../../bin/quittance');

after(endAll);

for (const [name, programs] of versions) {
  const skip = programs !== null && !existsSync(programs) && 'is not installed';
  describe(name, { skip }, () => {
    let server: EmbeddedPostgres;
    let admin: Sql;
    before(async () => {
      server = await startEmbedded(dataFolder(), programs);
      admin = openOwner(server.url);
    });
    after(async () => {
      await admin?.end();
      await server?.stop();
    });

    async function envFor(owner: string, powers: string): Promise<Record<string, string>> {
      await admin.unsafe(`create role ${owner} login ${powers} password 'p@ss'`);
      await admin.unsafe(`create database ${owner} owner ${owner}`);
      const url = Object.assign(new URL(server.url), { username: owner, password: 'p@ss', pathname: `/${owner}` });
      return { DATABASE_URL: url.href.replace('p%40ss', 'p@ss'), SECRET_KEYS: secretsText, DATA_DIR: dataFolder() };
    }

    /** Starts a service and makes it do what calls and loops do. */
    async function works(env: Record<string, string>): Promise<void> {
      const service = await startService(env);
      const [, key, account] = /Test key +(\S+)[\s\S]*Merchant, ready +(\S+)/.exec(service.stdout()) ?? [];
      const body = { account_id: account, fiat_amount_int: 1250 };
      const options = { key: key ?? '', body };
      const made = await send(service.url, 'POST', '/api/v1/requests/create', options);
      assert.equal(made.status, 201, made.text);
      const read = await send(service.url, 'GET', `/api/v1/requests/${made.json.request_id}`, { key: key ?? '' });
      assert.equal(read.status, 200, read.text);
      assert.equal((await send(service.url, 'GET', '/readyz')).status, 200);
      assert.equal((await service.stop()).stderr, '');
    }

    test('an owner who may create roles → the service starts and works, and again', async () => {
      const env = await envFor('managed', 'createrole');
      await works(env);
      await works(env);
      const { username } = new URL(accessOf(env.DATABASE_URL ?? '', testSecrets).scoped);
      await admin.unsafe(`alter role ${username} bypassrls`);
      const { findings } = await answer<{ findings: { check: string; advice: string }[] }>(env, 'doctor');
      await admin.unsafe(`alter role ${username} nobypassrls`);
      assert.match(findings.find(({ check }) => check === `login ${username}`)?.advice ?? '', /bypasses row-level/);
    });

    test('an owner who may not create roles → a sentence; the logins created manually → the service works', async () => {
      const env = {
        ...(await envFor('bound', 'nocreaterole')),
        SECRET_KEYS: `bound:${Buffer.alloc(32, 9).toString('base64')}`,
      };
      const told = await runService(env);
      assert.equal(told.code, 1);
      assert.match(told.stderr, /alter role bound createrole;.*bin\/quittance logins --owner bound/);
      assert.doesNotMatch(told.stderr, /\n {4}at /);
      const { statements } = await answer<{ statements: { run: string }[] }>(env, 'logins', '--owner', 'bound');
      for (const { run } of statements) await admin.unsafe(run).catch(unlessThere);
      await works(env);
    });
  });
}

/** The answer of a command that runs beside the service. */
async function answer<T>(env: Record<string, string>, ...words: string[]): Promise<T> {
  const run = promisify(execFile)(script, [...words, '--json'], { env: { ...process.env, ...env } });
  const { stdout } = await run.catch((ended: { stdout: string }) => ended); // a failing command prints an answer, too
  return JSON.parse(stdout) as T;
}

/** Ignores that another database of the server has already created the groups. */
function unlessThere(error: unknown): void {
  if (sqlState(error) !== '42710') throw error;
}
