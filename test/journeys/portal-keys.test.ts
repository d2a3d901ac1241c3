import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { listApiKeys } from '../../src/auth/api-keys.ts';
import { send } from '../support/api/client.ts';
import { startApp } from '../support/app.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import type { Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let owner: Visitor;
let developer: Visitor;

before(async () => {
  app = await startApp();
  fixtures = await makePartner(app.db);
  const { id } = fixtures.partner;
  owner = await portalVisitor(app.ctx, app.url, id);
  developer = await portalVisitor(app.ctx, app.url, id, 'developer');
});
after(() => app?.stop());

const keyOn = (html: string) => /qt_(?:test|live)_[0-9A-Za-z]{38}/.exec(html)?.[0];
const call = (key: string) => send(app.url, 'GET', '/api/v1/requests', { key });
const acts = (action: string) =>
  app.db.sql`select * from audit_log where partner_id = ${fixtures.partner.id} and action = ${action} order by number`;

test('creating a key › it works with the ticked scopes and is shown once; the log does not contain it', async () => {
  const page = await postForm(app.url, developer, '/portal/keys?mode=test', [
    ['scopes', 'requests:read'],
    ['scopes', 'accounts:read'],
    ['scopes', 'everything'],
  ]);
  const key = keyOn(page.html) ?? assert.fail('no key on the page');
  assert.match(key, /^qt_test_/);
  assert.equal((await call(key)).status, 200);
  const create = await send(app.url, 'POST', '/api/v1/requests/create', { key, body: {} });
  assert.equal(create.json.error, 'insufficient_scope');

  const list = (await developer.open('/portal/keys')).html;
  assert.equal(keyOn(list), undefined);
  assert.match(list, new RegExp(`${key.slice(0, 8)}…${key.slice(-4)}`));
  assert.match(list, /<span title="requests:read">Read requests<\/span>, <span title="accounts:read">Read merchants</);
  const [row] = await acts('key.created');
  assert.deepEqual(JSON.parse(row?.details), { scopes: ['requests:read', 'accounts:read'] });
  assert.equal(row?.actor_kind, 'partner_user');
});

test('a form that is sent again, as by reloading its answer › makes no second key, and says so', async () => {
  const page = await developer.open('/portal/keys?mode=test');
  const formKey = /name="form" value="([0-9a-f-]{36})"/.exec(page.html)?.[1] ?? assert.fail('the form has no key');
  const count = async () => (await acts('key.created')).length;
  const before = await count();
  const submit = () =>
    postForm(app.url, developer, '/portal/keys?mode=test', [
      ['scopes', 'requests:read'],
      ['form', formKey],
    ]);
  const answers = await Promise.all([submit(), submit(), submit()]);
  assert.equal(answers.filter(({ html }) => keyOn(html)).length, 1);
  assert.equal((await submit()).location, '/portal/keys?done=repeated');
  assert.equal(await count(), before + 1);
  assert.match((await developer.open('/portal/keys?done=repeated')).html, /No second key was created/);
});

test('a key › has a name, says who created it, and is refused from its end on', async () => {
  const page = await postForm(app.url, developer, '/portal/keys?mode=test', [
    ['scopes', 'requests:read'],
    ['name', '  Checkout <server> '],
    ['lifetime', '30'],
  ]);
  const key = keyOn(page.html) ?? assert.fail('no key on the page');
  const [row] = await app.db.sql<{ id: string; created_by: string; ends_at: Date; created_at: Date }[]>`
    select * from api_keys where hint = ${`${key.slice(0, 8)}…${key.slice(-4)}`}`;
  assert.ok(row);
  assert.equal(Math.round((row.ends_at.getTime() - row.created_at.getTime()) / 86_400_000), 30);
  const list = (await developer.open('/portal/keys')).html;
  assert.match(list, /Checkout &lt;server&gt;/);
  assert.ok(list.includes(row.created_by) && /^[^@]+@[^@]+$/.test(row.created_by));
  assert.match(list, /Active<\/span> until <time/);
  assert.equal((await call(key)).status, 200);
  await app.db.sql`update api_keys set ends_at = now() where id = ${row.id}`;
  assert.equal((await call(key)).status, 401);
  assert.equal(
    (await send(app.url, 'POST', '/api/v1/accounts', { key, body: { phone: 'x'.repeat(9000) } })).status,
    401,
  );
  assert.match((await developer.open('/portal/keys')).html, /Expired/);
});

test('the log has the address from which a key was created, even if the client disconnected at once', async () => {
  const { length } = await acts('key.created');
  const body = 'scopes=requests%3Aread';
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  const head = [
    'POST /portal/keys?mode=test HTTP/1.1',
    `host: ${new URL(app.url).host}`,
    'sec-fetch-site: same-origin',
    'content-type: application/x-www-form-urlencoded',
    `content-length: ${body.length}`,
    `cookie: ${[...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')}`,
  ];
  const gone = new Promise((resolve) => socket.once('close', resolve));
  await app.db.sql.begin(async (tx) => {
    await tx`lock table sessions in access exclusive mode`; // holds up the call while its connection ends
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
    await gone;
    await fetch(new URL('/healthz', app.url)); // by now the server has noticed
  });
  await until(async () => (await acts('key.created')).length > length, 'the key');
  assert.equal((await acts('key.created')).at(-1)?.ip, '127.0.0.1');
});

test('a key › when it was last used shows to the minute', async () => {
  const { key, key_id } = await makeKey(app.db, fixtures.test);
  const row = async () => {
    const { html } = await owner.open('/portal/keys');
    return html.split('<tr>').find((one) => one.includes(`${key.slice(0, 8)}…${key.slice(-4)}`)) ?? '';
  };
  assert.match(await row(), /data-name="Last used">Never/);
  await call(key);
  assert.doesNotMatch(await row(), /Never/);
  await app.db.sql`update rate_counters set minute = minute - interval '3 hours' where subject = ${key_id}`;
  assert.match(await row(), />3 hours ago</);
});

test('revoking › the next call is refused; once more, or from elsewhere, changes nothing', async () => {
  const { key, key_id } = await makeKey(app.db, fixtures.test);
  const stranger = await portalVisitor(app.ctx, app.url, (await makePartner(app.db)).partner.id);
  const revoke = (visitor: Visitor, mode: string) =>
    postForm(app.url, visitor, `/portal/keys/revoke?mode=${mode}`, [['key', key_id]]);
  for (const [visitor, mode] of [
    [stranger, 'test'],
    [owner, 'live'],
  ] as const) {
    assert.equal((await revoke(visitor, mode)).location, '/portal/keys?done=not_revoked');
  }
  assert.equal((await call(key)).status, 200);
  assert.equal((await revoke(developer, 'test')).location, '/portal/keys?done=revoked');
  assert.equal((await call(key)).status, 401);
  assert.equal((await revoke(developer, 'test')).location, '/portal/keys?done=not_revoked');
  const rows = (await acts('key.revoked')).filter(({ object_id }) => object_id === key_id);
  assert.equal(rows.length, 1);
});

test('live keys › only an owner makes and revokes them; a form means the mode of its page', async () => {
  const page = await developer.open('/portal/keys?mode=live');
  assert.match(page.html, /Only owners can create and revoke live keys/);
  assert.doesNotMatch(page.html, /<button>Create key/);
  const wanted: [string, string][] = [['scopes', 'requests:read']];
  const refused = await postForm(app.url, developer, '/portal/keys?mode=live', wanted);
  assert.equal(refused.status, 403);
  assert.equal(keyOn(refused.html), undefined);

  // The owner switched to live in another tab; the form in this tab still says test.
  await owner.open('/portal/keys?mode=live');
  const made = await postForm(app.url, owner, '/portal/keys?mode=test', wanted);
  assert.match(keyOn(made.html) ?? '', /^qt_test_/);
  const live = await postForm(app.url, owner, '/portal/keys?mode=live', wanted);
  const key = keyOn(live.html) ?? '';
  assert.match(key, /^qt_live_/);
  const [row] = await app.db.sql`select id from api_keys where hint like ${`%${key.slice(-4)}`} and not test_mode`;
  const revoked = await postForm(app.url, developer, '/portal/keys/revoke?mode=live', [['key', row?.id]]);
  assert.equal(revoked.status, 403);
  assert.equal((await call(key)).status, 200);
  await owner.open('/portal?mode=test');
});

test('keys › a viewer sees none, a form without a scope or of another site makes none', async () => {
  const viewer = await portalVisitor(app.ctx, app.url, fixtures.partner.id, 'viewer');
  assert.equal((await viewer.open('/portal/keys')).status, 403);
  const scopes: [string, string][] = [['scopes', 'requests:read']];
  assert.equal((await postForm(app.url, viewer, '/portal/keys?mode=test', scopes)).status, 403);
  assert.equal((await postForm(app.url, owner, '/portal/keys?mode=test')).location, '/portal/keys?done=no_scope');
  const before = await app.db.sql`select id from api_keys`;
  const cookie = [...owner.cookies].map((pair) => pair.join('=')).join('; ');
  const headers = { cookie, 'sec-fetch-site': 'cross-site' };
  const body = new URLSearchParams(scopes);
  const foreign = await fetch(new URL('/portal/keys?mode=test', app.url), { method: 'POST', headers, body });
  assert.equal(foreign.status, 403);
  assert.equal((await app.db.sql`select id from api_keys`).length, before.length);
});

test('the list of keys › by pages and as CSV, newest first, of one partner and mode', async () => {
  const other = await makePartner(app.db);
  for (let i = 0; i < 52; i++) await makeKey(app.db, other.test);
  await makeKey(app.db, other.live);
  const visitor = await portalVisitor(app.ctx, app.url, other.partner.id);
  const hints = (html: string) =>
    [...html.matchAll(/<th scope="row"><span class="mono">([^<]+)/g)].map(([, hint]) => hint);
  const first = await visitor.open('/portal/keys');
  const next = /href="([^"]+)" rel="next"/.exec(first.html)?.[1] ?? assert.fail('no next page');
  const second = await visitor.open(next);
  const stored = await app.db.sql`
    select id, hint from api_keys where partner_id = ${other.partner.id} and test_mode order by created_at desc, id desc`;
  assert.deepEqual(
    [...hints(first.html), ...hints(second.html)],
    stored.map(({ hint }) => hint),
  );
  assert.equal(hints(second.html).length, 2);

  assert.match(second.html, /href="\/portal\/keys\.csv"/);
  const [header, ...lines] = (await visitor.open('/portal/keys.csv')).html.trim().split('\r\n');
  assert.equal(header, 'key_id,hint,scopes,created_at,last_used_at,revoked_at,name,created_by,ends_at');
  assert.deepEqual(
    lines.map((line) => line.split(',').slice(0, 2)),
    stored.map(({ id, hint }) => [id, hint]),
  );
});

test('the list of the command line › thousands of test keys and revoked ones hide no live key', async () => {
  const { partner, live } = await makePartner(app.db);
  await app.db.sql`
    insert into api_keys (id, partner_id, test_mode, hash, hint, scopes, revoked_at)
    select gen_random_uuid(), ${partner.id}, n % 2 = 0, uuid_send(gen_random_uuid()), 'qt…', '{requests:read}',
      case when n % 2 = 1 then now() end
    from generate_series(1, 12000) n`;
  const { key_id } = await makeKey(app.db, live);
  const listed = await listApiKeys(app.db, partner.id);
  assert.equal(listed[0]?.key_id, key_id);
  assert.equal(listed.length, 10_000);
});
