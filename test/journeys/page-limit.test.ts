import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { commonTexts } from '../../src/texts/common.ts';
import { languages, wordsOf } from '../../src/ui/language.ts';
import { send } from '../support/api/client.ts';
import { startApp, testConfig } from '../support/app.ts';
import { movedClock } from '../support/deliveries.ts';
import { makeKey, makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { visit } from '../support/people/forms.ts';

let app: Awaited<ReturnType<typeof startApp>>;
const clock = movedClock();
let payPath: string;
let paths: string[];
let slug: string;
let key: string;

before(async () => {
  app = await startApp({ clock, config: testConfig({ trustProxy: ['127.0.0.0/8'], pageLimit: 200 }) });
  const { test: scope, partner } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  payPath = `/pay/${(await makeRequest(app.db, scope, merchant)).id}`;
  const shell = await createShell(app.ctx, theService, scope, { display_currency: 'EUR' });
  const onboarding = new URL(onboardingUrl(app.ctx.config, shell, clock.now())).pathname;
  paths = [payPath, `${payPath}/receipt`, `${payPath}/qr/0`, onboarding, '/portal/sign-in', '/portal/link/x'];
  paths.push('/dashboard/sign-in', '/admin/sign-in', `/logo/${partner.slug}`, '/dev/mail');
  slug = partner.slug;
  key = (await makeKey(app.db, scope)).key;
});
after(() => app.stop());

const from = (client: string) => ({ headers: { 'x-forwarded-for': client } });
const open = (path: string, client: string) => visit(app.url + path, from(client));

/** Opens a page with a cookie that looks like a session's. */
const openWith = (path: string, client: string, name: string) =>
  visit(app.url + path, {
    headers: { ...from(client).headers, cookie: `dashboard-session=${name.padStart(43, '0')}` },
  });

/** Opens the pay page as often as one client may in its current ten seconds. */
async function useUp(client: string): Promise<void> {
  for (let opened = 0; opened < 200; opened++) assert.equal((await open(payPath, client)).status, 200);
}

test('Pages › two hundred in ten seconds are a client’s; then a small page says so, and costs no query', async () => {
  clock.forward(10_000);
  await useUp('203.0.113.1');
  const asked: string[] = [];
  const { sql } = app.db;
  sql.observer = (_connection, { text }) => asked.push(text);
  try {
    const refused = await Promise.all(paths.map((path) => open(path, '203.0.113.1')));
    for (const { status, html, headers } of refused) {
      assert.equal(status, 429);
      assert.match(html, /<h1>Too many/);
      assert.ok(html.length < 2_000, `${html.length} characters`);
      for (const name of headers.keys()) assert.doesNotMatch(name, /retry-after|ratelimit|rate-limit|set-cookie/);
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
    }
    assert.deepEqual(asked, []);
    await open(payPath, '203.0.113.4');
    assert.ok(asked.length > 0, 'queries are heard of');
  } finally {
    sql.observer = null;
  }
  const program = await visit(app.url + payPath, {
    headers: { ...from('203.0.113.1').headers, accept: 'application/json' },
  });
  assert.deepEqual(
    [program.status, JSON.parse(program.html).error],
    [429, 'rate_limited'],
    'programs are told in JSON',
  );
  for (const language of languages) {
    const headers = { ...from('203.0.113.1').headers, 'accept-language': language };
    const { html } = await visit(app.url + payPath, { headers });
    assert.match(html, new RegExp(`lang="${language}"`));
    const { slowDown, slowDownRest, tooManyRest } = commonTexts(wordsOf(language)).errors;
    assert.ok(html.includes(`<h1>${slowDown}</h1><p>${slowDownRest}</p>`), html);
    assert.ok(!html.includes(tooManyRest), 'a minute is not what is counted');
  }
  assert.match(commonTexts(wordsOf('en')).errors.slowDownRest, /^Wait ten seconds/);
});

test('Pages › another client, the API, health and browser code are served meanwhile; ten seconds later so is the client', async () => {
  clock.forward(10_000);
  const client = '203.0.113.2';
  const asset = /\/assets\/[^"]+\.js/.exec((await open(payPath, '203.0.113.9')).html)?.[0] ?? '';
  await useUp(client);
  assert.equal((await open(payPath, client)).status, 429);
  assert.equal((await open(payPath, '203.0.113.3')).status, 200);
  assert.equal((await open(asset, client)).status, 200);
  for (const path of ['/healthz', '/api/v1/requests', `${payPath}/state`]) {
    assert.equal((await send(app.url, 'GET', path, { key, ...from(client) })).status, 200, path);
  }
  clock.forward(10_000);
  assert.equal((await open(payPath, client)).status, 200);
});

test('Pages › a /64 of IPv6 is one client; a signed-in user at the same address is not locked out', async () => {
  clock.forward(10_000);
  for (let opened = 0; opened < 200; opened++) await open(payPath, `2001:db8::${opened.toString(16)}`);
  assert.equal((await open(payPath, '2001:db8::ffff')).status, 429);
  assert.equal((await open(payPath, '2001:db8:0:1::1')).status, 200);
  assert.equal((await openWith('/dashboard', '2001:db8::ffff', 'a')).status, 303);
});

test('Pages › strangers at the same address lock nobody out who shows a session, whichever pages they open', async () => {
  clock.forward(10_000);
  const client = '203.0.113.5';
  for (let opened = 0; opened < 200; opened++) assert.equal((await open('/dashboard', client)).status, 303);
  assert.equal((await open('/dashboard', client)).status, 429);
  assert.equal((await open(payPath, client)).status, 429);
  assert.equal((await openWith(payPath, client, 'a')).status, 429, 'a page that needs no session looks at none');
  assert.equal((await openWith('/dashboard', client, 'a')).status, 303);
  for (let opened = 1; opened < 200; opened++) await openWith('/portal', client, 'a');
  assert.equal((await openWith('/portal', client, 'a')).status, 429);
  assert.equal((await openWith('/portal', client, 'b')).status, 303);
});

test('Pages › sessions that are made up have an end together', async () => {
  clock.forward(10_000);
  const statuses = new Set<number>();
  for (let opened = 0; opened < 2_000; opened += 20) {
    const some = Array.from({ length: 20 }, (_, i) => openWith('/dashboard', '203.0.113.6', `${opened + i}`));
    for (const { status } of await Promise.all(some)) statuses.add(status);
  }
  assert.deepEqual([...statuses], [303]);
  assert.equal((await openWith('/dashboard', '203.0.113.6', 'one-more')).status, 429);
});

test('Addresses that lead nowhere › as many as pages, counted by themselves; a missing script costs no page', async () => {
  clock.forward(10_000);
  const client = '203.0.113.6';
  const nowhere = ['/nothing', '/portal/%73ign-in', '/dashboard/x/y', '/%68ealthz', '/pay/x/y/z'];
  for (let opened = 0; opened < 200; opened++) {
    assert.equal((await open(nowhere[opened % nowhere.length] ?? '', client)).status, 404);
  }
  const refused = await Promise.all(nowhere.map((path) => open(path, client)));
  for (const { status, html } of refused) assert.deepEqual([status, html.length < 2_000], [429, true]);
  const wrong = await send(app.url, 'POST', '/healthz', from(client));
  assert.equal(wrong.status, 429, 'a method that the address does not have leads nowhere, too');
  assert.equal((await open(payPath, client)).status, 200);
  assert.equal((await open('/nothing', '203.0.113.7')).status, 404);
  assert.equal((await send(app.url, 'GET', '/api/v1/nothing', { key, ...from(client) })).status, 404);
  const asset = await open('/assets/nothing.js', client);
  assert.deepEqual([asset.status, asset.html], [404, 'There is no such file.\n']);
});

test('Hosts that are made up › as many are looked up for a client as it may open pages, also for what is not limited', async () => {
  clock.forward(10_000);
  const client = '203.0.113.8';
  const asked: string[] = [];
  app.db.sql.observer = (_connection, { text }) => asked.push(text);
  try {
    const at = (name: string) =>
      askHost(`/assets/nothing.js`, `${name}.${new URL(app.ctx.config.baseUrl).host}`, client);
    for (let opened = 0; opened < 200; opened++) assert.equal(await at(`made-up-${opened}`), 404);
    assert.equal(asked.filter((text) => text.includes('partners')).length, 200);
    assert.equal(await at('made-up'), 429);
    assert.equal(asked.filter((text) => text.includes('partners')).length, 200);
  } finally {
    app.db.sql.observer = null;
  }
});

test('Made-up payments on a partner’s own host › as many are looked up for a client as it may open pages; a known one costs no look', async () => {
  clock.forward(10_000);
  const client = '203.0.113.10';
  const own = `${slug}.${new URL(app.ctx.config.baseUrl).host}`;
  const state = (id: string) => askHost(`/pay/${id}/state`, own, client);
  const looked: string[] = [];
  const looks = () => looked.filter((text) => /from requests/.test(text)).length;
  app.db.sql.observer = (_connection, { text }) => looked.push(text);
  try {
    for (let asked = 0; asked < 200; asked++) assert.equal(await state(randomUUID()), 404);
    assert.equal(looks(), 200);
    assert.equal(await state(randomUUID()), 429);
    assert.equal(looks(), 200);
    clock.forward(10_000);
    assert.equal(await askHost(`${payPath}/state`, own, client), 200);
    for (let asked = 1; asked < 200; asked++) await state(randomUUID());
    assert.deepEqual([await state(randomUUID()), await askHost(`${payPath}/state`, own, client)], [429, 200]);
  } finally {
    app.db.sql.observer = null;
  }
});

/** The status of an answer under another host's name. */
function askHost(path: string, host: string, client: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, ...from(client).headers };
    const asking = request(app.url + path, { headers }, (answer) => resolve(answer.resume().statusCode ?? 0));
    asking.on('error', reject).end();
  });
}
