import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import { buildServer } from '../../src/http/server.ts';
import { createShell } from '../../src/merchants/create.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { mineWhileWaiting } from '../../src/sandbox/mining.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { changeRole } from '../../src/users/change.ts';
import { startDelivering } from '../../src/webhooks/deliver.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { makePartner, setRate } from '../support/fixtures.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { portalPerson } from '../support/people/portal.ts';
import { png } from '../support/pictures.ts';
import { repeat } from '../support/repeat.ts';

let fixtures: PayFixtures;
let ctx: Context;
let app: FastifyInstance;
let browser: Browser;
let url: string;
let receiver: Receiver;
const stop = new AbortController();
let loops: Promise<unknown>;
/** Policy violations and script errors on the pages. */
const complaints: string[] = [];

before(async () => {
  [fixtures, browser, receiver] = await Promise.all([payFixtures(), openBrowser(), startReceiver()]);
  ctx = { ...fixtures.ctx, config: { ...fixtures.ctx.config, webhookScheduleMs: [0, 200, 60_000] } };
  for (const [code, rate] of Object.entries({ EUR: '0.92', USD: '1', JPY: '150' })) await setRate(ctx.db, code, rate);
  app = await buildServer(ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  // As the service runs them.
  loops = Promise.all([
    repeat(() => matchPending(ctx), 50, stop.signal),
    repeat(() => verifyFinal(ctx), 50, stop.signal),
    repeat(() => mineWhileWaiting(ctx), 500, stop.signal),
    startDelivering(ctx, stop.signal),
  ]);
});
after(async () => {
  stop.abort();
  await loops;
  await browser?.close();
  await app?.close();
  await receiver?.close();
  await fixtures?.stop();
});

/** A browser in which an owner of a new partner is signed in. */
async function openPage() {
  const partner = await makePartner(ctx.db);
  const { token, email, userId } = await portalPerson(ctx, partner.partner.id);
  const context = await browser.newContext({
    viewport: sizes.desktop,
    reducedMotion: 'reduce', // resizing the window would end a transition with an error
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await context.addCookies([{ name: 'portal-session', value: token, url }]);
  const page = await context.newPage();
  page.on('console', (message) => {
    // A page that reports a form error answers 400, and the browser logs it.
    if (message.type() === 'error' && !/status of 400/.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const go = (path: string) => page.goto(`${url}${path}`);
  return { page, go, email, userId, ...partner };
}

/** Takes pictures. Asserts no sideways overflow on a phone, and no serious axe finding in light or dark. */
async function look(page: Page, name: string): Promise<void> {
  await photograph(page, `portal-${name}`);
  await page.setViewportSize(sizes.phone);
  const wide = await page.evaluate(() =>
    document.documentElement.scrollWidth > innerWidth
      ? [...document.querySelectorAll('main *')]
          .filter((element) => element.getBoundingClientRect().right > innerWidth)
          .map((element) => `${element.tagName}.${element.className} ${element.textContent?.slice(0, 40)}`)
      : [],
  );
  assert.deepEqual(wide, [], name);
  await page.setViewportSize(sizes.desktop);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const see = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
/** Resolves when something like this was copied. */
const isCopied = (page: Page, like: RegExp) =>
  page.waitForFunction(async (source) => new RegExp(source).test(await navigator.clipboard.readText()), like.source);

test('a new partner begins: a key made and copied, a webhook set, a test event that arrives on the page by itself', async () => {
  const { page, go } = await openPage();
  await go('/portal/start');
  await see(page, '0 of 5 steps done');
  await look(page, 'start-empty');
  await press(page, 'Create test key');
  await see(page, 'Your new key');
  await press(page, 'Copy key');
  await isCopied(page, /^qt_test_\w{38}$/);
  await look(page, 'start-key');

  await go('/portal/webhooks');
  await see(page, 'No webhook URL is set');
  await look(page, 'webhooks-empty');
  await page.getByLabel('URL').fill(receiver.url);
  await press(page, 'Save');
  await press(page, 'Copy secret');
  await isCopied(page, /^whsec_/);
  await look(page, 'webhooks-secret');
  await press(page, 'Pay a test request');
  await see(page, 'The payment was sent');
  // No reload: the page updates itself.
  await page.locator('[data-region="deliveries"] .badge', { hasText: 'Delivered' }).waitFor();
  await page.locator('[data-region="health"]', { hasText: 'Webhook delivering' }).waitFor();
  await page.locator('summary', { hasText: 'Rotate secret' }).click();
  await press(page, 'Rotate secret');
  await see(page, 'New secret pending');
  await look(page, 'webhooks-pending');
  await page.locator('[data-region="deliveries"] th a').first().click();
  await see(page, 'Attempt 1');
  await page.locator('summary', { hasText: 'Attempt 1' }).click();
  await see(page, 'Response headers');
  await look(page, 'webhooks-delivery');
  await go('/portal/webhooks/deliveries');
  await look(page, 'webhooks-deliveries');
  await go('/portal/start');
  await see(page, '5 of 5 steps done');
  await page.getByRole('main').getByRole('link', { name: 'API reference' }).click();
  await page.waitForURL('**/docs/');
  await go('/portal');
  assert.equal(
    await page.getByRole('navigation').getByRole('link', { name: 'API reference' }).getAttribute('href'),
    '/docs/',
  );
});

test('merchants › made, invited, disabled and recovered by pressing', async () => {
  const { page, go, test: scope } = await openPage();
  await go('/portal/merchants');
  await look(page, 'merchants-empty');
  await page.getByLabel('Country').selectOption({ label: 'Germany' });
  await page.getByLabel('Business name').fill('Ada’s Bakery');
  await press(page, 'Create merchant');
  await see(page, 'The merchant was created');
  await press(page, 'Copy link');
  await isCopied(page, /\/onboard\/[\w-]{64}$/);
  await look(page, 'merchants-invited');

  const { id } = await createShell(ctx, theService, scope, { display_currency: 'EUR', business_name: 'Corner Books' });
  await onboardWithKey(ctx, id);
  await go(`/portal/merchants/${id}`);
  await page.locator('summary', { hasText: 'Disable' }).click();
  await see(page, 'Disable Corner Books?');
  await look(page, 'merchants-asked');
  await press(page, 'Disable');
  await see(page, 'Disabled by you');
  await page.locator('summary', { hasText: 'Recover a lost wallet' }).click();
  await press(page, 'Recover a lost wallet');
  await see(page, 'Recovery started');
  await look(page, 'merchants-recovery');
  await createShell(ctx, theService, scope, {
    display_currency: 'EUR',
    business_name: `${'Donaudampfschifffahrts'.repeat(5)}kiosk`,
    email: 'a.rather.long.address@steamship-company.example',
  });
  await go('/portal/merchants');
  await look(page, 'merchants');
  const table = page.locator('.table');
  assert.ok(await table.evaluate((one) => one.scrollWidth <= one.clientWidth), 'the longest name breaks');

  await go('/portal/start?lang=ar');
  const boxOf = async (selector: string) =>
    (await page.locator(selector).first().boundingBox()) ?? assert.fail(`${selector} is not in sight`);
  const [shape, step] = [await boxOf('.timeline .shape'), await boxOf('.timeline strong')];
  assert.ok(step.x + step.width <= shape.x, 'from right to left, a step stands beside its shape');
});

const hasAccent = (colour: string) =>
  document.querySelector<HTMLInputElement>('input[name="accent"]')?.value === colour;

test('a colour and a logo that are chosen before the scripts have loaded → shown once they have', async () => {
  const { page } = await openPage();
  const isLoading = Promise.withResolvers<void>();
  await page.route('**/assets/*.js', async (route) => {
    await isLoading.promise;
    await route.continue();
  });
  await page.goto(`${url}/portal/settings`, { waitUntil: 'commit' });
  await page.getByLabel('Pick a colour').fill('#aa3300');
  await page.getByLabel('Logo', { exact: true }).setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: png(80, 40, [10, 120, 90]),
  });
  isLoading.resolve();
  await page.waitForFunction(hasAccent, '#aa3300');
  await page.getByAltText('Preview of the chosen logo').waitFor();
  await page.unrouteAll();
  await page.context().close();
});

test('the pages Keys, Settings, Team and Audit log work in the browser', async () => {
  const { page, go, email } = await openPage();
  await go('/portal/keys');
  await look(page, 'keys-empty');
  await page.getByLabel('Create merchants').uncheck();
  await page.getByRole('button', { name: 'Create key' }).dblclick();
  await see(page, 'Your new key');
  assert.equal(await page.locator('tbody tr').count(), 1, 'pressed twice, one key');
  await look(page, 'keys-made');
  await page.locator('summary', { hasText: 'Revoke' }).click();
  await look(page, 'keys-asked');
  await press(page, 'Revoke');
  await see(page, 'Calls with it now fail');

  await go('/portal/settings');
  await look(page, 'settings');
  await page.getByLabel('Pick a colour').fill('#aa3300');
  await page.waitForFunction(hasAccent, '#aa3300'); // the text follows the picker
  await page.getByLabel('Accent colour').fill('');
  await page.getByLabel('Logo', { exact: true }).setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: png(80, 40, [10, 120, 90]),
  });
  const preview = page.getByAltText('Preview of the chosen logo');
  await preview.waitFor();
  await page.waitForFunction(() => document.querySelector<HTMLImageElement>('#logo-preview')?.naturalWidth === 80);
  await look(page, 'settings-preview');
  await page.getByLabel('Accent colour').fill('#8a1c5b');
  await page.getByLabel('Logo', { exact: true }).setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: png(160, 80, [138, 28, 91]),
  });
  await page.locator('form', { hasText: 'Accent colour' }).getByRole('button', { name: 'Save' }).click();
  await see(page, 'Saved.');
  await page.locator('.home img.logo').waitFor({ state: 'attached' });
  await page.getByLabel('Notification e-mail').fill('nobody');
  await page.evaluate(() => {
    for (const form of document.forms) form.noValidate = true;
  });
  await page.locator('form', { hasText: 'Notification e-mail' }).getByRole('button', { name: 'Save' }).click();
  await see(page, 'does not look like an e-mail address');
  await look(page, 'settings-look');

  await go('/portal/team');
  await page.getByText('Invite a user').click();
  await page.getByLabel('E-mail').fill('grace@example.com');
  await press(page, 'Send invitation');
  await see(page, 'The invitation was sent');
  await page.waitForURL((address) => !address.searchParams.has('done'));
  await page.reload();
  assert.equal(await page.getByText('The invitation was sent').count(), 0, 'a reload says nothing again');
  await page.getByText('Remove', { exact: true }).first().click();
  await look(page, 'team');
  // As the answer to a form leads there. What a link from elsewhere says was done is not repeated.
  await page.evaluate(() => location.assign('/portal/team?done=last_owner'));
  await see(page, 'This is the only owner');

  await go('/portal/audit');
  await page.getByRole('row', { name: 'Key revoked' }).filter({ hasText: email }).waitFor();
  await look(page, 'audit');
});

test('a page that answers a form leaves when its session ends or its role changes: the form is never sent again', async () => {
  for (const change of ['role', 'session'] as const) {
    const { page, go, userId, test: scope } = await openPage();
    await portalPerson(ctx, scope.partnerId); // another owner: without one the role could not change
    const listens = () => page.waitForResponse((answer) => answer.url().includes('/portal/events'));
    const asked = listens();
    await go('/portal/keys');
    await asked; // or it could come late, and be taken for that of the page to come
    const answering = listens();
    await press(page, 'Create key');
    await see(page, 'Your new key');
    await answering;
    const next = page.waitForRequest((request) => request.isNavigationRequest());
    // A developer may also create test keys.
    if (change === 'role') await changeRole(ctx, { kind: 'command_line' }, scope, { userId, role: 'developer' });
    else await ctx.db.sql`update sessions set revoked_at = now() where user_id = ${userId}`;
    assert.equal((await next).method(), 'GET');
    await see(page, change === 'role' ? 'Create test key' : 'Sign in');
    const keys = await ctx.db.sql`select from api_keys where partner_id = ${scope.partnerId}`;
    assert.equal(keys.length, 1);
    await page.context().close();
  }
});
