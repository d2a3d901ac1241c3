import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { openRequest } from '../../src/requests/open.ts';
import { openBrowser, sizes } from '../support/browser/browser.ts';
import { startProxy } from '../support/net/proxy.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { until } from '../support/until.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** Listens beside the page, and waits until a change is reported to both. */
async function listen(session: string, requestId: string): Promise<() => Promise<void>> {
  const ending = new AbortController();
  const answer = await fetch(`${fixtures.url}/dashboard/events?request=${requestId}`, {
    headers: { cookie: `dashboard-session=${session}` },
    signal: ending.signal,
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const changes = async (count: number) => {
    for (let text = ''; text.split('data: changed').length <= count; ) text += (await reader?.read())?.value ?? '';
  };
  await changes(1); // each stream begins with one
  return async () => {
    await changes(1);
    ending.abort();
  };
}

/** The page of a request, over a network that can fail. It is closed after the test. */
async function livePage(t: TestContext, path: (id: string) => string) {
  const { ctx, scope, merchant, url } = fixtures;
  const row = await fixtures.request();
  const proxy = await startProxy(url);
  const context = await browser.newContext({ viewport: sizes.phone });
  const value = await sessionOf(ctx, scope, merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url: proxy.url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.clock.install();
  const heard = page.waitForResponse((answer) => answer.url().includes('/dashboard/events'));
  await page.goto(new URL(path(row.id), proxy.url).href);
  await heard;
  t.after(async () => {
    await context.close();
    await proxy.close();
  });
  return { page, context, proxy, row, value };
}

/** The page of a request that hears of nothing any more, over a connection that died silently. */
async function deafPage(t: TestContext, path: (id: string) => string) {
  const { ctx, scope } = fixtures;
  const { page, proxy, row, value } = await livePage(t, path);
  const other = await listen(value, row.id);
  // The page asks once at the start. Its timers stand still until they are moved.
  const renewed = page.waitForResponse((answer) => answer.url() === page.url());
  await page.clock.fastForward(1_000);
  await renewed;
  proxy.behave('silent');
  await openRequest(ctx, scope, row.id);
  await other(); // what the page was sent meanwhile is lost
  proxy.behave('forward');
  return page;
}

test('the cashier’s screen was silent for a while → it connects again, and shows what happened meanwhile', async (t) => {
  const page = await deafPage(t, (id) => `/dashboard/cashier/${id}`);
  assert.equal(await page.getByText('Your customer has opened the page').count(), 0);
  await page.clock.fastForward('00:50');
  await page.getByText('Your customer has opened the page').waitFor();
});

test('a device is back in the network → its page shows at once what happened meanwhile', async (t) => {
  const page = await deafPage(t, (id) => `/dashboard/payments/${id}`);
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.clock.fastForward(1_000);
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
    const { EventSource: Native } = window;
    window.EventSource = class extends Native {
      constructor(url: string | URL) {
        super(url);
        this.addEventListener('message', () => document.body.setAttribute('data-heard', ''));
      }
    };
  });
  let [answers, unanswered] = [false, 0];
  await page.route(page.url(), (route) => {
    if (answers) return route.continue();
    unanswered++;
  });
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.locator('[data-heard]').waitFor();
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
