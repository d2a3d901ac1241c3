import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { buildServer } from '../../src/http/server.ts';
import { freePort } from '../../src/lib/ports.ts';
import { receiverPort } from '../../src/portal/overview/snippets.ts';
import { newSecret, signedHeaders } from '../../src/webhooks/sign.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makePartner, type Partner, setRate } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import type { Visitor } from '../support/people/visitor.ts';
import { findPhp } from '../support/php.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const path = '/portal/start';
const folder = mkdtempSync(join(tmpdir(), 'quittance-snippets-'));
let database: Awaited<ReturnType<typeof testDatabase>>;
let ctx: Context;
let app: FastifyInstance;
let url: string;
let partner: Partner;
let owner: Visitor;
/** The page shown right after a key was made. */
let page: string;

before(async () => {
  database = await testDatabase();
  const port = await freePort();
  ctx = testContext(database.db, { config: testConfig({ baseUrl: `http://127.0.0.1:${port}` }) });
  app = await buildServer(ctx);
  url = await app.listen({ host: '127.0.0.1', port });
  await setRate(database.db, 'EUR', '0.92');
  partner = (await makePartner(database.db)).partner;
  owner = await portalVisitor(ctx, url, partner.id);
  page = (await postForm(url, owner, `${path}/key?mode=test`)).html;
});
after(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

/** The program that a page shows under an id, as a reader would paste it. */
function snippet(html: string, id: string): string {
  const [, text = ''] = new RegExp(`<pre [^>]*id="${id}">(.*?)</pre>`, 's').exec(html) ?? [];
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? '');
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const requests = () => database.db.sql`select * from requests where partner_id = ${partner.id}`;

const noPhp = findPhp() ? false : 'PHP was not found';
const languages: { id: string; start: string[]; file: string; skip: string | false }[] = [
  { id: 'typescript', start: [process.execPath], file: 'create.ts', skip: false },
  { id: 'python', start: ['python3'], file: 'create.py', skip: false },
  // Without any php.ini: no extension that comes as a separate package.
  { id: 'php', start: ['php', '-n'], file: 'create.php', skip: noPhp },
];

describe('programs that create a request run as they are pasted', () => {
  const programs: [id: string, skip: string | false, (text: string) => Promise<{ stdout: string; stderr: string }>][] =
    [
      ['curl', false, (text) => run('bash', ['-c', text])],
      ...languages.map(({ id, start: [command = '', ...flags], file: name, skip }): (typeof programs)[number] => {
        return [id, skip, (text) => run(command, [...flags, file(name, text)])];
      }),
    ];
  for (const [language, skip, start] of programs) {
    test(language, { skip }, async () => {
      const before = (await requests()).length;
      const { stdout } = await start(snippet(page, `${language}-create`));
      const made = await requests();
      assert.equal(made.length, before + 1);
      const id = /\/pay\/([0-9a-f-]{36})/.exec(stdout)?.[1];
      const row = made.find((one) => one.id === id);
      assert.deepEqual([row?.test_mode, row?.fiat_int, row?.memo], [true, '1250', 'Table 4'], stdout);
    });
    test(`${language} says why the service refuses, with only the part of the key that the page shows later too`, {
      skip,
    }, async () => {
      const later = await owner.open(path);
      assert.doesNotMatch(snippet(later.html, `${language}-create`), /qt_test_\w{38}/);
      const { stdout, stderr } = await start(snippet(later.html, `${language}-create`)).catch(
        (failed: { stdout: string; stderr: string }) => failed,
      );
      assert.match(stdout + stderr, /This is not a complete API key/);
    });
  }
});

test('the programs in TypeScript pass a strict compiler that knows Node only', async () => {
  const files = ['create', 'receive'].map((name) => file(`${name}.strict.mts`, snippet(page, `typescript-${name}`)));
  const options = '--noEmit --strict --noUncheckedIndexedAccess --target es2022 --module nodenext --lib es2022'.split(
    ' ',
  );
  const modules = join(import.meta.dirname, '../../node_modules');
  const types = ['--types', 'node', '--typeRoots', join(modules, '@types')];
  const { stdout } = await run(join(modules, '.bin/tsc'), [...options, ...types, ...files], { cwd: folder }).catch(
    (failed: { stdout: string }) => failed,
  );
  assert.equal(stdout, '');
});

const secret = newSecret();
const body = JSON.stringify({
  event: 'payment.proof_verified',
  request_id: 'r-1',
  proof_status: 'verified',
  name: 'Zoë',
});
const signed = (at = new Date(), key = secret) =>
  signedHeaders({ deliveryId: crypto.randomUUID(), event: 'payment.proof_verified', body }, key, null, at);

describe('receivers take what is signed with the secret, and answer 400 to everything else', () => {
  for (const { id: language, skip } of languages) {
    test(`${language}, started as its first lines say, also while someone sends half a call`, { skip }, async (t) => {
      const port = await freePort();
      const program = snippet(page, `${language}-receive`);
      const [, command = ''] = /^(?:\/\/|#) (WEBHOOK_SECRET=.*)$/m.exec(program) ?? [];
      file(command.split(' ').at(-1) ?? '', program);
      const start = command.replace('whsec_…', secret).replace(`:${receiverPort}`, `:${port}`);
      const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, PORT: String(port) };
      const child = spawn('bash', ['-c', `exec env ${start}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let told = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (told += chunk));
      const ended = new Promise((resolve) => child.once('close', resolve));
      t.after(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      await until(() => child.exitCode !== null || listens(port), `the receiver in ${language}`);
      const post = async (headers: Record<string, string>, text = body) =>
        (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;
      const waiting = await sendHalf(port);
      t.after(() => waiting.destroy());
      (await sendHalf(port)).destroy();
      assert.equal(await post(signed()), 200, told);
      await until(() => told.includes('r-1 verified'), 'the event to be printed');
      assert.equal(await post(signed(), body.replace('r-1', 'r-2')), 400, 'another body');
      assert.equal(await post(signed(new Date(), newSecret())), 400, 'another secret');
      assert.equal(await post(signed(new Date(Date.now() - 301_000))), 400, 'too old');
      assert.equal(await post({ 'content-type': 'application/json' }), 400, 'no signature');
      const malformed = { ...signed(), 'x-service-signature': 'v1=zz,t=1' };
      assert.equal(await post(malformed), 400, 'no signature of ours');
    });
  }

  for (const { id: language, skip } of languages) {
    test(`${language} without a secret takes nothing, also what is signed with an empty one`, { skip }, async (t) => {
      const port = await freePort();
      const program = snippet(page, `${language}-receive`);
      const [, command = ''] = /^(?:\/\/|#) WEBHOOK_SECRET='whsec_…' (.*)$/m.exec(program) ?? [];
      file(command.split(' ').at(-1) ?? '', program);
      const start = command.replace(`:${receiverPort}`, `:${port}`);
      const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, PORT: String(port) };
      const child = spawn('bash', ['-c', `exec env WEBHOOK_SECRET= ${start}`], { cwd: folder, env, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('close', resolve));
      t.after(async () => {
        child.kill('SIGKILL');
        await ended;
      });
      await until(() => child.exitCode !== null || listens(port), `the receiver in ${language}`);
      if (child.exitCode !== null) return assert.equal(child.exitCode, 1);
      const headers = signed(new Date(), '');
      const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
      assert.equal(answer.status, 500, 'the event is sent again, and not taken');
    });
  }

  test('curl: the shell command tells a genuine stored event from a forged one', async () => {
    const check = async (text: string, key = secret) => {
      file('body.json', text);
      const env = { ...process.env, WEBHOOK_SECRET: key, HEADER: signed(new Date(), key)['x-service-signature'] };
      const { stdout } = await run('bash', ['-c', snippet(page, 'curl-receive')], { cwd: folder, env });
      return stdout.trim();
    };
    assert.equal(await check(body), 'genuine');
    assert.equal(await check(`${body} `), 'forged');
    assert.equal(await check(body, ''), 'forged', 'without a secret');
  });
});

test('the example of docs/webhooks.md distinguishes genuine events from forged ones', async () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
  const examples = [...guide.matchAll(/```(\w+)\n(.*?)```/gs)];
  assert.deepEqual(
    examples.map(([, language]) => language),
    ['js'],
  );
  const { isGenuine } = await import(file('guide.mjs', examples[0]?.[2] ?? ''));
  const header = (headers: Record<string, string>) => headers['x-service-signature'];
  assert.equal(isGenuine(secret, header(signed()), Buffer.from(body)), true);
  assert.equal(isGenuine(secret, header(signed()), Buffer.from(`${body} `)), false, 'another body');
  assert.equal(isGenuine(newSecret(), header(signed()), Buffer.from(body)), false, 'another secret');
  assert.equal(isGenuine(secret, header(signed(new Date(Date.now() - 301_000))), Buffer.from(body)), false, 'too old');
  assert.equal(isGenuine(secret, undefined, Buffer.from(body)), false, 'no signature');
  assert.equal(isGenuine('', header(signed(new Date(), '')), Buffer.from(body)), false, 'no secret');
});

/** Somebody who begins an event and does not finish it. */
async function sendHalf(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await new Promise<void>((resolve) =>
    socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{', () => resolve()),
  );
  return socket;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

test('the new key is in the code examples once; later, and for other users, they show only its prefix', async () => {
  const key = /qt_test_\w{38}/.exec(page)?.[0] ?? assert.fail('no key');
  const later = await owner.open(path);
  assert.ok(!later.html.includes(key));
  assert.ok(snippet(later.html, 'python-create').includes(`Bearer ${key.slice(0, 8)}...${key.slice(-4)}`));
  const viewer = await portalVisitor(ctx, url, partner.id, 'viewer');
  const seen = await viewer.open(path);
  assert.equal(seen.status, 200);
  assert.equal(seen.forms.filter(({ action }) => action.startsWith(path)).length, 0);
  assert.equal((await postForm(url, viewer, `${path}/key?mode=test`)).status, 403);
  const [act] = await database.db.sql`
    select count(*)::int as made from audit_log where partner_id = ${partner.id} and action = 'key.created'`;
  assert.equal(act?.made, 1);
});

test('getting started in live mode → offers no key to create', async () => {
  const live = await owner.open(`${path}?mode=live`);
  assert.doesNotMatch(live.html, /Create test key/);
  assert.match(snippet(live.html, 'curl-create'), /Bearer qt_live_\.\.\./);
  assert.equal((await postForm(url, owner, `${path}/key?mode=live`)).location, '/portal/keys');
  assert.equal((await database.db.sql`select from api_keys where not test_mode`).length, 0);
});

test('getting started: each step is ticked once it is done', async () => {
  const other = await makePartner(database.db);
  const visitor = await portalVisitor(ctx, url, other.partner.id);
  const done = async () => /(\d) of 5 steps done/.exec((await visitor.open(path)).html)?.[1];
  assert.equal(await done(), '0');
  const made = await postForm(url, visitor, `${path}/key?mode=test`);
  assert.match(made.html, /2 of 5 steps done/); // the key, and a merchant for the test wallet
  await run('bash', ['-c', snippet(made.html, 'curl-create')]);
  assert.equal(await done(), '3');
  await database.db.sql`
    insert into webhook_endpoints (partner_id, test_mode, url, secret) values (${other.partner.id}, true, 'https://shop.example/', '')`;
  assert.equal(await done(), '4');
  const answered = 'Your endpoint has not accepted an event yet. Webhooks shows what it answered.';
  const saysSo = async () => (await visitor.open(path)).html.includes(answered);
  assert.equal(await saysSo(), false);
  await database.db.sql`update webhook_endpoints set failures = 1 where partner_id = ${other.partner.id}`;
  assert.equal(await saysSo(), true);
  await database.db.sql`update webhook_endpoints set last_success_at = now() where partner_id = ${other.partner.id}`;
  assert.equal(await done(), '5');
  assert.equal(await saysSo(), false, 'failing now, but it did receive one');
});

test('getting started: a key that was revoked or has ended ticks no step and stands in no code example', async () => {
  const other = await makePartner(database.db);
  const visitor = await portalVisitor(ctx, url, other.partner.id);
  await postForm(url, visitor, `${path}/key?mode=test`);
  const shown = async () => {
    const { html } = await visitor.open(path);
    return [/(\d) of 5 steps done/.exec(html)?.[1], / Bearer (\S+?)'/.exec(snippet(html, 'curl-create'))?.[1]];
  };
  const [, hint] = await shown();
  assert.match(hint ?? '', /^qt_test_\.\.\.\w{4}$/);
  const keys = database.db.sql`partner_id = ${other.partner.id}`;
  await database.db.sql`update api_keys set revoked_at = now() where ${keys}`;
  assert.deepEqual(await shown(), ['1', 'qt_test_...']);
  await database.db.sql`update api_keys set revoked_at = null, ends_at = now() + interval '1 hour' where ${keys}`;
  assert.deepEqual(await shown(), ['2', hint]);
  await database.db.sql`update api_keys set ends_at = now() - interval '1 second' where ${keys}`;
  assert.deepEqual(await shown(), ['1', 'qt_test_...']);
});
