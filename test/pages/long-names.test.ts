import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { createUserSession } from '../../src/auth/user-session.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { planPageUrl } from '../../src/plans/link.ts';
import { openBrowser, sizes, snap } from '../support/browser/browser.ts';
import { setRate } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures, sessionOf } from '../support/people/dashboard.ts';
import { inviteOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';
import { makePlan } from '../support/plans.ts';

const names = {
  unbroken: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunte',
  emoji: '🥐👩‍👩‍👧‍👦🏳️‍🌈'.repeat(12),
  'right to left': 'مخبزآداالذييقدمأفضلأنواعالخبزوالكعكفيالمدينةكلهاطوالأيامالسنة',
};
/** The most that a request may ask for, with 0, 2 and 3 digits after the point. */
const amounts = [
  ['JPY', '150'],
  ['EUR', '0.92'],
  ['KWD', '0.31'],
] as const;
const most = 2_147_483_647;
const memo = `${'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz'.repeat(3)}\n${'A long note. '.repeat(20)}`;

let fixtures: DashboardFixtures;
let browser: Browser;

before(async () => {
  [fixtures, browser] = await Promise.all([dashboardFixtures(), openBrowser()]);
  for (const [code, rate] of amounts) await setRate(fixtures.db, code, rate);
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** Elements that are wider than the screen or cut off. One that scrolls, like a wide table, may contain wider ones. */
const faultsOf = (page: Page) =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const faults =
      document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth}`] : [];
    const scrolls = (one: Element | null): boolean =>
      one !== null && (/(auto|scroll)/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
    for (const one of document.querySelectorAll<HTMLElement>('body *')) {
      if (!one.checkVisibility() || one.closest('.hidden, .skip, thead, svg, select, option') || scrolls(one)) continue;
      const { left, right, width: own } = one.getBoundingClientRect();
      const called = `${one.tagName.toLowerCase()}.${one.className} “${one.textContent?.trim().slice(0, 30)}”`;
      if (own > 1 && (left < -1 || right > width + 1)) faults.push(`${called} reaches from ${left} to ${right}`);
      // An ellipsis shows that there is more behind the link.
      if (getComputedStyle(one).textOverflow === 'ellipsis') continue;
      const isCut = getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1;
      if (isCut && !one.matches('input, textarea')) faults.push(`${called} is cut off`);
    }
    return faults;
  });

const hash = (digit: string) => `0x${digit.repeat(64)}`;

/** A transfer that counts towards a request. */
const transfer = (id: string, micro: bigint) => fixtures.db.sql`
  insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
    to_address, value, partner_id, test_mode, account_id, request_id, rule, counts, judged_at)
  select 31337, ${`0x${id.replaceAll('-', '').repeat(2)}`}, 0, 10, ${hash('b')}, now(), ${`0x${'5f'.repeat(20)}`},
    ${`0x${'ab'.repeat(20)}`}, wallet_address, ${micro.toString()}, partner_id, true, account_id, id, 'reference', true, now()
  from requests where id = ${id}`;

/** Puts a request into a state of the pay page. */
const states: [name: string, put: (id: string) => Promise<unknown>][] = [
  ['waiting', async () => {}],
  ['expired', (id) => fixtures.db.sql`update requests set expires_at = now() where id = ${id}`],
  ['cancelled', (id) => fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${id}`],
  ['part', (id) => transfer(id, 5_000_000_000_001n)],
  [
    'confirming',
    async (id) => {
      await transfer(id, 7_000_000_000_000n);
      await fixtures.db.sql`update requests set proof_status = 'attached' where id = ${id}`;
    },
  ],
  ['reorged', (id) => fixtures.db.sql`update requests set proof_note = 'reorged' where id = ${id}`],
  [
    'paid',
    (id) => fixtures.db.sql`
      update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = ${hash('c')},
        payer_address = ${`0x${'ab'.repeat(20)}`}, asset_id = ${`eip155:31337/erc20:0x${'5f'.repeat(20)}`}
      where id = ${id}`,
  ],
];

for (const [kind, name] of Object.entries(names)) {
  test(`a name that is ${kind}, a long note and the largest amounts → no page is wider than a phone, and nothing is cut off`, async () => {
    const { ctx, db, scope, merchant, url } = fixtures;
    await db.sql`update merchants set business_name = ${name} where id = ${merchant.id}`;
    await db.sql`update partners set name = ${name} where id = ${scope.partnerId}`;
    const pay: string[] = [];
    for (const [fiatCode] of amounts) {
      for (const [state, put] of states) {
        if (state !== 'waiting' && fiatCode !== 'KWD') continue;
        const { id } = await fixtures.request({
          ...{ memo, customerName: name, fiatCode, fiatInt: most, exactMicro: 6_927_366_603_226n },
        });
        await put(id);
        pay.push(`/pay/${id}`);
        if (state === 'paid') pay.push(`/pay/${id}/receipt`);
      }
    }
    const [partner] = await db.sql<{ slug: string }[]>`select slug from partners where id = ${scope.partnerId}`;
    const slug = partner?.slug ?? '';
    const shell = await createShell(ctx, theService, scope, { display_currency: 'EUR', business_name: name });
    const onboarding = new URL(onboardingUrl(ctx.config, shell, ctx.clock.now())).pathname;
    const operator = { id: (await inviteOperator(ctx)).user.id, partnerId: null };
    const person = { ip: '127.0.0.1', userAgent: 'test' };
    const sessions = {
      'dashboard-session': await sessionOf(ctx, scope, merchant),
      'portal-session': (await portalPerson(ctx, scope.partnerId)).token,
      'admin-session': await createUserSession(ctx, db.sql, operator, person, null),
    };
    const plan = await makePlan(ctx, scope, merchant, { name, customerName: name, fiatInt: most });
    const planPath = new URL(planPageUrl(ctx.config, plan.id)).pathname;
    const anybodys = [...pay, planPath, onboarding, '/dashboard/sign-in', '/portal/sign-in', '/pay/nothing'];
    const shown = pay.at(-2)?.split('/').at(-1);
    const merchants = [
      '',
      '/payments',
      '/ask',
      '/cashier',
      '/unmatched',
      '/profile',
      '/wallet',
      '/sessions',
      '/plans',
      `/plans/${plan.id}`,
      `/cashier/${pay[0]?.split('/').at(-1)}`,
      `/payments?q=${encodeURIComponent(name)}`,
      `/transaction?hash=${hash('d')}`,
    ];
    const partners = [
      '',
      '/start',
      '/requests',
      '/unmatched',
      '/merchants',
      `/merchants/${merchant.id}`,
      '/settings',
      '/webhooks',
      '/keys',
      '/team',
      '/audit',
      '/plans',
      `/plans/${plan.id}`,
      `/requests?q=${encodeURIComponent(name)}`,
      `/transaction?hash=${hash('d')}`,
    ];
    const operators = [
      '',
      '/partners',
      '/users',
      '/merchants',
      '/rates',
      '/stuck',
      '/audit',
      '/chains',
      '/terms',
      '/relayer',
      `/search?q=${encodeURIComponent(name)}`,
      `/merchants/${merchant.id}`,
      `/partners/${slug}/activity?mode=test`,
      `/requests/${shown}`,
    ];
    const context = await browser.newContext({ viewport: sizes.phone, hasTouch: true, locale: 'en-GB' });
    const page = await context.newPage();
    const faults: string[] = [];
    let visited = 0;
    const walk = async (paths: string[]) => {
      for (const path of paths) {
        const answer = await page.goto(url + path);
        assert.ok(answer?.ok() || path.endsWith('/nothing'), `${path}: ${answer?.status()}`);
        assert.equal(new URL(page.url()).pathname, path.split('?', 1)[0], 'nothing leads elsewhere');
        // Unfolds all details, but opens no dialogs.
        await page.locator('main details:not([class*="confirm"])').evaluateAll((all) => {
          for (const one of all) (one as HTMLDetailsElement).open = true;
        });
        faults.push(...(await faultsOf(page)).slice(0, 3).map((fault) => `${path}: ${fault}`));
        await snap(page, `long-${kind}-${String(visited++).padStart(2, '0')}`, true);
      }
    };
    await walk(anybodys);
    for (const [cookie, value] of Object.entries(sessions)) {
      await context.addCookies([{ name: cookie, value, url }]);
    }
    await walk([`/dashboard/payments/${shown}`, `/portal/requests/${shown}`]);
    await walk(merchants.map((path) => `/dashboard${path}`));
    await walk(partners.map((path) => `/portal${path}`));
    await walk(operators.map((path) => `/admin${path}`));
    assert.deepEqual(faults, []);
    await context.close();
  });
}
