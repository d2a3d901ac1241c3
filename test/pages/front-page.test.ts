import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { freePort } from '../../src/lib/ports.ts';
import { rateSources } from '../../src/rates/providers.ts';
import { refreshIfDue } from '../../src/rates/refresh.ts';
import { seedDemo } from '../../src/sandbox/demo.ts';
import { startApp, testConfig } from '../support/app.ts';
import { openBrowser, sizes, snap } from '../support/browser/browser.ts';
import { look } from '../support/browser/wallet-pages.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let browser: Browser;
let dataDir: string;
let url: string;

before(async () => {
  const port = await freePort();
  url = `http://localhost:${port}`;
  dataDir = await mkdtemp(join(tmpdir(), 'front-page-'));
  const config = testConfig({ port, baseUrl: url, payUrl: `${url}/pay`, dataDir });
  [app, browser] = await Promise.all([startApp({ config }), openBrowser()]);
  await refreshIfDue(app.ctx, rateSources(['fixed']));
  await seedDemo(app.ctx);
});
after(async () => {
  await browser?.close();
  await app?.stop();
  await rm(dataDir, { recursive: true });
});

/** Where each entry leads, and what is read there. */
const places: [name: string, path: RegExp, shows: string][] = [
  ['Pay page', /^\/pay\/[0-9a-f-]{36}$/, 'Two loaves'],
  ['Plan page', /^\/pay\/plans\/[0-9a-f-]{36}\/[\w-]+$/, 'Membership'],
  ['Onboarding', /^\/onboard\/[^/]+$/, 'Demo Platform invites you to receive payments in stablecoins'],
  ['Dashboard', /^\/dashboard$/, 'Ada’s Bakery'],
  ['Portal', /^\/portal$/, 'Demo Platform'],
  ['Administration', /^\/admin$/, 'Networks'],
  ['API reference', /^\/docs\/$/, 'List payment requests'],
  ['E-mails', /^\/dev\/mail$/, 'Sandbox mail'],
];

test('the address that the sandbox prints shows the demo: each entry opens with one click, signed in', async () => {
  const page = await browser.newPage({ viewport: sizes.phone });
  const start = await page.goto(url);
  assert.equal(start?.status(), 200);
  await look(page, 'front-page');
  await page.setViewportSize(sizes.desktop);
  for (const [name, path, shows] of places) {
    await page.goto(url);
    const answers: number[] = [];
    page.removeAllListeners('response');
    page.on('response', (response) => {
      if (response.request().isNavigationRequest()) answers.push(response.status());
    });
    await page.locator('.doors').getByText(name, { exact: true }).click();
    await page.waitForURL((at) => path.test(at.pathname));
    await page.getByText(shows).first().waitFor();
    assert.equal(answers.at(-1), 200, name);
    await snap(page, `front-page-${name}`);
  }
});

test('the demo’s entries opened a second time → the same pages, signed in again', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const name of ['Portal', 'Administration', 'Dashboard']) {
    await page.goto(url);
    await page.locator('.doors').getByText(name, { exact: true }).click();
    await page.waitForURL(/\/(?:portal|admin|dashboard)$/);
  }
  await context.close();
});

test('another site posts to /dev/open → 403, and nobody is signed in', async () => {
  const answer = await fetch(`${url}/dev/open/admin`, { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } });
  assert.equal(answer.status, 403);
  assert.equal(answer.headers.get('set-cookie'), null);
});
