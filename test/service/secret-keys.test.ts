import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { doctorCommands } from '../../src/cli/doctor.ts';
import { secretCommands } from '../../src/cli/secrets.ts';
import { webhookCommands } from '../../src/cli/webhooks.ts';
import type { Scope } from '../../src/db/connection.ts';
import { accessOf } from '../../src/db/logins.ts';
import { alarmMissingKeys } from '../../src/db/missing-keys-alarm.ts';
import { checkSecretKeys } from '../../src/db/secret-keys.ts';
import { encrypt, type SecretKey } from '../../src/lib/encrypt.ts';
import { activateSecret, readEndpoint, rotateSecret, setUrl } from '../../src/webhooks/endpoint.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { firstRotation } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, runService, startService } from '../support/service.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(async () => {
  await endAll();
  await database.drop();
});

const key = (id: string, byte: number): SecretKey => ({ id, key: Buffer.alloc(32, byte) });
const [a, b, otherA] = [key('a', 1), key('b', 2), key('a', 3)];
const check = (...secretKeys: SecretKey[]) => checkSecretKeys(database.db.sql, secretKeys);
const contextWith = (...secretKeys: SecretKey[]) => testContext(database.db, { config: testConfig({ secretKeys }) });
const forget = (id: string, ...secretKeys: SecretKey[]) =>
  secretCommands[0]?.run(contextWith(...secretKeys), { words: [id], options: {} });

async function encryptWith(...secretKeys: SecretKey[]): Promise<Scope> {
  const { test: scope } = await makePartner(database.db);
  await setUrl(contextWith(...secretKeys), theService, scope, 'http://127.0.0.1:9/');
  return scope;
}

beforeEach(async () => {
  await database.db.sql`delete from secret_key_marks`;
  await database.db.sql`delete from webhook_endpoints`;
});

test('the same keys, and a new one in front → the start succeeds; they are known from then on', async () => {
  await check(a);
  await check(a);
  await check(b, a);
  await assert.rejects(check(a), /lacks the key "b"/);
  await assert.rejects(check(b), /lacks the key "a".*Put it back, behind the newest.*secrets forget a/);
});

test('another key under a known id → refused, and nothing is noted of what was refused', async () => {
  await check(a);
  await assert.rejects(check(otherA), /has a different key "a".*Put the earlier key back/);
  await assert.rejects(check(b, otherA), /a different key "a"/);
  await check(a);
});

test('a database without marks → encrypted values show which keys it needs, and whether they are the same', async () => {
  await encryptWith(a);
  await assert.rejects(check(b), /lacks the key "a".*webhook secrets \(1\)/);
  await assert.rejects(check(otherA), /a different key "a"/);
  await check(b, a);
});

test('two nodes that start at once with different keys under one id → not both start', async () => {
  const started = await Promise.allSettled([check(a), check(otherA)]);
  assert.deepEqual(started.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
});

test('secrets forget › a lost key is no longer required, until it comes back; one in use is not forgotten', async () => {
  await check(a);
  await encryptWith(a);
  await assert.rejects(async () => forget('a', a), /"a" is still in SECRET_KEYS/);
  await assert.rejects(async () => forget('c', b), /has no record of a secret key "c"/);
  assert.equal((await forget('a', b))?.forgotten, 'a');
  await check(b);
  await assert.rejects(check(b, otherA), /a different key "a"/);
  await check(b, a);
  await assert.rejects(check(b), /lacks the key "a"/);
});

test('secrets forget › a key that a running node has in front is not given up, and is required again if it was', async () => {
  await check(a);
  await alarmMissingKeys(contextWith(a));
  await assert.rejects(check(b), /A running node has it in front: add it here, behind the newest key/);
  await assert.rejects(
    async () => forget('a', b),
    /had the key "a" in front .* s ago.*not lost.*run this again in \d+ s/,
  );
  const later = () => database.db.sql`update secret_key_marks set in_front_at = now() - interval '3 minutes'`;
  await later();
  assert.equal((await forget('a', b))?.forgotten, 'a');
  await alarmMissingKeys(contextWith(a));
  await later();
  await assert.rejects(check(b), /lacks the key "a".*Put it back/);
  await alarmMissingKeys(contextWith(b, a)); // behind, it makes nothing any more
  assert.equal((await forget('a', b))?.forgotten, 'a');
});

test('doctor › says of lost and other keys what the start says', async () => {
  const doctor = async (...secretKeys: SecretKey[]) => {
    const report = await doctorCommands[0]?.run(contextWith(...secretKeys), { words: [], options: {} });
    assert.ok(report);
    return (report.findings as { check: string; state: string; advice: string }[]).filter(
      (finding) => finding.check === 'secret keys',
    );
  };
  await check(a);
  assert.deepEqual(
    (await doctor(a)).map(({ state }) => state),
    ['ok'],
  );
  const [lost] = await doctor(b);
  assert.equal(lost?.state, 'failed');
  assert.match(String(lost?.advice), /lacks the key "a"/);
  assert.match(String((await doctor(otherA))[0]?.advice), /a different key "a"/);
});

test('doctor › names what another key of the same id encrypted, until the webhook secret is rotated', async () => {
  const stored = async () => {
    const report = await doctorCommands[0]?.run(contextWith(a), { words: [], options: {} });
    const findings = report?.findings as { check: string; state: string; advice: string }[];
    return findings.filter(({ check }) => /^webhook secret of|^queued e-mails/.test(check));
  };
  await check(a);
  await encryptWith(a);
  await encryptWith(b); // a lost key is reported as such
  assert.deepEqual(await stored(), []);
  const scope = await encryptWith(otherA);
  const [partner] = await database.db.sql<{ slug: string }[]>`select slug from partners where id = ${scope.partnerId}`;
  await database.db.sql`
    insert into mails (id, recipient, subject, sealed)
    values (gen_random_uuid(), 'a@example.com', 'x', ${encrypt([a], '{}')}),
      (gen_random_uuid(), 'b@example.com', 'x', ${encrypt([otherA], '{}')})`;
  const [webhook, mails, ...more] = await stored();
  assert.deepEqual(more, []);
  assert.deepEqual([webhook?.check, webhook?.state], [`webhook secret of ${partner?.slug}, test`, 'failed']);
  const at = `--partner ${partner?.slug} --mode test`;
  assert.match(String(webhook?.advice), /another key than the present "a" encrypted it/);
  assert.ok(
    webhook?.advice.includes(
      `Run webhook rotate ${at}, give the partner the new secret, then run webhook activate ${at}.`,
    ),
  );
  assert.deepEqual([mails?.check, mails?.state], ['queued e-mails (1)', 'attention']);

  await rotateSecret(contextWith(a), theService, scope, firstRotation);
  await activateSecret(contextWith(a), theService, scope);
  assert.deepEqual(
    (await stored()).map(({ check }) => check),
    ['queued e-mails (1)'],
  );
  await database.db.sql`delete from mails`;
});

test('a webhook secret whose key is lost › its URL can be set, which names the way out; a new secret replaces it', async () => {
  await check(a);
  const scope = await encryptWith(a);
  await forget('a', b);
  const [partner] = await database.db.sql<{ slug: string }[]>`select slug from partners where id = ${scope.partnerId}`;
  const options = { partner: partner?.slug ?? '', mode: 'test' };
  const run = (name: string, more: Record<string, string> = {}) =>
    webhookCommands
      .find((command) => command.name === name)
      ?.run(contextWith(b), { words: [], options: { ...options, ...more } });
  const set = await run('webhook set', { url: 'http://127.0.0.1:9/moved' });
  assert.equal(set?.secret, null);
  const at = `--partner ${options.partner} --mode test`;
  assert.ok(
    String(set?.advice).includes(`Run webhook rotate ${at}, give the partner the new secret, then run webhook`),
  );
  assert.equal((await readEndpoint(contextWith(b), scope))?.url, 'http://127.0.0.1:9/moved');
  await assert.rejects(async () => run('listen', { count: '1' }), /run webhook rotate, then webhook activate/);
  assert.equal((await readEndpoint(contextWith(b), scope))?.url, 'http://127.0.0.1:9/moved');

  const rotated = await run('webhook rotate');
  await run('webhook activate');
  assert.deepEqual(await run('webhook set', { url: 'http://127.0.0.1:9/' }), rotated);
});

test('a service with a wrong or a lost key does not start, and says the way out', async () => {
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  try {
    const service = await startService(fixtures.env);
    await service.stop();
    const secret = Buffer.alloc(32, 9).toString('base64');
    const wrong = await runService({ ...fixtures.env, SECRET_KEYS: `test:${secret}` });
    assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
    assert.match(wrong.stderr, /^Quittance cannot start\. SECRET_KEYS .* has a different key "test".*\n$/);
    const lost = await runService({ ...fixtures.env, SECRET_KEYS: `new:${secret}` });
    assert.equal(lost.code, 1);
    assert.match(lost.stderr, /lacks the key "test".*secrets forget test\n$/);
    const wrongLogin = new URL(accessOf(fixtures.env.DATABASE_URL, [key('test', 9)]).service).username;
    const logins = await fixtures.owner`select from pg_roles where rolname = ${wrongLogin}`;
    assert.equal(logins.length, 0, 'so no command can log in with such keys');
    await (await startService({ ...fixtures.env, SECRET_KEYS: `new:${secret},${fixtures.env.SECRET_KEYS}` })).stop();
  } finally {
    await fixtures.drop();
    await chains.stop();
  }
});
