import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, test } from 'node:test';
import { startApp, testConfig } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app.stop());

/** Requests a path of the service under any host name. */
function visit(url: string, path: string, host: string): Promise<{ status: number; html: string }> {
  return new Promise((resolve, reject) => {
    get(new URL(path, url), { headers: { host } }, async (response) => {
      let html = '';
      for await (const chunk of response.setEncoding('utf8')) html += chunk;
      resolve({ status: response.statusCode ?? 0, html });
    }).on('error', reject);
  });
}

const linksOf = (html: string) => [...html.matchAll(/<a href="([^"]+)"/g)].map((match) => String(match[1]));
const doorsOf = (html: string) => [...html.matchAll(/action="([^"]+)"/g)].map((match) => String(match[1]));

for (const host of ['localhost:3000', '127.0.0.1:3000', 'localhost', '[::1]:3000']) {
  test(`GET / of the sandbox at ${host} › a page whose links all lead somewhere`, async () => {
    const { status, html } = await visit(app.url, '/', host);
    assert.equal(status, 200);
    const links = linksOf(html);
    for (const path of ['/docs/', '/dev/mail']) assert.ok(links.includes(path), path);
    const doors = ['pay', 'plan', 'onboarding', 'dashboard', 'portal', 'admin'].map((door) => `/dev/open/${door}`);
    assert.deepEqual(doorsOf(html), doors);
    for (const path of links) {
      const led = await visit(app.url, path, host);
      assert.ok(led.status < 400, `${path}: ${led.status}`);
    }
    assert.doesNotMatch(html, /qt_(?:test|live)_/);
  });
}

test('GET / of a partner’s own host › that partner’s pages only; of nobody’s → 404', async () => {
  const { partner } = await makePartner(app.db);
  const own = await visit(app.url, '/', `${partner.slug}.localhost:3000`);
  const programs = ['/openapi.json', '/readyz'];
  assert.deepEqual([own.status, linksOf(own.html)], [200, ['/dashboard', '/portal', ...programs]]);
  assert.deepEqual(doorsOf(own.html), []);
  assert.equal((await visit(app.url, '/', 'nobody.localhost:3000')).status, 404);
  assert.equal((await visit(app.url, '/', 'example.com')).status, 404);
});

test('HEAD › the front page, the API reference and its document answer as to GET, without the body, for link checkers', async () => {
  for (const path of ['/', '/docs', '/docs/', '/openapi.json']) {
    const [answer, page] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(app.url + path, { method, redirect: 'manual' })),
    );
    const [shown, expected] = [answer, page].map((it) => [
      it?.status,
      it?.headers.get('content-type'),
      it?.headers.get('location'),
    ]);
    assert.deepEqual(shown, expected, path);
    assert.equal(await answer?.text(), '');
    await page?.text();
  }
});

test('GET / in production → 404', async () => {
  const production = await startApp({ config: testConfig({ sandbox: false }) });
  assert.equal((await visit(production.url, '/', 'localhost:3000')).status, 404);
  await production.stop();
});
