import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { setBranding } from '../../src/partners/branding.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { visit } from '../support/people/forms.ts';
import { acceptInvitation, inviteOperator, invitePartnerUser, onHost } from '../support/people/people.ts';
import { startVisitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
before(async () => {
  app = await startApp();
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

const headersOf = async (url: string, headers: Record<string, string> = {}) => (await visit(url, { headers })).headers;

test('Over https every answer tells browsers to use https only: the base host also for the hosts below it', async () => {
  const config = testConfig({ baseUrl: 'https://pay.example.com', payUrl: 'https://till.example.net' });
  const secure = await startApp({ config });
  try {
    const { partner } = await makePartner(secure.db);
    const at = async (host: string, path: string) =>
      (await headersOf(secure.url + path, { host })).get('strict-transport-security');
    for (const path of ['/portal', '/portal/sign-in', '/nothing', '/api/v1/requests', '/healthz']) {
      assert.equal(await at('pay.example.com', path), 'max-age=31536000; includeSubDomains', path);
    }
    assert.equal(await at(`${partner.slug}.pay.example.com`, '/portal/sign-in'), 'max-age=31536000');
    assert.equal(await at('till.example.net', '/00000000-0000-0000-0000-000000000000'), 'max-age=31536000');
  } finally {
    await secure.stop();
  }
});

test('Over plain http, or if an operator has turned it off, no answer has the header', async () => {
  for (const path of ['/portal/sign-in', '/api/v1/requests']) {
    assert.equal((await headersOf(app.url + path)).get('strict-transport-security'), null, path);
  }
  const off = await startApp({ config: testConfig({ baseUrl: 'https://pay.example.com', hsts: false }) });
  try {
    const headers = await headersOf(`${off.url}/portal/sign-in`, { host: 'pay.example.com' });
    assert.equal(headers.get('strict-transport-security'), null);
  } finally {
    await off.stop();
  }
});

test('pages behind a sign-in → never cached, never framed, and out of reach of other sites', async () => {
  const visitor = startVisitor(app.url);
  await acceptInvitation(visitor, (await invitePartnerUser(app.ctx, fixtures)).link);
  await acceptInvitation(visitor, (await inviteOperator(app.ctx)).link);
  const cookie = [...visitor.cookies].map((pair) => pair.join('=')).join('; ');
  const paths = [
    ...['/portal', '/portal/requests', '/portal/requests.csv', '/portal/webhooks', '/portal/keys', '/portal/audit.csv'],
    ...['/portal/sessions', '/portal/passkeys/options', '/portal/sign-in', '/portal/link/x', '/portal/nothing'],
    ...['/admin', '/admin/users', '/admin/sessions', '/admin/sign-in', '/dashboard', '/dashboard/sign-in', '/dev/mail'],
  ];
  for (const path of paths) {
    const headers = await headersOf(app.url + path, { cookie });
    assert.equal(headers.get('cache-control'), 'no-store', path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(headers.get('referrer-policy'), 'same-origin', path);
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', path);
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin', path);
    assert.match(headers.get('permissions-policy') ?? '', /camera=\(\), microphone=\(\), geolocation=\(\)/, path);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/, path);
  }
});

test('A pay page stays within reach of the shop’s page that opened it, and of nobody’s frame', async () => {
  const headers = await headersOf(`${app.url}/pay/00000000-0000-0000-0000-000000000000`);
  assert.equal(headers.get('cross-origin-opener-policy'), null);
  assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
});

test('A logo is shown by mails and pages elsewhere, and the API’s reference is framed by nobody', async () => {
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await setBranding(app.ctx, theService, fixtures.partner.slug, { logo: pixel });
  const logo = await visit(`${app.url}/logo/${fixtures.partner.slug}`, { headers: onHost(fixtures.partner) });
  assert.equal(logo.status, 200);
  assert.equal(logo.headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.match(
    (await headersOf(`${app.url}/docs/`)).get('content-security-policy') ?? '',
    /default-src 'none'.*frame-ancestors 'none'/,
  );
});

test('a response of the API → Cache-Control: no-store', async () => {
  const headers = await headersOf(`${app.url}/api/v1/requests`);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

/** Requests a path as it is, which `fetch` would change. */
const ask = (url: string, path: string, { method = 'GET', host = 'localhost:3000' } = {}) =>
  new Promise<[status: number | undefined, location: string | undefined]>((resolve, reject) => {
    request({ port: new URL(url).port, host: '127.0.0.1', path, method, headers: { host } }, (response) => {
      response.resume();
      resolve([response.statusCode, response.headers.location]);
    })
      .on('error', reject)
      .end();
  });
const unknown = [404, undefined];

test('An address that only looks alike is unknown: escaped letters, a whole URL, a fragment', async () => {
  for (const path of [
    ...['/%70ortal/keys', '/portal/%6beys', '/%61pi/v1/requests', '/%64ev/mail', '/d%6fcs/', '/portal/keys#x'],
    ...['http://localhost:3000/portal/sign-in', 'http://evil.example/api/v1/requests', 'http://evil.example/docs/'],
  ]) {
    assert.deepEqual(await ask(app.url, path), unknown, path);
  }
  assert.equal((await ask(app.url, '/portal/keys?x=%70'))[0], 303);
  assert.equal((await ask(app.url, '/docs/'))[0], 200);
});

const id = '00000000-0000-0000-0000-000000000000';

test('The address of a page with a slash at its end → leads to the page, with its query', async () => {
  for (const path of ['/portal', '/portal/requests', '/dashboard/sign-in', '/admin', '/dev/mail', `/pay/${id}`]) {
    assert.deepEqual(await ask(app.url, `${path}/`), [301, path]);
    assert.deepEqual(await ask(app.url, `${path}/?mode=live&q=/`), [301, `${path}?mode=live&q=/`]);
  }
  assert.deepEqual(await ask(app.url, '/onboard/x_-1/'), [301, '/onboard/x_-1']);
  assert.deepEqual(await ask(app.url, `/pay/${id}/`, { method: 'HEAD' }), [301, `/pay/${id}`]);
  for (const path of ['/nothing/', '/portal//', '/%70ortal/', '/portal/#/', '//portal/', '/api/v1/requests/'])
    assert.deepEqual(await ask(app.url, path), unknown, path);
  assert.deepEqual(await ask(app.url, '/portal/keys/', { method: 'POST' }), unknown);
});

test('Where pay pages begin at the root of their host, a slash at the end leads to no other site', async () => {
  const own = await startApp({ config: testConfig({ payUrl: 'http://pay.localhost:3000' }) });
  try {
    const host = 'pay.localhost:3000';
    assert.deepEqual(await ask(own.url, `/${id}/`, { host }), [301, `/${id}`]);
    for (const path of ['/\\example.com/', '//example.com/', '/%5cexample.com/', '/x:y/'])
      assert.deepEqual(await ask(own.url, path, { host }), unknown, path);
  } finally {
    await own.stop();
  }
});
