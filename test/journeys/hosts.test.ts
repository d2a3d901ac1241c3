import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { theService } from '../../src/audit/write.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { setBranding } from '../../src/partners/branding.ts';
import { planPageUrl } from '../../src/plans/link.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeKey, makePartner, makeRequest } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { submit, visit } from '../support/people/forms.ts';
import {
  makeOnboarded,
  messageOn,
  newAccount,
  type Onboarded,
  signInMerchant,
  signOn,
} from '../support/people/merchants.ts';
import { onHost, signInOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { png } from '../support/pictures.ts';
import { makePlan } from '../support/plans.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let one: Awaited<ReturnType<typeof makeTenant>>;
let two: Awaited<ReturnType<typeof makeTenant>>;
/** Headers of a signed-in operator, and the path of an asset that the pages load. */
let operator: Record<string, string>;
let asset: string;

const shared = { host: 'localhost:3000' };
const ofNobody = [{ host: 'nobody.localhost:3000' }, { host: 'evil.example' }];

/** A partner with one of everything that has a page, and signed-in users to look at it. */
async function makeTenant(name: string) {
  const { ctx, db } = app;
  const fixtures = await makePartner(db);
  await setBranding({ db, clock: systemClock }, theService, fixtures.partner.slug, {
    name,
    logo: png(16, 16, [20, 90, 160]),
  });
  const merchant = await makeOnboarded(ctx, fixtures.test);
  const lost = await makeOnboarded(ctx, fixtures.test);
  const shell = await createShell(ctx, theService, fixtures.test, { display_currency: 'EUR' });
  const pathOf = (url: string) => new URL(url).pathname;
  return {
    ...fixtures,
    name,
    merchant,
    payPath: `/pay/${(await makeRequest(db, fixtures.test, merchant)).id}`,
    planPath: pathOf(planPageUrl(ctx.config, (await makePlan(ctx, fixtures.test, merchant)).id)),
    onboardPath: pathOf(onboardingUrl(ctx.config, shell, ctx.clock.now())),
    recoverPath: pathOf((await startRecovery(ctx, theService, fixtures.test, lost.id)).url),
    key: { authorization: `Bearer ${(await makeKey(db, fixtures.test)).key}` },
    signedIn: { cookie: `dashboard-session=${await sessionOf(ctx, fixtures.test, merchant)}` },
    user: { cookie: `portal-session=${(await portalPerson(ctx, fixtures.partner.id)).token}` },
  };
}
type Tenant = typeof one;

before(async () => {
  app = await startApp();
  [one, two] = [await makeTenant('Sun Bakery'), await makeTenant('Moon Bakery')];
  const { visitor } = await signInOperator(app);
  operator = { cookie: `admin-session=${visitor.cookies.get('admin-session')}` };
  asset = /\/assets\/[^"]+\.js/.exec((await visit(app.url + one.payPath)).html)?.[0] ?? '';
});
after(() => app.stop());

type Call = { path: string; headers?: Record<string, string>; form?: Record<string, string> };
type Row = {
  what: string;
  call: (tenant: Tenant) => Call;
  /** Status on the partner's own host, the other partner's host, a host of nobody, and the shared host. */
  own: number;
  other: number;
  nobody: number;
  shared: number;
};

const only = { own: 200, other: 404, nobody: 404, shared: 200 };
const session = { own: 200, other: 303, nobody: 404, shared: 200 };
const anyPartner = { own: 200, other: 200, nobody: 404, shared: 200 };
const operators = { own: 404, other: 404, nobody: 404, shared: 200 };

const table: Row[] = [
  { what: 'a pay page', call: ({ payPath }) => ({ path: payPath }), ...only },
  { what: 'its state', call: ({ payPath }) => ({ path: `${payPath}/state` }), ...only },
  { what: 'its events', call: ({ payPath }) => ({ path: `${payPath}/events` }), ...only },
  { what: 'its QR code', call: ({ payPath }) => ({ path: `${payPath}/qr/0` }), ...only },
  {
    what: 'a form of it',
    call: ({ payPath }) => ({ path: `${payPath}/proof`, form: { tx_hash: 'x' } }),
    ...{ own: 400, other: 404, nobody: 404, shared: 400 },
  },
  { what: 'a plan’s page', call: ({ planPath }) => ({ path: planPath }), ...only },
  {
    what: 'a form of it',
    call: ({ planPath }) => ({ path: `${planPath}/offer`, form: {} }),
    ...{ own: 409, other: 404, nobody: 404, shared: 409 },
  },
  { what: 'the end of its mails', call: ({ planPath }) => ({ path: `${planPath}/stop-mails` }), ...only },
  { what: 'a logo', call: ({ partner }) => ({ path: `/logo/${partner.slug}` }), ...only },
  { what: 'an onboarding', call: ({ onboardPath }) => ({ path: onboardPath }), ...only },
  { what: 'a recovery', call: ({ recoverPath }) => ({ path: recoverPath }), ...only },
  { what: 'the dashboard', call: ({ signedIn }) => ({ path: '/dashboard', headers: signedIn }), ...session },
  {
    what: 'a list of the dashboard',
    call: ({ signedIn }) => ({ path: '/dashboard/payments', headers: signedIn }),
    ...session,
  },
  {
    what: 'news of the dashboard',
    call: ({ signedIn }) => ({ path: '/dashboard/events', headers: signedIn }),
    ...session,
  },
  {
    what: 'a form of the dashboard',
    call: ({ signedIn }) => ({ path: '/dashboard/wallet/hand-over', headers: signedIn, form: {} }),
    ...{ own: 400, other: 303, nobody: 404, shared: 400 },
  },
  { what: 'the portal', call: ({ user }) => ({ path: '/portal', headers: user }), ...session },
  { what: 'a list of the portal', call: ({ user }) => ({ path: '/portal/requests', headers: user }), ...session },
  { what: 'signing in to the dashboard', call: () => ({ path: '/dashboard/sign-in' }), ...anyPartner },
  { what: 'signing in to the portal', call: () => ({ path: '/portal/sign-in' }), ...anyPartner },
  { what: 'browser code', call: () => ({ path: asset }), ...anyPartner },
  { what: 'the API’s document', call: () => ({ path: '/openapi.json' }), ...anyPartner },
  { what: 'the API’s reference', call: () => ({ path: '/docs/' }), ...anyPartner },
  { what: 'the administration', call: () => ({ path: '/admin', headers: operator }), ...operators },
  { what: 'a list of the administration', call: () => ({ path: '/admin/partners', headers: operator }), ...operators },
  { what: 'signing in to the administration', call: () => ({ path: '/admin/sign-in' }), ...operators },
  { what: 'the sandbox’s mails', call: () => ({ path: '/dev/mail' }), ...operators },
  { what: 'health', call: () => ({ path: '/healthz' }), own: 200, other: 200, nobody: 200, shared: 200 },
  { what: 'readiness', call: () => ({ path: '/readyz' }), own: 200, other: 200, nobody: 200, shared: 200 },
];

/** Only the status. An event stream is closed. */
async function statusOf({ path, headers, form }: Call, host: Record<string, string>): Promise<number> {
  const { statusCode, body } = await request(app.url + path, {
    method: form ? 'POST' : 'GET',
    headers: { ...host, ...headers, ...(form && { 'content-type': 'application/x-www-form-urlencoded' }) },
    body: form ? new URLSearchParams(form).toString() : null,
  });
  body.on('error', () => {}).destroy();
  return statusCode;
}

for (const { what, call, ...expected } of table) {
  test(`${what}: on the partner’s own host ${expected.own}, another’s ${expected.other}, nobody’s ${expected.nobody}, the shared ${expected.shared}`, async () => {
    for (const [tenant, stranger] of [
      [one, two],
      [two, one],
    ] as const) {
      const at = (host: Record<string, string>) => statusOf(call(tenant), host);
      assert.equal(await at(onHost(tenant.partner)), expected.own, 'own');
      assert.equal(await at(onHost(stranger.partner)), expected.other, 'another’s');
      for (const host of ofNobody) assert.equal(await at(host), expected.nobody, host.host);
      assert.equal(await at(shared), expected.shared, 'shared');
    }
  });
}

test('A key works on its partner’s own host and the shared one; another partner’s host refuses it, and an unknown host has no API', async () => {
  const [unclaimed = shared, foreign = shared] = ofNobody;
  for (const [tenant, stranger] of [
    [one, two],
    [two, one],
  ] as const) {
    const at = (host: Record<string, string>) => statusOf({ path: '/api/v1/requests', headers: tenant.key }, host);
    assert.equal(await at(onHost(tenant.partner)), 200);
    assert.equal(await at(shared), 200);
    assert.equal(await at(onHost(stranger.partner)), 401);
    assert.equal(await at(unclaimed), 401);
    assert.equal(await at(foreign), 404);
  }
});

test('A host works as soon as its partner exists, also if it was requested before', async () => {
  const slug = 'late-bakery';
  const at = () => statusOf({ path: '/portal/sign-in' }, onHost({ slug }));
  assert.deepEqual([await at(), await at()], [404, 404]);
  await makePartner(app.db, { slug });
  assert.deepEqual([await at(), await at()], [200, 200]);
});

test('The sign-in page on a partner’s own host has its name and logo', async () => {
  for (const { partner, name } of [one, two]) {
    for (const path of ['/dashboard/sign-in', '/portal/sign-in']) {
      const { html } = await visit(app.url + path, { headers: onHost(partner) });
      assert.ok(html.includes(name), path);
      assert.ok(html.includes(`/logo/${partner.slug}?v=`), path);
      assert.ok(!(await visit(app.url + path, { headers: shared })).html.includes(name), path);
    }
  }
});

/** Asks for the message that a wallet signs to sign in. */
async function askToSignIn(headers: Record<string, string>, { account }: Pick<Onboarded, 'account'>) {
  const visitor = startVisitor(app.url, headers);
  const start = await visitor.open('/dashboard/sign-in');
  return { visitor, page: await visitor.send(start, '/wallet', { wallet_address: account.address }) };
}

test('A merchant signs in on its partner’s own host, with a message that names this host', async () => {
  const host = `${one.partner.slug}.localhost:3000`;
  const { visitor, page } = await askToSignIn({ host }, one.merchant);
  assert.match(messageOn(page), new RegExp(`^${host} wants you to sign in`));
  assert.match(messageOn(page), new RegExp(`^URI: http://${host}/dashboard/sign-in$`, 'm'));
  const dashboard = await signOn(visitor, page, one.merchant.account);
  assert.equal(dashboard.status, 200);
  assert.match(dashboard.html, /sign-out/);
  const shown = await visit(`${app.url}/dashboard/sign-in`, {
    headers: { host, cookie: `dashboard-session=${visitor.cookies.get('dashboard-session')}` },
  });
  assert.equal(shown.headers.get('location'), '/dashboard');
});

test('A message made on one host signs nobody in on another, and the same one still does on its own', async () => {
  const hosts = { own: onHost(one.partner), shared };
  for (const [from, to] of [
    ['own', 'shared'],
    ['shared', 'own'],
  ] as const) {
    const { visitor, page } = await askToSignIn(hosts[from], one.merchant);
    const signature = await one.merchant.account.signMessage({ message: messageOn(page) });
    const elsewhere = await submit(app.url, page, '/complete', { signature }, hosts[to]);
    assert.equal(elsewhere.status, 400, `${from} to ${to}`);
    assert.equal(elsewhere.headers.get('set-cookie'), null);
    assert.match((await visitor.send(page, '/complete', { signature })).html, /sign-out/);
  }
});

test('On another partner’s host a merchant gets the refusal of a wallet that belongs to nobody', async () => {
  const refusal = async ({ account }: Pick<Onboarded, 'account'>) => {
    const { visitor, page } = await askToSignIn(onHost(two.partner), { account });
    const answer = await signOn(visitor, page, account);
    assert.equal(visitor.cookies.has('dashboard-session'), false);
    return { status: answer.status, text: /role="alert"[^>]*>(.*?)<\/div>/s.exec(answer.html)?.[1] };
  };
  const stranger = await refusal({ account: newAccount() });
  assert.ok(stranger.status >= 400 && stranger.text);
  assert.deepEqual(await refusal(one.merchant), stranger);
});

test('A merchant goes through onboarding and changes its wallet on its partner’s own host', async () => {
  const { ctx } = app;
  const headers = onHost(two.partner);
  const shell = await createShell(ctx, theService, two.test, {
    display_currency: 'EUR',
    business_name: 'Corner',
    app_mode: 'business',
  });
  const account = newAccount();
  const visitor = startVisitor(app.url, headers);
  let page = await visitor.open(onboardingUrl(ctx.config, shell, ctx.clock.now()));
  page = await visitor.send(page, '/details', { business_name: 'Corner' });
  page = await visitor.send(page, '/wallet', { wallet_address: account.address });
  assert.match(messageOn(page), new RegExp(`^${headers.host} wants`));
  const signature = await account.signMessage({ message: messageOn(page) });
  const typed = { signature, accept_terms: /name="accept_terms" value="([^"]*)"/.exec(page.html)?.[1] ?? '' };
  const elsewhere = await submit(app.url, page, '/complete', typed, shared);
  assert.equal(elsewhere.status, 400, 'made for another host');
  page = await visitor.send(page, '/complete', typed);
  assert.match(page.html, /sign-out/);

  const next = newAccount();
  page = await visitor.open('/dashboard/wallet');
  page = await visitor.send(page, '/hand-over', { wallet_address: next.address });
  page = await signOn(visitor, page, account);
  page = await signOn(visitor, page, next);
  const [row] = await app.db.sql`select wallet_address from merchants where id = ${shell.id}`;
  assert.equal(row?.wallet_address, next.address.toLowerCase());
});

test('Cookies are for the host that set them, and addresses in pages and answers come from the configuration', async () => {
  const headers = onHost(one.partner);
  const start = await visit(`${app.url}/dashboard/sign-in`, { headers });
  const page = await submit(app.url, start, '/wallet', { wallet_address: one.merchant.account.address }, headers);
  const signature = await one.merchant.account.signMessage({ message: messageOn(page) });
  const answer = await submit(app.url, page, '/complete', { signature }, headers);
  assert.doesNotMatch(answer.headers.get('set-cookie') ?? 'Domain', /Domain/i);
  assert.equal(answer.headers.get('location'), '/dashboard');
  const created = await request(`${app.url}/api/v1/requests`, { headers: { ...headers, ...one.key } });
  const [listed] = ((await created.body.json()) as { requests: { pay_page_url: string }[] }).requests;
  assert.equal(listed?.pay_page_url, app.ctx.config.baseUrl + one.payPath);
});

test('A session made on the shared host works on the partner’s own, and on no other partner’s', async () => {
  const { visitor } = await signInMerchant(app.url, two.merchant.account);
  const cookie = `dashboard-session=${visitor.cookies.get('dashboard-session')}`;
  const at = async (host: Record<string, string>) =>
    (await visit(`${app.url}/dashboard`, { headers: { ...host, cookie } })).status;
  assert.deepEqual([await at(onHost(two.partner)), await at(onHost(one.partner))], [200, 303]);
});

test('Where pay pages have a host of their own it has all partners’ pay pages, and nothing else', async () => {
  const own = await startApp({ config: testConfig({ payUrl: 'https://pay.example' }) });
  try {
    const fixtures = await makePartner(own.db);
    const merchant = await makeOnboarded(own.ctx, fixtures.test);
    const { id } = await makeRequest(own.db, fixtures.test, merchant);
    const plan = new URL(planPageUrl(own.ctx.config, (await makePlan(own.ctx, fixtures.test, merchant)).id)).pathname;
    const at = async (path: string, host: string) => (await visit(own.url + path, { headers: { host } })).status;
    for (const path of [`/${id}`, plan, `${plan}/stop-mails`, asset])
      assert.equal(await at(path, 'pay.example'), 200, path);
    for (const path of ['/dashboard/sign-in', '/portal/sign-in', '/admin/sign-in', '/dev/mail', '/openapi.json'])
      assert.equal(await at(path, 'pay.example'), 404, path);
    assert.equal(await at(`/${id}`, onHost(fixtures.partner).host), 200);
    assert.equal(await at(`/${id}`, 'other.example'), 404);
  } finally {
    await own.stop();
  }
});
