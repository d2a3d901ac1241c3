import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { latestMail } from '../../src/mail/outbox.ts';
import { setUserDisabled } from '../../src/users/change.ts';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { visit } from '../support/people/forms.ts';
import {
  acceptInvitation,
  inviteOperator,
  invitePartnerUser,
  isInside,
  newEmail,
  onHost,
} from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
const startMs = Date.parse('2026-11-21T12:00:00Z');
let nowMs = startMs;
const minuteMs = 60_000;
before(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) } });
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

const commandLine = { kind: 'command_line' } as const;
let clients = 0;
/** Separate client addresses would need a proxy, so the clock moves on instead and resets the limit per client. */
function newVisitor(headers: Record<string, string> = {}): Visitor {
  if (++clients % 4 === 0) nowMs += minuteMs;
  return startVisitor(app.url, { 'user-agent': 'Browser 1', ...headers });
}

async function ask(visitor: Visitor, email: string, realm = '/portal') {
  return visitor.send(await visitor.open(`${realm}/sign-in`), `${realm}/sign-in`, { email });
}

async function mailedLink(email: string): Promise<string> {
  const mail = await latestMail(app.db.sql, email);
  return /http\S+\/link\/\S+/.exec(mail?.body ?? '')?.[0] ?? '';
}

async function mailsTo(email: string): Promise<number> {
  const [row] = await app.db.sql`select count(*)::int as mails from mails where recipient = ${email}`;
  return row?.mails;
}

/** A user who was invited and has already signed in elsewhere, so that only new links are open. */
async function member(role: 'owner' | 'viewer' = 'owner', of = fixtures) {
  const { user, link } = await invitePartnerUser(app.ctx, of, role);
  await acceptInvitation(newVisitor(), link);
  return user;
}

test('An address is typed, the link of the mail opens a page, and its button signs in', async () => {
  const { email, id } = await member();
  const visitor = newVisitor();
  const sent = await ask(visitor, `  ${email.toUpperCase()} `);
  assert.match(sent.html, /Check your inbox/);
  const mail = await latestMail(app.db.sql, email);
  assert.equal(mail?.subject, 'Your sign-in link for Quittance');
  assert.match(mail?.body ?? '', /expires in 15 minutes, works once/);
  const link = await mailedLink(email);
  assert.match(link, /^http:\/\/localhost:3000\/portal\/link\/[\w-]{43}$/);
  const page = await visitor.open(link);
  assert.equal(page.status, 200);
  assert.ok(page.html.includes(`Sign in as ${email.replace('@', '<wbr>@')}`));
  const portal = await visitor.send(page, new URL(link).pathname);
  assert.ok(isInside(portal));
  assert.ok(portal.html.includes(email));
  const [user] = await app.db.sql`select last_sign_in_at from users where id = ${id}`;
  assert.equal(user?.last_sign_in_at.getTime(), nowMs);
  const [row] = await app.db.sql`
    select actor_name, ip, user_agent from audit_log
    where partner_id = ${fixtures.partner.id} and object_id = ${id} and action = 'session.started' order by number desc limit 1`;
  assert.deepEqual({ ...row }, { actor_name: email, ip: '127.0.0.1', user_agent: 'Browser 1' });
});

test('Neither the token nor what binds the browser is stored, only their hashes; and the token is in no log', async () => {
  const { email } = await member();
  const visitor = newVisitor();
  await ask(visitor, email);
  const token = (await mailedLink(email)).split('/').at(-1) ?? '';
  const browser = visitor.cookies.get('sign-in') ?? '';
  assert.match(token, /^[\w-]{43}$/);
  assert.match(browser, /^[\w-]{43}$/);
  await visitor.send(await visitor.open(`/portal/link/${token}`), token);
  const session = visitor.cookies.get('portal-session') ?? '';
  assert.match(session, /^[\w-]{43}$/);
  const [rows] = await app.db.sql<{ text: string }[]>`
    select (select string_agg(l::text, ' ') from sign_in_links l) || (select string_agg(s::text, ' ') from sessions s)
      || (select string_agg(a::text, ' ') from audit_log a) as text`;
  for (const secret of [token, browser, session]) {
    assert.ok(!rows?.text.includes(secret));
    assert.ok(!rows?.text.includes(Buffer.from(secret).toString('hex')));
  }
});

test('Opening a link any number of times, as programs that scan mails do, does not use it up', async () => {
  const { email } = await member();
  const visitor = newVisitor();
  await ask(visitor, email);
  const link = await mailedLink(email);
  const path = new URL(link).pathname;
  for (let i = 0; i < 3; i++) {
    assert.equal((await visit(app.url + path)).status, 403, 'without the cookie');
    assert.equal((await visit(app.url + path, { method: 'HEAD' })).status, 403);
    assert.equal((await visitor.open(link)).status, 200);
  }
  assert.ok(isInside(await visitor.send(await visitor.open(link), path)));
});

test('a sign-in link that was used → does not sign in again, but leads back who is signed in', async () => {
  const { email } = await member();
  const visitor = newVisitor();
  await ask(visitor, email);
  const link = await mailedLink(email);
  const path = new URL(link).pathname;
  const page = await visitor.open(link);
  await visitor.send(page, path);
  const wayBack = /<a href="\/portal">Back to the overview<\/a>/;
  assert.match((await visitor.open(link)).html, wayBack, 'of somebody who is signed in');
  visitor.cookies.delete('portal-session');
  const again = await visitor.send(page, path);
  assert.equal(again.status, 410);
  assert.match(again.html, /This link has already been used/);
  assert.doesNotMatch(again.html, wayBack);
  assert.equal(visitor.cookies.has('portal-session'), false);
  assert.match((await visitor.open(link)).html, /This link has already been used/);

  await ask(visitor, email);
  const next = await mailedLink(email);
  const fresh = await visitor.open(next);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => startClone(visitor).send(fresh, new URL(next).pathname)),
  );
  const done = answers.filter(isInside);
  assert.equal(done.length, 1, 'of many at once, too');
});

/** Another tab of the same browser. */
function startClone(visitor: Visitor): Visitor {
  const clone = startVisitor(app.url);
  for (const [name, value] of visitor.cookies) clone.cookies.set(name, value);
  return clone;
}

test('A link opens only in the browser that requested it; another browser is offered a new one', async () => {
  const { email } = await member();
  const visitor = newVisitor();
  await ask(visitor, email);
  const link = await mailedLink(email);
  const path = new URL(link).pathname;
  const page = await visitor.open(link);
  const stranger = newVisitor();
  const other = newVisitor();
  await ask(other, newEmail());
  for (const browser of [stranger, other]) {
    const refused = await browser.open(link);
    assert.equal(refused.status, 403);
    assert.match(refused.html, /This link was requested in another browser/);
    const forced = await browser.send(page, path);
    assert.equal(forced.status, 403);
    assert.equal(browser.cookies.has('portal-session'), false);
  }
  const retry = await stranger.send(await stranger.open(link), '/portal/sign-in', { email });
  assert.match(retry.html, /Check your inbox/);
  const second = await mailedLink(email);
  assert.ok(isInside(await stranger.send(await stranger.open(second), new URL(second).pathname)));
  assert.ok(isInside(await visitor.send(await visitor.open(link), path)), 'the first one still works');
});

test('An invitation opens in any browser, once, for 15 minutes; after that, its page offers an ordinary link', async () => {
  const first = await invitePartnerUser(app.ctx, fixtures);
  assert.match((await latestMail(app.db.sql, first.user.email))?.subject ?? '', /You are invited to Corner Shops Ltd/);
  assert.equal(await mailedLink(first.user.email), first.link);
  const visitor = newVisitor();
  assert.ok(isInside(await acceptInvitation(visitor, first.link)));
  assert.equal((await newVisitor().open(first.link)).status, 410);

  const late = await invitePartnerUser(app.ctx, fixtures);
  nowMs += 15 * minuteMs - 1;
  assert.equal((await newVisitor().open(late.link)).status, 200);
  nowMs += 1;
  const tardy = newVisitor();
  const over = await tardy.open(late.link);
  assert.equal(over.status, 410);
  assert.match(over.html, /This link has expired/);
  await tardy.send(over, '/portal/sign-in', { email: late.user.email });
  const link = await mailedLink(late.user.email);
  assert.notEqual(link, late.link);
  assert.ok(isInside(await tardy.send(await tardy.open(link), new URL(link).pathname)));
});

test('a requested sign-in link older than 15 minutes → expired', async () => {
  const { email } = await member();
  const visitor = newVisitor();
  await ask(visitor, email);
  const link = await mailedLink(email);
  const page = await visitor.open(link);
  nowMs += 15 * minuteMs;
  const late = await visitor.send(page, new URL(link).pathname);
  assert.equal(late.status, 410);
  assert.equal(visitor.cookies.has('portal-session'), false);
});

test('Known, unknown, disabled and foreign addresses get the same answer to the byte, and only the known one a mail', async () => {
  const known = (await member()).email;
  const disabled = await member();
  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: disabled.id, disabled: true });
  const foreign = (await member('owner', await makePartner(app.db))).email;
  const operator = (await inviteOperator(app.ctx)).user.email;
  const before = new Map<string, number>();
  const all = [known, newEmail(), disabled.email, foreign, operator];
  for (const email of all) before.set(email, await mailsTo(email));
  const answers: string[] = [];
  for (const email of all) {
    nowMs += minuteMs;
    const visitor = startVisitor(app.url, onHost(fixtures.partner));
    const form = await visitor.open('/portal/sign-in');
    const answer = await visit(`${app.url}/portal/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email }),
      headers: { ...onHost(fixtures.partner), 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(answer.status, 303, form.html);
    const headers = [...answer.headers].filter(([name]) => !['date', 'x-request-id', 'set-cookie'].includes(name));
    answers.push(JSON.stringify([answer.status, headers, answer.html]));
    assert.match(
      answer.headers.get('set-cookie') ?? '',
      /^sign-in=[\w-]{43}; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/,
    );
  }
  assert.equal(new Set(answers).size, 1);
  const sent = await Promise.all(all.map(async (email) => (await mailsTo(email)) - (before.get(email) ?? 0)));
  assert.deepEqual(sent, [1, 0, 0, 0, 0]);
});

/** How many times as long as an unknown address a known one takes, by the medians of sixty each. */
async function ratioOfTimes(): Promise<number> {
  const took = { known: [] as number[], unknown: [] as number[] };
  let known = '';
  for (let i = 0; i < 60; i++) {
    if (i % 5 === 0) {
      nowMs += 16 * minuteMs;
      known = (await member()).email;
    }
    const emails = { known, unknown: newEmail() };
    // The order alternates, so that nothing that grows or warms up favours one kind.
    for (const kind of i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const began = performance.now();
      const answer = await visit(`${app.url}/portal/sign-in`, {
        method: 'POST',
        body: new URLSearchParams({ email: emails[kind] }),
      });
      took[kind].push(performance.now() - began);
      assert.equal(answer.status, 303);
    }
    if (i % 4 === 3) nowMs += minuteMs;
  }
  const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length / 2] ?? 0;
  return median(took.known) / median(took.unknown);
}

test('Known and unknown addresses take equally long', async () => {
  // Other load disturbs one measurement, but a real difference would show in each.
  const ratios: number[] = [];
  const isNear = (ratio = 0) => ratio > 0.75 && ratio < 1.33;
  while (!isNear(ratios.at(-1)) && ratios.length < 6) ratios.push(await ratioOfTimes());
  assert.ok(isNear(ratios.at(-1)), `known addresses took ${ratios} times as long`);
});

test('An address is sent five links in 15 minutes, known or not; a client asks ten times a minute', async () => {
  const { email } = await member();
  for (const address of [email, newEmail()]) {
    nowMs += 16 * minuteMs;
    const before = await mailsTo(address);
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(startVisitor(app.url), address)));
    assert.equal(answers.filter(({ html }) => html.includes('Check your inbox')).length, 5);
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 3);
    assert.match(refused[0]?.html ?? '', /We have sent enough links to this address for now/);
    assert.equal((await mailsTo(address)) - before, address === email ? 5 : 0);
    nowMs += 15 * minuteMs;
    assert.match((await ask(startVisitor(app.url), address)).html, /Check your inbox/);
  }
  nowMs += minuteMs;
  const visitor = startVisitor(app.url);
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) statuses.push((await ask(visitor, newEmail())).status);
  assert.deepEqual(statuses, [...Array(10).fill(200), 429]);
  nowMs += minuteMs;
});

test('An operator’s address that has had its links to the portal → is still sent one to the administration', async () => {
  const { email } = await member();
  await inviteOperator(app.ctx, email);
  nowMs += minuteMs;
  for (let asked = 0; asked < 5; asked++) await ask(startVisitor(app.url), email);
  assert.equal((await ask(startVisitor(app.url), email)).status, 429);
  assert.match((await ask(startVisitor(app.url), email, '/admin')).html, /Check your inbox/);
  assert.match(await mailedLink(email), /\/admin\/link\//);
  nowMs += minuteMs;
});

test('A text that is no e-mail address is refused at once and stays in the field', async () => {
  const visitor = newVisitor();
  for (const typed of [
    '',
    'ada',
    'ada@',
    'a b@example.com',
    'a@example.com,b@example.com',
    `${'x'.repeat(250)}@a.de`,
  ]) {
    const page = await ask(visitor, typed);
    assert.equal(page.status, 400, typed);
    assert.match(page.html, /This does not look like an e-mail address/);
    assert.equal(page.forms[0]?.fields.email, typed);
  }
  nowMs += minuteMs;
});

test('a form sent from another site → changes nothing', async () => {
  const { email } = await member();
  const visitor = newVisitor();
  await ask(visitor, email);
  const link = await mailedLink(email);
  const { pathname } = new URL(link);
  const { forms } = await visitor.open(link);
  const cookie = `sign-in=${visitor.cookies.get('sign-in')}`;
  const mails = await mailsTo(email);
  const foreign: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
  ];
  for (const headers of foreign) {
    for (const [path, body] of [
      ['/portal/sign-in', { email }],
      ['/admin/sign-in', { email }],
      [pathname, { user: forms[0]?.fields.user ?? '' }],
    ] as const) {
      const answer = await visit(app.url + path, {
        method: 'POST',
        body: new URLSearchParams(body),
        headers: { cookie, ...headers },
      });
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.match(answer.html, /This form came from another site/);
    }
  }
  assert.equal(await mailsTo(email), mails);
  assert.ok(isInside(await visitor.send(await visitor.open(link), pathname)));
});

test('A user of several partners chooses one on the shared host; a partner’s own host needs no choice', async () => {
  const other = await makePartner(app.db);
  await app.db.sql`update partners set name = 'Second Street Books' where id = ${other.partner.id}`;
  const email = newEmail();
  await invitePartnerUser(app.ctx, fixtures, 'viewer', email);
  await invitePartnerUser(app.ctx, other, 'owner', email);
  const visitor = newVisitor();
  await ask(visitor, email);
  const link = await mailedLink(email);
  const page = await visitor.open(link);
  // Their slugs too: a partner chooses its name, so it could be called like another one.
  const [one, two] = [fixtures.partner.slug, other.partner.slug];
  const choice = `Sign in to Corner Shops Ltd \\(${one}\\)[\\s\\S]*Sign in to Second Street Books \\(${two}\\)`;
  assert.match(page.html, new RegExp(choice));
  const second = page.forms.filter(({ action }) => action.includes('/link/'))[1];
  assert.ok(second);
  const portal = await visitor.send({ ...page, forms: [second] }, new URL(link).pathname);
  assert.match(portal.html, /Second Street Books[\s\S]*Owner/);

  const own = newVisitor(onHost(fixtures.partner));
  await ask(own, email);
  const mail = await latestMail(app.db.sql, email);
  assert.equal(mail?.subject, 'Your sign-in link for Corner Shops Ltd');
  const ownLink = await mailedLink(email);
  assert.ok(ownLink.startsWith(`http://${fixtures.partner.slug}.localhost:3000/portal/link/`), ownLink);
  const ownPage = await own.open(ownLink);
  assert.ok(!ownPage.html.includes('Second Street Books'));
  const foreign = { ...ownPage, forms: [{ action: new URL(ownLink).pathname, fields: second.fields }] };
  const refused = await own.send(foreign, new URL(ownLink).pathname);
  assert.ok(!isInside(refused), 'nor does a form that names a user of another partner');
  assert.match((await own.send(ownPage, new URL(ownLink).pathname)).html, /Corner Shops Ltd[\s\S]*Viewer/);
});

test('An invitation from a partner that is called like another names the slug of the one it is from', async () => {
  const alike = await makePartner(app.db);
  await app.db.sql`update partners set name = 'Corner Shops Ltd' where id = ${alike.partner.id}`;
  const email = newEmail();
  await invitePartnerUser(app.ctx, fixtures, 'owner', email);
  const { link } = await invitePartnerUser(app.ctx, alike, 'owner', email);
  assert.match(
    (await newVisitor().open(link)).html,
    new RegExp(`Sign in to Corner Shops Ltd \\(${alike.partner.slug}\\)`),
  );
});

test('A user is sent five invitations in 15 minutes, whoever invites; then no more for a while', async () => {
  const { user } = await invitePartnerUser(app.ctx, fixtures);
  const again = () => invitePartnerUser(app.ctx, fixtures, 'owner', user.email);
  for (let i = 2; i <= 5; i++) await again();
  const before = await latestMail(app.db.sql, user.email);
  await assert.rejects(again, { reason: 'invited_enough' });
  assert.equal((await latestMail(app.db.sql, user.email))?.id, before?.id);
  nowMs += 15 * minuteMs + 1;
  await again();
  assert.notEqual((await latestMail(app.db.sql, user.email))?.id, before?.id);
  // A quarter of an hour helps until the day's twenty are used up. An operator has no other limit for one mailbox.
  const { user: operator } = await inviteOperator(app.ctx);
  for (let i = 2; i <= 20; i++) {
    if (i % 5 === 1) nowMs += 15 * minuteMs + 1;
    await inviteOperator(app.ctx, operator.email);
  }
  nowMs += 15 * minuteMs + 1;
  await assert.rejects(inviteOperator(app.ctx, operator.email), { reason: 'invited_today' });
});

test('A partner invites one mailbox twenty times a day, under whichever of its addresses; other mailboxes and partners’ still', async () => {
  const flooding = await makePartner(app.db);
  const name = `victim-${randomBytes(4).toString('hex')}`;
  const invite = (address: string, by = flooding) => invitePartnerUser(app.ctx, by, 'viewer', address);
  for (let i = 1; i <= 20; i++) await invite(`${name}+${i}@example.com`);
  for (const address of [`${name}+21@example.com`, `${name}@example.com`, `${name.replace('-', '.-')}@EXAMPLE.com`])
    await assert.rejects(invite(address), { reason: 'invited_today' }, address);
  assert.equal(await latestMail(app.db.sql, `${name}+21@example.com`), null);
  await invite(newEmail());
  await invite(`${name}+21@example.com`, fixtures);
});

test('a link for another realm, host or invitation → opens nothing', async () => {
  const { user, link } = await invitePartnerUser(app.ctx, fixtures);
  const token = link.split('/').at(-1);
  const other = await makePartner(app.db);
  const operator = await inviteOperator(app.ctx);
  const operatorToken = operator.link.split('/').at(-1);
  assert.equal((await newVisitor().open(`/admin/link/${token}`)).status, 404);
  assert.equal((await newVisitor().open(`/portal/link/${operatorToken}`)).status, 404);
  assert.equal((await newVisitor(onHost(other.partner)).open(link)).status, 404);
  assert.equal((await newVisitor(onHost(fixtures.partner)).open(operator.link)).status, 404);
  assert.equal((await newVisitor(onHost(fixtures.partner)).open(link)).status, 200);
  const page = await newVisitor().open(link);
  for (const fields of [{ user: operator.user.id }, { user: 'x' }, {}] as Record<string, string>[]) {
    const forged = { ...page, forms: [{ action: new URL(link).pathname, fields }] };
    const visitor = newVisitor();
    await visitor.send(forged, new URL(link).pathname);
    assert.equal(visitor.cookies.has('portal-session'), false);
  }
  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: (await member()).id, disabled: true });
  const last = newVisitor();
  assert.match((await last.send(page, new URL(link).pathname)).html, new RegExp(user.email));
});

test('One address is an operator’s and a partner’s user’s → a link of one realm signs in to that one only', async () => {
  const user = await member('viewer');
  const operator = await inviteOperator(app.ctx, user.email);
  const visitor = newVisitor();
  await ask(visitor, user.email);
  const link = await mailedLink(user.email);
  const page = await visitor.open(link);
  assert.equal(page.forms.filter(({ action }) => action.includes('/link/')).length, 1);
  const forged = { ...page, forms: [{ action: new URL(link).pathname, fields: { user: operator.user.id } }] };
  await visitor.send(forged, new URL(link).pathname);
  await ask(visitor, user.email, '/admin');
  const moved = new URL(await mailedLink(user.email)).pathname.replace('/admin/', '/portal/');
  await visitor.send({ ...page, forms: [{ action: moved, fields: { user: user.id } }] }, moved);
  assert.deepEqual([visitor.cookies.has('portal-session'), visitor.cookies.has('admin-session')], [false, false]);
  assert.ok(isInside(await visitor.send(page, new URL(link).pathname)));
});

test('A user who is disabled after a link was sent cannot sign in with it', async () => {
  const user = await member('viewer');
  const visitor = newVisitor();
  await ask(visitor, user.email);
  const link = await mailedLink(user.email);
  const page = await visitor.open(link);
  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: user.id, disabled: true });
  const refused = await visitor.send(page, new URL(link).pathname);
  assert.equal(refused.status, 404);
  assert.equal(visitor.cookies.has('portal-session'), false);
});

test('Unknown and malformed tokens open a page with the way to a new link', async () => {
  for (const token of ['x', 'A'.repeat(43), 'A'.repeat(99), '%00', '..%2f..']) {
    const page = await newVisitor().open(`/portal/link/${token}`);
    assert.equal(page.status, 404, token);
    assert.match(page.html, /This link is not valid|Page not found/);
  }
});

test('Operators sign in on the shared host only, and nobody on a host that is no partner’s', async () => {
  const { user } = await inviteOperator(app.ctx);
  const visitor = newVisitor();
  await ask(visitor, user.email, '/admin');
  const link = await mailedLink(user.email);
  assert.match(link, /^http:\/\/localhost:3000\/admin\/link\//);
  const page = await visitor.open(link);
  assert.ok(isInside(await visitor.send(page, new URL(link).pathname)));
  for (const path of ['/admin/sign-in', '/admin/sign-in/sent', new URL(link).pathname]) {
    assert.equal((await visit(app.url + path, { headers: onHost(fixtures.partner) })).status, 404, path);
  }
  for (const host of ['nobody.localhost', 'example.com', 'a.b.localhost']) {
    assert.equal((await visit(`${app.url}/portal/sign-in`, { headers: { host } })).status, 404, host);
    const sent = await visit(`${app.url}/portal/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email: user.email }),
      headers: { host },
    });
    assert.equal(sent.status, 404, host);
  }
});

test('Over https the cookies are Secure and bound to their host, and those of a neighbouring host are not taken for them', async () => {
  const config = { ...app.ctx.config, baseUrl: 'https://pay.example.com', payUrl: 'https://pay.example.com/pay' };
  const secure = await startApp({ config });
  try {
    const there = await makePartner(secure.db);
    const { link } = await invitePartnerUser(secure.ctx, there);
    const host = 'pay.example.com';
    const visitor = startVisitor(secure.url, { host });
    const page = await visitor.open(link);
    const answer = await visit(secure.url + new URL(link).pathname, {
      method: 'POST',
      body: new URLSearchParams(page.forms[0]?.fields),
      headers: { host },
    });
    const [session, browser, ...more] = answer.headers.getSetCookie();
    assert.match(
      session ?? '',
      /^__Host-portal-session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.match(
      browser ?? '',
      /^__Host-portal-browser=[\w-]{72}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.deepEqual(more, []);
    const opened = async (cookie: string) =>
      (await visit(`${secure.url}/portal`, { headers: { host, cookie } })).status === 200;
    const [own = ''] = session?.split(';') ?? [];
    assert.equal(await opened(`first=1; ${own}`), true);
    // Browsers do not see these names to begin with the prefix, so a neighbouring host can set them for this one.
    for (const before of ['\u00a0', 'first=1; \u00a0', '\t\u00a0', '=', '\u0085']) {
      assert.equal(await opened(before + own), false, JSON.stringify(before));
    }
    const asked = await visit(`${secure.url}/portal/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email: newEmail() }),
      headers: { host },
    });
    assert.match(
      asked.headers.get('set-cookie') ?? '',
      /^__Host-sign-in=[\w-]{43}; .*; HttpOnly; SameSite=Lax; Secure$/,
    );
  } finally {
    await secure.stop();
  }
});
