import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { buildServer } from '../../src/http/server.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';

/** Covers every route, including ones added later: a rule for a kind of route is checked on each of them. */
let app: Awaited<ReturnType<typeof start>>;
let pages: string[];
let forms: string[];
let everybody: string;

async function start() {
  const database = await testDatabase();
  const ctx = testContext(database.db, { config: testConfig({ trustProxy: ['127.0.0.0/8'] }) });
  const server = await buildServer(ctx);
  return {
    ctx,
    db: database.db,
    url: await server.listen({ host: '127.0.0.1', port: 0 }),
    routes: server.printRoutes({ commonPrefix: false }),
    stop: async () => {
      await server.close();
      await database.drop();
    },
  };
}

/** The paths of all routes of one method, with made-up ids. */
function addresses(tree: string, method: 'GET' | 'POST'): string[] {
  const above: string[] = [];
  const found: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^(.*?)[├└]── (\S+) \(([^)]*)\)$/.exec(line) ?? [];
    if (!part) continue;
    above.splice(indent.length / 4, above.length, part);
    const path = above.join('').replaceAll(/:[a-z_]+/g, () => randomUUID());
    if (methods.split(', ').includes(method)) found.push(path);
  }
  return found;
}

before(async () => {
  app = await start();
  [pages, forms] = [addresses(app.routes, 'GET'), addresses(app.routes, 'POST')];
  const { partner, test: scope } = await makePartner(app.db);
  const { visitor } = await signInOperator(app);
  everybody = [
    `dashboard-session=${await sessionOf(app.ctx, scope, await makeOnboarded(app.ctx, scope))}`,
    `portal-session=${(await portalPerson(app.ctx, partner.id)).token}`,
    `admin-session=${visitor.cookies.get('admin-session')}`,
  ].join('; ');
});
after(() => app.stop());

let clients = 0;

/** Returns the status and redirect; drops event streams. Each call uses a new client, as one would be rate-limited. */
async function call(method: 'GET' | 'POST', path: string, headers: Record<string, string>) {
  const form = method === 'POST' ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(app.url + path, {
    method,
    headers: { ...form, ...headers, 'x-forwarded-for': `2001:db8:0:${(++clients).toString(16)}::1` },
    body: method === 'POST' ? 'x=1' : null,
  });
  body.on('error', () => {}).destroy();
  return { status: statusCode, location: answered.location };
}

const hasPathPrefix = (path: string, places: string[]) =>
  places.some((place) => path === place || path.startsWith(`${place}/`));
const open = /\/(?:sign-in|link)(?:\/|$)/;

test('the list of routes is not empty', () => {
  assert.ok(pages.length > 60 && forms.length > 60, `${pages.length} pages, ${forms.length} forms`);
  for (const known of ['/portal/keys/revoke', '/admin/erase/do', '/dashboard/ask'])
    assert.ok(forms.includes(known), known);
});

test('a form sent from another site → refused, whoever is signed in', async () => {
  const acts = async () => (await app.db.sql`select count(*)::int as acts from audit_log`)[0]?.acts;
  const before = await acts();
  // Mail programs stop a plan's mails from any origin (RFC 8058). The link is enough; no session is read.
  const mailed = forms.filter((form) => /\/stop-mails(?:\/|$)/.test(form));
  assert.equal(mailed.length, 2);
  for (const path of forms.filter((form) => !form.startsWith('/api/') && !mailed.includes(form))) {
    for (const from of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://other.localhost:3000' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      const { status } = await call('POST', path, { ...from, cookie: everybody });
      // The sandbox's doors exist only for this machine's own address.
      const refusals = path.startsWith('/dev/') ? [403, 404] : [403];
      assert.ok(refusals.includes(status), `${status} ${path} ${JSON.stringify(from)}`);
    }
  }
  assert.equal(await acts(), before);
});

test('Without a session every page and form of a realm leads to signing in, or is not there', async () => {
  const behind = (path: string) => hasPathPrefix(path, ['/portal', '/admin', '/dashboard']) && !open.test(path);
  for (const [method, paths] of [
    ['GET', pages.filter(behind)],
    ['POST', forms.filter(behind)],
  ] as const) {
    for (const path of paths) {
      const { status, location } = await call(method, path, {});
      const area = `/${path.split('/')[1]}`;
      const signInPath = `${area}/sign-in`;
      // After a form, the sign-in says that nothing was saved; who signs out has nothing to save.
      const isUnsaved = method === 'POST' && path !== `${area}/sign-out`;
      if (path.endsWith('/options')) assert.equal(status, 404, path);
      else
        assert.deepEqual([status, location], [303, `${signInPath}${isUnsaved ? '?unsaved' : ''}`], `${method} ${path}`);
    }
  }
});

test('a session of one realm → opens no page or form of another', async () => {
  const tokens = new Map(everybody.split('; ').map((pair) => pair.split('=') as [string, string]));
  for (const [signInPath, others] of [
    ['portal', ['admin', 'dashboard']],
    ['admin', ['portal', 'dashboard']],
    ['dashboard', ['portal', 'admin']],
  ] as const) {
    const behind = (path: string) =>
      hasPathPrefix(path, [`/${signInPath}`]) && !open.test(path) && !path.endsWith('/options');
    for (const other of others) {
      const cookie = `${signInPath}-session=${tokens.get(`${other}-session`)}`;
      for (const path of pages.filter(behind)) assert.equal((await call('GET', path, { cookie })).status, 303, path);
      for (const path of forms.filter(behind)) assert.equal((await call('POST', path, { cookie })).status, 303, path);
    }
  }
});

test('a viewer of the portal → can change only their own sessions and passkeys', async () => {
  const { partner } = await makePartner(app.db);
  const { token } = await portalPerson(app.ctx, partner.id, 'viewer');
  const own = ['/portal/sessions', '/portal/sign-out', '/portal/passkeys', '/portal/sign-in', '/portal/link'];
  const changing = forms.filter((path) => hasPathPrefix(path, ['/portal']) && !hasPathPrefix(path, own));
  assert.ok(changing.length > 20);
  for (const path of changing) {
    for (const mode of ['test', 'live']) {
      const { status } = await call('POST', `${path}?mode=${mode}`, { cookie: `portal-session=${token}` });
      assert.equal(status, 403, `${path} ${mode}`);
    }
  }
});
