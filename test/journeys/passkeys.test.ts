import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noPartner } from '../../src/audit/write.ts';
import { relyingParty } from '../../src/auth/passkey.ts';
import { adminCommands } from '../../src/cli/admin.ts';
import type { Command } from '../../src/cli/command.ts';
import { portalCommands } from '../../src/cli/portal.ts';
import { latestMail } from '../../src/mail/outbox.ts';
import { setUserDisabled } from '../../src/users/change.ts';
import { startApp } from '../support/app.ts';
import { type Device, softwareDevice } from '../support/browser/passkeys.ts';
import { makePartner } from '../support/fixtures.ts';
import { type Visit, visit } from '../support/people/forms.ts';
import {
  acceptInvitation,
  invitePartnerUser,
  isInside,
  onHost,
  signInOperator,
  signInPartnerUser,
} from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let nowMs = Date.parse('2026-11-21T12:00:00Z');
const minuteMs = 60_000;
const origin = 'http://localhost:3000';
const commandLine = { kind: 'command_line' } as const;
before(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) } });
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

const optionsFrom = async (visitor: Visitor, path: string) => JSON.parse((await visitor.open(`${path}/options`)).html);
/** Sends a form as the browser code does once it has an answer. */
const sendForm = (visitor: Visitor, path: string, fields: Record<string, string>) =>
  visitor.send({ forms: [{ action: path, fields }] } as unknown as Visit, path);

async function addPasskey(visitor: Visitor, device: Device, realm = '/portal', name = 'Laptop') {
  const passkey = device.make(await optionsFrom(visitor, `${realm}/passkeys`));
  return sendForm(visitor, `${realm}/passkeys`, { passkey, name });
}

/** A partner's user with a passkey who has just signed in. */
async function holder(role: 'owner' | 'viewer' = 'owner', of = fixtures) {
  nowMs += minuteMs; // so that no client hits the rate limit
  const { user, visitor } = await signInPartnerUser(app, of, role);
  const device = softwareDevice(origin);
  assert.match((await addPasskey(visitor, device)).html, /The passkey was added/);
  return { user, visitor, device };
}

/** Presents a passkey at the sign-in page, in a browser where nobody is signed in. */
async function enter(device: Device, lies = {}, { realm = '/portal', visitor = startVisitor(app.url) } = {}) {
  const path = `${realm}/sign-in/passkey`;
  const page = await sendForm(visitor, path, { passkey: device.show(await optionsFrom(visitor, path), lies) });
  return { page, visitor };
}

function assertRefused({ page, visitor }: { page: Visit; visitor: Visitor }, why: RegExp, what?: string) {
  assert.equal(page.status, 403, what);
  assert.match(page.html, why, what);
  assert.ok(![...visitor.cookies.keys()].some((name) => name.endsWith('-session')), what);
}
const unknown = /We do not recognise it/;
const tooLate = /took longer than five minutes, or was submitted twice/;

test('A passkey is added in a fresh session and signs in alone, and the audit log has both', async () => {
  const { user, device } = await holder();
  const mail = await latestMail(app.db.sql, user.email);
  assert.equal(mail?.subject, 'A passkey was added to your account at Corner Shops Ltd');
  const { page } = await enter(device);
  assert.ok(isInside(page));
  assert.ok(page.html.includes(user.email));
  const rows = await app.db.sql`
    select action, details::text as details from audit_log where object_id = ${user.id} order by number desc limit 2`;
  assert.deepEqual(
    rows.map(({ action, details }) => [action, details]),
    [
      ['session.started', '{}'],
      ['passkey.added', '{"name":"Laptop"}'],
    ],
  );
  const [kept] = await app.db.sql`select counter, last_used_at from passkeys where user_id = ${user.id}`;
  assert.deepEqual([kept?.counter, kept?.last_used_at.getTime()], ['2', nowMs]);
});

test('A mailed link or an invitation alone does not sign in a user with a passkey; once it is removed, it does', async () => {
  const { user, visitor, device } = await holder('viewer');
  const { link } = await invitePartnerUser(app.ctx, fixtures, 'viewer', user.email);
  const path = new URL(link).pathname;
  const stranger = startVisitor(app.url);
  const page = await stranger.open(link);
  assert.match(page.html, /A passkey protects this account/);
  assert.deepEqual(
    page.forms.map(({ action }) => action),
    ['/portal/sign-in/passkey'],
  );
  const forced = await sendForm(stranger, path, { user: user.id });
  assert.match(forced.html, /A passkey protects this account/);
  assert.equal(stranger.cookies.has('portal-session'), false);
  assert.ok(isInside((await enter(device, {}, { visitor: stranger })).page), 'link, then passkey');

  const list = await visitor.open('/portal/sessions');
  assert.match((await visitor.send(list, '/portal/passkeys/remove')).html, /The passkey was removed/);
  const [act] = await app.db.sql`
    select action, actor_name, details::text as details from audit_log
    where partner_id = ${fixtures.partner.id} and object_id = ${user.id} order by number desc limit 1`;
  assert.deepEqual({ ...act }, { action: 'passkey.removed', actor_name: user.email, details: '{"name":"Laptop"}' });
  assertRefused(await enter(device), unknown);
  assert.ok(isInside(await acceptInvitation(startVisitor(app.url), link)), 'the link was not used up');
});

test('A passkey response is valid for one attempt: neither the same nor another response to its challenge signs in', async () => {
  const { device } = await holder();
  const visitor = startVisitor(app.url);
  const options = await optionsFrom(visitor, '/portal/sign-in/passkey');
  const passkey = device.show(options);
  assert.ok(isInside(await sendForm(visitor, '/portal/sign-in/passkey', { passkey })));
  for (const answer of [passkey, device.show(options)]) {
    const thief = startVisitor(app.url);
    const page = await sendForm(thief, '/portal/sign-in/passkey', { passkey: answer });
    assertRefused({ page, visitor: thief }, tooLate);
  }
  const fresh = device.show(await optionsFrom(visitor, '/portal/sign-in/passkey'));
  const many = await Promise.all(
    Array.from({ length: 6 }, () => sendForm(startVisitor(app.url), '/portal/sign-in/passkey', { passkey: fresh })),
  );
  assert.equal(many.filter(isInside).length, 1, 'of many at once, too');

  const wrong = await optionsFrom(visitor, '/portal/sign-in/passkey');
  const failed = device.show(wrong, { verified: false });
  const thief = startVisitor(app.url);
  await sendForm(thief, '/portal/sign-in/passkey', { passkey: failed });
  const page = await sendForm(thief, '/portal/sign-in/passkey', { passkey: device.show(wrong) });
  assertRefused({ page, visitor: thief }, tooLate, 'a try that failed used it up');
});

test('A challenge lives for five minutes', async () => {
  const { device } = await holder();
  const visitor = startVisitor(app.url);
  const path = '/portal/sign-in/passkey';
  const first = await optionsFrom(visitor, path);
  nowMs += 5 * minuteMs - 1;
  const second = await optionsFrom(visitor, path);
  assert.ok(isInside(await sendForm(startVisitor(app.url), path, { passkey: device.show(first) })));
  nowMs += 5 * minuteMs;
  const page = await sendForm(visitor, path, { passkey: device.show(second) });
  assertRefused({ page, visitor }, tooLate);
});

test('Another origin or party, a forged signature, challenge or owner, and a locked device do not sign in', async () => {
  const { device } = await holder();
  const { user: other } = await holder();
  const lies = [
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:3001' },
    { origin: `http://${fixtures.partner.slug}.localhost:3000` },
    { rpId: 'evil.example' },
    { signature: Buffer.alloc(70) },
    { challenge: Buffer.alloc(54).toString('base64url') },
    { challenge: 'x' },
    { userHandle: Buffer.from(other.id.replaceAll('-', ''), 'hex').toString('base64url') },
    { userHandle: '' },
    { verified: false },
  ];
  for (const lie of lies) assertRefused(await enter(device, lie), unknown, JSON.stringify(lie));
  assertRefused(await enter(softwareDevice(origin)), unknown, 'a passkey of nobody');
  for (const passkey of ['', 'x', '{}', 'null', '{"id":"x","response":{"clientDataJSON":"e30"}}']) {
    const visitor = startVisitor(app.url);
    assertRefused({ page: await sendForm(visitor, '/portal/sign-in/passkey', { passkey }), visitor }, unknown, passkey);
  }
  assert.ok(isInside((await enter(device)).page), 'the truth does');
});

test('A repeated signature counter means a copy: it is refused and logged, but only if its signature was right', async () => {
  const { user, device } = await holder();
  assert.ok(isInside((await enter(device, { counter: 10 })).page));
  const copies = async () =>
    (
      await app.db.sql`
        select from audit_log
        where object_id = ${user.id} and action = 'passkey.copied' and partner_id = ${fixtures.partner.id}`
    ).length;
  for (const counter of [10, 9, 0]) assertRefused(await enter(device, { counter }), /There may be a copy/);
  assert.equal(await copies(), 3);
  assertRefused(await enter(device, { counter: 9, signature: Buffer.alloc(70) }), unknown);
  assert.equal(await copies(), 3);
  assert.ok(isInside((await enter(device, { counter: 11 })).page));
});

test('A device without a signature counter can sign in repeatedly', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures);
  const device = softwareDevice(origin);
  const options = await optionsFrom(visitor, '/portal/passkeys');
  await sendForm(visitor, '/portal/passkeys', { passkey: device.make(options, { counter: 0 }), name: 'Key' });
  for (let i = 0; i < 3; i++) assert.ok(isInside((await enter(device, { counter: 0 })).page), user.email);
});

test('A passkey opens one account: not on another partner’s host, not in the other realm, and not for a disabled user', async () => {
  const { user, visitor, device } = await holder('viewer');
  const there = await makePartner(app.db);
  const own = { origin: `http://${fixtures.partner.slug}.localhost:3000`, rpId: `${fixtures.partner.slug}.localhost` };
  const foreign = { origin: `http://${there.partner.slug}.localhost:3000`, rpId: `${there.partner.slug}.localhost` };
  const at = (partner: typeof fixtures.partner) => ({ visitor: startVisitor(app.url, onHost(partner)) });
  assert.ok(isInside((await enter(device, own, at(fixtures.partner))).page));
  assertRefused(await enter(device, foreign, at(there.partner)), unknown);
  assertRefused(await enter(device, {}, { visitor: startVisitor(app.url), realm: '/admin' }), unknown);

  const operator = await signInOperator(app);
  const operators = softwareDevice(origin);
  await addPasskey(operator.visitor, operators, '/admin');
  assertRefused(await enter(operators), unknown);
  assert.ok(isInside((await enter(operators, {}, { visitor: startVisitor(app.url), realm: '/admin' })).page));

  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: user.id, disabled: true });
  assertRefused(await enter(device), unknown);
  assert.equal(isInside(await visitor.open('/portal/sessions')), false);
});

test('A challenge for one purpose, realm, host or session serves no other', async () => {
  const { visitor, device } = await holder();
  const second = await holder();
  const signIn = await optionsFrom(visitor, '/portal/sign-in/passkey');
  const confirm = await optionsFrom(visitor, '/portal/passkeys/confirm');
  const others = await optionsFrom(second.visitor, '/portal/passkeys/confirm');
  const admins = await optionsFrom(visitor, '/admin/sign-in/passkey');
  for (const options of [confirm, others, admins]) {
    const stranger = startVisitor(app.url);
    const page = await sendForm(stranger, '/portal/sign-in/passkey', { passkey: device.show(options) });
    assertRefused({ page, visitor: stranger }, unknown);
  }
  for (const options of [signIn, others]) {
    const page = await sendForm(visitor, '/portal/passkeys/confirm', { passkey: device.show(options) });
    assert.match(page.html, unknown);
  }
  const passkey = second.device.show(await optionsFrom(visitor, '/portal/passkeys/confirm'));
  assert.match((await sendForm(visitor, '/portal/passkeys/confirm', { passkey })).html, unknown, 'of somebody else');
});

test('After ten minutes a change requires the passkey again or, without one, a new sign-in', async () => {
  const { user, visitor, device } = await holder();
  const second = softwareDevice(origin);
  const options = await optionsFrom(visitor, '/portal/passkeys');
  const list = await visitor.open('/portal/sessions');
  nowMs += 10 * minuteMs;
  const stale = /you signed in more than ten minutes ago/;
  const late = second.make(await optionsFrom(visitor, '/portal/passkeys'));
  assert.match((await sendForm(visitor, '/portal/passkeys', { passkey: late, name: 'x' })).html, stale);
  assert.match((await visitor.send(list, '/portal/passkeys/remove')).html, stale);
  const again = second.make(options);
  assert.match((await sendForm(visitor, '/portal/passkeys', { passkey: again, name: 'x' })).html, tooLate);
  const page = await visitor.open('/portal/sessions');
  assert.ok(page.html.includes('Use a passkey before you change'));
  const passkey = device.show(await optionsFrom(visitor, '/portal/passkeys/confirm'));
  const stolen = startVisitor(app.url);
  for (const [name, value] of visitor.cookies) stolen.cookies.set(name, value);
  assert.equal(isInside(await stolen.open('/portal/sessions')), true);
  const confirmed = await sendForm(visitor, '/portal/passkeys/confirm', { passkey });
  assert.match(confirmed.html, /You can now change your passkeys for ten minutes/);
  assert.equal(isInside(await stolen.open('/portal/sessions')), false, 'a copy of the token gains nothing by it');
  assert.match((await addPasskey(visitor, second)).html, /The passkey was added/);
  assert.ok(isInside((await enter(second)).page));
  assert.equal((await app.db.sql`select from passkeys where user_id = ${user.id}`).length, 2);

  const without = (await signInPartnerUser(app, fixtures)).visitor;
  nowMs += 10 * minuteMs;
  assert.match(
    (await without.open('/portal/sessions')).html,
    /Sign out and sign in again before you change anything here/,
  );
});

test('A passkey is added once, by a device that was unlocked, with nothing of its maker, in the session that asked', async () => {
  const { visitor, device } = await holder();
  const { visitor: other } = await holder();
  const path = '/portal/passkeys';
  const not = /No passkey was added: the browser’s response was not valid/;
  assert.match((await addPasskey(other, device)).html, not, 'it is another user’s already');
  const fresh = softwareDevice(origin);
  for (const lies of [{ verified: false }, { origin: 'https://evil.example' }, { rpId: 'x' }, { format: 'apple' }]) {
    const passkey = fresh.make(await optionsFrom(visitor, path), lies);
    assert.match((await sendForm(visitor, path, { passkey, name: 'x' })).html, not, JSON.stringify(lies));
  }
  const passkey = fresh.make(await optionsFrom(other, path));
  assert.match((await sendForm(visitor, path, { passkey, name: 'x' })).html, not, 'asked in another session');
  const mine = fresh.make(await optionsFrom(visitor, path));
  assert.match((await sendForm(visitor, path, { passkey: mine, name: 'x' })).html, /The passkey was added/);
  assert.match((await sendForm(visitor, path, { passkey: mine, name: 'x' })).html, tooLate);
});

test('Nobody takes a passkey of somebody else away, and forms of another site change nothing', async () => {
  const { user, visitor, device } = await holder();
  const other = await holder();
  const [row] = await app.db.sql`select id from passkeys where user_id = ${user.id}`;
  await sendForm(other.visitor, '/portal/passkeys/remove', { id: row?.id });
  for (const path of ['/portal/passkeys', '/portal/passkeys/remove', '/portal/passkeys/confirm']) {
    const answer = await visit(app.url + path, {
      method: 'POST',
      body: new URLSearchParams({ id: row?.id }),
      headers: { cookie: `portal-session=${visitor.cookies.get('portal-session')}`, 'sec-fetch-site': 'cross-site' },
    });
    assert.equal(answer.status, 403, path);
  }
  const answer = device.show(await optionsFrom(visitor, '/portal/sign-in/passkey'));
  const foreign = await visit(`${app.url}/portal/sign-in/passkey`, {
    method: 'POST',
    body: new URLSearchParams({ passkey: answer }),
    headers: { 'sec-fetch-site': 'same-site' },
  });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.headers.get('set-cookie'), null);
  assert.ok(isInside((await enter(device)).page));
});

test('The sign-in page’s request for a passkey names no account', async () => {
  const { visitor } = await holder();
  for (const browser of [visitor, startVisitor(app.url)]) {
    const { challenge, ...options } = await optionsFrom(browser, '/portal/sign-in/passkey');
    assert.match(challenge, /^[\w-]{72}$/);
    assert.deepEqual(options, { rpId: 'localhost', timeout: 300_000, userVerification: 'required' });
  }
  for (const path of ['/portal/passkeys', '/portal/passkeys/confirm']) {
    assert.equal((await startVisitor(app.url).open(`${path}/options`)).status, 404);
  }
});

test('An owner takes away a colleague’s passkeys, not their own there; nobody else may, nor another partner’s owner', async () => {
  const colleague = await holder('viewer');
  const owner = await holder('owner');
  const stranger = await holder('owner', await makePartner(app.db));
  const kept = async () => (await app.db.sql`select from passkeys where user_id = ${colleague.user.id}`).length;
  const remove = (who: Visitor, user: string) => sendForm(who, '/portal/team/passkeys', { user });
  assert.equal((await remove(colleague.visitor, colleague.user.id)).status, 403);
  assert.match((await remove(stranger.visitor, colleague.user.id)).html, /This user does not exist here/);
  assert.equal((await remove(owner.visitor, owner.user.id)).status, 404);
  assert.equal(await kept(), 1);
  const team = await owner.visitor.open('/portal/team');
  const forms = team.forms.filter(({ action }) => action.startsWith('/portal/team/passkeys'));
  const form = forms.find(({ fields }) => fields.user === colleague.user.id);
  assert.ok(form);
  assert.ok(!forms.some(({ fields }) => fields.user === owner.user.id));
  const done = await owner.visitor.send({ ...team, forms: [form] }, form.action);
  assert.match(done.html, /Their passkeys were removed/);
  assert.equal(await kept(), 0);
  const [row] = await app.db.sql`
    select actor_name, details::text as details from audit_log
    where object_id = ${colleague.user.id} and action = 'passkeys.removed'`;
  assert.deepEqual(
    [row?.actor_name, JSON.parse(row?.details)],
    [owner.user.email, { email: colleague.user.email, passkeys: 1 }],
  );
  assert.match((await latestMail(app.db.sql, colleague.user.email))?.subject ?? '', /^Passkeys were removed/);
});

test('The command line takes passkeys away from an operator, and from the last owner of a partner', async () => {
  const run = (commands: Command[], name: string, options: Record<string, string>) =>
    commands.find((command) => command.name === name)?.run(app.ctx, { words: [], options });
  const { user, visitor } = await signInOperator(app);
  await addPasskey(visitor, softwareDevice(origin), '/admin');
  const there = await makePartner(app.db);
  const owner = (await holder('owner', there)).user;
  const portal = (email: string) =>
    run(portalCommands, 'portal passkeys remove', { partner: there.partner.slug, email });
  const admin = (email: string) => run(adminCommands, 'admin passkeys remove', { email });

  await assert.rejects(async () => portal(user.email), /This user does not exist here/);
  await assert.rejects(async () => admin(owner.email), /This user does not exist here/);
  assert.deepEqual(await admin(user.email.toUpperCase()), { email: user.email, removed: 1 });
  assert.equal((await admin(user.email))?.removed, 0);
  assert.equal((await portal(owner.email))?.removed, 1);
  const { link } = await invitePartnerUser(app.ctx, there, 'owner', owner.email);
  assert.ok(isInside(await acceptInvitation(startVisitor(app.url), link)), 'and the next link signs in');
  const rows = await app.db.sql`
    select partner_id, actor_kind from audit_log
    where action = 'passkeys.removed' and object_id in (${user.id}, ${owner.id}) order by at, partner_id`;
  assert.deepEqual(rows.map(({ partner_id, actor_kind }) => [partner_id, actor_kind]).sort(), [
    [noPartner, 'command_line'],
    [there.partner.id, 'command_line'],
  ]);
});

test('A passkey without a name is called as its browser, and a name keeps to one short line', async () => {
  const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  const { user, visitor } = await signInPartnerUser(app, fixtures, 'viewer', { 'user-agent': agent });
  await addPasskey(visitor, softwareDevice(origin), '/portal', ' ');
  await addPasskey(visitor, softwareDevice(origin), '/portal', `\u0001<b>\n${'🔑'.repeat(99)}`);
  const rows = await app.db.sql`select name from passkeys where user_id = ${user.id} order by length(name)`;
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['Firefox, Linux', `<b>${'🔑'.repeat(57)}`],
  );
  assert.match((await visitor.open('/portal/sessions')).html, /&lt;b&gt;🔑/);
});

test('Passkeys are made for the base host, so that partners’ own hosts share them; not for an address without a name', () => {
  const at = (baseUrl: string, host: string | null | undefined) => relyingParty({ baseUrl }, host);
  const base = 'https://pay.example.com';
  assert.deepEqual(at(base, null), { id: 'pay.example.com', origin: base });
  assert.deepEqual(at(base, 'tills'), { id: 'pay.example.com', origin: 'https://tills.pay.example.com' });
  assert.deepEqual(at(`${base}:8443/x`, null), { id: 'pay.example.com', origin: `${base}:8443` });
  assert.deepEqual(at(origin, 'tills'), { id: 'tills.localhost', origin: 'http://tills.localhost:3000' });
  assert.equal(at(base, undefined), null);
  assert.equal(at('http://127.0.0.1:3000', null), null);
  assert.equal(at('http://127.0.0.1:3000', 'tills'), null);
  assert.equal(at('http://[::1]:3000', null), null);
});
