import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startApp, testConfig } from '../support/app.ts';
import { openBrowser } from '../support/browser/browser.ts';

/** The service over plain http under a host name: browsers send no `Sec-Fetch-Site` there. */
let app: Awaited<ReturnType<typeof startApp>>;
let site: string;
let evil: Server;
let evilSite: string;
let evilPage = { html: '', headers: {} };
let browser: Browser;

before(async () => {
  const config = testConfig({ baseUrl: 'http://service.example', payUrl: 'http://service.example/pay' });
  [app, browser] = await Promise.all([
    startApp({ config }),
    openBrowser(['--host-resolver-rules=MAP service.example 127.0.0.1, MAP evil.example 127.0.0.1']),
  ]);
  site = `http://service.example:${new URL(app.url).port}`;
  evil = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...evilPage.headers }).end(evilPage.html),
  );
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
  evilSite = `http://evil.example:${(evil.address() as AddressInfo).port}`;
});
after(async () => {
  await browser?.close();
  evil?.close();
  await app?.stop();
});

async function signInLinks(): Promise<number> {
  const [row] = await app.db.sql`select count(*)::int as links from sign_in_links`;
  return row?.links;
}

test('Over plain http a browser names the site of our own forms, so they are taken', async () => {
  const page = await browser.newPage();
  await page.goto(`${site}/portal/sign-in`);
  await page.getByLabel('E-mail').fill('ada@example.com');
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === 'POST'),
    page.getByRole('button', { name: 'Send me a link' }).click(),
  ]);
  await page.getByText('Check your inbox').waitFor();
  const headers = await sent.allHeaders();
  assert.equal(headers['sec-fetch-site'], undefined);
  assert.equal(headers.origin, site);
  await page.close();
});

const form = () =>
  `<form method="post" action="${site}/portal/sign-in"><input name="email" value="ada@example.com"></form>`;
const send = '<script>document.forms[0].submit()</script>';
const attacks = {
  'a form of another site': { headers: {}, origin: () => evilSite },
  'one that will not say whose it is': { headers: { 'referrer-policy': 'no-referrer' }, origin: () => 'null' },
  'one in a sandbox': {
    headers: { 'content-security-policy': 'sandbox allow-scripts allow-forms' },
    origin: () => 'null',
  },
};
for (const [what, attack] of Object.entries(attacks)) {
  test(`Over plain http, ${what} changes nothing`, async () => {
    evilPage = { html: form() + send, headers: attack.headers };
    const before = await signInLinks();
    const page = await browser.newPage();
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.goto(evilSite).catch(() => {}), // it navigates away at once
    ]);
    assert.equal((await answer.request().allHeaders()).origin, attack.origin());
    assert.equal(answer.status(), 403);
    assert.equal(await signInLinks(), before);
    await page.close();
  });
}

test('The API’s reference works under its policy', async () => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  // The browser asks for a favicon, which does not exist.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 404/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(`${site}/docs/`);
  await page.getByText('Payment requests').first().waitFor();
  assert.deepEqual(complaints, []);
  await page.close();
});
