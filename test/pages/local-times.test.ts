import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startApp } from '../support/app.ts';
import { openBrowser } from '../support/browser/browser.ts';
import { makePartner, makeRequest } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { makePlan } from '../support/plans.ts';

/** Noon in UTC, so that it is the same day in every zone that is tried. */
const noon = new Date(new Date().setUTCHours(12, 0, 0, 0));
let app: Awaited<ReturnType<typeof startApp>>;
let browser: Browser;
before(async () => {
  [app, browser] = await Promise.all([startApp({ clock: { now: () => noon } }), openBrowser()]);
});
after(async () => {
  await browser.close();
  await app.stop();
});

/** A request that ends ten minutes after noon, and a browser that has the session of its merchant. */
async function fixturesIn(locale: string, timezoneId: string, javaScriptEnabled = true) {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeOnboarded(app.ctx, scope);
  const { id } = await makeRequest(app.db, scope, merchant);
  const [made, until] = [noon, new Date(noon.getTime() + 10 * 60_000)];
  await app.db.sql`update requests set made_at = ${made}, expires_at = ${until} where id = ${id}`;
  const context = await browser.newContext({ locale, timezoneId, javaScriptEnabled });
  await context.clock.setFixedTime(noon);
  const value = await sessionOf(app.ctx, scope, merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url: app.url }]);
  return { id, context, page: await context.newPage() };
}

for (const [locale, zone, until] of [
  ['en-GB', 'Europe/London', /until 1[23]:10/],
  ['en-US', 'America/New_York', /until [78]:10\sAM/],
  ['de-DE', 'Europe/Berlin', /bis 1[34]:10/],
  ['ar-EG', 'Africa/Cairo', /حتى [23]:10/],
] as const) {
  test(`${locale} in ${zone} → the pay page says the local time of day in its way, and no date, since it is today`, async () => {
    const { id, page, context } = await fixturesIn(locale, zone);
    await page.goto(`${app.url}/pay/${id}`);
    await page.locator('.countdown time').filter({ hasNotText: 'UTC' }).waitFor();
    const text = (await page.locator('.countdown').textContent()) ?? '';
    assert.match(text, until);
    assert.doesNotMatch(text, new RegExp(String(noon.getUTCFullYear())));
    await context.close();
  });
}

test('without script times are in UTC and say so, today without the date', async () => {
  const { id, page, context } = await fixturesIn('en-GB', 'Europe/Berlin', false);
  await page.goto(`${app.url}/pay/${id}`);
  assert.match((await page.locator('.countdown').textContent()) ?? '', /until 12:10 UTC/);
  await context.close();
});

test('a merchant’s pages say local times, in the list on hover and in the details', async () => {
  const { id, page, context } = await fixturesIn('en-GB', 'Asia/Tokyo');
  await page.goto(`${app.url}/dashboard/payments/${id}`);
  const facts = page.locator('.facts time').first();
  await facts.filter({ hasNotText: 'UTC' }).waitFor();
  assert.match((await facts.textContent()) ?? '', /21:\d\d/);
  await page.goto(`${app.url}/dashboard/payments`);
  const relative = page.locator('time[title]').first();
  await relative.filter({ hasNotText: 'UTC' }).waitFor();
  await page.waitForFunction(() => !document.querySelector<HTMLElement>('time[title]')?.title.includes('UTC'));
  assert.match((await relative.getAttribute('title')) ?? '', /21:00:00/);
  await context.close();
});

test('a date without a time → the day that was agreed, west of Greenwich too, in the order of the reader’s region', async () => {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeOnboarded(app.ctx, scope);
  const { id } = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-01-31' });
  const value = await sessionOf(app.ctx, scope, merchant);
  for (const [locale, timezoneId, day] of [
    ['en-GB', 'Europe/Berlin', '31 Jan 2027'],
    ['en-US', 'America/New_York', 'Jan 31, 2027'],
  ] as const) {
    const context = await browser.newContext({ locale, timezoneId });
    await context.clock.setFixedTime(noon);
    await context.addCookies([{ name: 'dashboard-session', value, url: app.url }]);
    const page = await context.newPage();
    await page.goto(`${app.url}/dashboard/plans/${id}`);
    // Scripts have run: a page is loaded when its modules are.
    assert.equal(await page.locator('.dates time').first().textContent(), day);
    await context.close();
  }
});
