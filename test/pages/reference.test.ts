import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../src/lib/ports.ts';
import { startApp, testConfig } from '../support/app.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, sizes, snap } from '../support/browser/browser.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let browser: Browser;
let page: Page;
const complaints: string[] = [];

before(async () => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  [app, browser] = await Promise.all([
    startApp({ config: testConfig({ port, baseUrl, payUrl: `${baseUrl}/pay` }) }),
    openBrowser(),
  ]);
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  await openReference();
});
after(async () => {
  await browser?.close();
  await app?.stop();
});

async function openReference(): Promise<void> {
  await page.goto(`${app.ctx.config.baseUrl}/docs/`);
  await page.getByText('List payment requests').first().waitFor({ state: 'attached' });
}

/**
 * Scrolls through the page, as far as it grows meanwhile: its parts are rendered when they come into view. A busy machine's
 * headless Chromium may draw no more frames where nothing moves, so waiting for one ends after half a second.
 */
const readThrough = () =>
  page.evaluate(async () => {
    const painted = () =>
      new Promise((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(resolve));
        setTimeout(resolve, 500);
      });
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
      scrollTo(0, y);
      await painted();
    }
  });

for (const [size, viewport] of Object.entries(sizes)) {
  test(`GET /docs › opened, and read to its end with everything unfolded › accessible on a ${size}`, async () => {
    await page.setViewportSize(viewport);
    await openReference();
    await assertAccessible(page);
    await readThrough();
    const folded = page.locator('.show-more');
    for (let clicks = 0; (await folded.count()) > 0; ) {
      // All that were seen, then what they hold: reading takes a hundred times as long as a click.
      for (; (await folded.count()) > 0; clicks++) {
        assert.ok(clicks < 20, 'each click unfolds a part');
        await folded.first().click();
      }
      await readThrough();
    }
    await page.getByText('A payment was verified on the chain').last().waitFor();
    await assertAccessible(page);
  });
}

test('GET /docs › a request is tried with a key, and nothing on the page breaks its policy', async () => {
  const { key } = await makeKey(app.db, (await makePartner(app.db)).test);
  await snap(page, 'reference');
  await page.getByLabel('Bearer Token').first().fill(key);
  await page.getByText('Merchants', { exact: true }).first().click();
  await page.getByText('List merchants').first().click(); // the rest is rendered when it comes into view
  await page.getByRole('button').filter({ hasText: '(get /api/v1/accounts)' }).click();
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().includes('/api/')),
    page.getByRole('button', { name: /^Send/ }).first().click(),
  ]);
  assert.equal(answer.status(), 200);
  assert.equal(answer.request().headers().authorization, `Bearer ${key}`);
  await page.getByText('200 OK').first().waitFor();
  await snap(page, 'reference-tried');
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
});

test('GET /docs › says its name and language, and advertises nobody', async () => {
  assert.match(await page.title(), /^Quittance API/);
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
  for (const text of [/Powered by/, /Ask AI/, /Generate MCP/, /^Deploy$/, /^Share$/]) {
    assert.deepEqual(await page.getByText(text).filter({ visible: true }).allTextContents(), []);
  }
});

test('GET /docs › script in the page opens no window of the portal, and sends no form there', async () => {
  const opened = await page.evaluate(() =>
    ['/portal/sign-in', '/pay/x', '/none'].map((path) => window.open(path) === null),
  );
  assert.deepEqual(opened, [true, true, true]);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.url()));
  await page.evaluate(async () => {
    const form = document.createElement('form');
    form.method = 'post';
    form.action = '/portal/keys?mode=live';
    document.body.append(form);
    form.submit();
    await fetch('/api/v1/requests').catch(() => null);
  });
  assert.deepEqual(
    sent.filter((url) => url.includes('/portal')),
    [],
  );
});

test('GET /docs › script that gets into the page does not run, and what runs there reaches nothing but the API', async () => {
  const tried = await page.evaluate(async () => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    const button = document.createElement('button');
    button.setAttribute('onclick', 'window.ran = true');
    document.body.append(button);
    button.click();
    const reached = (path: string) =>
      fetch(path).then(
        () => true,
        () => false,
      );
    return {
      ran: 'ran' in window,
      portal: await reached('/portal'),
      elsewhere: await reached('https://example.com/'),
      api: await reached('/api/v1/requests'),
    };
  });
  assert.deepEqual(tried, { ran: false, portal: false, elsewhere: false, api: true });
});
