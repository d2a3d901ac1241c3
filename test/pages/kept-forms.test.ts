import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openRequest } from '../../src/requests/open.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { makePartner } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { invitePartnerUser } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
let partner: Awaited<ReturnType<typeof makePartner>>;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
  partner = await makePartner(fixtures.db);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** A browser in which an owner of the partner is signed in. */
async function openPortal(path: string) {
  const { ctx, url } = fixtures;
  const person = await portalPerson(ctx, partner.partner.id);
  const context = await browser.newContext({ viewport: sizes.desktop });
  await context.addCookies([{ name: 'portal-session', value: person.token, url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(url + path);
  return { page, context, person };
}

const endSessions = (userId: string) =>
  fixtures.db.sql`update sessions set revoked_at = now() where user_id = ${userId}`;

/** Signs in by a mailed link, which opens another tab, as mail programs do. */
async function signInByMail(page: Page, email: string): Promise<Page> {
  const { link } = await invitePartnerUser(fixtures.ctx, partner, 'owner', email);
  const tab = await page.context().newPage();
  await tab.goto(fixtures.url + new URL(link).pathname);
  await tab.getByRole('button', { name: 'Sign in to ' }).click();
  return tab;
}

/** How much is kept once the page’s scripts have run: its texts are there before. */
async function keptIn(page: Page): Promise<number[]> {
  await page.waitForLoadState();
  return page.evaluate(() => [localStorage.length, sessionStorage.length]);
}
const notice = 'What you typed is back, but not saved yet.';

test('A form that is sent after the session has ended → signing in leads to it, filled in again, once', async () => {
  const { page, context, person } = await openPortal('/portal/settings?mode=test');
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Corner Shops & Sons');
  await page.getByLabel('E-mail').fill('ops@example.com');
  await page.getByLabel('1 day', { exact: true }).uncheck();
  await endSessions(person.userId);
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('You are no longer signed in, so nothing was saved').waitFor();
  await page.getByText('We have kept what you typed in this browser').waitFor();
  await photograph(page, 'kept-forms-sign-in');

  const tab = await signInByMail(page, person.email);
  await tab.getByText(notice).waitFor();
  assert.equal(new URL(tab.url()).pathname, '/portal/settings');
  assert.equal(await tab.getByLabel('Name', { exact: true }).inputValue(), 'Corner Shops & Sons');
  assert.equal(await tab.getByLabel('E-mail').inputValue(), 'ops@example.com');
  assert.equal(await tab.getByLabel('1 day', { exact: true }).isChecked(), false);
  await photograph(tab, 'kept-forms-back');
  assert.deepEqual(await keptIn(tab), [0, 0]);
  await tab.getByRole('button', { name: 'Save' }).first().click();
  await tab.getByText('Saved.').waitFor();
  assert.deepEqual(await keptIn(tab), [0, 0], 'a form that was answered leaves nothing');
  assert.equal(await tab.getByText(notice).isVisible(), false);
  await context.close();
});

test('Settings that a colleague changed meanwhile → what was typed is back, and the colleague’s change stays', async () => {
  const { page, context, person } = await openPortal('/portal/settings?mode=test');
  await page.getByLabel('Name', { exact: true }).fill('Corner Shops & Daughters');
  await endSessions(person.userId);
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('We have kept what you typed in this browser').waitFor();
  const { id } = partner.partner;
  await fixtures.db.sql`update partners set email = 'colleague@example.com' where id = ${id}`;
  const tab = await signInByMail(page, person.email);
  await tab.getByText(notice).waitFor();
  assert.equal(await tab.getByLabel('Name', { exact: true }).inputValue(), 'Corner Shops & Daughters');
  assert.equal(await tab.getByLabel('E-mail').inputValue(), 'colleague@example.com');
  await tab.getByRole('button', { name: 'Save' }).first().click();
  await tab.getByText('Saved.').waitFor();
  const [stored] = await fixtures.db.sql`select name, email from partners where id = ${id}`;
  assert.deepEqual({ ...stored }, { name: 'Corner Shops & Daughters', email: 'colleague@example.com' });
  await context.close();
});

test('Somebody else signs in in the same browser → sees nothing of it, and it is gone', async () => {
  const { page, context, person } = await openPortal('/portal/settings?mode=test');
  await page.getByLabel('E-mail').fill('private@example.com');
  await endSessions(person.userId);
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('We have kept what you typed').waitFor();
  const other = await portalPerson(fixtures.ctx, partner.partner.id);
  const tab = await signInByMail(page, other.email);
  await tab.getByRole('heading', { name: 'Settings' }).waitFor();
  assert.notEqual(await tab.getByLabel('E-mail').inputValue(), 'private@example.com');
  assert.deepEqual(await keptIn(tab), [0, 0]);
  await context.close();
});

test('Nobody signs in for half an hour → what was kept is gone, also from a page that stays open', async () => {
  const { page, context, person } = await openPortal('/portal/settings?mode=test');
  await page.clock.install();
  await page.getByLabel('E-mail').fill('private@example.com');
  await endSessions(person.userId);
  await page.getByRole('button', { name: 'Save' }).first().click();
  const promise = page.getByText('We have kept what you typed');
  await promise.waitFor();
  await page.clock.fastForward('20:00');
  await page.reload();
  await promise.waitFor();
  await page.clock.fastForward('10:01');
  await promise.waitFor({ state: 'hidden' });
  assert.deepEqual(await keptIn(page), [0, 0]);
  await context.close();
});

test('Somebody signs in and stays on another page → after half an hour nothing is kept', async () => {
  const { page, context, person } = await openPortal('/portal/settings?mode=test');
  await page.clock.install();
  await page.getByLabel('E-mail').fill('private@example.com');
  await endSessions(person.userId);
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('We have kept what you typed').waitFor();
  await context.clearCookies({ name: 'portal-return' });
  const tab = await signInByMail(page, person.email);
  await tab.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.close();
  assert.deepEqual(await keptIn(tab), [1, 0]);
  await tab.clock.fastForward('30:01');
  await tab.waitForFunction(() => localStorage.length === 0);
  await context.close();
});

test('A session that ends while a form is filled in → the page leaves by itself, and what was typed comes back', async () => {
  const { ctx, scope, url, merchant, db } = fixtures;
  const row = await fixtures.request();
  const context = await browser.newContext({ viewport: sizes.desktop });
  const signIn = async () => {
    const value = await sessionOf(ctx, scope, merchant);
    await context.addCookies([{ name: 'dashboard-session', value, url, sameSite: 'Lax', httpOnly: true }]);
  };
  await signIn();
  const page = await context.newPage();
  const path = `/dashboard/payments/${row.id}`;
  await page.goto(url + path);
  const hash = page.getByLabel('Transaction hash');
  await hash.fill(`0x${'5e'.repeat(32)}`);
  await db.sql`update sessions set revoked_at = now() where account_id = ${merchant.id}`;
  await page.waitForURL(/\/dashboard\/sign-in$/);
  await page.getByText('We have kept what you typed').waitFor();
  await signIn();
  await page.goto(url + path);
  await page.getByText(notice).waitFor();
  await hash.waitFor({ state: 'visible' });
  assert.equal(await hash.inputValue(), `0x${'5e'.repeat(32)}`);
  await context.close();
});

test('A live region is replaced → typed text stays in its form, and the focus on its button', async () => {
  const { ctx, scope, url, merchant } = fixtures;
  const row = await fixtures.request();
  const context = await browser.newContext({ viewport: sizes.desktop });
  const value = await sessionOf(ctx, scope, merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(`${url}/dashboard/payments/${row.id}`);
  const hash = page.getByLabel('Transaction hash');
  await hash.fill('0x5e');
  await hash.press('Tab');
  await openRequest(ctx, scope, row.id);
  await page.getByText('Customer opened the page').waitFor();
  assert.equal(await hash.inputValue(), '0x5e');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Look up');
  await context.close();
});
