import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { latestMail } from '../../src/mail/outbox.ts';
import { startApp } from '../support/app.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { makePartner } from '../support/fixtures.ts';
import { inviteOperator, invitePartnerUser, signInPartnerUser } from '../support/people/people.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let browser: Browser;
/** Policy violations and script errors on the pages. */
const complaints: string[] = [];
before(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
  fixtures = await makePartner(app.db);
});
after(async () => {
  await browser.close();
  await app.stop();
});

async function newPage(): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  // Pages that are refused with 4xx are expected.
  page.on('console', (message) => {
    if (!/status of 4\d\d/.test(message.text())) complaints.push(message.text());
  });
  return page;
}

/** Takes pictures. Asserts no sideways overflow on a phone, and no serious axe finding in light or dark. */
async function look(page: Page, name: string): Promise<void> {
  await photograph(page, `users-${name}`);
  await page.setViewportSize(sizes.phone);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), sizes.phone.width, name);
  await page.setViewportSize(sizes.desktop);
  await assertAccessible(page);
}

test('Somebody is invited, signs in, out, in again with a mailed link, and ends the other session', async () => {
  const { user, link } = await invitePartnerUser(app.ctx, fixtures);
  const phone = await newPage();
  await phone.goto(app.url + new URL(link).pathname);
  await look(phone, 'invitation');
  await phone.getByRole('button', { name: 'Sign in to Corner Shops Ltd' }).click();
  await phone.goto(`${app.url}/portal/sessions`);
  await phone.getByRole('heading', { name: 'Where you are signed in' }).waitFor();

  const desk = await newPage();
  await desk.goto(`${app.url}/portal`);
  await look(desk, 'sign-in');
  await desk.getByLabel('E-mail').fill('nobody');
  await desk.getByRole('button', { name: 'Send me a link' }).click();
  await desk.getByText('This does not look like an e-mail address').waitFor();
  await look(desk, 'sign-in-fault');
  await desk.getByLabel('E-mail').fill(user.email);
  await desk.getByRole('button', { name: 'Send me a link' }).click();
  await desk.getByRole('heading', { name: 'Check your inbox' }).waitFor();
  await look(desk, 'sent');
  const mailed = /\/portal\/link\/\S+/.exec((await latestMail(app.db.sql, user.email))?.body ?? '')?.[0];
  assert.ok(mailed);
  const third = await newPage();
  await third.goto(app.url + mailed);
  await third.getByRole('heading', { name: 'This link was requested in another browser' }).waitFor();
  await look(third, 'other-browser');
  await desk.goto(app.url + mailed);
  await desk.getByRole('button', { name: 'Sign in' }).click();
  await desk.goto(`${app.url}/portal/sessions`);
  await look(desk, 'sessions');
  await desk.getByRole('button', { name: 'Sign out there' }).click();
  await desk.getByText('The other browser is signed out.').waitFor();
  await phone.reload();
  await phone.getByRole('heading', { name: 'Sign in to the portal' }).waitFor();
  await desk.getByRole('button', { name: 'Sign out', exact: true }).click();
  await desk.getByRole('heading', { name: 'Sign in to the portal' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('A user of two partners chooses one by a button, and an operator enters the administration', async () => {
  const second = await makePartner(app.db);
  await app.db.sql`update partners set name = 'Second Street Books' where id = ${second.partner.id}`;
  const email = 'both@example.com';
  await invitePartnerUser(app.ctx, fixtures, 'viewer', email);
  await invitePartnerUser(app.ctx, second, 'owner', email);
  const page = await newPage();
  await page.goto(`${app.url}/portal/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  const mailed = /\/portal\/link\/\S+/.exec((await latestMail(app.db.sql, email))?.body ?? '')?.[0];
  await page.goto(app.url + mailed);
  await look(page, 'choose');
  await page.getByRole('button', { name: 'Sign in to Second Street Books' }).click();
  await page.getByText('Second Street Books').first().waitFor();

  const { link } = await inviteOperator(app.ctx);
  const operator = await newPage();
  await operator.goto(app.url + new URL(link).pathname);
  await operator.getByRole('button', { name: 'Sign in', exact: true }).click();
  await operator.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  await operator.goto(`${app.url}/admin/sessions`);
  await look(operator, 'admin-sessions');
  assert.deepEqual(complaints, []);
});

test('A page that is left open shows nothing more as soon as its session is ended elsewhere', async () => {
  const { user, visitor, portal } = await signInPartnerUser(app, fixtures);
  const page = await newPage();
  const value = visitor.cookies.get('portal-session') ?? '';
  await page.context().addCookies([{ name: 'portal-session', value, url: app.url }]);
  await Promise.all([
    page.waitForResponse((response) => response.url().includes('/portal/events')),
    page.goto(`${app.url}/portal/requests`),
  ]);
  await page.getByText(user.email).first().waitFor();
  await visitor.send(portal, '/portal/sign-out');
  await page.getByRole('heading', { name: 'Sign in to the portal' }).waitFor();
  assert.equal(await page.getByText(user.email).count(), 0);
  assert.deepEqual(complaints, []);
});
