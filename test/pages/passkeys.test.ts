import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { freePort } from '../../src/lib/ports.ts';
import { latestMail } from '../../src/mail/outbox.ts';
import { startApp, testConfig } from '../support/app.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { plugInDevice } from '../support/browser/passkeys.ts';
import { makePartner } from '../support/fixtures.ts';
import { inviteOperator, invitePartnerUser } from '../support/people/people.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let browser: Browser;
/** Browsers make passkeys only for host names, so the service is called by its name. */
let base: string;
let aheadMs = 0;
/** Policy violations and script errors on the pages. */
const complaints: string[] = [];
before(async () => {
  const port = await freePort();
  base = `http://localhost:${port}`;
  const config = testConfig({ port, baseUrl: base, payUrl: `${base}/pay` });
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  [app, browser] = await Promise.all([startApp({ config, clock }), openBrowser()]);
  fixtures = await makePartner(app.db);
});
after(async () => {
  await browser.close();
  await app.stop();
});

async function newPage(javaScriptEnabled = true): Promise<Page> {
  const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
  // Pages that are refused with 4xx are expected.
  page.on('console', (message) => {
    if (!/status of 4\d\d/.test(message.text())) complaints.push(message.text());
  });
  // A screenshot of another size aborts a page transition.
  page.on('pageerror', ({ message }) => {
    if (!message.startsWith('Transition was')) complaints.push(message);
  });
  return page;
}

async function look(page: Page, name: string): Promise<void> {
  await photograph(page, `passkeys-${name}`);
  await page.setViewportSize(sizes.phone);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), sizes.phone.width, name);
  await page.setViewportSize(sizes.desktop);
  await assertAccessible(page);
}

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in with a passkey' });
const hasFocus = (place: Locator) => place.evaluate((element) => element === document.activeElement);
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).click();
const here = (link: string, at = base) => at + new URL(link).pathname;

/** A user of the partner, signed in on a separate page, with a device that has no passkey yet. */
async function signedIn(at = base) {
  const { user, link } = await invitePartnerUser(app.ctx, fixtures);
  const page = await newPage();
  const device = await plugInDevice(page);
  await page.goto(here(link, at));
  await page.getByRole('button', { name: 'Sign in to Corner Shops Ltd' }).click();
  await page.goto(`${at}/portal/sessions`);
  return { user, page, device };
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey was added.').waitFor();
}

test('A passkey is added, signs in by itself, is needed with a link, confirms a change, and is removed', async () => {
  const { user, page, device } = await signedIn();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Chrome, Linux');
  await look(page, 'none-yet');
  await addPasskey(page, 'Ada’s laptop');
  await look(page, 'added');
  const [kept] = await device.passkeys();
  assert.deepEqual([kept?.isResidentCredential, kept?.rpId], [true, 'localhost']);
  assert.equal(kept?.userName, `${user.email} (Corner Shops Ltd)`);

  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('This device already has a passkey for your account.').waitFor();

  await signOut(page);
  await signInButton(page).waitFor();
  await look(page, 'sign-in');
  await device.refuse(true);
  await signInButton(page).press('Enter');
  await page.getByText('Nothing was changed: you declined').waitFor();
  assert.equal(await hasFocus(signInButton(page)), true, 'to be pressed again');
  await look(page, 'declined');
  await device.refuse(false);
  await signInButton(page).click();
  await page.getByText(`Signed in as ${user.email}`).waitFor();

  await signOut(page);
  await page.getByLabel('E-mail').fill(user.email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByRole('heading', { name: 'Check your inbox' }).waitFor();
  const mailed = /http\S+\/portal\/link\/\S+/.exec((await latestMail(app.db.sql, user.email))?.body ?? '')?.[0] ?? '';
  await page.goto(mailed);
  await page.getByText('A passkey protects this account').waitFor();
  await look(page, 'link');
  await signInButton(page).click();
  await page.getByText(`Signed in as ${user.email}`).waitFor();

  aheadMs += 10 * 60_000;
  await page.goto(`${base}/portal/sessions`);
  await page.getByText('Use a passkey before you change anything here').waitFor();
  await look(page, 'confirm');
  await page.getByRole('button', { name: 'Use your passkey' }).click();
  await page.getByText('You can now change your passkeys for ten minutes.').waitFor();
  await page.locator('summary', { hasText: 'Remove' }).click();
  await page.getByText('It is your only one').waitFor();
  await look(page, 'remove');
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The passkey was removed.').waitFor();

  await signOut(page);
  await signInButton(page).click();
  await page.getByRole('heading', { name: 'This passkey did not sign you in' }).waitFor();
  await look(page, 'refused');
  assert.deepEqual(complaints, []);
});

test('A live key after ten minutes › the page asks for the passkey, keeps the ticked boxes, and continues', async () => {
  const { page } = await signedIn();
  await addPasskey(page, 'Laptop');
  aheadMs += 11 * 60_000;
  await page.goto(`${base}/portal/keys?mode=live`);
  await page.getByLabel(/requests:read/).uncheck();
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
  await look(page, 'asked-for-an-act');
  await page.getByRole('button', { name: 'Use your passkey' }).click();
  await page
    .getByText(/^qt_live_/)
    .first()
    .waitFor();
  const [key] = await app.db.sql`select scopes from api_keys order by created_at desc limit 1`;
  assert.equal(key?.scopes.includes('requests:read'), false);
  assert.equal(key?.scopes.includes('requests:write'), true);
});

test('Without a passkey › the page requests a link in another tab, and continues once that has signed in', async () => {
  const { user, page } = await signedIn();
  aheadMs += 11 * 60_000;
  await page.goto(`${base}/portal/team`);
  await page.getByText('Invite a user').first().click();
  await page.getByLabel('E-mail').fill('grace@example.com');
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
  await look(page, 'asked-without-one');
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: 'E-mail me a link' }).click(),
  ]);
  await tab.getByText('Check your inbox').waitFor();
  const mail = await latestMail(app.db.sql, user.email);
  await tab.goto(here(/http\S+\/link\/\S+/.exec(mail?.body ?? '')?.[0] ?? ''));
  await tab.getByRole('button', { name: 'Sign in to Corner Shops Ltd' }).click();
  await tab.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('grace@example.com').first().waitFor();
});

test('On a partner’s own host below localhost a passkey is that host’s; an owner removes a colleague’s', async () => {
  const own = base.replace('localhost', `${fixtures.partner.slug}.localhost`);
  const { user, page, device } = await signedIn(own);
  await addPasskey(page, 'Phone');
  assert.equal((await device.passkeys())[0]?.rpId, new URL(own).hostname);
  await signOut(page);
  await signInButton(page).click();
  await page.getByText(`Signed in as ${user.email}`).waitFor();
  await page.goto(`${base}/portal/sign-in`);
  await signInButton(page).click();
  await page.getByText('Nothing was changed').waitFor();

  const { page: owner } = await signedIn();
  await owner.goto(`${base}/portal/team`);
  await owner.getByRole('row', { name: user.email }).locator('summary', { hasText: 'Remove passkeys' }).click();
  await look(owner, 'team');
  await owner.getByRole('button', { name: 'Remove passkeys' }).click();
  await owner.getByText('Their passkeys were removed.').waitFor();
  assert.deepEqual(complaints, []);
});

test('Below a real name all hosts share passkeys: one from the shared host signs in on the partner’s own, not on another’s', async () => {
  const port = await freePort();
  const there = `http://pay.example.com:${port}`;
  const config = testConfig({ port, baseUrl: there, payUrl: `${there}/pay` });
  const service = await startApp({ config });
  const [mine, others] = [await makePartner(service.db), await makePartner(service.db)];
  const hostOf = ({ partner }: typeof mine) => there.replace('pay', `${partner.slug}.pay`);
  const secure = [there, hostOf(mine), hostOf(others)].join();
  const named = await openBrowser([
    '--host-resolver-rules=MAP *.example.com 127.0.0.1',
    `--unsafely-treat-insecure-origin-as-secure=${secure}`,
  ]);
  try {
    const { user, link } = await invitePartnerUser(service.ctx, mine);
    const page = await named.newPage();
    const device = await plugInDevice(page);
    await page.goto(here(link, there));
    await page.getByRole('button', { name: 'Sign in to Corner Shops Ltd' }).click();
    await page.goto(`${there}/portal/sessions`);
    await addPasskey(page, 'Laptop');
    assert.equal((await device.passkeys())[0]?.rpId, 'pay.example.com');
    await page.goto(`${hostOf(others)}/portal/sign-in`);
    await signInButton(page).click();
    await page.getByRole('heading', { name: 'This passkey did not sign you in' }).waitFor();
    await page.goto(`${hostOf(mine)}/portal/sign-in`);
    await signInButton(page).click();
    await page.getByText(`Signed in as ${user.email}`).waitFor();
    assert.equal(new URL(page.url()).origin, hostOf(mine));
  } finally {
    await named.close();
    await service.stop();
  }
});

test('an operator → can add and use a passkey', async () => {
  const { user, link } = await inviteOperator(app.ctx);
  const page = await newPage();
  await plugInDevice(page);
  await page.goto(here(link));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.goto(`${base}/admin/sessions`);
  await addPasskey(page, 'Key on the ring');
  await look(page, 'admin');
  await signOut(page);
  await signInButton(page).click();
  await page.getByText(`Signed in as ${user.email}`).waitFor();
  assert.equal(new URL(page.url()).pathname, '/admin');
  assert.deepEqual(complaints, []);
});

test('Without script nothing is offered that does not work, and pages say what is missing', async () => {
  const { user, page } = await signedIn();
  await addPasskey(page, 'Laptop');
  const { link } = await invitePartnerUser(app.ctx, fixtures, 'owner', user.email);
  const plain = await newPage(false);
  await plain.goto(here(link));
  await plain.getByText('Passkeys are not available in this browser').waitFor();
  assert.equal(await signInButton(plain).count(), 0);
  await plain.goto(`${base}/portal/sign-in`);
  assert.equal(await signInButton(plain).count(), 0);
  assert.equal(await plain.getByRole('button', { name: 'Send me a link' }).count(), 1);
});
