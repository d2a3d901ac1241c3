import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { latestMail } from '../../src/mail/outbox.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { acceptInvitation, inviteOperator, invitePartnerUser, isInside, newEmail } from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

/** Runs behind a proxy, so that each visitor has its own network. */
let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let nowMs = Date.parse('2026-11-21T12:00:00Z');
const minuteMs = 60_000;
const windowMs = 15 * minuteMs;

before(async () => {
  app = await startApp({ clock: { now: () => new Date(nowMs) }, config: testConfig({ trustProxy: ['127.0.0.0/8'] }) });
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

const from = (ip: string) => startVisitor(app.url, { 'x-forwarded-for': ip });
async function ask(visitor: Visitor, email: string, realm = '/portal'): Promise<'sent' | 'enough'> {
  const page = await visitor.send(await visitor.open(`${realm}/sign-in`), '/sign-in', { email });
  if (page.status === 429) {
    assert.match(page.html, /We have sent enough links to this address for now/);
    return 'enough';
  }
  assert.match(page.html, /Check your inbox/);
  return 'sent';
}
const askTimes = async (times: number, ip: string, email: string, realm?: string) => {
  const answers: string[] = [];
  for (let i = 0; i < times; i++) answers.push(await ask(from(ip), email, realm));
  return answers.filter((answer) => answer === 'sent').length;
};
const mailedLink = async (email: string) =>
  /http\S+\/link\/\S+/.exec((await latestMail(app.db.sql, email))?.body ?? '')?.[0] ?? '';
async function mailsTo(email: string): Promise<number> {
  const [row] = await app.db.sql`select count(*)::int as mails from mails where recipient = ${email}`;
  return row?.mails;
}
/** Moves past the limits that earlier tests used up. */
const nextDay = () => {
  nowMs += 25 * 60 * minuteMs;
};
/** A user who signed in once, long ago, and the browser used then. */
async function member(ip: string) {
  const { user, link } = await invitePartnerUser(app.ctx, fixtures);
  const visitor = from(ip);
  const portal = await acceptInvitation(visitor, link);
  await visitor.send(portal, '/portal/sign-out');
  nextDay();
  return { email: user.email, visitor };
}

async function operator(ip: string) {
  const { user, link } = await inviteOperator(app.ctx);
  const visitor = from(ip);
  await visitor.send(await acceptInvitation(visitor, link), '/admin/sign-out');
  nextDay();
  return { email: user.email, visitor };
}

test('A stranger who requests links for an address uses up none of its owner’s, who is on another network', async () => {
  const { email } = await member('192.0.2.1');
  assert.equal(await askTimes(8, '198.51.100.7', email), 5);
  const own = from('192.0.2.1');
  assert.equal(await ask(own, email), 'sent');
  const link = await mailedLink(email);
  assert.equal(
    await ask(from('198.51.100.200'), email),
    'enough',
    'another address of the same network is no way round',
  );
  assert.ok(isInside(await own.send(await own.open(link), new URL(link).pathname)));
});

test('However many networks strangers ask from, a browser that has signed in before still gets its links', async () => {
  const { email, visitor } = await member('192.0.2.1');
  const before = await mailsTo(email);
  let sent = 0;
  for (let network = 0; network < 8; network++) sent += await askTimes(5, `198.51.${network}.7`, email);
  assert.equal(sent, 20, 'the mailbox is not flooded');
  assert.equal((await mailsTo(email)) - before, 20);
  assert.equal(await ask(from('192.0.2.1'), email), 'enough', 'a browser that nobody knows');
  nowMs += minuteMs;
  for (let i = 0; i < 5; i++) assert.equal(await ask(visitor, email), 'sent');
  assert.equal(await ask(visitor, email), 'enough', 'nor by it');
  const link = await mailedLink(email);
  assert.ok(isInside(await visitor.send(await visitor.open(link), new URL(link).pathname)));
});

test('However many forms others at the same address send, a browser that has signed in before gets its links', async () => {
  for (const realm of ['/portal', '/admin']) {
    const place = '203.0.113.77';
    const { email, visitor } = realm === '/portal' ? await member(place) : await operator(place);
    const page = await from(place).open(`${realm}/sign-in`);
    const statuses: number[] = [];
    for (let sent = 0; sent < 11; sent++)
      statuses.push((await from(place).send(page, '/sign-in', { email: 'nobody' })).status);
    assert.deepEqual([statuses.at(-2), statuses.at(-1)], [400, 429]);
    assert.equal((await from(place).send(page, '/sign-in', { email })).status, 429, 'a browser that nobody knows');
    assert.equal(await ask(visitor, email, realm), 'sent');
    assert.equal((await visitor.send(page, '/sign-in', { email: newEmail() })).status, 429, 'nor for another address');
  }
});

test('Links that were requested before a flood still open in their browsers', async () => {
  const { email } = await member('192.0.2.1');
  const visitor = from('192.0.2.9');
  await ask(visitor, email);
  const link = await mailedLink(email);
  for (let network = 0; network < 5; network++) await askTimes(5, `198.51.${network}.7`, email);
  assert.equal(await ask(visitor, email), 'enough');
  assert.ok(isInside(await visitor.send(await visitor.open(link), new URL(link).pathname)));
});

test('One network sends an address twenty links a day and no more, known or not', async () => {
  const { email } = await member('192.0.2.1');
  for (const address of [email, newEmail()]) {
    let sent = 0;
    for (let round = 0; round < 6; round++) {
      sent += await askTimes(6, '203.0.113.5', address);
      nowMs += windowMs;
    }
    assert.equal(sent, 20);
    nextDay();
    assert.equal(await ask(from('203.0.113.5'), address), 'sent');
  }
});

test('No answer reveals whether an address is known, even after strangers have used up its links', async () => {
  const { email } = await member('192.0.2.1');
  const answersFor = async (address: string) => {
    const answers: string[] = [];
    for (let network = 0; network < 5; network++) {
      for (let i = 0; i < 6; i++) answers.push(await ask(from(`198.51.${network}.7`), address));
    }
    nowMs += minuteMs;
    return answers;
  };
  assert.deepEqual(await answersFor(email), await answersFor(newEmail()));
});

test('The proof that a browser is known is valid for its own address and realm only, cannot be forged, and ends after half a year', async () => {
  const { email, visitor } = await member('192.0.2.1');
  const proof = visitor.cookies.get('portal-browser') ?? '';
  assert.match(proof, /^[\w-]{72}$/);
  const other = newEmail();
  const operator = (await inviteOperator(app.ctx, email)).user.email;
  const flood = async (address: string, realm?: string) => {
    for (let network = 0; network < 4; network++) await askTimes(5, `198.51.${network}.7`, address, realm);
    nowMs += minuteMs;
  };
  const askWith = (cookie: string, value: string, address: string, realm?: string) => {
    const browser = from('192.0.2.200');
    browser.cookies.set(cookie, value);
    return ask(browser, address, realm);
  };
  await flood(email);
  await flood(other);
  await flood(operator, '/admin');
  assert.equal(await askWith('portal-browser', proof, email), 'sent');
  assert.equal(await askWith('portal-browser', proof, other), 'enough');
  assert.equal(await askWith('admin-browser', proof, operator, '/admin'), 'enough');
  const bytes = Buffer.from(proof, 'base64url');
  for (const at of [0, 17, 40]) {
    const forged = Buffer.from(bytes);
    forged[at] = (forged[at] ?? 0) ^ 1;
    assert.equal(await askWith('portal-browser', forged.toString('base64url'), email), 'enough', `byte ${at}`);
  }
  assert.equal(await askWith('portal-browser', 'x', email), 'enough');
  nowMs += 180 * 24 * 60 * minuteMs;
  await flood(email);
  assert.equal(await askWith('portal-browser', proof, email), 'enough');
});

test('A user whom a flood of requests locks out of a new browser signs in by another invitation', async () => {
  const { email } = await member('192.0.2.1');
  for (let network = 0; network < 4; network++) await askTimes(5, `198.51.${network}.7`, email);
  const { link } = await invitePartnerUser(app.ctx, fixtures, 'owner', email);
  assert.ok(isInside(await acceptInvitation(from('192.0.2.77'), link)));
});

test('addresses of one /24 or one /48 → counted as one network', async () => {
  const email = newEmail();
  assert.equal(await askTimes(3, '2001:db8:1:1::7', email), 3);
  assert.equal(await askTimes(3, '2001:db8:1:ffff::9', email), 2);
  assert.equal(await askTimes(3, '2001:db8:2::7', email), 3);
  assert.equal(await askTimes(3, '::ffff:198.51.100.7', email), 3);
  assert.equal(await askTimes(3, '198.51.100.9', email), 2);
});
