import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { getAddress } from 'viem';
import { theService } from '../../src/audit/write.ts';
import { knownBrowser } from '../../src/auth/known-browser.ts';
import { createMerchantSession, readMerchantSession } from '../../src/auth/merchant-session.ts';
import { createShell } from '../../src/merchants/create.ts';
import { setMerchantDisabled } from '../../src/merchants/disable.ts';
import { makeOnboardingToken, onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { resetOnboarding } from '../../src/onboarding/reset.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makePartner, testSecrets } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { visit } from '../support/people/forms.ts';
import { makeOnboarded, messageOn, newAccount, signInMerchant, signOn } from '../support/people/merchants.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

const hour = 3_600_000;
let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };
let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;

before(async () => {
  app = await startApp({ clock });
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

/** Whether a browser still sees the dashboard. */
const isIn = (page: { html: string }) => page.html.includes('action="/dashboard/sign-out"');

test('A merchant signs in by its wallet, sees its dashboard, and signs out', async () => {
  const { id, account, wallet } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor, dashboard } = await signInMerchant(app.url, account);
  assert.equal(dashboard.status, 200);
  assert.ok(isIn(dashboard));
  for (const text of ['Ada’s Bakery', getAddress(wallet), id, 'Corner Shops Ltd', 'Test mode.']) {
    assert.ok(dashboard.html.includes(text), text);
  }
  assert.ok(isIn(await visitor.open('/dashboard/sign-in')), 'who is signed in need not sign in');
  const token = visitor.cookies.get('dashboard-session') ?? '';
  const out = await visitor.send(dashboard, '/sign-out');
  assert.match(out.html, /Sign in to your dashboard/);
  visitor.cookies.set('dashboard-session', token);
  assert.ok(!isIn(await visitor.open('/dashboard')), 'the token is dead, not only forgotten');
});

test('A browser in which a merchant has signed in › is known by its wallet later, and by no other', async () => {
  const { account, wallet } = await makeOnboarded(app.ctx, fixtures.test);
  const other = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor, dashboard } = await signInMerchant(app.url, account);
  await visitor.send(dashboard, '/sign-out');
  const cookie = `dashboard-browser=${visitor.cookies.get('dashboard-browser')}`;
  const isKnownAs = (kind: 'merchant' | 'operator', name: string) =>
    knownBrowser(app.ctx, { headers: { cookie } } as FastifyRequest, { kind, name }) !== null;
  assert.deepEqual(
    [isKnownAs('merchant', wallet), isKnownAs('merchant', other.wallet), isKnownAs('operator', wallet)],
    [true, false, false],
  );
});

test('The cookie is for this host and not for scripts, and over https named so that no other host can set it', async () => {
  const secure = testConfig({ baseUrl: 'https://pay.example' });
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const token = async (config = app.ctx.config) => {
    const other = await startApp({ clock, config });
    try {
      const { test: scope } = await makePartner(other.db);
      const merchant = await makeOnboarded(other.ctx, scope);
      const visitor = startVisitor(other.url);
      const page = await visitor.send(await visitor.open('/dashboard/sign-in'), '/wallet', {
        wallet_address: merchant.account.address,
      });
      const signature = await merchant.account.signMessage({ message: messageOn(page) });
      const body = new URLSearchParams({ ...page.forms[0]?.fields, message: messageOn(page), signature });
      const answer = await visit(`${other.url}/dashboard/sign-in/complete`, { method: 'POST', body });
      assert.equal(answer.status, 303);
      const [row] = await other.db.sql`select token_hash from sessions`;
      const value = /=([^;]+)/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
      assert.equal(value.length, 43);
      assert.ok(!Buffer.from(row?.token_hash).equals(createHmac('sha256', '').update(value).digest()));
      assert.ok(!(await other.db.sql`select s::text as row from sessions s`)[0]?.row.includes(value));
      return answer.headers.getSetCookie()[0]?.replace(value, '…');
    } finally {
      await other.stop();
    }
  };
  assert.equal(await token(), 'dashboard-session=…; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax');
  assert.equal(
    await token(secure),
    '__Host-dashboard-session=…; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure',
  );
  assert.ok(account);
});

test('Over https a browser that entered the code of an onboarding goes on, whatever another host of the domain has set', async () => {
  const other = await startApp({ clock, config: testConfig({ baseUrl: 'https://pay.example' }) });
  try {
    const { test: scope } = await makePartner(other.db);
    const shell = await createShell(other.ctx, theService, scope, {
      display_currency: 'EUR',
      email: 'ada@example.com',
    });
    const link = other.url + new URL(onboardingUrl(other.ctx.config, shell, clock.now())).pathname;
    await visit(`${link}/code`, { method: 'POST', body: new URLSearchParams() });
    const [mail] = await other.db.sql`select subject from mails`;
    const code = new URLSearchParams({ code: mail?.subject.slice(0, 6) });
    const [set = ''] = (await visit(`${link}/email`, { method: 'POST', body: code })).headers.getSetCookie();
    assert.match(set, /^__Host-.*; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure$/);
    const [own = ''] = set.split(';');
    const tossed = own.replace('__Host-', '').replace(/=.*/, '=tossed');
    const page = await visit(link, { headers: { cookie: `${tossed}; ${own}` } });
    assert.ok(page.forms.some(({ action }) => action.endsWith('/details')));
  } finally {
    await other.stop();
  }
});

test('A session ends after 12 hours without a call, and after 7 days with however many', async () => {
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  try {
    offsetMs = 11 * hour;
    assert.ok(isIn(await visitor.open('/dashboard')));
    offsetMs = 22 * hour;
    assert.ok(isIn(await visitor.open('/dashboard')), 'the call before kept it alive');
    offsetMs = 34 * hour + 60_000;
    assert.ok(!isIn(await visitor.open('/dashboard')), 'idle for 12 hours');

    offsetMs = 0;
    const busy = (await signInMerchant(app.url, account)).visitor;
    for (offsetMs = 0; offsetMs < 7 * 24 * hour; offsetMs += 11 * hour) {
      assert.ok(isIn(await busy.open('/dashboard')), `after ${offsetMs / hour} hours`);
    }
    offsetMs = 7 * 24 * hour + 1000;
    assert.ok(!isIn(await busy.open('/dashboard')));
  } finally {
    offsetMs = 0;
  }
});

test('Each sign-in has its own token; a merchant sees its sessions and can end each', async () => {
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const other = await signInMerchant(app.url, account, { 'user-agent': 'Phone <b>' });
  const own = await signInMerchant(app.url, account, { 'user-agent': 'Desk' });
  assert.notEqual(own.visitor.cookies.get('dashboard-session'), other.visitor.cookies.get('dashboard-session'));
  const sessions = await own.visitor.open('/dashboard/sessions');
  assert.match(sessions.html, /Phone &lt;b&gt;/);
  const mac =
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
  await signInMerchant(app.url, account, { 'user-agent': mac });
  const known = (await own.visitor.open('/dashboard/sessions')).html;
  assert.match(known, /<strong>Safari, Mac<\/strong>/);
  assert.doesNotMatch(known, /AppleWebKit/);
  assert.match(sessions.html, /This browser/);
  await own.visitor.send(sessions, '/sessions/end');
  assert.ok(!isIn(await other.visitor.open('/dashboard')));
  assert.ok(isIn(await own.visitor.open('/dashboard')));
});

test('a merchant’s sign-in and sign-out › each in the audit log of its partner, with the browser and the session', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, merchant.account, { 'user-agent': 'Desk' });
  const [session] = await app.db.sql`select id from sessions where account_id = ${merchant.id} and user_agent = 'Desk'`;
  await visitor.send(await visitor.open('/dashboard'), '/dashboard/sign-out');
  const entries = await app.db.sql`
    select action, actor_kind, actor_name, test_mode, object_kind, object_id, user_agent from audit_log
    where actor_id = ${merchant.id} and action like 'session.%' order by number`;
  const by = {
    actor_kind: 'merchant',
    actor_name: merchant.account.address.toLowerCase(),
    test_mode: true,
    user_agent: 'Desk',
  };
  assert.deepEqual(
    [...entries],
    [
      { action: 'session.started', ...by, object_kind: 'merchant', object_id: merchant.id },
      { action: 'session.revoked', ...by, object_kind: 'session', object_id: session?.id },
    ],
  );
});

test('ending another merchant’s session → refused', async () => {
  const [one, two] = [await makeOnboarded(app.ctx, fixtures.test), await makeOnboarded(app.ctx, fixtures.live)];
  const victim = await signInMerchant(app.url, one.account);
  const attacker = await signInMerchant(app.url, two.account);
  await signInMerchant(app.url, two.account);
  const [row] = await app.db.sql`select id from sessions where account_id = ${one.id}`;
  const page = await attacker.visitor.open('/dashboard/sessions');
  await attacker.visitor.send(page, '/sessions/end', { session: row?.id });
  assert.ok(isIn(await victim.visitor.open('/dashboard')));
});

test('Without a session every page of the dashboard leads to signing in, and every form of another site is refused', async () => {
  const pages = ['', '/wallet', '/wallet/hand-over', '/wallet/take-over', '/wallet/apply', '/wallet/veto'];
  for (const page of pages) {
    const answer = await visit(`${app.url}/dashboard${page}`);
    assert.equal(answer.headers.get('location'), '/dashboard/sign-in', page);
  }
  const form = await visit(`${app.url}/dashboard/profile`, { method: 'POST' });
  assert.equal(form.headers.get('location'), '/dashboard/sign-in?unsaved');
  const told = 'You are no longer signed in, so nothing was saved.';
  for (const realm of ['dashboard', 'portal', 'admin']) {
    const said = async (address: string) => (await visit(`${app.url}/${realm}/${address}`)).html.includes(told);
    assert.deepEqual([await said('sign-in'), await said('sign-in?unsaved')], [false, true], realm);
  }
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  const forms = ['sign-out', 'sessions/end', ...pages.slice(2).map((page) => page.slice(1))];
  for (const form of [...forms, 'sign-in/wallet', 'sign-in/complete']) {
    const url = `${app.url}/dashboard/${form}`;
    const cookie = `dashboard-session=${visitor.cookies.get('dashboard-session')}`;
    const body = new URLSearchParams();
    const foreign = await visit(url, { method: 'POST', body, headers: { cookie, 'sec-fetch-site': 'cross-site' } });
    assert.equal(foreign.status, 403, form);
    assert.match(foreign.html, /came from another site/);
  }
  assert.ok(isIn(await visitor.open('/dashboard')));
});

test('A wallet that belongs to nobody gets the same pages, and after its signature a plain refusal', async () => {
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const stranger = newAccount();
  const pages = await Promise.all(
    [account, stranger].map(async ({ address }) => {
      const visitor = startVisitor(app.url);
      const page = await visitor.send(await visitor.open('/dashboard/sign-in'), '/wallet', { wallet_address: address });
      return { visitor, page };
    }),
  );
  const [known, unknown] = pages.map(({ page }) =>
    page.html.replace(/nonce="[^"]*"|0x[0-9a-f…]+|Nonce: \w+|\d{4}-\d\d-\d\dT[\d:.]+Z/gi, '…'),
  );
  assert.equal(unknown, known);
  for (const { visitor, page } of pages) {
    const refused = await signOn(visitor, page, newAccount());
    assert.notEqual(refused.status, 200);
    assert.ok(!isIn(refused) && !visitor.cookies.has('dashboard-session'));
  }
  const [, { visitor, page }] = pages as [(typeof pages)[0], (typeof pages)[0]];
  const refused = await signOn(visitor, page, stranger);
  assert.equal(refused.status, 403);
  assert.match(refused.html, /No merchant uses this wallet/);
});

test('a signed message → signs in once, within 15 minutes; any other message → refused', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const { account } = merchant;
  const visitor = startVisitor(app.url);
  const start = await visitor.open('/dashboard/sign-in');
  const page = await visitor.send(start, '/wallet', { wallet_address: account.address });
  offsetMs = 15 * 60_000 + 1000;
  const late = await signOn(visitor, page, account).finally(() => {
    offsetMs = 0;
  });
  assert.equal(late.status, 409);
  assert.match(late.html, /already used or has expired/);
  assert.ok(isIn(await signOn(visitor, page, account)));
  const thief = startVisitor(app.url);
  const replayed = await signOn(thief, page, account);
  assert.equal(replayed.status, 409);
  assert.ok(!thief.cookies.has('dashboard-session'));

  // An onboarding message signed by the same wallet does not sign in; a sign-in message does not onboard.
  const fresh = await makeOnboarded(app.ctx, fixtures.test);
  await resetOnboarding(app.ctx, theService, fixtures.test, fresh.id);
  const link = `/onboard/${makeOnboardingToken(testSecrets, { id: fresh.id, onboarding_epoch: 1 }, clock.now())}`;
  const wallet = await thief.send(await thief.open(link), '/details');
  const onboarding = await thief.send(wallet, '/wallet', { wallet_address: account.address });
  const message = messageOn(onboarding);
  assert.match(message, /accept the terms/);
  const crossed = await signOn(thief, page, account, { message, signature: await account.signMessage({ message }) });
  assert.equal(crossed.status, 400);
  assert.match(crossed.html, /not the one shown/);
  const other = await thief.send(start, '/wallet', { wallet_address: account.address });
  const signature = await account.signMessage({ message: messageOn(other) });
  const back = await thief.send(onboarding, '/complete', { message: messageOn(other), signature, accept_terms: '1' });
  assert.equal(back.status, 400);
});

test('A disabled merchant keeps its dashboard, which says what is disabled and by whom', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor, dashboard } = await signInMerchant(app.url, account);
  assert.match(dashboard.html, /You are ready to receive payments/);
  await setMerchantDisabled(app.ctx, theService, fixtures.test, { accountId: id, by: 'partner', disabled: true });
  const page = await visitor.open('/dashboard');
  assert.match(page.html, /New requests are disabled/);
  assert.match(page.html, /Corner Shops Ltd disabled your account/);
  assert.ok(isIn(page));
  await setMerchantDisabled(app.ctx, theService, fixtures.test, { accountId: id, by: 'operator', disabled: true });
  assert.match((await visitor.open('/dashboard')).html, /We disabled your account/);
  assert.ok(isIn((await signInMerchant(app.url, account)).dashboard), 'and can sign in');
});

test('A reset ends the sessions of the merchant, and its wallet signs nobody in', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);
  assert.ok(!isIn(await visitor.open('/dashboard')));
  assert.match((await signInMerchant(app.url, account)).dashboard.html, /No merchant uses this wallet/);
});

test('A merchant is reset and signs for the same wallet again › the sessions from before stay ended', async () => {
  const { id, account, privateKey } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);
  await onboardWithKey(app.ctx, id, privateKey);
  assert.ok(!isIn(await visitor.open('/dashboard')));
  assert.ok(isIn((await signInMerchant(app.url, account)).dashboard), 'a new one is not');
});

test('A sign-in that is stored just after its merchant’s wallet was changed › opens nothing', async () => {
  const { id: accountId, wallet } = await makeOnboarded(app.ctx, fixtures.test);
  const isOpen = async (walletAddress: string) => {
    const subject = { scope: fixtures.test, accountId, walletAddress };
    const token = await createMerchantSession(app.ctx, subject, { ip: '192.0.2.9', userAgent: 'Desk' }, null);
    return (await readMerchantSession(app.ctx, token, null, true)) !== null;
  };
  const former = newAccount().address.toLowerCase();
  assert.deepEqual([await isOpen(former), await isOpen(wallet)], [false, true]);
});

test('A reset while a request is created › waits for the create, and neither fails', async () => {
  const { id, wallet } = await makeOnboarded(app.ctx, fixtures.test);
  const { partnerId, testMode } = fixtures.test;
  let reset = Promise.resolve(false);
  await app.db.transaction(async (tx) => {
    // As a create does: it holds the wallet, and then its foreign key waits for the merchant.
    await tx`select from wallets where address = ${wallet} for key share`;
    reset = resetOnboarding(app.ctx, theService, fixtures.test, id);
    reset.catch(() => {});
    await until(async () => {
      const waiting = await app.db.sql`
        select from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'tuple' and l.relation = 'wallets'::regclass`;
      return waiting.length > 0;
    }, 'the reset waits');
    await tx`
      select from merchants where partner_id = ${partnerId} and test_mode = ${testMode} and id = ${id}
      for key share nowait`;
  });
  assert.equal(await reset, true);
});

test('More than 120 forms a minute from one client are refused', async () => {
  const now = new Date(); // a busy machine answers fewer in a minute
  const other = await startApp({ clock: { now: () => now } });
  try {
    const body = () => new URLSearchParams({ wallet_address: '0x1' });
    const send = () => visit(`${other.url}/dashboard/sign-in/wallet`, { method: 'POST', body: body() });
    for (let i = 0; i < 120; i++) assert.notEqual((await send()).status, 429);
    assert.equal((await send()).status, 429);
  } finally {
    await other.stop();
  }
});

test('A sign-in in a browser in which the wallet has signed in before › strangers at its address do not stop it', async () => {
  const now = new Date();
  const other = await startApp({ clock: { now: () => now } });
  try {
    const { account } = await makeOnboarded(other.ctx, (await makePartner(other.db)).test);
    const { visitor, dashboard } = await signInMerchant(other.url, account);
    const start = await visitor.send(dashboard, '/sign-out');
    const stranger = startVisitor(other.url);
    const send = () => stranger.send(start, '/wallet', { wallet_address: '0x1' });
    for (let sent = 0; sent < 120; sent++) await send();
    assert.equal((await send()).status, 429);
    assert.equal((await stranger.send(start, '/wallet', { wallet_address: account.address })).status, 429);
    const page = await visitor.send(start, '/wallet', { wallet_address: account.address });
    assert.ok(isIn(await signOn(visitor, page, account)));
  } finally {
    await other.stop();
  }
});

test('Forms of a signed-in merchant › strangers at its address use up none of them; more than 120 a minute are refused', async () => {
  const now = new Date();
  const other = await startApp({ clock: { now: () => now } });
  try {
    const { test: scope } = await makePartner(other.db);
    const merchant = await makeOnboarded(other.ctx, scope);
    const [desk, till] = [await sessionOf(other.ctx, scope, merchant), await sessionOf(other.ctx, scope, merchant)];
    const send = async (session?: string) => {
      const headers: Record<string, string> = session === undefined ? {} : { cookie: `dashboard-session=${session}` };
      const body = new URLSearchParams({ amount: '' });
      return (await visit(`${other.url}/dashboard/cashier`, { method: 'POST', headers, body })).status;
    };
    for (let sent = 0; sent < 121; sent++) assert.equal(await send(), 303, 'to the sign-in');
    const answered = await send(desk);
    assert.notEqual(answered, 429);
    for (let sent = 1; sent < 120; sent++) assert.equal(await send(desk), answered);
    assert.deepEqual([await send(desk), await send(till)], [429, answered]);
  } finally {
    await other.stop();
  }
});
