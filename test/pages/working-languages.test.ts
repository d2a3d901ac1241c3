import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createUserSession } from '../../src/auth/user-session.ts';
import { adminTexts } from '../../src/texts/admin.ts';
import { auditTexts } from '../../src/texts/audit.ts';
import { commonTexts } from '../../src/texts/common.ts';
import { dashboardTexts } from '../../src/texts/dashboard.ts';
import { portalTexts } from '../../src/texts/portal.ts';
import { walletTexts } from '../../src/texts/wallets.ts';
import { languages, type Words, wordsOf } from '../../src/ui/language.ts';
import { openBrowser, sizes, snap } from '../support/browser/browser.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { inviteOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';

type Place = [path: string, says: (words: Words) => string];
/** The pages of each kind of user, with a text that appears on each. */
const places: Record<'merchant' | 'partner' | 'operator', Place[]> = {
  merchant: [
    ['/dashboard', (words) => dashboardTexts(words).home.latest],
    ['/dashboard/payments', (words) => dashboardTexts(words).list.title],
    ['/dashboard/ask', (words) => dashboardTexts(words).newRequest.what],
    ['/dashboard/cashier', (words) => dashboardTexts(words).cashier.show],
    ['/dashboard/unmatched', (words) => dashboardTexts(words).unmatched.none],
    ['/dashboard/profile', (words) => dashboardTexts(words).profile.industry],
    ['/dashboard/wallet', (words) => walletTexts(words).walletChange.heading],
    ['/dashboard/sessions', (words) => dashboardTexts(words).sessions],
  ],
  partner: [
    ['/portal', (words) => portalTexts(words).overview.latest],
    ['/portal/start', (words) => portalTexts(words).start.snippets],
    ['/portal/requests', (words) => portalTexts(words).requests.list],
    ['/portal/unmatched', (words) => portalTexts(words).unmatched.none],
    ['/portal/merchants', (words) => portalTexts(words).merchants.createDo],
    ['/portal/plans', (words) => portalTexts(words).plans.firstRest],
    ['/portal/keys', (words) => portalTexts(words).keys.newTest],
    ['/portal/webhooks', (words) => portalTexts(words).webhooks.url],
    ['/portal/webhooks/deliveries', (words) => portalTexts(words).webhooks.noDeliveries],
    ['/portal/settings', (words) => portalTexts(words).settings.main],
    ['/portal/team', (words) => portalTexts(words).team.inviteDo],
    ['/portal/audit', (words) => auditTexts(words).rest],
  ],
  operator: [
    ['/admin', (words) => adminTexts(words).overview.queues],
    ['/admin/search', (words) => commonTexts(words).search.by],
    ['/admin/partners', (words) => adminTexts(words).partners.add],
    ['/admin/new-partner', (words) => adminTexts(words).partners.create],
    ['/admin/users', (words) => adminTexts(words).users.inviteDo],
    ['/admin/merchants', (words) => adminTexts(words).merchants.onboarding],
    ['/admin/rates', (words) => adminTexts(words).rates.set],
    ['/admin/chains', (words) => adminTexts(words).chains.head],
    ['/admin/relayer', (words) => adminTexts(words).relayer.balance],
    ['/admin/stuck', (words) => adminTexts(words).stuck.fine],
    ['/admin/terms', (words) => adminTexts(words).places.terms],
    ['/admin/audit', (words) => adminTexts(words).audit.check],
    ['/admin/erase', (words) => adminTexts(words).erase.rest],
  ],
};

const cookieNames = { merchant: 'dashboard-session', partner: 'portal-session', operator: 'admin-session' };

let fixtures: DashboardFixtures;
let browser: Browser;
let sessions: Record<keyof typeof places, string>;

before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
  const { ctx, scope, merchant } = fixtures;
  await fixtures.request({ memo: 'Two loaves of rye and a birthday cake' });
  const operator = { id: (await inviteOperator(ctx)).user.id, partnerId: null };
  sessions = {
    merchant: await sessionOf(ctx, scope, merchant),
    partner: (await portalPerson(ctx, scope.partnerId)).token,
    operator: await createUserSession(ctx, ctx.db.sql, operator, { ip: '127.0.0.1', userAgent: 'test' }, null),
  };
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** How many pixels a page scrolls sideways on a phone. */
const overhang = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** The tables of a page that hide columns on a small desktop, with how many pixels. */
async function hiddenColumns(page: Page): Promise<string[]> {
  await page.setViewportSize(sizes.desktop);
  const found = await page
    .locator('.table')
    .evaluateAll((tables) => tables.map((one) => [one.getAttribute('aria-label'), one.scrollWidth - one.clientWidth]));
  await page.setViewportSize(sizes.phone);
  return found.filter(([, hidden]) => Number(hidden) > 0).map((one) => one.join(' '));
}

for (const language of languages) {
  const words = wordsOf(language);
  const { direction } = words;
  for (const who of Object.keys(places) as (keyof typeof places)[]) {
    test(`${language}: the ${who} reads each page in it, none is wider than a phone, and a desktop shows all columns`, async () => {
      const context = await browser.newContext({ viewport: sizes.phone, locale: language });
      await context.addCookies([{ name: cookieNames[who], value: sessions[who], url: fixtures.url }]);
      const page = await context.newPage();
      const wide: string[] = [];
      for (const [path, says] of places[who]) {
        await page.goto(fixtures.url + path);
        const text = (await page.locator('body').textContent()) ?? '';
        assert.ok(text.includes(says(words)), `${path} says “${says(words)}”`);
        assert.equal(await page.locator('html').getAttribute('lang'), language);
        assert.equal(await page.locator('html').getAttribute('dir'), direction);
        if ((await overhang(page)) > 0) wide.push(path);
        for (const hidden of await hiddenColumns(page)) wide.push(`${path}: ${hidden}`);
      }
      assert.deepEqual(wide, []);
      await page.goto(`${fixtures.url}${places[who][0]?.[0]}`);
      await snap(page, `lang-${language}-${who}`, true);
      await context.close();
    });
  }
}
