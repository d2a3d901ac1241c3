import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { roles } from '../../src/auth/roles.ts';
import { createUserSession, type PartnerUser, readUserSession, userScope } from '../../src/auth/user-session.ts';
import { buildServer } from '../../src/http/server.ts';
import { setPartnerDisabled } from '../../src/partners/settings.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { changeRole, setUserDisabled } from '../../src/users/change.ts';
import { inviteUser } from '../../src/users/invite.ts';
import { listUsers } from '../../src/users/read.ts';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { visit } from '../support/people/forms.ts';
import { makeOnboarded, signInMerchant, signOn } from '../support/people/merchants.ts';
import {
  acceptInvitation,
  inviteOperator,
  invitePartnerUser,
  isInside,
  newEmail,
  onHost,
  signInOperator,
  signInPartnerUser,
} from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
/** Another node on the same database. */
let other: { url: string; stop(): Promise<void> };
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let nowMs = Date.parse('2026-11-21T12:00:00Z');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const commandLine = { kind: 'command_line' } as const;

before(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) } });
  const node = await buildServer({ ...app.ctx });
  other = { url: await node.listen({ host: '127.0.0.1', port: 0 }), stop: () => node.close() };
  fixtures = await makePartner(app.db);
});
after(async () => {
  await other.stop();
  await app.stop();
});

const token = (visitor: Visitor, realm = 'portal') => visitor.cookies.get(`${realm}-session`) ?? '';
const inside = async (visitor: Visitor, path = '/portal/sessions') => isInside(await visitor.open(path));
/** Another browser with the same cookies, on another node or host. */
function elsewhere(visitor: Visitor, url: string, headers: Record<string, string> = {}): Visitor {
  const copy = startVisitor(url, headers);
  for (const [name, value] of visitor.cookies) copy.cookies.set(name, value);
  return copy;
}

test('A session of a partner’s user ends after 12 hours without a call, and after 7 days at the latest', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  nowMs += 12 * hourMs - 1;
  assert.equal(await inside(visitor), true);
  nowMs += 12 * hourMs;
  assert.equal(await inside(visitor), false);

  const busy = (await signInPartnerUser(app, fixtures)).visitor;
  for (let passed = 0; passed + 6 * hourMs < 7 * 24 * hourMs; passed += 6 * hourMs) {
    nowMs += 6 * hourMs;
    assert.equal(await inside(busy), true, `${passed / hourMs} h`);
  }
  nowMs += 6 * hourMs;
  assert.equal(await inside(busy), false);
});

test('A session of an operator ends after 30 minutes without a call, and after 8 hours at the latest', async () => {
  const { visitor } = await signInOperator(app);
  nowMs += 30 * minuteMs - 1;
  assert.equal(await inside(visitor, '/admin'), true);
  nowMs += 30 * minuteMs;
  assert.equal(await inside(visitor, '/admin'), false);

  const busy = (await signInOperator(app)).visitor;
  for (let passed = 20 * minuteMs; passed < 8 * hourMs; passed += 20 * minuteMs) {
    nowMs += 20 * minuteMs;
    assert.equal(await inside(busy, '/admin'), true, `${passed / minuteMs} min`);
  }
  nowMs += 20 * minuteMs;
  assert.equal(await inside(busy, '/admin'), false);
});

test('Signing in makes a new session, and the one that the browser held before is over', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  const first = token(visitor);
  const copy = elsewhere(visitor, app.url);
  const { link } = await invitePartnerUser(app.ctx, fixtures);
  await acceptInvitation(visitor, link);
  assert.notEqual(token(visitor), first);
  assert.deepEqual([await inside(visitor), await inside(copy)], [true, false]);
});

test('Sessions that ended more than 30 days ago are deleted at the next sign-in', async () => {
  const { user } = await signInPartnerUser(app, fixtures, 'viewer');
  const kept = async () => (await app.db.sql`select from sessions where user_id = ${user.id}`).length;
  const again = async () =>
    acceptInvitation(startVisitor(app.url), (await invitePartnerUser(app.ctx, fixtures, 'viewer', user.email)).link);
  nowMs += 30 * 24 * hourMs;
  await again();
  assert.equal(await kept(), 2);
  nowMs += 1;
  await again();
  assert.equal(await kept(), 2);
});

test('Signing out ends the session, not only the cookie', async () => {
  const { visitor, portal } = await signInPartnerUser(app, fixtures);
  const copy = elsewhere(visitor, app.url);
  const page = await visitor.send(portal, '/portal/sign-out');
  assert.match(page.html, /Sign in to the portal/);
  assert.deepEqual([token(visitor), await inside(copy)], ['', false]);
  const admin = await signInOperator(app);
  const copied = elsewhere(admin.visitor, app.url);
  assert.match((await admin.visitor.send(admin.admin, '/admin/sign-out')).html, /Sign in to administration/);
  assert.equal(await inside(copied, '/admin'), false);
});

test('Sessions are listed with browser and address, and one that is ended is dead at the next call on every node', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures, 'viewer', { 'user-agent': 'Browser at home' });
  const { link } = await invitePartnerUser(app.ctx, fixtures, 'viewer', user.email);
  const phone = startVisitor(other.url, { 'user-agent': 'Phone' });
  await acceptInvitation(phone, link);
  const stranger = (await signInPartnerUser(app, fixtures, 'owner', { 'user-agent': 'Stranger' })).visitor;

  const list = await visitor.open('/portal/sessions');
  assert.match(list.html, /Browser at home/);
  assert.match(list.html, /Phone/);
  assert.match(list.html, /127\.0\.0\.1/);
  assert.ok(!list.html.includes('Stranger'));
  const ends = list.forms.filter(({ action }) => action === '/portal/sessions/revoke');
  assert.equal(ends.length, 1, 'this browser is not offered: it has Sign out');

  const phoneSession = ends[0]?.fields.session ?? '';
  const strangers = await stranger.open('/portal/sessions');
  const forged = { ...strangers, forms: [{ action: '/portal/sessions/revoke', fields: { session: phoneSession } }] };
  await stranger.send(forged, '/revoke');
  assert.equal(await inside(phone), true, 'nobody ends the session of another');

  const after = await visitor.send(list, '/revoke');
  assert.match(after.html, /The other browser is signed out/);
  assert.equal(await inside(phone), false);
  assert.equal(await inside(elsewhere(phone, app.url)), false);
  assert.equal(await inside(visitor), true);
  const rows = await app.db.sql`
    select actor_name, object_id from audit_log
    where partner_id = ${fixtures.partner.id} and action = 'session.revoked' order by number desc limit 1`;
  assert.deepEqual([...rows], [{ actor_name: user.email, object_id: phoneSession }]);
});

test('A session that has ended by itself is ended from a page that still lists it → the log does not say that it was', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures);
  const client = { ip: '192.0.2.9', userAgent: 'Phone' };
  await createUserSession(app.ctx, app.db.sql, { id: user.id, partnerId: fixtures.partner.id }, client, null);
  const list = await visitor.open('/portal/sessions');
  const phone = list.forms.find(({ action }) => action === '/portal/sessions/revoke')?.fields.session ?? '';
  for (const hours of [11, 2]) {
    nowMs += hours * hourMs;
    assert.ok(isInside(await visitor.open('/portal')));
  }
  await visitor.send(list, '/revoke');
  const { count } = await app.db.sql`
    select from audit_log where object_id = ${phone} and action = 'session.revoked'`;
  assert.equal(count, 0);
});

test('a form sent from another site with a session → changes nothing', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  const operator = (await signInOperator(app)).visitor;
  const own = await readUserSession(app.ctx, 'partner_user', token(visitor), null, true);
  const operators = await readUserSession(app.ctx, 'operator', token(operator, 'admin'), null, true);
  const cases: [Visitor, string, string | undefined][] = [
    [visitor, '/portal/sign-out', undefined],
    [visitor, '/portal/sessions/revoke', own?.sessionId],
    [operator, '/admin/sign-out', undefined],
    [operator, '/admin/sessions/revoke', operators?.sessionId],
  ];
  for (const [who, path, session = ''] of cases) {
    const answer = await visit(app.url + path, {
      method: 'POST',
      body: new URLSearchParams({ session }),
      headers: { cookie: [...who.cookies].map((pair) => pair.join('=')).join('; '), 'sec-fetch-site': 'cross-site' },
    });
    assert.equal(answer.status, 403, path);
  }
  assert.deepEqual([await inside(visitor), await inside(operator, '/admin')], [true, true]);
});

test('A session works on the shared host and on its partner’s own, on no other host and in no other realm', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  const second = await makePartner(app.db);
  const at = (headers: Record<string, string>) => inside(elsewhere(visitor, app.url, headers));
  assert.equal(await at(onHost(fixtures.partner)), true);
  assert.equal(await at({ host: 'localhost:3000' }), true);
  assert.equal(await at(onHost(second.partner)), false);
  assert.equal(await at({ host: 'example.com' }), false);
  assert.equal(await inside(visitor, '/admin'), false);

  const operator = await signInOperator(app);
  assert.equal(await inside(operator.visitor, '/admin'), true);
  assert.equal(await inside(elsewhere(operator.visitor, app.url, onHost(fixtures.partner)), '/admin'), false);
  assert.equal(await inside(operator.visitor, '/portal'), false);
});

test('A merchant’s session opens neither portal nor administration, nor theirs the dashboard', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor: seller, dashboard } = await signInMerchant(app.url, merchant.account);
  assert.equal(dashboard.status, 200);
  assert.deepEqual([await inside(seller, '/portal'), await inside(seller, '/admin')], [false, false]);
  const { visitor } = await signInPartnerUser(app, fixtures);
  const operator = await signInOperator(app);
  for (const who of [visitor, operator.visitor]) {
    assert.match((await who.open('/dashboard')).html, /Sign in to your dashboard/);
  }
});

test('One browser is merchant, partner’s user and operator at once, and signing out of one leaves the others', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, merchant.account);
  await acceptInvitation(visitor, (await invitePartnerUser(app.ctx, fixtures)).link);
  await acceptInvitation(visitor, (await inviteOperator(app.ctx)).link);
  const isIn = async () => ({
    dashboard: (await visitor.open('/dashboard')).html.includes('action="/dashboard/sign-out"'),
    portal: await inside(visitor),
    admin: await inside(visitor, '/admin'),
  });
  assert.deepEqual(await isIn(), { dashboard: true, portal: true, admin: true });
  await visitor.send(await visitor.open('/portal/sessions'), '/portal/sign-out');
  assert.deepEqual(await isIn(), { dashboard: true, portal: false, admin: true });
  await visitor.send(await visitor.open('/dashboard'), '/dashboard/sign-out');
  assert.deepEqual(await isIn(), { dashboard: false, portal: false, admin: true });
  const link = (await invitePartnerUser(app.ctx, fixtures)).link;
  await acceptInvitation(visitor, link);
  assert.deepEqual(await isIn(), { dashboard: false, portal: true, admin: true });
  await visitor.send(await visitor.open('/admin'), '/admin/sign-out');
  assert.deepEqual(await isIn(), { dashboard: false, portal: true, admin: false });
});

test('a session token under another realm’s cookie → not signed in; a cookie with an unknown name → ignored', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  visitor.cookies.set('admin-session', token(visitor));
  visitor.cookies.set('dashboard-session', token(visitor));
  visitor.cookies.set('session', token(visitor));
  assert.equal(await inside(visitor, '/admin'), false);
  assert.match((await visitor.open('/dashboard')).html, /Sign in to your dashboard/);
  assert.equal(await inside(visitor), true);
});

test('A merchant who signs in again ends the browser’s previous session', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, merchant.account);
  const copy = elsewhere(visitor, app.url);
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  visitor.cookies.delete('dashboard-session');
  const start = await visitor.open('/dashboard/sign-in');
  const page = await visitor.send(start, '/wallet', { wallet_address: account.address });
  visitor.cookies.set('dashboard-session', token(copy, 'dashboard'));
  assert.match((await signOn(visitor, page, account)).html, /sign-out/);
  assert.match((await copy.open('/dashboard')).html, /Sign in to your dashboard/);
});

test('A disabled user’s sessions end at once on every node, and stay ended when the user is enabled again', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures, 'developer');
  const copy = elsewhere(visitor, other.url);
  assert.equal(await inside(copy), true);
  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: user.id, disabled: true });
  assert.deepEqual([await inside(visitor), await inside(copy)], [false, false]);
  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: user.id, disabled: false });
  assert.deepEqual([await inside(visitor), await inside(copy)], [false, false]);
  const operator = await signInOperator(app);
  await setUserDisabled(app.ctx, commandLine, 'operators', { userId: operator.user.id, disabled: true });
  assert.equal(await inside(operator.visitor, '/admin'), false);
});

test('A sign-in that is stored just after its user was disabled → opens nothing', async () => {
  for (const { user, visitor, path } of [
    { ...(await signInPartnerUser(app, fixtures, 'developer')), path: undefined },
    { ...(await signInOperator(app)), path: '/admin' },
  ]) {
    await app.ctx.db.sql`update users set disabled_at = now() where id = ${user.id}`;
    assert.equal(await inside(visitor, path), false);
  }
});

test('While a partner is disabled, its users can sign in and read the portal, which says that it is disabled', async () => {
  const there = await makePartner(app.db);
  const { visitor } = await signInPartnerUser(app, there);
  await setPartnerDisabled(app.ctx, theService, there.partner.slug, true);
  const { html } = await visitor.open('/portal/sessions');
  assert.match(html, /is disabled\. You can look things up/);
  const places = [...html.matchAll(/<li><a href="(\/portal\/?[a-z]*)"/g)].map(([, place = '']) => place);
  assert.ok(places.includes('/portal/requests'), html);
  const isOpen = async (place: string) => (await visitor.open(place)).status === 200;
  assert.deepEqual(
    await Promise.all(places.map(isOpen)),
    places.map(() => true),
    'what is closed is not offered',
  );
  const closed = await visitor.open('/portal/settings');
  assert.equal(closed.status, 403);
  assert.match(closed.html, /<h1>Not available while .+ is disabled<\/h1>/);
  const late = await signInPartnerUser(app, there);
  assert.equal(isInside(late.portal), true);
  const session = await readUserSession(app.ctx, 'partner_user', token(late.visitor), null, true);
  assert.equal(session?.partner.disabled, true);
});

test('a role is changed → it applies to existing sessions at their next call', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures, 'viewer');
  const roleNow = async () => (await readUserSession(app.ctx, 'partner_user', token(visitor), null, true))?.role;
  assert.equal(await roleNow(), 'viewer');
  await changeRole(app.ctx, commandLine, fixtures.test, { userId: user.id, role: 'developer' });
  assert.equal(await roleNow(), 'developer');
});

test('The mode is test until live is chosen, and the scope follows it', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  const banner = /Test mode\./;
  assert.match((await visitor.open('/portal/sessions')).html, banner);
  assert.doesNotMatch((await visitor.open('/portal/sessions?mode=live')).html, banner);
  assert.doesNotMatch((await visitor.open('/portal/sessions')).html, banner, 'it is kept');
  assert.doesNotMatch((await visitor.open('/portal/sessions?mode=nonsense')).html, banner);
  assert.match((await visitor.open('/portal/sessions?mode=test')).html, banner);
  const user = (await readUserSession(app.ctx, 'partner_user', token(visitor), null, true)) as PartnerUser;
  assert.deepEqual({ ...userScope(user, 'test') }, { ...fixtures.test });
  assert.deepEqual({ ...userScope(user, 'live') }, { ...fixtures.live });
});

test('a forged, malformed or empty session token → not signed in', async () => {
  for (const value of [null, '', 'x', 'A'.repeat(43), 'A'.repeat(5000)]) {
    for (const path of ['/portal', '/portal/sessions', '/admin', '/admin/sessions', '/dashboard']) {
      const cookie = `${path.split('/')[1]}-session=${value}`;
      const answer = await visit(app.url + path, { headers: value === null ? {} : { cookie } });
      assert.equal(answer.status, 303, `${path} with ${cookie.slice(0, 60)}`);
      assert.match(answer.headers.get('location') ?? '', /^\/(portal|admin|dashboard)\/sign-in$/);
    }
  }
});

test('A partner always keeps an owner who can sign in, however many changes come at once', async () => {
  const there = await makePartner(app.db);
  const owner = (await signInPartnerUser(app, there)).user;
  const lastOwner = { reason: 'last_owner' };
  await assert.rejects(changeRole(app.ctx, commandLine, there.test, { userId: owner.id, role: 'viewer' }), lastOwner);
  await assert.rejects(
    setUserDisabled(app.ctx, commandLine, there.test, { userId: owner.id, disabled: true }),
    lastOwner,
  );
  const second = (await signInPartnerUser(app, there)).user;
  const results = await Promise.allSettled([
    changeRole(app.ctx, commandLine, there.test, { userId: owner.id, role: 'developer' }),
    setUserDisabled(app.ctx, commandLine, there.test, { userId: second.id, disabled: true }),
  ]);
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const users = await listUsers(app.ctx, there.live);
  assert.equal(users.filter(({ role, disabled_at }) => role === 'owner' && !disabled_at).length, 1);
});

test('two operators disable each other at the same moment → one of them stays enabled', async () => {
  for (let round = 0; round < 5; round++) {
    const [one, two] = [(await inviteOperator(app.ctx)).user, (await inviteOperator(app.ctx)).user];
    const by = ({ id, email }: typeof one) =>
      ({ kind: 'operator', userId: id, email, role: null, ip: '127.0.0.1', userAgent: undefined }) as const;
    const results = await Promise.allSettled([
      setUserDisabled(app.ctx, by(one), 'operators', { userId: two.id, disabled: true }),
      setUserDisabled(app.ctx, by(two), 'operators', { userId: one.id, disabled: true }),
    ]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const left = (await listUsers(app.ctx, 'operators')).filter(({ id }) => id === one.id || id === two.id);
    assert.equal(left.filter(({ disabled_at }) => disabled_at === null).length, 1);
  }
});

test('users of another partner, or operators → cannot be seen or changed from a portal', async () => {
  const there = await makePartner(app.db);
  const { user } = await invitePartnerUser(app.ctx, there);
  const operator = (await inviteOperator(app.ctx)).user;
  for (const id of [user.id, operator.id]) {
    await assert.rejects(changeRole(app.ctx, commandLine, fixtures.test, { userId: id, role: 'viewer' }), {
      reason: 'user_unknown',
    });
    await assert.rejects(setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: id, disabled: true }), {
      reason: 'user_unknown',
    });
  }
  assert.deepEqual(
    (await listUsers(app.ctx, there.test)).map(({ id }) => id),
    [user.id],
  );
  const seen = await app.db.scoped(
    fixtures.test,
    (tx) => tx`select from users where id in (${user.id}, ${operator.id})`,
  );
  assert.equal(seen.length, 0);
  assert.ok(
    (await listUsers(app.ctx, 'operators')).every(({ partner_id, role }) => partner_id === null && role === null),
  );
});

test('Invitations are refused for a malformed address, another role, a disabled user, and beyond ten a minute', async () => {
  const there = await makePartner(app.db);
  const words = wordsOf('en');
  const invite = (email: string, role: (typeof roles)[number] = 'viewer') =>
    inviteUser(app.ctx, commandLine, there.test, { email, role, place: 'Shop', host: null }, words);
  const email = newEmail();
  await invite(email);
  const mails = await app.db.sql`select count(*)::int as n from mails where recipient = ${email}`;
  await assert.rejects(invite('nobody'), { reason: 'email_invalid' });
  await assert.rejects(invite(email.toUpperCase(), 'owner'), { reason: 'role_differs' });
  const { user } = await invitePartnerUser(app.ctx, there, 'viewer');
  await setUserDisabled(app.ctx, commandLine, there.test, { userId: user.id, disabled: true });
  await assert.rejects(invite(user.email), { reason: 'user_disabled' });
  assert.deepEqual(await app.db.sql`select count(*)::int as n from mails where recipient = ${email}`, mails);
  const many = await Promise.allSettled(Array.from({ length: 25 }, () => invite(newEmail())));
  const refused = many.filter((one) => one.status === 'rejected' && one.reason.reason === 'too_many_invitations');
  assert.ok(refused.length >= 5, 'the minute may turn once meanwhile');
});
