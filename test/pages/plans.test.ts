import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { dashboardTexts } from '../../src/texts/dashboard.ts';
import { planTexts } from '../../src/texts/plans.ts';
import { languages, wordsOf } from '../../src/ui/language.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes, snap } from '../support/browser/browser.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { makePlan, planOf, turnAt } from '../support/plans.ts';

let fixtures: DashboardFixtures;
let browser: Browser;
before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** A browser in which the merchant is signed in. */
async function openAt(
  path: string,
  size: keyof typeof sizes = 'desktop',
  locale = 'en',
): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({ viewport: sizes[size], hasTouch: size === 'phone', locale });
  const value = await sessionOf(fixtures.ctx, fixtures.scope, fixtures.merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url: fixtures.url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(fixtures.url + path);
  return { page, context };
}

const overhang = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const now = () => new Date().toISOString();

test('A merchant makes a plan on a phone, and sees its first charge, its payment and its end without a reload', async () => {
  const { page, context } = await openAt('/dashboard/plans', 'phone');
  await page.getByText('No plans yet').waitFor();
  await assertAccessible(page);
  await photograph(page, 'plans-empty');
  await page.getByRole('link', { name: 'New plan' }).click();
  await assertAccessible(page);
  await photograph(page, 'plans-new');
  await page.getByLabel('What is it for?').fill('Rent of the studio');
  await page.getByLabel('Amount in EUR').fill('450');
  const months = page.getByLabel('Period').locator('option', { hasText: 'month' });
  assert.equal(await months.textContent(), 'month');
  await page.getByLabel('Every').fill('30');
  assert.equal(await months.textContent(), 'months');
  assert.equal(await page.getByLabel('Number of charges', { exact: true }).isVisible(), false);
  await page.getByLabel('For a number of charges').check();
  await page.getByLabel('Number of charges', { exact: true }).fill('12');
  await page.getByLabel('Customer’s name').fill('Grace Hopper');
  await page.getByLabel('Customer’s e-mail').fill('grace@example.com');
  await page.getByLabel('Metadata').fill('contract = R-17');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('Enter a whole number within these limits.').waitFor();
  await assertAccessible(page);
  await photograph(page, 'plans-new-fault');
  assert.equal(await page.getByLabel('Metadata').inputValue(), 'contract = R-17', 'what was typed stays');
  await page.getByLabel('Every').fill('2');
  await page.getByLabel('Period').selectOption('week');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('every 2 weeks').waitFor();
  assert.equal(await page.locator('.dates time').count(), 6);
  await assertAccessible(page);
  await photograph(page, 'plans-review');
  await page.getByRole('button', { name: 'Edit' }).click();
  assert.equal(await page.getByLabel('Period').inputValue(), 'week');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByRole('button', { name: 'Start plan' }).click();
  await page.getByText('The plan has started.').waitFor();
  await page.getByText('No charges yet').waitFor();
  await assertAccessible(page);
  await photograph(page, 'plan-started');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';

  await turnAt(fixtures.ctx, now());
  const charge = page.locator('table a');
  await charge.waitFor(); // without a reload
  await page.getByRole('table').getByText('Waiting').waitFor();
  const { charges } = await planOf(fixtures.ctx, { id });
  await fixtures.node.mine(1);
  await fixtures.pay(await fixtures.read({ id: charges[0]?.request_id ?? '' }));
  await fixtures.node.mine(3);
  await fixtures.turn();
  await page.getByRole('table').getByText('Paid').waitFor(); // without a reload
  await photograph(page, 'plan-charged');
  await charge.click();
  await page.getByRole('link', { name: 'Rent of the studio' }).click(); // back to the plan

  await page.locator('summary', { hasText: 'Pause' }).click();
  await assertAccessible(page);
  await photograph(page, 'plan-pause');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('The plan is paused.').waitFor();
  await page.locator('summary', { hasText: 'Resume' }).click();
  await page.getByText('Nothing is charged for the time it was paused.').waitFor();
  await photograph(page, 'plan-resume');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('The plan is active again.').waitFor();
  await page.locator('summary', { hasText: 'End plan' }).click();
  await page.getByText('End “Rent of the studio” for good?').waitFor();
  await photograph(page, 'plan-end');
  await page.getByRole('button', { name: 'End plan' }).click();
  await page.getByText('The plan has ended.').waitFor();
  await assertAccessible(page);
  await photograph(page, 'plan-ended');
  await context.close();
});

test('A plan that cannot be charged is marked in the list and says why on its page, until it can be charged again', async () => {
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, {
    firstOn: now().slice(0, 10),
    name: 'Choir',
  });
  const long = 'A membership with a name that is as long as names of memberships can possibly be, and longer still';
  const details = {
    customerName: 'Wolfeschlegelsteinhausenbergerdorff, Hubert Blaine',
    every: 24,
    fiatInt: 123_456_789,
  };
  await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, { name: long, ...details });
  const { page, context } = await openAt('/dashboard/plans');
  const row = page.getByRole('row', { name: /Choir/ });
  await row.getByText('Active').waitFor();
  const { sql } = fixtures.db;
  await sql`update merchants set disabled_by_operator = true where id = ${fixtures.merchant.id}`;
  await turnAt(fixtures.ctx, now());
  await row.getByText('Charge failed').waitFor(); // without a reload
  await page.reload();
  await page.getByText('Your plans are on hold').waitFor();
  await assertAccessible(page);
  await photograph(page, 'plans-list');
  await row.getByRole('link').click();
  await page.getByText('could not be made').waitFor();
  await assertAccessible(page);
  await photograph(page, 'plan-failing');
  await sql`update merchants set disabled_by_operator = false where id = ${fixtures.merchant.id}`;
  await turnAt(fixtures.ctx, new Date(Date.now() + 61_000).toISOString());
  await page.locator('table a').waitFor(); // without a reload
  await page.getByText('could not be made').waitFor({ state: 'detached' });
  assert.equal((await planOf(fixtures.ctx, plan)).charges.length, 1);
  await context.close();
});

test('A customer stops the mails of a plan on a phone, and the merchant’s open page says so by itself', async () => {
  const customerEmail = 'stop@example.com';
  const firstOn = now().slice(0, 10);
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, {
    firstOn,
    name: 'Yoga',
    customerEmail,
  });
  await turnAt(fixtures.ctx, now());
  const [mail] = await fixtures.db.sql`select unsubscribe_url from mails where recipient = ${customerEmail}`;
  const path = new URL(mail?.unsubscribe_url).pathname;
  const { page: merchant, context } = await openAt(`/dashboard/plans/${plan.id}`);
  await merchant.locator('table a').waitFor();
  assert.equal(await merchant.getByText('has unsubscribed from the e-mails').count(), 0);
  const customer = await browser.newContext({ viewport: sizes.phone, hasTouch: true });
  const page = await customer.newPage();
  for (const language of languages) {
    await page.goto(`${fixtures.url}${path}?lang=${language}`);
    await page.getByRole('heading', { name: planTexts(wordsOf(language)).planStop.title }).waitFor();
    assert.equal(await overhang(page), 0, language);
  }
  await page.goto(`${fixtures.url}${path}?lang=en`);
  await assertAccessible(page);
  await photograph(page, 'plan-stop-mails');
  await page.getByRole('button', { name: 'Stop these e-mails' }).click();
  await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
  await assertAccessible(page);
  await photograph(page, 'plan-mails-stopped');
  await merchant.getByText('The customer has unsubscribed from the e-mails').waitFor(); // without a reload
  await assertAccessible(merchant);
  await photograph(merchant, 'plan-without-mails');
  await Promise.all([customer.close(), context.close()]);
});

for (const language of languages) {
  test(`${language}: list, form and plan are read in it, and none is wider than a phone`, async () => {
    const { plans: t } = dashboardTexts(wordsOf(language));
    const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, {
      every: 2,
      period: 'day',
      firstOn: '2027-05-31',
    });
    const { page, context } = await openAt('/dashboard/plans', 'phone', language);
    for (const [name, path, says] of [
      ['list', '/dashboard/plans', t.displayStatus.active],
      ['new', '/dashboard/plans/new', t.oftenHint],
      ['plan', `/dashboard/plans/${plan.id}`, t.noCharges],
    ] as const) {
      await page.goto(fixtures.url + path);
      assert.ok((await page.locator('main').textContent())?.includes(says), path);
      assert.equal(await overhang(page), 0, path);
      await snap(page, `plans-${language}-${name}`, true);
    }
    await context.close();
  });
}
