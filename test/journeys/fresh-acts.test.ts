import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { assertDeclared } from '../../src/http/route-table.ts';
import { buildServer } from '../../src/http/server.ts';
import { latestMail } from '../../src/mail/outbox.ts';
import { startApp } from '../support/app.ts';
import { type Device, softwareDevice } from '../support/browser/passkeys.ts';
import { makeMerchant, makePartner, setRate } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { acceptInvitation, invitePartnerUser, signInOperator, signInPartnerUser } from '../support/people/people.ts';
import { type Posted, postForm } from '../support/people/portal-post.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let routes: string;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let merchant: Awaited<ReturnType<typeof makeMerchant>>;

before(async () => {
  app = await startApp();
  const server = await buildServer(app.ctx);
  routes = server.printRoutes({ commonPrefix: false });
  await server.close();
  fixtures = await makePartner(app.db);
  merchant = await makeMerchant(app.db, fixtures.live);
  await setRate(app.db, 'EUR', '0.92');
});
after(() => app.stop());

/** Moves the start and the last passkey check of all sessions back by this many minutes. */
const age = (minutes: number) => app.db.sql`
  update sessions set created_at = now() - ${minutes} * interval '1 minute',
    confirmed_at = confirmed_at - ${minutes} * interval '1 minute'`;

/** The paths of all forms of the portal or the administration, from the routes of the server. */
function formsOf(realm: '/portal' | '/admin'): string[] {
  const above: string[] = [];
  const found: string[] = [];
  for (const line of routes.split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^(.*?)[├└]── (\S+) \(([^)]*)\)$/.exec(line) ?? [];
    if (!part) continue;
    above.splice(indent.length / 4, above.length, part);
    if (methods.split(', ').includes('POST')) found.push(above.join(''));
  }
  return found.filter((path) => path.startsWith(`${realm}/`) && !/\/(sign-in|link)\b/.test(path));
}

const asked = ({ status, html }: Pick<Posted, 'status' | 'html'>) =>
  status === 403 && html.includes('<h1>Confirm it’s you</h1>');

/** The forms for which a session is not enough: the user has to confirm who they are. */
async function asking(visitor: Visitor, realm: '/portal' | '/admin', mode = ''): Promise<string[]> {
  const found: string[] = [];
  for (const path of formsOf(realm)) {
    if (/\/(sign-out|sessions\/revoke)$/.test(path) && !path.includes(':')) continue; // they end the session itself
    const address = path.replaceAll(/:[a-z_]+/g, () => randomUUID()) + mode;
    if (asked(await postForm(app.url, visitor, address))) found.push(path);
  }
  return found.sort();
}

const always = [
  '/portal/merchants/:account_id/recover',
  '/portal/merchants/:account_id/reset',
  '/portal/settings',
  '/portal/team',
  '/portal/team/passkeys',
  '/portal/team/remove',
  '/portal/team/restore',
  '/portal/team/role',
];
const inLiveMode = [
  '/portal/keys',
  '/portal/keys/revoke',
  '/portal/webhooks/activate',
  '/portal/webhooks/rotate',
  '/portal/webhooks/url',
];
const ofOperators = [
  '/admin/erase/do',
  '/admin/merchants/switch',
  '/admin/new-partner',
  '/admin/partners/:slug/settings',
  '/admin/partners/:slug/switch',
  '/admin/rates/clear',
  '/admin/rates/set',
  '/admin/users/:id/passkeys',
  '/admin/users/invite',
  '/admin/users/role',
  '/admin/users/switch',
];

test('Forms that change who may act, or where money and events go, require more after ten minutes: these and no others', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures);
  const { visitor: operator } = await signInOperator(app);
  assert.deepEqual(await asking(visitor, '/portal', '?mode=live'), [], 'nothing within ten minutes of signing in');
  assert.deepEqual(await asking(operator, '/admin'), []);
  await age(11);
  assert.deepEqual(await asking(visitor, '/portal', '?mode=live'), [...always, ...inLiveMode].sort());
  assert.deepEqual(await asking(visitor, '/portal', '?mode=test'), always);
  assert.deepEqual(await asking(operator, '/admin'), ofOperators);
});

test('a form behind a sign-in that does not declare whether it needs a fresh one → the service does not start', () => {
  const form = (config: { auth: 'session'; fresh?: 'never' }) => ({ method: 'POST', url: '/portal/made-up', config });
  assert.throws(() => assertDeclared(form({ auth: 'session' })), /does not declare whether it needs more/);
  assertDeclared(form({ auth: 'session', fresh: 'never' }));
});

const keysMade = async () => {
  const [row] = await app.db.sql`
    select count(*)::int as keys from api_keys where partner_id = ${fixtures.partner.id} and not test_mode`;
  return row?.keys as number;
};
const liveKey: [string, string][] = [
  ['scopes', 'requests:write'],
  ['scopes', 'requests:read'],
];
const sendKept = (visitor: Visitor, path: string, fields: Record<string, string>) =>
  visitor.send({ forms: [{ action: path, fields }] } as unknown as Visit, path);

test('A live key after ten minutes › a confirmation comes first, ticked boxes are kept, and a mailed link continues it', async () => {
  const { user, visitor } = await signInPartnerUser(app, fixtures);
  await age(11);
  const before = await keysMade();
  const page = await postForm(app.url, visitor, '/portal/keys?mode=live', liveKey);
  assert.ok(asked(page), page.html);
  assert.match(page.html, /Nothing has changed yet/);
  for (const [name, value] of liveKey) {
    assert.ok(page.html.includes(`<input type="hidden" name="${name}" value="${value}">`), value);
  }
  assert.match(page.html, /action="\/portal\/sign-in" target="_blank"/);
  const goOn = [...liveKey, ['as', user.id] as [string, string]];
  assert.ok(asked(await postForm(app.url, visitor, '/portal/keys?mode=live', goOn)), 'not before signing in');
  assert.equal(await keysMade(), before);

  await sendKept(visitor, '/portal/sign-in', { email: user.email });
  const link = /http\S+\/link\/\S+/.exec((await latestMail(app.db.sql, user.email))?.body ?? '')?.[0] ?? '';
  await acceptInvitation(visitor, link);
  const done = await postForm(app.url, visitor, '/portal/keys?mode=live', goOn);
  assert.match(done.html, /qt_live_/);
  assert.equal(await keysMade(), before + 1);
  const [key] = await app.db.sql`
    select scopes from api_keys where partner_id = ${fixtures.partner.id} order by created_at desc limit 1`;
  assert.deepEqual(key?.scopes.toSorted(), ['requests:read', 'requests:write']);

  assert.equal((await visitor.open('/portal/keys/revoke?mode=live')).status, 200, 'its address leads to the page');
});

test('A user who signs in as somebody else to confirm cannot continue the first user’s action', async () => {
  const { user } = await signInPartnerUser(app, fixtures);
  const { visitor: other } = await signInPartnerUser(app, fixtures);
  const before = await keysMade();
  assert.ok(asked(await postForm(app.url, other, '/portal/keys?mode=live', [...liveKey, ['as', user.id]])));
  assert.equal(await keysMade(), before);
});

async function withPasskey(visitor: Visitor, realm: string): Promise<Device> {
  const device = softwareDevice('http://localhost:3000');
  const options = JSON.parse((await visitor.open(`${realm}/passkeys/options`)).html);
  const added = await sendKept(visitor, `${realm}/passkeys`, { passkey: device.make(options), name: 'Laptop' });
  assert.match(added.html, /The passkey was added/);
  return device;
}

const show = async (visitor: Visitor, realm: string, device: Device) =>
  device.show(JSON.parse((await visitor.open(`${realm}/passkeys/confirm/options`)).html));

test('A user with a passkey confirms an action with it, once; a wrong one does nothing, and the page says so', async () => {
  const { visitor } = await signInOperator(app);
  const device = await withPasskey(visitor, '/admin');
  const set = { code: 'EUR', rate: '0.91', until: '' };
  const rate = async () => (await app.db.sql`select rate from rate_overrides where code = 'EUR'`)[0]?.rate;
  await age(11);
  const page = await sendKept(visitor, '/admin/rates/set', set);
  assert.ok(asked(page), page.html);
  assert.match(page.html, /action="\/admin\/rates\/set" data-passkey="\/admin\/passkeys\/confirm\/options"/);
  assert.doesNotMatch(page.html, /target="_blank"/, 'a mail alone is not enough for who has a passkey');
  assert.match(page.html, /name="rate" value="0\.91"/);

  const forged = await show(visitor, '/admin', softwareDevice('http://localhost:3000'));
  const refused = await sendKept(visitor, '/admin/rates/set', { ...set, passkey: forged });
  assert.ok(asked(refused));
  assert.match(refused.html, /We do not recognise it/);
  assert.equal(await rate(), '0.92');

  const before = visitor.cookies.get('admin-session');
  const passkey = await show(visitor, '/admin', device);
  assert.match((await sendKept(visitor, '/admin/rates/set', { ...set, passkey })).html, /The rate was set/);
  assert.equal(await rate(), '0.91');
  assert.notEqual(visitor.cookies.get('admin-session'), before, 'the session goes on under a new token');
  assert.match((await sendKept(visitor, '/admin/rates/set', { ...set, rate: '0.92' })).html, /The rate was set/);
  await age(11);
  assert.ok(
    asked(await sendKept(visitor, '/admin/rates/set', { ...set, rate: '0.9', passkey })),
    'no answer counts twice',
  );
  assert.equal(await rate(), '0.92');
});

test('In live mode a developer reads and replays; URL, secrets, keys, onboarding links and cancelling are the owner’s', async () => {
  const { visitor } = await signInPartnerUser(app, fixtures, 'developer');
  const post = (path: string, mode: string) => postForm(app.url, visitor, `${path}?mode=${mode}`);
  const owners = [
    ...['/portal/webhooks/url', '/portal/webhooks/rotate', '/portal/webhooks/activate', '/portal/webhooks/enable'],
    ...['/portal/keys', '/portal/keys/revoke', '/portal/merchants', `/portal/requests/${randomUUID()}/cancel`],
  ];
  for (const path of owners) {
    const live = await post(path, 'live');
    assert.deepEqual([live.status, /Your role does not allow this/.test(live.html)], [403, true], path);
    assert.doesNotMatch((await post(path, 'test')).html, /Your role does not allow this/, path);
  }
  assert.doesNotMatch((await post('/portal/webhooks/deliveries/replay', 'live')).html, /Your role does not allow/);
  for (const path of ['/portal/keys', '/portal/webhooks', `/portal/merchants/${merchant.id}`, '/portal/requests']) {
    assert.equal((await visitor.open(`${path}?mode=live`)).status, 200, path);
  }
  await app.db.sql`update merchants set onboarded_at = null where id = ${merchant.id}`;
  assert.doesNotMatch((await visitor.open(`/portal/merchants/${merchant.id}?mode=live`)).html, /\/onboard\//);
  const { link } = await invitePartnerUser(app.ctx, fixtures);
  const owner = startVisitor(app.url);
  await acceptInvitation(owner, link);
  assert.match((await owner.open(`/portal/merchants/${merchant.id}?mode=live`)).html, /\/onboard\//);
});
