import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { openRequest } from '../../src/requests/open.ts';
import { openBrowser, sizes } from '../support/browser/browser.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** The page of an open request, which can be cancelled. */
async function openPayment() {
  const { ctx, scope, merchant, url } = fixtures;
  const row = await fixtures.request();
  const context = await browser.newContext({ viewport: sizes.phone });
  const value = await sessionOf(ctx, scope, merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(`${url}/dashboard/payments/${row.id}`);
  const summary = page.locator('details.confirm > summary', { hasText: 'Cancel request' });
  return { row, page, summary, focused: () => page.evaluate(() => document.activeElement?.textContent), context };
}

test('Escape in an unfolded confirmation → it folds, and the focus is on the button that unfolded it', async () => {
  const { page, summary, focused, context } = await openPayment();
  await summary.focus();
  await page.keyboard.press('Enter');
  const act = page.locator('details.confirm[open] form button');
  await act.waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await act.evaluate((button) => button === document.activeElement), true);
  await page.keyboard.press('Escape');
  await act.waitFor({ state: 'hidden' });
  assert.equal(await focused(), await summary.textContent());
  await context.close();
});

test('A change takes away the control that has the focus → the focus is on a heading of its region', async () => {
  const { row, summary, focused, context } = await openPayment();
  await summary.focus();
  await cancelRequest(fixtures.ctx, theService, fixtures.scope, row.id);
  await summary.waitFor({ state: 'detached' });
  assert.equal(await focused(), 'Timeline');
  await context.close();
});

test('A region is replaced while a button that browser code shows has the focus → the button keeps it', async () => {
  const { row, page, context } = await openPayment();
  const copy = page.locator('[data-region="payment"] button[data-copied]').first();
  await copy.focus();
  await openRequest(fixtures.ctx, fixtures.scope, row.id);
  await page.getByText('Customer opened the page').waitFor();
  assert.equal(await copy.evaluate((button) => button === document.activeElement), true);
  await context.close();
});
