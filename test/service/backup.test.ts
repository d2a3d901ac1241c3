import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { openOwner, type Sql } from '../../src/db/connection.ts';
import { dumpDatabase, restoreDatabase } from '../../src/db/dump.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { migrate, migrationLock } from '../../src/db/migrate.ts';
import { dumpSchema } from '../../src/db/schema-dump.ts';
import { identifiers } from '../../src/db/sql.ts';
import { listCommands } from '../../src/lib/processes.ts';
import { type ApiJson, send } from '../support/api/client.ts';
import { secretsText } from '../support/fixtures.ts';
import { behaviours, type Receiver, startReceiver } from '../support/net/receiver.ts';
import { selfSigned } from '../support/net/self-signed.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const programs = '/usr/lib/postgresql/15';
const skip = !existsSync(join(programs, 'bin/pg_dump')) && 'needs PostgreSQL 15';
const script = join(import.meta.dirname, '../../bin/quittance');

describe('a backup', { skip }, () => {
  let server: EmbeddedPostgres;
  let admin: Sql;
  let folder: string;
  let receiver: Receiver;
  before(async () => {
    folder = dataFolder();
    server = await startEmbedded(folder, programs);
    admin = openOwner(server.url);
    receiver = await startReceiver({ behave: behaviours.status(500) });
  });
  after(async () => {
    await receiver?.close();
    await endAll();
    await admin?.end();
    await server?.stop();
  });

  /** A new database with a new owner. The data folder has the chains, which outlive a database. */
  async function newDatabase(owner: string, secretKeys = secretsText): Promise<Record<string, string>> {
    await admin.unsafe(`create role ${owner} login createrole password 'p@ss'`);
    await admin`create database ${identifiers(owner)} owner ${identifiers(owner)}`;
    const url = Object.assign(new URL(server.url), { username: owner, password: 'p@ss', pathname: `/${owner}` });
    const schedule = { WEBHOOK_SCHEDULE_SECONDS: `0${',2'.repeat(40)}` };
    return { DATABASE_URL: url.href, SECRET_KEYS: secretKeys, DATA_DIR: folder, ...schedule };
  }

  type Outcome = { code: number; json: Record<string, unknown>; stderr: string };
  async function quittance(env: Record<string, string>, ...words: string[]): Promise<Outcome> {
    const run = promisify(execFile)(script, [...words, '--json'], { env: { ...process.env, ...env } });
    const {
      stdout,
      stderr,
      code = 0,
    } = await run.then(
      (ended) => ({ ...ended, code: 0 }),
      (ended: { stdout: string; stderr: string; code: number }) => ended,
    );
    return { code, stderr, json: stdout ? (JSON.parse(stdout) as Record<string, unknown>) : {} };
  }

  /** Starts a command and does not wait for its end. */
  function spawnCommand(env: Record<string, string>, ...words: string[]) {
    const child = spawn(script, words, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      stderr += chunk;
    });
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stderr }));
    return { pid: child.pid as number, ended };
  }

  const urlOf = (name: string) => Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
  const openDatabase = (name: string) => openOwner(urlOf(name));

  const schemaOf = async (name: string) => {
    const owner = openDatabase(name);
    return dumpSchema(owner).finally(() => owner.end());
  };

  const rowsOf = async (name: string) => {
    const owner = openDatabase(name);
    const tables = await owner<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`;
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await owner<{ rows: number }[]>`select count(*)::int as rows from ${identifiers(name)}`;
      counts[name] = row?.rows ?? 0;
    }
    await owner.end();
    return counts;
  };

  async function create(service: Service, idempotencyKey: string): Promise<{ status: number; json: ApiJson }> {
    const [, key = '', account] = /Test key +(\S+)[\s\S]*Merchant, ready +(\S+)/.exec(service.stdout()) ?? [];
    const body = { account_id: account, fiat_amount_int: 1250, idempotency_key: idempotencyKey };
    return send(service.url, 'POST', '/api/v1/requests/create', { key, body });
  }

  test('restored under another owner → a replay, a pending event and an unpaid request continue', async () => {
    const [first, keys] = [await newDatabase('first'), [randomUUID(), randomUUID()] as const];
    const before = await startService(first);
    const slug = /Partner +(\S+)/.exec(before.stdout())?.[1] ?? 'demo';
    assert.equal(
      (await quittance(first, 'webhook', 'set', '--partner', slug, '--mode', 'test', '--url', receiver.url)).code,
      0,
    );
    const [paid, unpaid] = [await create(before, keys[0]), await create(before, keys[1])];
    await quittance(first, 'sandbox', 'pay', paid.json.request_id);
    await until(() => receiver.received.length > 0, 'the first attempt');
    const file = join(folder, 'backup.dump');
    const written = await quittance(first, 'backup', file);
    assert.equal(written.code, 0, written.stderr);
    assert.equal(written.json.events_waiting, 1);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    await before.stop();

    const second = await newDatabase('second');
    const restored = await quittance(second, 'restore', file, '--verify');
    assert.equal(restored.code, 0, `${restored.stderr} ${JSON.stringify(restored.json)}`);
    assert.deepEqual(restored.json.faults, []);
    assert.match(String(restored.json.begun_at), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \w+$/);
    assert.match(String(restored.json.forgotten), new RegExp(`refunds made after ${restored.json.begun_at}`));
    assert.equal(await schemaOf('second'), (await schemaOf('first')).replaceAll('to first using', 'to second using'));
    const [was, is] = [await rowsOf('first'), await rowsOf('second')];
    assert.deepEqual(Object.keys(is), Object.keys(was));
    for (const table of ['requests', 'webhook_deliveries', 'audit_log', 'transfers', 'merchants', 'api_keys'])
      assert.equal(is[table], was[table], table);

    receiver.behave(behaviours.status(200));
    const events = receiver.received.length;
    const after = await startService(second);
    const replay = await create(after, keys[0]);
    assert.deepEqual([replay.status, replay.json.request_id], [200, paid.json.request_id]);
    await until(() => receiver.received.length > events, 'the pending event');
    assert.equal(receiver.received.at(-1)?.body, receiver.received[0]?.body);
    await quittance(second, 'sandbox', 'pay', unpaid.json.request_id);
    const isPaid = async () => (await create(after, keys[1])).json.proof_status === 'verified';
    await until(isPaid, 'the unpaid request to be verified');
    assert.equal((await after.stop()).stderr, '');
  });

  test('a backup and its restore say how far they are', async () => {
    const told: Record<string, number[]> = { written: [], restored: [] };
    const copying = (url: string, of: string) => ({
      url,
      stopping: new AbortController().signal,
      progress: { everyMs: 1, report: (bytes: number) => void told[of]?.push(bytes) },
    });
    const file = join(folder, 'told.dump');
    const [from, to] = [(await newDatabase('told')).DATABASE_URL ?? '', urlOf('first')];
    const [target, source] = [openOwner(from), openOwner(to)];
    await dumpDatabase(source, file, copying(to, 'written'), async () => {});
    await restoreDatabase(target, file, copying(from, 'restored'));
    await Promise.all([target.end(), source.end()]);
    for (const bytes of Object.values(told)) assert.ok(bytes.length > 0 && bytes.every((size) => size >= 0));
    assert.ok((told.restored?.at(-1) ?? 0) > statSync(file).size);
  });

  test('several backups to one file at once, after one that was killed → each a whole backup, and nothing is left over', async () => {
    const source = { DATABASE_URL: Object.assign(new URL(server.url), { pathname: '/first' }).href, DATA_DIR: folder };
    const file = join(folder, 'at-once.dump');
    const gone = spawnSync(process.execPath, ['--version']).pid;
    writeFileSync(`${file}.partial-${gone}`, 'half a backup');
    const env = { ...source, SECRET_KEYS: secretsText };
    const all = await Promise.all([1, 2, 3].map(() => quittance(env, 'backup', file)));
    for (const { code, stderr, json } of all) {
      assert.equal(code, 0, stderr);
      assert.ok(Number(json.bytes) > 100_000, `${json.bytes} bytes`);
    }
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('at-once')),
      ['at-once.dump'],
    );
    const { stdout } = await promisify(execFile)(join(programs, 'bin/pg_restore'), ['--list', file]);
    assert.match(stdout, / TABLE DATA public schema_migrations /);
  });

  test('requests made while a backup is written → neither in its figures nor in the file', async () => {
    const into = (await newDatabase('during')).DATABASE_URL ?? '';
    const [source, target] = [openDatabase('first'), openOwner(into)];
    const copying = (url: string) => ({
      url,
      stopping: new AbortController().signal,
      progress: { everyMs: 1000, report: () => {} },
    });
    const file = join(folder, 'during.dump');
    const other = openDatabase('first');
    const held = await dumpDatabase(source, file, copying(urlOf('first')), async (tx) => {
      const [row] = await tx<{ rows: number }[]>`select count(*)::int as rows from partners`;
      await other`insert into partners (id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes) values (gen_random_uuid(), 'later', 'Later', 'EUR', '{15}', 15)`;
      return row?.rows;
    });
    await restoreDatabase(target, file, copying(into));
    const [restored] = await target<{ rows: number }[]>`select count(*)::int as rows from partners`;
    assert.equal(restored?.rows, held);
    await Promise.all([source.end(), target.end(), other.end()]);
  });

  test('a signal during a backup or a restore → its program ends too, nothing is left, and a sentence says so', async () => {
    const target = await newDatabase('stopped');
    const source = { ...target, DATABASE_URL: urlOf('first') };
    const programs = () =>
      listCommands().filter(([, command]) => /pg_(dump|restore) /.test(command) && command.includes(folder));
    /** Runs a command that a lock holds up, until its program runs, and sends it a signal. */
    const interrupted = async (
      signal: NodeJS.Signals,
      hold: string,
      env: Record<string, string>,
      ...words: string[]
    ) => {
      const blocker = openOwner(env.DATABASE_URL ?? '');
      const ended = await blocker.begin(async (tx) => {
        await tx`set local idle_in_transaction_session_timeout = 0`;
        await tx.unsafe(hold);
        const running = spawnCommand(env, ...words);
        await until(() => programs().some(([, command]) => command.includes('--dbname=')), 'its program to run');
        process.kill(running.pid, signal);
        return running.ended;
      });
      await blocker.end();
      assert.equal(ended.code, 1, signal);
      assert.match(ended.stderr, /^It was stopped before its end, and has left nothing behind\. Run it again\.\n/);
      await until(() => programs().length === 0, 'its program to end');
    };
    const lock = 'lock table partners in access exclusive mode';
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
      await interrupted(signal, lock, source, 'backup', join(folder, 'stopped.dump'));
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('stopped')),
      [],
    );
    // A schema of this name, not committed yet, holds up the restore at its first statement.
    const owner = openDatabase('stopped');
    await interrupted(
      'SIGTERM',
      'create function is_of_service() returns int language sql return 1',
      target,
      'restore',
      join(folder, 'backup.dump'),
    );
    const [row] = await owner`select count(*)::int as tables from pg_class where relnamespace = 'public'::regnamespace`;
    assert.equal(row?.tables, 0);
    await owner.end();
  });

  test('a restore that was killed while its program runs on → another one says so, and how to end it', async () => {
    const [target, file] = [await newDatabase('orphaned'), join(folder, 'backup.dump')];
    const holder = openDatabase('orphaned');
    await holder.begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`;
      // A function of this name, not committed yet, holds up the restore at its first statement.
      await tx`savepoint before`;
      await tx`create function is_of_service() returns int language sql return 1`;
      const running = spawnCommand(target, 'restore', file);
      await untilAt('orphaned', /^CREATE FUNCTION public\.is_of_service/, 1);
      process.kill(running.pid, 'SIGKILL');
      const { code, stderr } = await quittance(target, 'restore', file);
      assert.equal(code, 1);
      const [, advice] =
        /^An earlier restore was killed, .* with: (select pg_terminate_backend\(\d+)\)\n/.exec(stderr) ?? [];
      assert.ok(advice, stderr);
      await admin.unsafe(`${advice}, 10000)`);
      await tx`rollback to before`;
    });
    await holder.end();
    assert.equal((await quittance(target, 'restore', file)).code, 0);
  });

  /** Leaves a restored database as a restore that is killed before its last step does. */
  async function undoLastStep(name: string): Promise<void> {
    const owner = openDatabase(name);
    await owner.unsafe(`do $$ declare t text; begin
      for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity loop
        execute format('drop policy owner on %I', t);
      end loop;
    end $$`);
    await owner.end();
  }

  /** Waits until this many sessions of an owner have come as far as a statement, such as one that waits for a lock. */
  const untilAt = (owner: string, statement: RegExp, sessions: number) =>
    until(async () => {
      const rows = await admin<{ query: string }[]>`select query from pg_stat_activity where usename = ${owner}`;
      return rows.filter(({ query }) => statement.test(query)).length >= sessions;
    }, `${sessions} sessions at ${statement}`);

  test('a restore that was killed before its last step → another one says so, and the start does that step', async () => {
    const [target, file] = [await newDatabase('unfinished'), join(folder, 'backup.dump')];
    assert.equal((await quittance(target, 'restore', file)).code, 0);
    await undoLastStep('unfinished');
    const again = await quittance(target, 'restore', file);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /ended before its last step\. All its data is here: start the service/);
    const service = await startService(target);
    await service.stop();
    assert.equal(
      await schemaOf('unfinished'),
      (await schemaOf('first')).replaceAll('to first using', 'to unfinished using'),
    );
  });

  test('three nodes that start at once after such a restore → one does the last step, and none fails', async () => {
    const env = await newDatabase('together');
    assert.equal((await quittance(env, 'restore', join(folder, 'backup.dump'))).code, 0);
    await undoLastStep('together');
    const holder = openDatabase('together');
    const owners = Array.from({ length: 3 }, () => openOwner(env.DATABASE_URL ?? ''));
    const started = await holder.begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`;
      await tx`lock table scope_keys in access share mode`; // holds up whoever does the step
      const starting = Promise.allSettled(owners.map((owner) => migrate(owner)));
      await untilAt('together', /^do \$\$|pg_try_advisory_lock/, 3);
      return { starting };
    });
    assert.deepEqual(
      (await started.starting).map((end) => (end.status === 'rejected' ? end.reason : end.value)),
      [[], [], []],
    );
    for (const owner of [holder, ...owners]) await owner.end();
    assert.equal(
      await schemaOf('together'),
      (await schemaOf('first')).replaceAll('to first using', 'to together using'),
    );
  });

  test('a node that starts during a restore → it waits, and finds everything restored', async () => {
    const env = await newDatabase('awaited');
    const [holder, owner] = [openDatabase('awaited'), openOwner(env.DATABASE_URL ?? '')];
    const both = await holder.begin(async (tx) => {
      await tx`set local idle_in_transaction_session_timeout = 0`;
      // A function of this name, not committed yet, holds up the restore at its first statement.
      await tx`savepoint before`;
      await tx`create function is_of_service() returns int language sql return 1`;
      const restoring = quittance(env, 'restore', join(folder, 'backup.dump'));
      await untilAt('awaited', /^CREATE FUNCTION public\.is_of_service/, 1);
      const starting = migrate(owner).catch((error: Error) => error);
      await untilAt('awaited', /pg_try_advisory_lock|schema_migrations/, 1);
      await tx`rollback to before`;
      return { restoring, starting };
    });
    const restored = await both.restoring;
    assert.deepEqual([restored.code, restored.stderr, await both.starting], [0, '', []]);
    await Promise.all([holder.end(), owner.end()]);
  });

  test('a backup of a database without tables, or that a node is migrating → refused in a sentence', async () => {
    const empty = await newDatabase('empty');
    const backUp = () => quittance(empty, 'backup', join(folder, 'empty.dump'));
    assert.equal((await backUp()).stderr, 'This database has no tables yet, so there is nothing to back up.\n');
    const migrating = openOwner(urlOf('empty'));
    await migrating`select pg_try_advisory_lock(${migrationLock})`;
    const refused = await backUp();
    await migrating.end();
    const stderr = 'A node is migrating this database. Make the backup once it serves.\n';
    assert.deepEqual([refused.code, refused.stderr], [1, stderr]);
    assert.equal(existsSync(join(folder, 'empty.dump')), false);
  });

  test('a backup to a folder, a pipe or a missing folder, and a restore of half a file → refused, and nothing is restored', async () => {
    const target = await newDatabase('half');
    const folded = await quittance({ ...target, DATABASE_URL: urlOf('first') }, 'backup', folder);
    assert.equal(folded.code, 1);
    assert.match(folded.stderr, /^\S+ is a folder\. Name the file to write, such as \S+\/quittance\.dump\.\n$/);
    const pipe = join(folder, 'pipe');
    spawnSync('mkfifo', [pipe]);
    for (const [file, why] of [
      [pipe, /^\S+\/pipe is not a file\. Name a file to write, then send that on\.\n$/],
      [
        join(folder, 'absent/quittance.dump'),
        /^There is no folder \S+\/absent\. Create it first, or name another file\.\n$/,
      ],
      ['/proc/quittance.dump', /^No file can be created in \/proc \(\w+\)\. Name one in another folder\.\n$/],
    ] as const) {
      const { code, stderr } = await quittance({ ...target, DATABASE_URL: urlOf('first') }, 'backup', file);
      assert.equal(code, 1);
      assert.match(stderr, why);
    }
    assert.ok(statSync(pipe).isFIFO(), 'it was not replaced');
    const half = join(folder, 'half.dump');
    const whole = readFileSync(join(folder, 'backup.dump'));
    writeFileSync(half, whole.subarray(0, whole.length - 1000));
    const restored = await quittance(target, 'restore', half);
    assert.equal(restored.code, 1);
    assert.match(restored.stderr, /end of file\nNothing was restored\.\n$/);
    const owner = openDatabase('half');
    const [row] = await owner`select count(*)::int as tables from pg_class where relnamespace = 'public'::regnamespace`;
    assert.equal(row?.tables, 0);
    await owner.end();
  });

  test('verify-full with an authority of NODE_EXTRA_CA_CERTS → a backup trusts it as the service does', async () => {
    for (const [name, text] of Object.entries({ key: selfSigned.key, crt: selfSigned.cert }))
      writeFileSync(join(folder, 'postgres', `server.${name}`), text, { mode: 0o600 });
    await admin`alter system set ssl = on`;
    await admin`select pg_reload_conf()`;
    await until(async () => (await admin`show ssl`)[0]?.ssl === 'on', 'the server to speak TLS');
    const authority = join(folder, 'authority.pem');
    writeFileSync(authority, selfSigned.cert);
    const url = `${urlOf('first').replace('127.0.0.1', 'localhost')}?sslmode=verify-full`;
    const env = { DATABASE_URL: url, DATA_DIR: folder, SECRET_KEYS: secretsText };
    const file = join(folder, 'encrypted.dump');
    const trusted = await quittance({ ...env, NODE_EXTRA_CA_CERTS: authority }, 'backup', file);
    assert.equal(trusted.code, 0, trusted.stderr);
  });

  test('a restore into a database with data, of a file that is no backup, or without its keys → refused with a sentence', async () => {
    const file = join(folder, 'backup.dump');
    const used = { DATABASE_URL: Object.assign(new URL(server.url), { pathname: '/second' }).href, DATA_DIR: folder };
    const mixed = await quittance({ ...used, SECRET_KEYS: secretsText }, 'restore', file);
    assert.equal(mixed.code, 1);
    assert.match(mixed.stderr, /already has tables\. Restore into a new, empty database/);
    const empty = await newDatabase('third', `other:${Buffer.alloc(32, 5).toString('base64')}`);
    writeFileSync(join(folder, 'no.dump'), 'nothing');
    assert.match(
      (await quittance(empty, 'restore', join(folder, 'no.dump'))).stderr,
      /not appear to be a valid archive/,
    );
    const otherKeys = await quittance(empty, 'restore', file);
    assert.equal(otherKeys.code, 1);
    assert.match(String((otherKeys.json.faults as string[])[0]), /lacks the key "[^"]+", with which this database was/);
  });

  test('a restore by an owner who may not create roles, or of a newer program’s file → says what an administrator does', async () => {
    const target = await newDatabase('restricted');
    await admin`alter role restricted nocreaterole`;
    const file = join(folder, 'backup.dump');
    const refused = await quittance(target, 'restore', file);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /may not prepare the database .*: .*alter role restricted createrole; .*admin option/);
    const newer = readFileSync(file);
    newer[6] = 99; // the second part of the format's version, behind `PGDMP` and the first
    writeFileSync(join(folder, 'newer.dump'), newer);
    const unread = await quittance(target, 'restore', join(folder, 'newer.dump'));
    assert.equal(unread.code, 1);
    assert.match(
      unread.stderr,
      /unsupported version .*\nA newer pg_dump wrote the file\. Install the postgresql-client /,
    );
  });
});
