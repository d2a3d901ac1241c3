import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import type { Role } from '../../src/auth/roles.ts';
import type { Scope } from '../../src/db/connection.ts';
import type { Mode } from '../../src/lib/mode.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';
import { type Route, routesOf } from '../support/people/routes.ts';

/**
 * Every route of the server and who may call it, written down apart from the code: a new route fails here until
 * somebody has decided who may call it. Ids are made up, so what a route does with real ones is tested elsewhere.
 *
 * `form` is a `POST` whose address has a page too, to which a reload leads.
 */
const table: Record<string, string> = {
  anybody: `
    GET /  GET /openapi.json  GET /docs  GET /docs/  GET /docs/js/scalar.js  GET /healthz  GET /readyz
    GET /favicon.ico  GET /assets/:name  GET /assets/icon.svg  GET /logo/:slug
    GET /onboard/:token  form /onboard/:token/email  form /onboard/:token/code  form /onboard/:token/details
    form /onboard/:token/wallet  form /onboard/:token/complete
    GET /recover/:token  form /recover/:token/wallet  form /recover/:token/complete
    GET /veto/:token  form /veto/:token/complete
    GET /pay/:request_id  GET /pay/:request_id/receipt  GET /pay/:request_id/qr/address  GET /pay/:request_id/qr/:option
    GET /pay/:request_id/state  GET /pay/:request_id/events  form /pay/:request_id/stop-mails/:token
    POST /pay/:request_id/proof  POST /pay/:request_id/claim  POST /pay/:request_id/authorization
    POST /pay/:request_id/authorized  POST /pay/:request_id/test
    GET /pay/plans/:plan_id/:token  form /pay/plans/:plan_id/:token/stop-mails  POST /pay/plans/:plan_id/:token/offer
    POST /pay/plans/:plan_id/:token/allowance  POST /pay/plans/:plan_id/:token/agree
    POST /pay/plans/:plan_id/:token/raise  POST /pay/plans/:plan_id/:token/raise-offer
    POST /pay/plans/:plan_id/:token/raise-step  POST /pay/plans/:plan_id/:token/stop
    POST /pay/plans/:plan_id/:token/test
    GET /dashboard/sign-in  form /dashboard/sign-in/wallet  form /dashboard/sign-in/complete
    form /portal/sign-in  GET /portal/sign-in/sent  POST /portal/sign-in/passkey
    GET /portal/sign-in/passkey/options  form /portal/link/:token
    form /admin/sign-in  GET /admin/sign-in/sent  POST /admin/sign-in/passkey
    GET /admin/sign-in/passkey/options  form /admin/link/:token`,
  developersMachine: `
    GET /dev/mail  GET /dev/mail/:id  POST /dev/open/pay  POST /dev/open/plan  POST /dev/open/portal
    POST /dev/open/onboarding  POST /dev/open/dashboard  POST /dev/open/admin`,
  metricsToken: 'GET /metrics',
  key: `
    GET /api/v1/requests  POST /api/v1/requests/create  GET /api/v1/requests/:request_id
    POST /api/v1/requests/:request_id/cancel  form /api/v1/accounts  GET /api/v1/accounts/:account_id`,
  merchant: `
    GET /dashboard  form /dashboard/sign-out  GET /dashboard/sessions  form /dashboard/sessions/end
    GET /dashboard/payments  GET /dashboard/payments.csv  GET /dashboard/paid.csv  GET /dashboard/payments/:id
    form /dashboard/payments/:id/cancel  GET /dashboard/plans  GET /dashboard/plans.csv  form /dashboard/plans/new
    GET /dashboard/plans/:id  form /dashboard/plans/:id/change  GET /dashboard/plans/:id/charges.csv
    form /dashboard/plans/:id/stop-automatic  form /dashboard/plans/:id/pause  form /dashboard/plans/:id/resume
    form /dashboard/plans/:id/end  form /dashboard/profile  GET /dashboard/transaction  form /dashboard/ask
    form /dashboard/cashier  GET /dashboard/cashier/:id  GET /dashboard/unmatched  GET /dashboard/unmatched.csv
    GET /dashboard/unmatched/:key  form /dashboard/unmatched/:key/attach  form /dashboard/unmatched/:key/rest
    form /dashboard/give-back/:key  form /dashboard/give-back/:key/part  form /dashboard/give-back/:key/put-back
    form /dashboard/give-back/:key/take  GET /dashboard/events  GET /dashboard/wallet
    form /dashboard/wallet/hand-over  form /dashboard/wallet/take-over  form /dashboard/wallet/apply
    form /dashboard/wallet/veto`,
  viewer: `
    GET /portal  GET /portal/start  GET /portal/start/key  GET /portal/requests  GET /portal/requests.csv
    GET /portal/requests/:request_id  GET /portal/transaction  GET /portal/unmatched  GET /portal/unmatched.csv
    GET /portal/events  GET /portal/merchants  GET /portal/merchants.csv  GET /portal/merchants/:account_id
    GET /portal/merchants/:account_id/recover  GET /portal/merchants/:account_id/reset  GET /portal/plans
    GET /portal/plans.csv  GET /portal/plans/:plan_id  GET /portal/webhooks  GET /portal/webhooks/url
    GET /portal/webhooks/rotate  GET /portal/webhooks/activate  GET /portal/webhooks/deliveries
    GET /portal/webhooks/deliveries.csv  GET /portal/webhooks/deliveries/:delivery_id  GET /portal/audit
    GET /portal/audit.csv  GET /portal/keys/revoke  GET /portal/team/role  GET /portal/team/remove
    GET /portal/team/restore  GET /portal/team/passkeys
    GET /portal/sessions  POST /portal/sessions/revoke  POST /portal/sign-out  POST /portal/passkeys
    GET /portal/passkeys/options  POST /portal/passkeys/confirm  GET /portal/passkeys/confirm/options
    POST /portal/passkeys/remove`,
  developer: `
    GET /portal/keys  GET /portal/keys.csv  POST /portal/webhooks/test  POST /portal/webhooks/deliveries/replay
    POST /portal/webhooks/deliveries/:delivery_id/replay  POST /portal/requests/:request_id/resend`,
  developerInTestMode: `
    POST /portal/start/key  POST /portal/keys  POST /portal/keys/revoke  POST /portal/webhooks/url
    POST /portal/webhooks/rotate  POST /portal/webhooks/activate  POST /portal/webhooks/enable
    POST /portal/requests/:request_id/cancel  POST /portal/merchants`,
  owner: `
    form /portal/settings  POST /portal/settings/look  form /portal/team  GET /portal/team.csv  POST /portal/team/role
    POST /portal/team/remove  POST /portal/team/restore  POST /portal/team/passkeys
    POST /portal/merchants/:account_id/recover  POST /portal/merchants/:account_id/recover/cancel
    POST /portal/merchants/:account_id/reset  POST /portal/merchants/:account_id/disable
    POST /portal/merchants/:account_id/enable`,
  operator: `
    GET /admin  GET /admin/search  GET /admin/sessions  POST /admin/sessions/revoke  POST /admin/sign-out
    GET /admin/stuck  GET /admin/stuck.csv  form /admin/stuck/replay  form /admin/stuck/receipt
    form /admin/stuck/enable  form /admin/stuck/mail  form /admin/stuck/plan  GET /admin/alarms.csv  GET /admin/audit
    GET /admin/audit.csv  form /admin/audit/check  GET /admin/requests/:id  GET /admin/relayer
    GET /admin/relayer.csv  GET /admin/rates  GET /admin/rates.csv  form /admin/rates/set  form /admin/rates/clear
    form /admin/rates/refresh  GET /admin/payments/:key  GET /admin/partners  GET /admin/partners.csv
    GET /admin/partners/:slug  GET /admin/partners/:slug/activity  form /admin/partners/:slug/settings
    form /admin/partners/:slug/switch  POST /admin/passkeys  GET /admin/passkeys/options
    POST /admin/passkeys/confirm  GET /admin/passkeys/confirm/options  POST /admin/passkeys/remove
    GET /admin/merchants  form /admin/merchants/switch  GET /admin/merchants/:id  GET /admin/merchants.csv
    form /admin/new-partner  GET /admin/users  GET /admin/users.csv  form /admin/users/invite  form /admin/users/role
    form /admin/users/switch  GET /admin/users/:id  form /admin/users/:id/sign-out  form /admin/users/:id/passkeys
    GET /admin/chains  GET /admin/chains.csv  GET /admin/terms  GET /admin/terms.csv  GET /admin/erase
    form /admin/erase/look  form /admin/erase/do  GET /admin/events`,
};

const token = 'operators-token';
let app: Awaited<ReturnType<typeof startApp>>;
let routes: Route[];
let ours: Awaited<ReturnType<typeof makePartner>>;
let foreign: Awaited<ReturnType<typeof makePartner>>;
let off: Awaited<ReturnType<typeof makePartner>>;

before(async () => {
  const metrics = { host: '127.0.0.1', port: null, token };
  app = await startApp({ config: testConfig({ trustProxy: ['127.0.0.1/32'], metrics }) });
  routes = routesOf(app.app.printRoutes({ commonPrefix: false })).map(({ method, pattern }) => ({
    method,
    pattern: pattern.replace(/\/assets\/icon-\w+\.svg/, '/assets/icon.svg'),
  }));
  [ours, foreign, off] = await Promise.all([makePartner(app.db), makePartner(app.db), makePartner(app.db)]);
});
after(() => app?.stop());

const whoOf = new Map(
  Object.entries(table).flatMap(([who, text]) =>
    [...text.matchAll(/(GET|POST|form) (\S+)/g)].flatMap(([, method = '', pattern = '']) =>
      (method === 'form' ? ['GET', 'POST'] : [method]).map((one): [string, string] => [`${one} ${pattern}`, who]),
    ),
  ),
);
const keyOf = ({ method, pattern }: Route): string => `${method} ${pattern}`;

test('Every route has an entry in the table, and every entry a route', () => {
  const registered = routes.map(keyOf);
  assert.deepEqual(
    registered.filter((route) => !whoOf.has(route)),
    [],
    'routes without an entry',
  );
  assert.deepEqual(
    [...whoOf.keys()].filter((route) => !registered.includes(route)),
    [],
    'entries without a route',
  );
});

type Headers = Record<string, string>;
/**
 * @param enter what the caller sends; asked again after a sign-out, which ends the session
 * @param hidden whether an address that is not there counts as refused
 */
type Caller = { groups: string[]; enter: () => Promise<Headers>; hidden?: boolean };
type Answer = 'let in' | 'refused' | number;

/** How far a call came: past the check of who calls, or not. */
async function answerTo({ method, pattern }: Route, headers: Headers, mode: Mode, hidden: boolean): Promise<Answer> {
  const path = pattern.replaceAll(/:[a-z_]+/g, () => randomUUID());
  const isForm = method === 'POST';
  const response = await request(`${app.url}${path}?mode=${mode}`, {
    method,
    headers: {
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(256)}`,
      ...headers,
      ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: isForm ? 'x=1' : null,
  });
  const { statusCode, headers: answered, body } = response;
  const isStream = String(answered['content-type']).startsWith('text/event-stream');
  if (isStream) body.on('error', () => {}).destroy();
  const text = isStream ? '' : await body.text();
  if (statusCode >= 500 && pattern !== '/readyz') return statusCode;
  const isSignIn = /\/sign-in(?:\?unsaved)?$/.test(String(answered.location)) && !pattern.includes('/sign-in/');
  // Who signs out is led to the sign-in, too, but without a session.
  const isLeft = pattern.endsWith('/sign-out') && /-session=;/.test(String(answered['set-cookie']));
  const isNotAllowed =
    statusCode === 403 && /Your role does not allow this|Not available while .* is disabled/.test(text);
  const isNotThere = statusCode === 404 && (hidden || /^\/dev\/|passkeys\/.*options$/.test(pattern));
  return statusCode === 401 || (isSignIn && !isLeft) || isNotAllowed || isNotThere ? 'refused' : 'let in';
}

/** Calls every route, those of the portal in both modes, and compares how far each call came with the table. */
async function walk({ groups, enter, hidden = false }: Caller): Promise<void> {
  const faults: string[] = [];
  let headers = await enter();
  for (const mode of ['test', 'live'] as const) {
    const inTest = groups.includes('developer') && mode === 'test' ? ['developerInTestMode'] : [];
    for (const route of routes.filter(({ pattern }) => mode === 'test' || pattern.startsWith('/portal'))) {
      const isIn = [...groups, ...inTest].includes(whoOf.get(keyOf(route)) ?? '');
      const answer = await answerTo(route, headers, mode, hidden && !isIn);
      const expected = isIn ? 'let in' : 'refused';
      if (answer !== expected) faults.push(`${mode} ${keyOf(route)}: ${answer}, not ${expected}`);
      if (route.pattern.endsWith('/sign-out')) headers = await enter();
    }
  }
  assert.deepEqual(faults, []);
}

const viewer = ['anybody', 'viewer'];
const developer = [...viewer, 'developer'];
const owner = [...developer, 'developerInTestMode', 'owner'];

const portal = async (role: Role) => portalPerson(app.ctx, ours.partner.id, role);
const asUser = ({ token }: { token: string }) => ({ cookie: `portal-session=${token}` });
const asMerchant = async (scope: Scope) => {
  const merchant = await makeOnboarded(app.ctx, scope);
  return { merchant, headers: { cookie: `dashboard-session=${await sessionOf(app.ctx, scope, merchant)}` } };
};
const asOperator = async () => {
  const { user, visitor } = await signInOperator(app);
  return { user, headers: { cookie: `admin-session=${visitor.cookies.get('admin-session')}` } };
};

test('Who has no session, key or token is let in where anybody is', async () => {
  await walk({ groups: ['anybody'], enter: async () => ({}) });
});

test('A token for metrics, or an API key, opens nothing else', async () => {
  await walk({ groups: ['anybody', 'metricsToken'], enter: async () => ({ authorization: `Bearer ${token}` }) });
  const { key } = await makeKey(app.db, ours.test);
  await walk({ groups: ['anybody', 'key'], enter: async () => ({ authorization: `Bearer ${key}` }) });
});

test('A partner’s viewer, developer and owner do what their role may, in test and in live mode', async () => {
  await walk({ groups: viewer, enter: async () => asUser(await portal('viewer')) });
  await walk({ groups: developer, enter: async () => asUser(await portal('developer')) });
  await walk({ groups: owner, enter: async () => asUser(await portal('owner')) });
});

test('A merchant reaches its dashboard, and an operator the administration', async () => {
  await walk({ groups: ['anybody', 'merchant'], enter: async () => (await asMerchant(ours.live)).headers });
  await walk({ groups: ['anybody', 'operator'], enter: async () => (await asOperator()).headers });
});

test('A user who was demoted has the new role at the next call', async () => {
  const enter = async () => {
    const user = await portal('owner');
    await app.db.sql`update users set role = 'viewer' where id = ${user.userId}`;
    return asUser(user);
  };
  await walk({ groups: viewer, enter });
});

test('A session that was ended, and that of a user who was removed, are a stranger’s', async () => {
  const [removed, left, merchant, operator] = [
    ...[await portal('owner'), await portal('owner')],
    ...[await asMerchant(ours.test), await asOperator()],
  ] as const;
  await app.db.sql`update users set disabled_at = now() where id in (${removed.userId}, ${operator.user.id})`;
  await app.db.sql`
    update sessions set revoked_at = now() where user_id = ${left.userId} or account_id = ${merchant.merchant.id}`;
  for (const { cookie } of [asUser(removed), asUser(left)]) {
    const cookies = [cookie, merchant.headers.cookie, operator.headers.cookie].join('; ');
    await walk({ groups: ['anybody'], enter: async () => ({ cookie: cookies }) });
  }
});

test('While a partner is switched off its owner only reads', async () => {
  await app.db.sql`update partners set disabled_at = now() where id = ${off.partner.id}`;
  await walk({ groups: viewer, enter: async () => asUser(await portalPerson(app.ctx, off.partner.id, 'owner')) });
});

test('On another partner’s own host every session, and a key, is a stranger’s', async () => {
  const host = `${foreign.partner.slug}.localhost:3000`;
  const sessions = [asUser(await portal('owner')), (await asMerchant(ours.test)).headers, (await asOperator()).headers];
  const { key } = await makeKey(app.db, ours.test);
  const cookie = sessions.map((one) => one.cookie).join('; ');
  for (const headers of [{ cookie }, { authorization: `Bearer ${key}` }] as Headers[]) {
    await walk({ groups: ['anybody'], enter: async () => ({ ...headers, host }), hidden: true });
  }
});
