import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createUserSession } from '../../src/auth/user-session.ts';
import { languages, type Texts, wordsOf } from '../../src/ui/language.ts';
import { openBrowser, sizes, snap } from '../support/browser.ts';
import { type DashboardWorld, dashboardWorld, sessionOf } from '../support/dashboard.ts';
import { inviteOperator } from '../support/people.ts';
import { portalPerson } from '../support/portal.ts';

type Place = [path: string, says: (t: Texts) => string];
/** The pages of each kind of person, with a text that stands on each. */
const places: Record<'merchant' | 'partner' | 'operator', Place[]> = {
  merchant: [
    ['/dashboard', ({ dashboard }) => dashboard.home.latest],
    ['/dashboard/payments', ({ dashboard }) => dashboard.list.title],
    ['/dashboard/ask', ({ dashboard }) => dashboard.ask.what],
    ['/dashboard/cashier', ({ dashboard }) => dashboard.cashier.show],
    ['/dashboard/unmatched', ({ dashboard }) => dashboard.unmatched.none],
    ['/dashboard/profile', ({ dashboard }) => dashboard.profile.industry],
    ['/dashboard/wallet', ({ walletChange }) => walletChange.heading],
    ['/dashboard/sessions', ({ dashboard }) => dashboard.sessions],
  ],
  partner: [
    ['/portal', ({ portal }) => portal.overview.latest],
    ['/portal/start', ({ portal }) => portal.start.snippets],
    ['/portal/requests', ({ portal }) => portal.requests.list],
    ['/portal/unmatched', ({ portal }) => portal.unmatched.none],
    ['/portal/merchants', ({ portal }) => portal.merchants.createDo],
    ['/portal/keys', ({ portal }) => portal.keys.newTest],
    ['/portal/webhooks', ({ portal }) => portal.webhooks.url],
    ['/portal/webhooks/deliveries', ({ portal }) => portal.webhooks.noDeliveries],
    ['/portal/settings', ({ portal }) => portal.settings.main],
    ['/portal/team', ({ portal }) => portal.team.inviteDo],
    ['/portal/audit', ({ portal }) => portal.audit.rest],
  ],
  operator: [
    ['/admin', ({ admin }) => admin.overview.queues],
    ['/admin/partners', ({ admin }) => admin.partners.add],
    ['/admin/new-partner', ({ admin }) => admin.partners.create],
    ['/admin/users', ({ admin }) => admin.users.inviteDo],
    ['/admin/merchants', ({ admin }) => admin.merchants.onboarding],
    ['/admin/rates', ({ admin }) => admin.rates.set],
    ['/admin/chains', ({ admin }) => admin.chains.head],
    ['/admin/stuck', ({ admin }) => admin.stuck.fine],
    ['/admin/terms', ({ admin }) => admin.places.terms],
    ['/admin/audit', ({ admin }) => admin.audit.check],
    ['/admin/erase', ({ admin }) => admin.erase.rest],
  ],
};

const cookieNames = { merchant: 'dashboard-session', partner: 'portal-session', operator: 'admin-session' };

let world: DashboardWorld;
let browser: Browser;
let sessions: Record<keyof typeof places, string>;

before(async () => {
  [world, browser] = await Promise.all([dashboardWorld(), openBrowser()]);
  const { ctx, scope, merchant } = world;
  await world.request({ memo: 'Two loaves of rye and a birthday cake' });
  const operator = { id: (await inviteOperator(ctx)).user.id, partnerId: null };
  sessions = {
    merchant: await sessionOf(ctx, scope, merchant),
    partner: (await portalPerson(ctx, scope.partnerId)).token,
    operator: await createUserSession(ctx, ctx.db.sql, operator, { ip: '127.0.0.1', userAgent: 'test' }, null),
  };
});
after(async () => {
  await browser?.close();
  await world?.stop();
});

/** How many pixels a page can be pushed to the side on a phone. */
const overhang = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

for (const language of languages) {
  const { t, direction } = wordsOf(language);
  for (const who of Object.keys(places) as (keyof typeof places)[]) {
    test(`${language}: the ${who} reads each page in it, and none is wider than a phone`, async () => {
      const context = await browser.newContext({ viewport: sizes.phone, locale: language });
      context.setDefaultTimeout(10_000);
      await context.addCookies([{ name: cookieNames[who], value: sessions[who], url: world.url }]);
      const page = await context.newPage();
      const wide: string[] = [];
      for (const [path, says] of places[who]) {
        await page.goto(world.url + path);
        const text = (await page.locator('body').textContent()) ?? '';
        assert.ok(text.includes(says(t)), `${path} says “${says(t)}”`);
        assert.equal(await page.locator('html').getAttribute('lang'), language);
        assert.equal(await page.locator('html').getAttribute('dir'), direction);
        if ((await overhang(page)) > 0) wide.push(path);
      }
      assert.deepEqual(wide, []);
      await page.goto(`${world.url}${places[who][0]?.[0]}`);
      await snap(page, `lang-${language}-${who}`, true);
      await context.close();
    });
  }
}
