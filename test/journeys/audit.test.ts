import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import type { Actor, AuditEntry } from '../../src/audit/actions.ts';
import { anchorLogs } from '../../src/audit/anchor.ts';
import { readObjectNames } from '../../src/audit/names.ts';
import { readLog } from '../../src/audit/read.ts';
import { verifyChains } from '../../src/audit/verify.ts';
import { audit, noPartner, theService, withAudit } from '../../src/audit/write.ts';
import { createApiKey, usualKey } from '../../src/auth/api-keys.ts';
import { accessCommands } from '../../src/cli/access.ts';
import { commandLine } from '../../src/cli/actor.ts';
import { adminCommands } from '../../src/cli/admin.ts';
import type { Arguments, Command } from '../../src/cli/command.ts';
import { onboardingCommands } from '../../src/cli/onboarding.ts';
import { portalCommands } from '../../src/cli/portal.ts';
import { rateCommands } from '../../src/cli/rates.ts';
import { webhookCommands } from '../../src/cli/webhooks.ts';
import type { Context } from '../../src/context.ts';
import { eraseCustomer } from '../../src/customers/erase.ts';
import { createShell } from '../../src/merchants/create.ts';
import { setMerchantDisabled } from '../../src/merchants/disable.ts';
import { disableDead } from '../../src/webhooks/disabled.ts';
import { activateDueSecrets, setUrl } from '../../src/webhooks/endpoint.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeKey, makeMerchant, makePartner, makeRequest, randomAddress, setRate } from '../support/fixtures.ts';
import { invitePartnerUser } from '../support/people/people.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
  await setRate(app.db, 'EUR', '0.92');
});
after(() => app.stop());

const commands: Command[] = [
  ...accessCommands,
  ...adminCommands,
  ...onboardingCommands,
  ...portalCommands,
  ...rateCommands,
  ...webhookCommands,
];

async function run(name: string, words: string[] = [], options: Arguments['options'] = {}) {
  const command = commands.find((one) => one.name === name);
  assert.ok(command, name);
  return command.run(app.ctx, { words, options });
}

const ada: Actor = {
  kind: 'partner_user',
  userId: randomUUID(),
  email: 'ada@example.com',
  role: null,
  ip: '192.0.2.7',
  userAgent: 'Browser 1',
};

/** A sample act. */
const someAct = (partnerId: string | null, rate = '1'): AuditEntry => ({
  action: 'rate.set',
  partnerId,
  testMode: null,
  object: { kind: 'rate', id: 'EUR' },
  details: { rate },
});

const append = (partnerId: string | null, rate?: string) =>
  app.db.transaction((tx) => audit(app.ctx, tx, ada, someAct(partnerId, rate)));

async function checkOf(partnerId: string) {
  const [check] = await verifyChains(app.ctx, partnerId);
  assert.ok(check);
  return check;
}

/** Changes the log past its triggers, as a database superuser could. */
async function tamper(work: (sql: Context['db']['sql']) => Promise<unknown>) {
  await app.owner`alter table audit_log disable trigger user`;
  await work(app.owner);
  await app.owner`alter table audit_log enable trigger user`;
}

async function chainOf(length: number) {
  const { partner } = await makePartner(app.db);
  for (let i = 1; i <= length; i++) await append(partner.id, String(i));
  return partner.id;
}

test('Every command that changes something writes one row, of its partner or of none, with no secret in it', async () => {
  const secrets: string[] = [];
  const created = (await run('partner create', [`shop-${randomUUID().slice(0, 8)}`], { name: 'Shop', currency: 'EUR' }))
    .partner as { id: string; slug: string };
  const { id, slug } = created;
  const partner = { partner: slug };
  const test = { ...partner, mode: 'test' };
  await run('partner look', [slug], { name: 'Shop & Sons', accent: '#0a7' });
  const key = await run('key create', [], test);
  secrets.push(String(key.key));
  await run('key revoke', [String(key.key_id)]);
  const url = 'http://127.0.0.1:9/hook/of-a-very-secret-path?token=very-secret';
  secrets.push('very-secret', String((await run('webhook set', [], { ...test, url })).secret));
  secrets.push(String((await run('webhook rotate', [], test)).secret));
  await run('webhook activate', [], test);
  await run('webhook enable', [], test); // it is not disabled
  await app.db.sql`
    update webhook_endpoints set disabled_at = now(), disabled_reason = 'gone' where partner_id = ${id}`;
  await run('webhook enable', [], test);
  await run('webhook replay', [], { ...test, since: '2026-01-01' }); // there is nothing to send again
  const scope = { partnerId: id, testMode: true } as Parameters<typeof createShell>[2];
  const wallet = randomAddress();
  const merchant = await createShell(app.ctx, commandLine, scope, { display_currency: 'EUR', wallet_address: wallet });
  await run('merchant disable', [merchant.id]);
  await run('merchant enable', [merchant.id]);
  await run('wallet release', [wallet]);
  await run('rate set', ['GBP', '0.8']);
  await run('rate clear', ['GBP']);
  const email = `owner-${slug}@example.com`;
  secrets.push(tokenOf((await run('portal invite', [], { ...partner, email })).link));
  secrets.push(tokenOf((await run('admin invite', [], { email })).link));
  await run('partner disable', [slug]);
  await run('partner enable', [slug]);

  const own = (await readLog(app.ctx, scope, {}, 100)).rows.reverse();
  assert.deepEqual(
    own.map(({ action, object_kind, object_id, test_mode }) => [action, object_kind, object_id, test_mode]),
    [
      ['partner.created', 'partner', slug, null],
      ['partner.changed', 'partner', slug, null],
      ['key.created', 'key', key.key_id, true],
      ['key.revoked', 'key', key.key_id, true],
      ['webhook.url_set', 'webhook_endpoint', `${id}/test`, true],
      ['webhook.secret_rotated', 'webhook_endpoint', `${id}/test`, true],
      ['webhook.secret_activated', 'webhook_endpoint', `${id}/test`, true],
      ['webhook.enabled', 'webhook_endpoint', `${id}/test`, true],
      ['merchant.created', 'merchant', merchant.id, true],
      ['merchant.disabled', 'merchant', merchant.id, true],
      ['merchant.enabled', 'merchant', merchant.id, true],
      ['wallet.released', 'wallet', wallet, true],
      ['user.invited', 'user', own[12]?.object_id, null],
      ['partner.disabled', 'partner', slug, null],
      ['partner.enabled', 'partner', slug, null],
    ],
  );
  assert.deepEqual(JSON.parse(own[4]?.details ?? ''), { host: '127.0.0.1:9' });
  const others = (await readLog(app.ctx, 'operators', {}, 3)).rows.reverse();
  assert.deepEqual(
    others.map(({ action, object_id }) => [action, object_id]),
    [
      ['rate.set', 'GBP'],
      ['rate.cleared', 'GBP'],
      ['user.invited', others[2]?.object_id],
    ],
  );
  for (const row of [...own, ...others]) {
    assert.deepEqual([row.actor_kind, row.actor_name, row.ip], ['command_line', 'command line', null]);
    for (const secret of secrets) assert.ok(!JSON.stringify(row).includes(secret), `${row.action} holds ${secret}`);
  }
  assert.deepEqual(await checkOf(id).then(({ rows, broken }) => [rows, broken]), [15, null]);
});

const tokenOf = (link: unknown) => String(link).split('/').at(-1) ?? '';

test('A refused or failed action leaves no row, and an action that cannot be logged is not done', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  await assert.rejects(run('webhook rotate', [], { partner: partner.slug, mode: 'test' }), /No webhook URL is set/);
  await assert.rejects(run('key revoke', [randomUUID()]), /There is no key/);
  await assert.rejects(run('merchant disable', [randomUUID()]), /There is no merchant/);
  assert.deepEqual((await readLog(app.ctx, scope, {}, 10)).rows, []);

  const merchant = await makeMerchant(app.db, scope);
  const nameless = { ...ada, email: 'not \0 storable' } as Actor;
  await assert.rejects(
    setMerchantDisabled(app.ctx, nameless, scope, { accountId: merchant.id, by: 'partner', disabled: true }),
  );
  const [row] = await app.db.sql`select disabled_by_partner from merchants where id = ${merchant.id}`;
  assert.equal(row?.disabled_by_partner, false, 'the act was taken back with its row');
});

test('an entry of the audit log → says who did it, from where, when, and to what', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  await setMerchantDisabled(app.ctx, ada, scope, { accountId: merchant.id, by: 'partner', disabled: true });
  const { rows } = await readLog(app.ctx, scope, {}, 10);
  const [row] = rows;
  assert.ok(row && Math.abs(row.at.getTime() - Date.now()) < 60_000);
  const { at: _, hash: __, ...rest } = row;
  assert.deepEqual(rest, {
    partner_id: partner.id,
    number: '1',
    test_mode: true,
    actor_kind: 'partner_user',
    actor_id: ada.kind === 'partner_user' && ada.userId,
    actor_name: 'ada@example.com',
    action: 'merchant.disabled',
    object_kind: 'merchant',
    object_id: merchant.id,
    ip: '192.0.2.7',
    user_agent: 'Browser 1',
    details: '{"by":"partner"}',
  });
});

test('A command with an id in capitals → the audit log names the object as it is stored, so its page is found', async () => {
  const { test: scope } = await makePartner(app.db);
  const { id } = await makeMerchant(app.db, scope);
  const { key_id } = await createApiKey(app.ctx, commandLine, scope, usualKey);
  await run('merchant disable', [id.toUpperCase()]);
  await run('key revoke', [key_id.toUpperCase()]);
  const objects = (await readLog(app.ctx, scope, {}, 10)).rows.map(({ action, object_id }) => [action, object_id]);
  assert.deepEqual(objects, [
    ['key.revoked', key_id],
    ['merchant.disabled', id],
    ['key.created', key_id],
  ]);
});

test('objects of another partner in a partner’s log → are not named to it; operators read the names of all', async () => {
  const [own, other] = [await makePartner(app.db), await makePartner(app.db)];
  const merchant = await makeMerchant(app.db, other.test);
  const { key_id } = await makeKey(app.db, other.test);
  const { user } = await invitePartnerUser(app.ctx, other);
  const { id, slug } = other.partner;
  const rows = [
    { object_kind: 'wallet', object_id: randomAddress(), details: JSON.stringify({ merchant: merchant.id }) },
    { object_kind: 'key', object_id: key_id, details: '{}' },
    { object_kind: 'user', object_id: user.id, details: '{}' },
    { object_kind: 'rate', object_id: 'all', details: JSON.stringify({ partner: slug }) },
    { object_kind: 'webhook_endpoint', object_id: `${id}/test`, details: '{}' },
  ];
  const namesFor = async (whose: Parameters<typeof readObjectNames>[1]) =>
    [...(await readObjectNames(app.ctx, whose, rows)).keys()].sort();
  assert.deepEqual(await namesFor(own.test), []);
  const all = [`merchant ${merchant.id}`, `key ${key_id}`, `user ${user.id}`, `partner ${id}`, `partner ${slug}`];
  assert.deepEqual(await namesFor('operators'), [...all, `webhook_endpoint ${id}/test`].sort());
});

test('The database refuses to change, delete or truncate rows, whatever the role', async () => {
  const id = await chainOf(2);
  const sql = app.owner;
  const refused = { code: '23000' };
  await assert.rejects(sql`update audit_log set actor_name = 'nobody' where partner_id = ${id}`, refused);
  await assert.rejects(sql`delete from audit_log where partner_id = ${id}`, refused);
  await assert.rejects(sql`truncate audit_log`, refused);
  const { sql: service } = app.db;
  await assert.rejects(service`update audit_log set actor_name = 'nobody' where partner_id = ${id}`, { code: '42501' });
  assert.deepEqual((await checkOf(id)).broken, null);
});

test('audit check › a row changed, deleted, inserted or moved, or a chain rewritten → the first such row is named', async () => {
  const cases: [string, (sql: Context['db']['sql'], id: string) => Promise<unknown>, string | null][] = [
    ['nothing', async () => {}, null],
    [
      'changed name',
      (sql, id) => sql`update audit_log set actor_name = 'eve' where partner_id = ${id} and number = 3`,
      '3',
    ],
    [
      'changed details',
      (sql, id) => sql`update audit_log set details = '{}' where partner_id = ${id} and number = 2`,
      '2',
    ],
    [
      'changed time',
      (sql, id) => sql`update audit_log set at = at - interval '1 day' where partner_id = ${id} and number = 4`,
      '4',
    ],
    [
      'changed hash',
      (sql, id) => sql`update audit_log set hash = sha256('x') where partner_id = ${id} and number = 1`,
      '1',
    ],
    ['taken out', (sql, id) => sql`delete from audit_log where partner_id = ${id} and number = 3`, '3'],
    ['cut off', (sql, id) => sql`delete from audit_log where partner_id = ${id} and number = 5`, '5'],
    [
      'taken out and closed up',
      async (sql, id) => {
        await sql`delete from audit_log where partner_id = ${id} and number = 2`;
        await sql`update audit_log set number = number - 1 where partner_id = ${id} and number > 2`;
        await sql`update audit_chains set last_number = 4 where partner_id = ${id}`;
      },
      '2',
    ],
    [
      'swapped',
      async (sql, id) => {
        await sql`update audit_log set number = 10 - number where partner_id = ${id} and number in (2, 3)`;
        await sql`update audit_log set number = number - 5 where partner_id = ${id} and number > 5`;
      },
      '2',
    ],
    ['all gone', (sql, id) => sql`delete from audit_log where partner_id = ${id}`, '1'],
    [
      'end set back',
      (sql, id) => sql`
        update audit_chains c set last_number = 3, last_hash = l.hash from audit_log l
        where c.partner_id = ${id} and l.partner_id = ${id} and l.number = 3`,
      '4',
    ],
    ['end gone', (sql, id) => sql`delete from audit_chains where partner_id = ${id}`, '1'],
    ['another end', (sql, id) => sql`update audit_chains set last_hash = sha256('x') where partner_id = ${id}`, '5'],
  ];
  for (const [what, work, broken] of cases) {
    const id = await chainOf(5);
    await tamper((sql) => work(sql, id));
    const check = await checkOf(id);
    assert.equal(check.broken?.number ?? null, broken, `${what}: ${JSON.stringify(check)}`);
  }
  await assert.rejects(run('audit check'), /audit log is broken[\s\S]*row 3: this row, or its hash, was changed/);
});

test('the command audit check › one log or all → checked, with the hash of each log’s end', async () => {
  const { partner } = await makePartner(app.db);
  await append(partner.id);
  const one = await run('audit check', [], { partner: partner.slug });
  const [row] = await app.db.sql`select hash from audit_log where partner_id = ${partner.id}`;
  assert.deepEqual(one, {
    whole: true,
    logs: [{ partner: partner.slug, log: partner.id, rows: 1, hash: row?.hash.toString('hex'), state: 'whole' }],
  });
  await append(null);
  assert.equal((await checkOf(noPartner)).broken, null);
});

test('an audit log cut off at its end → its check passes, but its end differs from the one that the service logged, at any log level', async () => {
  const { partner } = await makePartner(app.db);
  for (let i = 1; i <= 5; i++) await append(partner.id, String(i));
  const lines: { ends?: { log: string; rows: string; hash: string }[] }[] = [];
  const log = pino({ level: 'silent' }, { write: (line) => lines.push(JSON.parse(line)) });
  assert.ok((await anchorLogs({ ...app.ctx, log, config: testConfig({ sandbox: false }) })) > 0);
  const noted = lines.flatMap(({ ends = [] }) => ends).find((end) => end.log === partner.id);
  assert.equal(noted?.rows, '5');
  const kept = noted?.hash ?? '';
  const compare = (hash: string) => run('audit check', [], { partner: partner.slug, kept: hash });
  const told = (await compare(kept.toUpperCase())).logs as object[];
  assert.deepEqual(told, [
    { partner: partner.slug, log: partner.id, rows: 5, hash: kept, state: 'whole', kept_hash_is_row: '5' },
  ]);
  await append(partner.id, '6');
  assert.equal(((await compare(kept)).logs as { kept_hash_is_row: string }[])[0]?.kept_hash_is_row, '5');

  await tamper(async (sql) => {
    await sql`delete from audit_log where partner_id = ${partner.id} and number > 4`;
    await sql`update audit_chains c set last_number = 4, last_hash = l.hash from audit_log l
      where c.partner_id = ${partner.id} and l.partner_id = ${partner.id} and l.number = 4`;
  });
  assert.equal((await checkOf(partner.id)).broken, null, 'what is left is whole');
  await assert.rejects(compare(kept), /No entry has the kept hash/);
  await assert.rejects(compare('beef'), /64 hex digits/);
  const never = await makePartner(app.db);
  await assert.rejects(run('audit check', [], { partner: never.partner.slug, kept }), /No entry has the kept hash/);
});

test('audit check › a log longer than one batch → checked to the end', async () => {
  const { partner } = await makePartner(app.db);
  await app.db.transaction(async (tx) => {
    for (let i = 0; i < 1203; i++) await audit(app.ctx, tx, ada, someAct(partner.id, String(i)));
  });
  assert.deepEqual(await checkOf(partner.id).then(({ rows, broken }) => [rows, broken]), [1203, null]);
  await tamper((sql) => sql`update audit_log set ip = null where partner_id = ${partner.id} and number = 1203`);
  assert.equal((await checkOf(partner.id)).broken?.number, '1203');
});

test('audit entries written at the same time → one chain of hashes for each log, without a fork', async () => {
  const [one, other] = await Promise.all([makePartner(app.db), makePartner(app.db)]);
  await Promise.all(Array.from({ length: 40 }, (_, i) => append(i % 2 ? one.partner.id : other.partner.id, String(i))));
  for (const { partner, live } of [one, other]) {
    assert.deepEqual(await checkOf(partner.id).then(({ rows, broken }) => [rows, broken]), [20, null]);
    const { rows } = await readLog(app.ctx, live, {}, 100);
    assert.ok(rows.every(({ partner_id }) => partner_id === partner.id));
  }
  const seen = await app.db.scoped(one.test, (tx) => tx`select distinct partner_id from audit_log`);
  assert.deepEqual([...seen], [{ partner_id: one.partner.id }], 'row-level security shows no other log');
  const foreign = app.db.scoped(one.test, (tx) => audit(app.ctx, tx, ada, someAct(other.partner.id)));
  await assert.rejects(foreign, { code: '42501' });
});

test('the audit log → read in pages, newest first, filtered by action, person and time', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  for (let i = 1; i <= 5; i++) await append(partner.id, String(i));
  await app.db.transaction((tx) =>
    audit(app.ctx, tx, { kind: 'command_line' }, { ...someAct(partner.id), action: 'rate.cleared', details: {} }),
  );
  const numbers = async (filter: Parameters<typeof readLog>[2], limit: number) => {
    const { rows, next } = await readLog(app.ctx, scope, filter, limit);
    return [rows.map(({ number }) => Number(number)), next];
  };
  assert.deepEqual(await numbers({}, 4), [[6, 5, 4, 3], 3n]);
  assert.deepEqual(await numbers({ before: 3n }, 4), [[2, 1], null]);
  assert.deepEqual(await numbers({ action: 'rate.cleared' }, 4), [[6], null]);
  assert.deepEqual(await numbers({ actor: 'ada@example.com' }, 2), [[5, 4], 4n]);
  assert.deepEqual(await numbers({ until: new Date(Date.now() - 3_600_000) }, 4), [[], null]);
  assert.deepEqual((await numbers({ since: new Date(Date.now() - 3_600_000) }, 9))[0], [6, 5, 4, 3, 2, 1]);
});

/** Does something while a transaction stalls after its last statement. The server ends the stalled one. */
async function whileStalled(begin: (inner: Context) => Promise<unknown>, meanwhile: () => Promise<unknown>) {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = async (inner: Context) => {
    await begin(inner);
    begun.resolve();
    await end.promise;
  };
  const lost = assert.rejects(withAudit(app.ctx, ada, work, () => someAct(null)));
  await begun.promise;
  await meanwhile();
  end.resolve();
  await lost;
}

test('A transaction that stalls while it locks the end of a log loses the lock to the next one', async () => {
  const { partner } = await makePartner(app.db);
  await whileStalled(
    (inner) => inner.db.transaction((tx) => audit(app.ctx, tx, ada, someAct(partner.id))),
    () => append(partner.id),
  );
  assert.deepEqual(await checkOf(partner.id).then(({ rows, broken }) => [rows, broken]), [1, null]);
});

test('Acts of many kinds at the same time wait for each other and never for good', async () => {
  const partners = await Promise.all([makePartner(app.db), makePartner(app.db)]);
  const merchants = await Promise.all(partners.map(({ test: scope }) => makeMerchant(app.db, scope)));
  for (const { test: scope } of partners) await setUrl(app.ctx, theService, scope, 'http://127.0.0.1:9/hook');
  const flip = (i: number) => {
    const { test: scope } = partners[i % 2] as (typeof partners)[number];
    const { id } = merchants[i % 2] as (typeof merchants)[number];
    return setMerchantDisabled(app.ctx, ada, scope, { accountId: id, by: 'partner', disabled: i % 4 < 2 });
  };
  const failing = (at: Date) => app.db.sql`update webhook_endpoints set failing_since = ${at}, disabled_at = null`;
  const [long, key] = [new Date(Date.now() - 200 * 3_600_000), { by: 'email' as const, value: 'many@example.com' }];
  for (let round = 0; round < 5; round++) {
    await failing(long);
    for (const [i, { test: scope }] of partners.entries()) {
      await makeRequest(app.db, scope, merchants[i] as (typeof merchants)[number], { customerEmail: key.value });
    }
    await Promise.all([
      ...Array.from({ length: 8 }, (_, i) => flip(i)),
      ...partners.map(({ test: scope }) => setUrl(app.ctx, theService, scope, `http://127.0.0.1:9/${round}`)),
      disableDead(app.ctx),
      disableDead(app.ctx),
      eraseCustomer(app.ctx, ada, key),
      eraseCustomer(app.ctx, ada, key),
      activateDueSecrets(app.ctx),
    ]);
  }
  for (const { partner } of partners) assert.equal((await checkOf(partner.id)).broken, null);
});
