import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { watchScope } from '../../src/db/scope-changes.ts';
import { openRequest } from '../../src/requests/open.ts';
import { openBrowser, sizes } from '../support/browser/browser.ts';
import { startProxy } from '../support/net/proxy.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { until } from '../support/until.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
let endWatch: () => void;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
  // The process listens from here on, so that a page gets one message at its start, and then one for each change.
  const listens = Promise.withResolvers<void>();
  const watcher = { scope: fixtures.scope, requestId: randomUUID(), chains: false, wake: listens.resolve };
  endWatch = watchScope(fixtures.ctx.db, watcher, listens.reject);
  await listens.promise;
});
after(async () => {
  endWatch?.();
  await browser?.close();
  await fixtures?.stop();
});

type Hearing = typeof globalThis & { heard: number };
/** Resolves when the page has received this many messages of its streams. */
const hears = (page: Page, many: number) =>
  page.waitForFunction((least) => (globalThis as Hearing).heard >= least, many);

/**
 * The page of a request, over a network that can fail, once it has asked for its content at its start. Its timers stand
 * still until they are moved. It is closed after the test.
 */
async function livePage(t: TestContext, path: (id: string) => string) {
  const { ctx, scope, merchant, url } = fixtures;
  const row = await fixtures.request();
  const proxy = await startProxy(url);
  const context = await browser.newContext({ viewport: sizes.phone });
  t.after(async () => {
    await context.close();
    await proxy.close();
  });
  const value = await sessionOf(ctx, scope, merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url: proxy.url, sameSite: 'Lax', httpOnly: true }]);
  await context.clock.install();
  await context.clock.pauseAt(new Date());
  await context.addInitScript(() => {
    const hearing = globalThis as Hearing;
    hearing.heard = 0;
    const { EventSource: Native } = window;
    window.EventSource = class extends Native {
      constructor(url: string | URL) {
        super(url);
        this.addEventListener('message', () => hearing.heard++);
      }
    };
  });
  const page = await context.newPage();
  await page.goto(new URL(path(row.id), proxy.url).href);
  await hears(page, 1);
  const renewed = page.waitForEvent('requestfinished', (request) => request.url() === page.url());
  await page.clock.fastForward(1_000);
  await renewed;
  return { page, context, proxy, row };
}

/** The page of a request that hears of nothing any more, over a connection that died silently. */
async function deafPage(t: TestContext, path: (id: string) => string) {
  const { page, proxy, row } = await livePage(t, path);
  proxy.behave('silent');
  await openRequest(fixtures.ctx, fixtures.scope, row.id);
  await until(() => proxy.swallowed().includes('data: changed'), 'what the page was sent is lost');
  proxy.behave('forward');
  return page;
}

test('the cashier’s screen was silent for a while → it connects again, and shows what happened meanwhile', async (t) => {
  const page = await deafPage(t, (id) => `/dashboard/cashier/${id}`);
  assert.equal(await page.getByText('Your customer has opened the page').count(), 0);
  await page.clock.fastForward('00:50');
  await page.clock.resume();
  await page.getByText('Your customer has opened the page').waitFor();
});

test('a device is back in the network → its page shows at once what happened meanwhile', async (t) => {
  const page = await deafPage(t, (id) => `/dashboard/payments/${id}`);
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.clock.resume();
  await page.getByText('Customer opened the page').waitFor();
});

test('a page asks for its content over a connection that died silently → it asks again, and shows what happened', async (t) => {
  const page = await deafPage(t, (id) => `/dashboard/payments/${id}`);
  await page.evaluate(() => {
    AbortSignal.timeout = (ms) => {
      const timing = new AbortController();
      setTimeout(() => timing.abort(), ms); // the page's clock moves this timer, too
      return timing.signal;
    };
  });
  let [answers, unanswered] = [false, 0];
  await page.route(page.url(), (route) => {
    if (answers) return route.continue();
    unanswered++;
  });
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await hears(page, 2);
  await page.route('**/dashboard/events*', (route) => route.abort()); // from now on only the page asks
  await until(async () => {
    await page.clock.fastForward(400);
    return unanswered > 0;
  }, 'the page asks');
  answers = true;
  const shown = page.getByText('Customer opened the page');
  await until(async () => {
    await page.clock.fastForward(1_000);
    return (await shown.count()) > 0;
  }, 'the page asks again');
});

test('the cashier’s device loses its network, or the server is gone for long → the screen says so until it is back', async (t) => {
  const { page, context, proxy } = await livePage(t, (id) => `/dashboard/cashier/${id}`);
  const notice = page.getByText('No connection right now');
  await context.setOffline(true);
  await notice.waitFor();
  await context.setOffline(false);
  await notice.waitFor({ state: 'hidden' });

  proxy.behave('hang up');
  const lost = page.waitForEvent('requestfailed', (request) => request.url().includes('/dashboard/events'));
  proxy.disconnect();
  await lost;
  assert.equal(await notice.isVisible(), false, 'a server that restarts is back sooner');
  await until(async () => {
    await page.clock.fastForward(20_000);
    return notice.isVisible();
  }, 'the page says that it has no connection');
  proxy.behave('forward');
  await until(async () => {
    await page.clock.fastForward(5_000);
    return !(await notice.isVisible());
  }, 'the page has its connection again');
});

test('nothing answers the page’s stream, though the device has a network → the page says so, and asks again', async (t) => {
  const { page, proxy } = await livePage(t, (id) => `/dashboard/payments/${id}`);
  const notice = page.getByText('No connection right now');
  const asked = () => page.waitForRequest((request) => request.url().includes('/dashboard/events'));
  proxy.behave('silent');
  const again = asked();
  await page.evaluate(() => dispatchEvent(new Event('online'))); // as when a device changes its network
  await again;
  await page.clock.fastForward(20_000);
  assert.equal(await notice.isVisible(), true);
  const later = asked();
  proxy.behave('forward');
  await page.clock.fastForward('00:45');
  await later;
  await notice.waitFor({ state: 'hidden' });
});
