import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isWellFormedKey } from '../../src/auth/api-keys.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { checkSecretKeys } from '../../src/db/secret-keys.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, secretsText, setRate, testSecrets } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder } from '../support/service.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
  await setRate(database.db, 'EUR', '0.92');
});
after(() => database.drop());

type Ended = { code: number; stdout: string; stderr: string };

function run(env: NodeJS.ProcessEnv, words: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(script, words, { env, timeout: patienceMs }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

/** A sandbox of this checkout, which may be running, has its own address in its data folder. */
const ownFolder = dataFolder();

/** Runs a command as an operator would, on the database of a running service. */
const quittance = (...words: string[]): Promise<Ended> =>
  run({ ...process.env, DATA_DIR: ownFolder, DATABASE_URL: database.url, SECRET_KEYS: secretsText }, words);

/** The single JSON object that a command prints with `--json`. */
async function answer(...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await quittance(...words, '--json');
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim().split('\n').length, 1);
  return JSON.parse(stdout);
}

async function refused(sentence: RegExp, ...words: string[]): Promise<void> {
  const { code, stdout, stderr } = await quittance(...words);
  assert.notEqual(code, 0);
  assert.equal(stdout, '');
  assert.match(stderr, sentence);
  assert.doesNotMatch(stderr, /\n\s+at /, 'a stack is no sentence');
}

test('SECRET_KEYS that do not match the database, although their logins exist → commands are refused, doctor tells', async () => {
  const other = [{ id: 'test', key: Buffer.alloc(32, 8) }];
  await checkSecretKeys(database.db.sql, testSecrets);
  await ensureLogins(database.owner, other);
  const env = { ...process.env, DATABASE_URL: database.url, SECRET_KEYS: `test:${other[0]?.key.toString('base64')}` };
  const { partner } = await makePartner(database.db);
  const at = ['--partner', partner.slug, '--mode', 'live'];
  for (const words of [
    ['key', 'create', ...at],
    ['webhook', 'set', ...at, '--url', 'https://shop.example/events'],
    ['portal', 'invite', '--partner', partner.slug, '--email', 'a@shop.example'],
  ]) {
    const { code, stdout, stderr } = await run(env, words);
    assert.deepEqual([code, stdout], [1, ''], words.join(' '));
    assert.match(stderr, /has a different key "test" .*Put the earlier key back/);
  }
  assert.equal((await database.db.sql`select from api_keys where partner_id = ${partner.id}`).length, 0);
  assert.equal((await database.db.sql`select from webhook_endpoints where partner_id = ${partner.id}`).length, 0);
  assert.match((await run(env, ['doctor'])).stdout, /secret keys +failed .*has a different key "test"/);
});

test('a data folder in which nothing was started › commands say so and leave no folder, and no key that opens nothing', async () => {
  const folder = join(dataFolder(), 'new');
  const ended = await run({ PATH: process.env.PATH, DATA_DIR: folder }, ['key', 'list', '--partner', 'demo']);
  const stderr = `There is no database in ${folder} yet. Start the service first with npm start. If it has a database of its own, run this with the settings of the service, such as DATABASE_URL.\n`;
  assert.deepEqual(ended, { code: 1, stdout: '', stderr });
  assert.equal(existsSync(folder), false);
});

test('partner create › answers the partner; a taken slug, a bad slug and an unknown currency are refused in a sentence', async () => {
  const created = await answer(
    'partner',
    'create',
    'tills',
    '--name',
    'Tills & Co',
    '--currency',
    'EUR',
    '--expiry',
    '5,60',
  );
  const partner = created.partner as Record<string, unknown>;
  assert.equal(partner.slug, 'tills');
  assert.deepEqual(partner.allowed_expiry_minutes, [5, 60]);
  assert.equal(partner.default_expiry_minutes, 5);
  assert.equal(partner.disabled, false);
  for (const code of ['EURO', 'XTS']) {
    const is = new RegExp(`"${code}" is not a currency: give an ISO 4217 code in upper case, like EUR`);
    await refused(is, 'partner', 'create', 'other', '--name', 'N', '--currency', code);
  }
  const long = 'x'.repeat(121);
  await refused(/1 to 120 characters/, 'partner', 'create', 'other', '--name', long, '--currency', 'EUR');
  await refused(/A partner "tills" already exists/, 'partner', 'create', 'tills', '--name', 'N', '--currency', 'EUR');
  await refused(
    /"api" is reserved for the service itself/,
    'partner',
    'create',
    'api',
    '--name',
    'N',
    '--currency',
    'EUR',
  );
  await refused(/lower-case/, 'partner', 'create', 'Tills!', '--name', 'N', '--currency', 'EUR');
  await refused(/no rate for "MRU"/, 'partner', 'create', 'other', '--name', 'N', '--currency', 'MRU');
  await refused(/--name is missing/, 'partner', 'create', 'other', '--currency', 'EUR');
  await refused(
    /default expiry/,
    'partner',
    'create',
    'other',
    '--name',
    'N',
    '--currency',
    'EUR',
    '--expiry',
    '5',
    '--default-expiry',
    '60',
  );
});

test('partner email › stored at creation, changed and removed; a malformed address is refused in a sentence', async () => {
  const named = ['--name', 'N', '--currency', 'EUR'];
  const emailOf = async (...words: string[]) => ((await answer(...words)).partner as Record<string, unknown>).email;
  assert.equal(
    await emailOf('partner', 'create', 'mailed', ...named, '--email', 'ops@mailed.example'),
    'ops@mailed.example',
  );
  assert.equal(await emailOf('partner', 'email', 'mailed', 'new@mailed.example'), 'new@mailed.example');
  assert.equal(await emailOf('partner', 'email', 'mailed', 'none'), null);
  assert.equal(await emailOf('partner', 'create', 'unmailed', ...named), null);
  assert.equal(await emailOf('partner', 'email', 'mailed', 'none'), null);
  const entries = await database.db.sql`
    select from audit_log l join partners p on p.id = l.partner_id where p.slug = 'mailed' and action = 'partner.changed'`;
  assert.equal(entries.length, 2, 'what changes nothing is no entry');
  await refused(/"a@b, c@d" is not an e-mail address/, 'partner', 'email', 'mailed', 'a@b, c@d');
  await refused(/"nobody" is not an e-mail address/, 'partner', 'create', 'other', ...named, '--email', 'nobody');
  await refused(/no partner "nobody"/, 'partner', 'email', 'nobody', 'a@b.example');
});

test('partner disable and enable › switch a partner', async () => {
  const { partner } = await makePartner(database.db);
  const off = await answer('partner', 'disable', partner.slug);
  assert.equal((off.partner as Record<string, unknown>).disabled, true);
  const on = await answer('partner', 'enable', partner.slug);
  assert.equal((on.partner as Record<string, unknown>).disabled, false);
  await refused(/no partner "nobody"/, 'partner', 'disable', 'nobody');
});

test('key create, list, revoke › the key is shown once; all scopes by default; unknown scopes are refused', async () => {
  const { partner } = await makePartner(database.db);
  const made = await answer('key', 'create', '--partner', partner.slug, '--mode', 'live', '--scopes', 'requests:read');
  assert.match(made.key as string, /^qt_live_/);
  assert.ok(isWellFormedKey(made.key as string));
  // 60 characters, which JavaScript counts twice.
  await answer('key', 'create', '--partner', partner.slug, '--mode', 'test', '--name', '🔑'.repeat(60));
  await answer('key', 'revoke', made.key_id as string);
  await answer('key', 'revoke', made.key_id as string);
  const entries = await database.db.sql`
    select from audit_log where partner_id = ${partner.id} and action = 'key.revoked'`;
  assert.equal(entries.length, 1, 'revoked again → the same answer and no second entry');
  const { keys } = (await answer('key', 'list', '--partner', partner.slug)) as { keys: Record<string, unknown>[] };
  assert.equal(keys.length, 2);
  assert.deepEqual(keys[0]?.scopes, ['requests:read']);
  assert.ok(keys[0]?.revoked_at);
  assert.equal((keys[1]?.scopes as string[] | undefined)?.length, 4);
  assert.ok(!JSON.stringify(keys).includes((made.key as string).slice(12, 30)), 'the key itself is not shown again');
  const create = ['key', 'create', '--partner', partner.slug, '--mode', 'test', '--scopes'];
  await refused(/Unknown scopes: "all"/, ...create, 'requests:read, all');
  await refused(/Unknown scopes: ""/, ...create, '');
  await refused(/test or live/, 'key', 'create', '--partner', partner.slug, '--mode', 'both');
  await refused(/no key/, 'key', 'revoke', randomUUID());
});

test('merchant disable and enable › turn the operator’s switch', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  assert.equal((await answer('merchant', 'disable', merchant.id)).disabled_by_operator, true);
  assert.equal((await answer('merchant', 'enable', merchant.id)).disabled_by_operator, false);
  await refused(/no merchant/, 'merchant', 'disable', randomUUID());
});

test('without a command, with --help and with an unknown one › lists what there is', async () => {
  const help = await quittance('--help');
  assert.equal(help.code, 0);
  for (const name of [
    'partner create',
    'key revoke',
    'webhook rotate',
    'rate set',
    'sandbox pay',
    'sandbox agree',
    'wallet release',
    'listen',
    'logins',
    'doctor',
  ]) {
    assert.ok(help.stdout.includes(`quittance ${name}`), name);
  }
  const groups = [...help.stdout.matchAll(/^ {2}quittance ([a-z]+)/gm)].map(([, group]) => group);
  const starts = groups.filter((group, at) => group !== groups[at - 1]);
  assert.equal(new Set(starts).size, starts.length, 'the commands of a group stand together');
  assert.match(
    (await quittance('webhook')).stderr,
    /^"webhook" needs another word:\nUsage: [\s\S]*quittance webhook set /,
  );
  const unknown = await quittance('partner', 'destroy');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /Usage/);
  assert.match((await quittance('--version')).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a database that a newer version has changed, one that lacks a migration, and one that is not prepared → refused in a sentence', async () => {
  const { owner } = database;
  const name = '9999_contract_of_a_newer_version.sql';
  await owner`insert into schema_migrations (name) values (${name})`;
  await refused(/migrated by a newer version.*9999_contract.*Start the newer version/, 'rate', 'list');
  await owner`delete from schema_migrations where name = ${name}`;
  await owner`alter table rates rename to rates_to_come`;
  await refused(/"rates" does not exist.* may lack migrations of this version: doctor names them/, 'rate', 'list');
  await owner`alter table rates_to_come rename to rates`;
  await owner`alter table schema_migrations rename to schema_migrations_to_come`;
  await refused(/no tables yet. Start the service once/, 'rate', 'list');
  await owner`alter table schema_migrations_to_come rename to schema_migrations`;
  await owner`revoke select on schema_migrations from quittance_service`;
  await refused(/^The service has begun to prepare this database and has not finished/, 'rate', 'list');
  await owner`grant select on schema_migrations to quittance_service`;
});

test('an owner with a wrong password → the sentence says where to look', async () => {
  const address = new URL(database.url);
  address.password = 'wrong';
  const { code, stderr } = await run({ ...process.env, DATABASE_URL: address.href, SECRET_KEYS: secretsText }, [
    'backup',
    join(ownFolder, 'refused.dump'),
  ]);
  assert.equal(code, 1);
  assert.match(stderr, /password authentication failed for user .*Check the user and the password in the address/);
});

test('doctor › says what is wrong and what to do', async () => {
  const { code, stdout } = await quittance('doctor', '--json');
  type Report = { healthy: boolean; findings: Array<{ check: string; state: string; advice: string }> };
  const report = JSON.parse(stdout) as Report;
  assert.ok(report.findings.some(({ check, state }) => check.startsWith('database') && state === 'ok'));
  const logins = report.findings.filter(({ check }) => /^login quittance_(service|scoped)_[0-9a-f]{12}$/.test(check));
  assert.deepEqual(
    logins.map(({ state }) => state),
    ['ok', 'ok'],
  );
  for (const { state, advice } of report.findings) if (state !== 'ok') assert.ok(advice.length > 10);
  const failed = report.findings.filter(({ state }) => state === 'failed');
  assert.deepEqual([report.healthy, code], failed.length === 0 ? [true, 0] : [false, 1]);
});

test('doctor › a failure → exit code 1, what wants attention only → 0; its help says so', async () => {
  await database.db.sql`insert into secret_key_marks (key_id) values ('gone')`;
  const failing = await quittance('doctor');
  assert.equal(failing.code, 1);
  assert.match(failing.stdout, /healthy +false[\s\S]*lacks the key "gone"/);
  await database.db.sql`delete from secret_key_marks`;
  await database.db.sql`
    insert into alarms (kind, subject, details) values ('of_a_later_version', '', '{"advice": "It wants attention."}')`;
  const warning = await quittance('doctor');
  assert.match(warning.stdout, /healthy +true[\s\S]*It wants attention/);
  assert.equal(warning.code, 0);
  assert.match((await quittance('doctor', '--help')).stdout, /Exits with 1 when a check failed, otherwise with 0/);
});

test('a missing word or option → the sentence and the usage of that command alone', async () => {
  for (const [words, sentence, usage] of [
    [['sandbox', 'mine'], '--mode is missing.', 'quittance sandbox mine --mode test|live --blocks N'],
    [['sandbox', 'mine', '--mode', 'both'], '--mode must be test or live.', 'quittance sandbox mine --mode'],
    [['key', 'revoke'], 'The key ID is missing.', 'quittance key revoke <key_id>'],
    [['webhook', 'set', '--mode', 'test'], '--partner is missing.', 'quittance webhook set --partner <slug>'],
  ] as const) {
    const { code, stdout, stderr } = await quittance(...words);
    assert.deepEqual([code, stdout], [2, '']);
    assert.ok(stderr.startsWith(`${sentence}\nUsage: ${usage}`), stderr);
    assert.equal(stderr.trimEnd().split('\n').length, 2);
  }
});

test('a mistyped option, command or word → refused with exit code 2 and the closest one, and nothing is done', async () => {
  for (const [words, sentence] of [
    [['sandbox', 'mine', '--mode', 'test', '--blocks', '1', '--wat'], 'There is no option --wat.'],
    [['sandbox', 'mine', '--mode', 'test', '--block', '1'], 'There is no option --block. Did you mean --blocks?'],
    [['sandbox', 'mine', '--mode', 'test', '--blocks'], '--blocks needs a value.'],
    [['sandbox', 'mine', '3', '--mode', 'test'], 'Unexpected argument "3".'],
    [['docter'], 'There is no command "docter". Did you mean doctor?'],
    [['partnr'], 'There is no command "partnr". Did you mean partner?'],
    [['webhok', 'list'], 'There is no command "webhok list". Did you mean webhook?'],
    [['webhook', 'replya', 'x'], 'There is no command "webhook replya x". Did you mean webhook replay?'],
    [['foo'], 'There is no command "foo". quittance --help lists all commands.'],
    [['--json'], 'No command was given. quittance --help lists all commands.'],
    [['-v'], 'No command was given. quittance --help lists all commands.'],
    [['something', 'else'], 'There is no command "something else". quittance --help lists all commands.'],
  ] as const) {
    const { code, stdout, stderr } = await quittance(...words);
    assert.deepEqual([code, stdout, stderr.split('\n')[0]], [2, '', sentence]);
  }
});

test('a group with --help, or without a command → its commands alone', async () => {
  for (const [words, code] of [
    [['sandbox', '--help'], 0],
    [['sandbox'], 2],
    [['sandbox', 'dance'], 2],
  ] as const) {
    const told = await quittance(...words);
    assert.equal(told.code, code);
    const named = [...(told.stdout + told.stderr).matchAll(/^ {2}quittance (.*)$/gm)].map((match) => String(match[1]));
    assert.ok(named.length >= 5, String(words));
    assert.deepEqual(
      named.filter((line) => !line.startsWith('sandbox ')),
      [],
    );
  }
  const passkeys = await quittance('admin', 'passkeys', '--help');
  assert.match(passkeys.stdout, /quittance admin passkeys remove/);
  assert.doesNotMatch(passkeys.stdout, /admin invite/);
});

test('a database that does not answer › a sentence with the way out', async () => {
  const env = { ...process.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
  const stderr = await new Promise<string>((resolve) => {
    execFile(script, ['key', 'list', '--partner', 'x'], { env }, (_error, _stdout, text) => resolve(text));
  });
  assert.match(
    stderr,
    /^The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\. Check that the server runs .+\n$/,
  );
});

test('portal invite, admin invite › print a link that signs in; an invalid invitation is refused in a sentence', async () => {
  const { partner } = await makePartner(database.db);
  const invite = ['portal', 'invite', '--partner', partner.slug, '--email'];
  const owner = await answer(...invite, 'Ada@Example.com');
  assert.deepEqual([owner.partner, owner.email, owner.role], [partner.slug, 'ada@example.com', 'owner']);
  assert.match(String(owner.link), /^http:\/\/localhost:3000\/portal\/link\/[\w-]{43}$/);
  assert.equal((await answer(...invite, 'bob@example.com', '--role', 'viewer')).role, 'viewer');
  assert.match(
    String((await answer('admin', 'invite', '--email', 'op@example.com')).link),
    /\/admin\/link\/[\w-]{43}$/,
  );
  await refused(/does not look like an e-mail address/, ...invite, 'nobody');
  await refused(/--role must be one of owner, developer, viewer/, ...invite, 'c@example.com', '--role', 'king');
  await refused(/There is no partner "nobody"/, 'portal', 'invite', '--partner', 'nobody', '--email', 'c@example.com');
  await refused(/--email is missing/, 'admin', 'invite');
});

test('audit check › reports that the log is intact, and otherwise fails with the first wrong row', async () => {
  const { partner } = await makePartner(database.db);
  await answer('partner', 'disable', partner.slug);
  await answer('partner', 'enable', partner.slug);
  const whole = await answer('audit', 'check', '--partner', partner.slug);
  assert.equal(whole.whole, true);
  assert.deepEqual(
    (whole.logs as { rows: number }[]).map(({ rows }) => rows),
    [2],
  );
  await database.owner`alter table audit_log disable trigger user`;
  await database.owner`update audit_log set action = 'partner.changed' where partner_id = ${partner.id} and number = 1`;
  await database.owner`alter table audit_log enable trigger user`;
  await refused(/The audit log is broken[\s\S]*row 1: this row, or its hash, was changed/, 'audit', 'check');
});
