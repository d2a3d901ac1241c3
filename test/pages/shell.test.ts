import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page, Request } from 'playwright-core';
import { scopeOf } from '../../src/auth/scope.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes, snap } from '../support/browser/browser.ts';
import { holdDone } from '../support/browser/hold-done.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type CrowdedFixtures, crowdedFixtures, longName } from '../support/people/crowded.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { acceptInvitation, inviteOperator } from '../support/people/people.ts';
import { portalPerson, portalVisitor } from '../support/people/portal.ts';
import { startVisitor } from '../support/people/visitor.ts';

let fixtures: CrowdedFixtures;
let browser: Browser;
/** An operator, a partner's owner and a merchant in one browser. */
let page: Page;
before(async () => {
  [fixtures, browser] = await Promise.all([crowdedFixtures(), openBrowser()]);
  const { ctx, url, scope, merchant } = fixtures;
  const operator = startVisitor(url);
  await acceptInvitation(operator, (await inviteOperator(ctx)).link);
  const cookies = {
    'dashboard-session': await sessionOf(ctx, scope, merchant),
    'portal-session': (await portalPerson(ctx, scope.partnerId)).token,
    'admin-session': operator.cookies.get('admin-session') ?? '',
  };
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  await context.addCookies(Object.entries(cookies).map(([name, value]) => ({ name, value, url })));
  page = await context.newPage();
});
after(async () => {
  await browser?.close();
  await fixtures?.stop();
});

/** The pages of an area, each with the owner that its title names. */
const areas = () => {
  const { paid, part, plan, partner, long, deliveryId } = fixtures;
  return {
    dashboard: {
      whose: 'Ada’s Bakery',
      paths: [
        ...['', '/payments', `/payments/${paid.id}`, `/payments/${part.id}`, '/ask', '/plans', `/plans/${plan.id}`],
        ...['/plans/new', '/unmatched', '/profile', '/wallet', '/sessions', '/cashier', `/cashier/${part.id}`],
      ],
    },
    portal: {
      whose: 'Corner Shops Ltd',
      paths: [
        ...['', '/requests', `/requests/${paid.id}`, `/requests/${part.id}`, '/unmatched', '/merchants'],
        ...[`/merchants/${long}`, '/keys', '/webhooks', '/webhooks/deliveries', `/webhooks/deliveries/${deliveryId}`],
        ...['/settings', '/team', '/audit', '/start', '/sessions'],
      ],
    },
    admin: {
      whose: 'Quittance',
      paths: [
        ...['', '/partners', `/partners/${partner.slug}`, '/new-partner', '/users', '/merchants', '/rates', '/chains'],
        ...['/relayer', '/stuck', '/terms', '/audit', `/audit?partner=${partner.slug}`, '/erase', '/sessions'],
      ],
    },
  };
};

/** Amounts and figures of the page that are broken into two lines. */
const brokenAmounts = (on: Page) =>
  on.evaluate(() => {
    const amount = /(?:[A-Z]{3}\s)?\p{Sc}?\d[\d,]*(?:\.\d+)/gu;
    const walker = document.createTreeWalker(document.querySelector('main') as Element, NodeFilter.SHOW_TEXT);
    const broken: string[] = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement?.checkVisibility() || node.parentElement.closest('.mono, pre, code')) continue;
      for (const match of (node.textContent ?? '').matchAll(amount)) {
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(match[0]);
      }
    }
    return broken;
  });

/** Cells, and buttons in them, that a table of this width hides. */
const hiddenCells = (on: Page) =>
  on.evaluate(() =>
    [...document.querySelectorAll('.table')].flatMap((table) => {
      const { left, right } = table.getBoundingClientRect();
      return [...table.querySelectorAll('th, td, td button, td summary')]
        .filter((one) => {
          const box = one.getBoundingClientRect();
          return one.checkVisibility() && box.width > 0 && (box.left < left - 1 || box.right > right + 1);
        })
        .map((one) => `${table.getAttribute('aria-label')}: ${one.textContent?.slice(0, 40)}`);
    }),
  );

const widths = { ...sizes, wide: { width: 1920, height: 1080 } };

for (const area of ['dashboard', 'portal', 'admin'] as const) {
  test(`Every page of the ${area} names itself and whose it is, has a skip link, breaks no amount and hides no column`, async () => {
    const { whose, paths } = areas()[area];
    const faults: string[] = [];
    const titles = new Set<string>();
    for (const path of paths) {
      await page.goto(`${fixtures.url}/${area}${path}`);
      const title = await page.title();
      if (!title.endsWith(` · ${whose}`)) faults.push(`${path}: the title “${title}”`);
      titles.add(title);
      const first = await page.evaluate(() => {
        const link = document.querySelector('a, button, input, summary');
        return link?.matches('a.skip[href="#main"]') && document.querySelectorAll('main#main').length === 1;
      });
      if (!first) faults.push(`${path}: no skip link`);
      for (const [size, viewport] of Object.entries(widths)) {
        await page.setViewportSize(viewport);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) faults.push(`${path}, ${size}: ${overflow} px too wide`);
        for (const amount of await brokenAmounts(page)) faults.push(`${path}, ${size}: ${amount} is broken`);
        if (size !== 'phone')
          for (const cell of await hiddenCells(page)) faults.push(`${path}, ${size}: hidden ${cell}`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          await snap(page, `shell-${area}${path.replace(/\W+/g, '-').slice(0, 24)}-${size}-${colorScheme}`, true);
        }
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(titles.size >= paths.length - 2, 'pages have titles of their own');
  });
}

test('A merchant’s long name takes at most four lines of a list, however much is beside it', async () => {
  await page.setViewportSize(sizes.desktop);
  for (const path of ['/portal/merchants', '/admin/merchants']) {
    await page.goto(fixtures.url + path);
    const name = page.locator('tbody th').filter({ hasText: longName }).locator('[dir="auto"]').first();
    const rows = await name.evaluate((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
    });
    assert.ok(rows <= 4, `${path}: ${rows} lines`);
  }
});

test('The skip link is the first stop of the keyboard, and leads past the navigation', async () => {
  await page.goto(`${fixtures.url}/portal`);
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  assert.ok(await skip.evaluate((one) => one === document.activeElement && one.getBoundingClientRect().top >= 0));
  await page.keyboard.press('Enter');
  await page.waitForURL(/#/);
  await page.keyboard.press('Tab');
  assert.ok(await page.evaluate(() => document.querySelector('main')?.contains(document.activeElement)));
});

test('The bar of portal and administration has four places and More in sight on a phone', async () => {
  await page.setViewportSize(sizes.phone);
  for (const path of ['/portal', '/portal/audit', '/admin', '/admin/terms']) {
    await page.goto(fixtures.url + path);
    const bar = page.getByRole('navigation', { name: 'Pages' });
    assert.equal(await bar.getByRole('link').count(), 4, path);
    const boxes = await bar.locator('.places:not([popover]) a, button').evaluateAll((all) =>
      all.map((one) => {
        const { left, right } = one.getBoundingClientRect();
        return left >= 0 && right <= innerWidth && one.scrollWidth <= one.clientWidth;
      }),
    );
    assert.deepEqual(boxes, [true, true, true, true, true], path);
    const current = await bar.getByRole('button', { name: 'More' }).getAttribute('aria-current');
    assert.equal(current, path.split('/').length > 2 ? 'true' : null);
  }
});

test('On the narrowest phone the names in the bar do not overlap, and cards keep what they hold inside, in German', async () => {
  const narrow = await browser.newContext({ viewport: { width: 320, height: 640 }, locale: 'de' });
  await narrow.addCookies(await page.context().cookies());
  const small = await narrow.newPage();
  for (const path of ['/portal', '/portal/merchants', '/portal/keys', '/admin/chains', '/admin/users', '/dashboard']) {
    await small.goto(fixtures.url + path);
    const found = await small.evaluate(() => {
      const edges = [...document.querySelectorAll('.bar > .places:not([popover]) a, .more')].map((one) => {
        const { left, right } = one.getBoundingClientRect();
        return { left, right };
      });
      const overlaps = edges.some(({ left }, i) => i > 0 && left < (edges[i - 1]?.right ?? 0));
      const out = [...document.querySelectorAll('tbody tr :is(time, .badge, a, span, p)')].filter((one) => {
        const room = (one.closest('tr') as HTMLElement).getBoundingClientRect();
        return one.checkVisibility() && one.getBoundingClientRect().right > room.right - 15;
      });
      return { overlaps, out: out.map((one) => one.textContent) };
    });
    assert.deepEqual(found, { overlaps: false, out: [] }, path);
  }
  await narrow.close();
});

test('On the narrowest phone a form with a time is not wider than the page', async () => {
  const narrow = await browser.newContext({ viewport: { width: 320, height: 640 } });
  await narrow.addCookies(await page.context().cookies());
  const small = await narrow.newPage();
  await small.goto(`${fixtures.url}/admin/rates`);
  await small
    .locator('details', { has: small.locator('[type="datetime-local"]') })
    .locator('summary')
    .click();
  assert.equal(await small.evaluate(() => document.documentElement.scrollWidth), 320);
  await narrow.close();
});

test('On a phone the bar covers nothing that the keyboard reaches', async () => {
  const phone = await browser.newContext({ viewport: { width: 390, height: 844 } });
  await phone.addCookies(await page.context().cookies());
  const small = await phone.newPage();
  await small.goto(`${fixtures.url}/portal/requests`);
  let reached = 0;
  const covered = new Set<string>();
  for (let presses = 0; presses < 60; presses++) {
    await small.keyboard.press('Tab');
    const one = await small.evaluate(() => {
      const focused = document.activeElement as HTMLElement;
      if (!focused.matches('tbody a')) return null;
      const bar = document.querySelector('.bar') as HTMLElement;
      const isCovered = focused.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
      return { isCovered, text: focused.textContent };
    });
    if (one) reached++;
    if (one?.isCovered) covered.add(one.text);
  }
  assert.ok(reached > 20);
  assert.deepEqual([...covered], []);
  await phone.close();
});

test('On the narrowest phone no word of a heading breaks, in German', async () => {
  const narrow = await browser.newContext({ viewport: { width: 320, height: 640 }, locale: 'de' });
  await narrow.addCookies(await page.context().cookies());
  const small = await narrow.newPage();
  const { id } = fixtures.paid;
  for (const path of [
    `/dashboard/payments/${id}`,
    `/portal/requests/${id}`,
    '/portal/unmatched',
    '/dashboard/wallet',
  ]) {
    await small.goto(fixtures.url + path);
    const broken = await small.locator('h1').evaluate((heading) => {
      const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      while (walker.nextNode()) {
        const text = walker.currentNode as Text;
        for (const { 0: word, index } of text.data.matchAll(/[^\s\u00a0]+/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (range.getClientRects().length > 1) found.push(word);
        }
      }
      return found;
    });
    assert.deepEqual(broken, [], path);
  }
  await narrow.close();
});

test('On a phone at twice the size of text no page is wider than the screen, in German', async () => {
  const large = await browser.newContext({ viewport: { width: 195, height: 422 }, locale: 'de' });
  await large.addCookies(await page.context().cookies());
  const small = await large.newPage();
  const portal = ['', '/requests', '/merchants', '/keys', '/webhooks', '/webhooks/deliveries', '/settings', '/audit'];
  const dashboard = ['', '/payments', '/ask', '/unmatched', '/profile', '/cashier'];
  for (const path of [
    ...portal.map((one) => `/portal${one}`),
    ...dashboard.map((one) => `/dashboard${one}`),
    ...['/admin', '/admin/search', '/admin/users'],
  ]) {
    await small.goto(fixtures.url + path);
    const [width, room] = await small.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return [scrollWidth, clientWidth];
    });
    assert.equal(width, room, path);
  }
  await large.close();
});

test('The cashier’s screen is centred on a wide screen', async () => {
  await page.setViewportSize(widths.wide);
  for (const path of ['/dashboard/cashier', `/dashboard/cashier/${fixtures.part.id}`]) {
    await page.goto(fixtures.url + path);
    const { left, right } = await page.locator('.cashier').evaluate((one) => one.getBoundingClientRect().toJSON());
    assert.ok(Math.abs(left - (1920 - right)) <= 1, `${path}: ${left} px and ${1920 - right} px beside it`);
  }
});

test('The icon in the tab is our own, kept by browsers, and the policy of pages allows it', async () => {
  await page.goto(`${fixtures.url}/portal`);
  const path = (await page.locator('link[rel="icon"]').getAttribute('href')) ?? '';
  for (const [at, type] of [
    [path, 'image/svg+xml'],
    ['/favicon.ico', 'image/png'],
  ]) {
    const answer = await fetch(fixtures.url + at);
    assert.equal(answer.status, 200, at);
    assert.equal(answer.headers.get('content-type'), type);
    assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=\d+/);
  }
});

test('A link to something of the other mode offers the switch, to its partner alone; the address names the mode', async () => {
  const { db, url, ctx } = fixtures;
  const own = scopeOf(fixtures.scope.partnerId, false);
  const theirs = (await makePartner(db)).live;
  const [ours, other] = [await makeMerchant(db, own), await makeMerchant(db, theirs)];
  const request = await makeRequest(db, own, ours);
  const stranger = await makeRequest(db, theirs, other);
  await page.setViewportSize(sizes.desktop);
  for (const path of [`/requests/${request.id}`, `/merchants/${ours.id}`]) {
    const there = `${url}/portal${path}`;
    assert.equal((await page.goto(`${there}?mode=test`))?.status(), 404);
    await page.getByRole('heading', { name: 'This is in live mode' }).first().waitFor();
    assert.equal(await page.title(), 'This is in live mode · Corner Shops Ltd');
    await assertAccessible(page);
    await photograph(page, 'shell-other-mode');
    await page.getByRole('link', { name: 'Switch to live mode' }).click();
    await page.waitForURL(`${there}?mode=live`);
    await page
      .getByText(path.split('/').at(-1) ?? '')
      .first()
      .waitFor();
    // A copy of the address leads back to this mode.
    await page.goto(there);
    await page.waitForURL(`${there}?mode=live`);
  }
  const visitor = await portalVisitor(ctx, url, fixtures.scope.partnerId);
  const nothing = await visitor.open(`/portal/requests/${crypto.randomUUID()}?mode=test`);
  for (const path of [`/requests/${stranger.id}`, `/merchants/${other.id}`]) {
    const answer = await visitor.open(`/portal${path}?mode=test`);
    assert.equal(answer.status, 404);
    assert.equal(answer.html.replace(/<body.*<main/s, ''), nothing.html.replace(/<body.*<main/s, ''));
  }
  await page.goto(`${url}/portal?mode=test`);
});

test('IDs, addresses and links have a button that copies them whole', async () => {
  const { url, paid, long } = fixtures;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = async (name: string, whole: string) => {
    await page.getByRole('button', { name: `Copy: ${name}` }).click();
    await page.waitForFunction(async (text) => (await navigator.clipboard.readText()) === text, whole);
  };
  await page.goto(`${url}/portal/requests/${paid.id}?mode=test`);
  await copy('Request ID', paid.id);
  await copy('Pay page', `http://localhost:3000/pay/${paid.id}`);
  await page.goto(`${url}/portal/merchants/${long}?mode=test`);
  await assertAccessible(page);
  await page.goto(`${url}/dashboard/payments/${paid.id}`);
  await assertAccessible(page);
  await copy('Request ID', paid.id);
});

test('a button that copies is pressed twice → it says “Copied” for a while, and then its own name again', async () => {
  const { url, paid } = fixtures;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = page.getByRole('button', { name: 'Copied' });
  await page.goto(`${url}/portal/requests/${paid.id}?mode=test`);
  let done = await holdDone(page);
  await page.getByRole('button', { name: 'Copy: Request ID' }).dblclick();
  await done.isHeld(2); // one for each press
  await copied.waitFor();
  await done.release();
  await page.locator('.done').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Copy: Request ID' }).waitFor();
  await page.goto(`${url}/portal/start?mode=test`);
  done = await holdDone(page);
  await page.getByRole('button', { name: 'Copy', exact: true }).first().dblclick();
  await done.isHeld(2);
  await copied.waitFor();
  await done.release();
  await page.locator('.done').waitFor({ state: 'detached' });
  assert.equal(await copied.count(), 0);
});

test('a page renews itself: what is as before stays, and a button that says “Copied” says it to the end', async () => {
  const { url, paid } = fixtures;
  const address = `${url}/dashboard/payments/${paid.id}`;
  let renewals = 0;
  const isCopied = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    if (route.request().resourceType() !== 'fetch') return route.continue();
    await isCopied.promise;
    const answer = await route.fetch();
    const body = await answer.text();
    renewals++;
    const changed = body.replace('data-region="payment">', '$&<p>Changed meanwhile</p>');
    await route.fulfill({ response: answer, body: changed });
  });
  await page.goto(address);
  const done = await holdDone(page);
  await page.getByRole('button', { name: 'Copy: Request ID' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  isCopied.resolve();
  await done.isHeld(2); // the button's end, and the renewal that waits for it
  assert.equal(await page.getByText('Changed meanwhile').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Copied' }).count(), 1);
  await done.release();
  await page.getByText('Changed meanwhile').waitFor();
  assert.ok(renewals >= 2, 'it waited for the button');
  await page.unrouteAll({ behavior: 'ignoreErrors' }); // another renewal may be under way

  const renewed = page.waitForResponse(
    (answer) => answer.url() === address && answer.request().resourceType() === 'fetch',
  );
  await page.goto(address);
  await page
    .locator('[data-region="payment"] > *')
    .first()
    .evaluate((one) => one.setAttribute('data-mark', 'kept'));
  await renewed;
  await holdDone(page);
  await page.getByRole('button', { name: 'Copy: Request ID' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await page.locator('[data-mark="kept"]').count(), 1);
});

test('a part that somebody has unfolded → stays open when the page renews itself; the others stay closed', async () => {
  const { url, paid } = fixtures;
  const address = `${url}/dashboard/payments/${paid.id}`;
  const parts = ['Attempt 1', 'Attempt 2'].map((name) => `<details><summary>${name}</summary>Its answer</details>`);
  const isOpened = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    const isRenewal = route.request().resourceType() === 'fetch';
    if (isRenewal) await isOpened.promise;
    const answer = await route.fetch();
    const added = isRenewal ? ['<p>Changed meanwhile</p>', '<details><summary>Attempt 3</summary></details>'] : [];
    const body = (await answer.text()).replace('data-region="payment">', `$&${[...added, ...parts].join('')}`);
    await route.fulfill({ response: answer, body });
  });
  await page.goto(address);
  await page.getByText('Attempt 2').click();
  isOpened.resolve();
  await page.getByText('Changed meanwhile').waitFor();
  const open = await page.locator('details[open] > summary').allTextContents();
  assert.deepEqual(
    open.filter((name) => name.startsWith('Attempt')),
    ['Attempt 2'],
  );
  await page.unrouteAll({ behavior: 'ignoreErrors' }); // another renewal may be under way
});

test('a slow answer to an earlier renewal does not put back what a later renewal has replaced', async () => {
  const { url, paid } = fixtures;
  const address = `${url}/dashboard/payments/${paid.id}`;
  const isFirstAsked = Promise.withResolvers<void>();
  const isSecondShown = Promise.withResolvers<void>();
  let connections = 0;
  await page.route('**/dashboard/events*', async (route) => {
    // The page renews itself for each connection: here for two of them.
    if (++connections > 2) return;
    if (connections === 2) await isFirstAsked.promise;
    await route.fulfill({ contentType: 'text/event-stream', body: 'retry: 10\ndata: 1\n\n' });
  });
  let first: Request | undefined;
  await page.route(address, async (route) => {
    const request = route.request();
    if (request.resourceType() !== 'fetch') return route.continue();
    first ??= request;
    const response = await route.fetch();
    if (request === first) {
      isFirstAsked.resolve();
      await isSecondShown.promise;
    }
    const which = request === first ? 'First' : 'Later';
    const body = (await response.text()).replace('data-region="payment">', `$&<p>${which} renewal</p>`);
    await route.fulfill({ response, body });
  });
  await page.goto(address);
  await page.getByText('Later renewal').waitFor();
  const late = page.waitForEvent('requestfinished', (call) => call === first);
  isSecondShown.resolve();
  await late;
  await page.evaluate(async (path) => (await fetch(path)).text(), `${url}/healthz`);
  assert.equal(await page.getByText('First renewal').count(), 0);
  assert.equal(await page.getByText('Later renewal').count(), 1);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('a renewal that the server cannot answer is asked for again, without another change', async () => {
  const { url, paid } = fixtures;
  const address = `${url}/dashboard/payments/${paid.id}`;
  let connections = 0;
  await page.route('**/dashboard/events*', async (route) => {
    if (++connections > 1) return;
    await route.fulfill({ contentType: 'text/event-stream', body: 'data: 1\n\n' });
  });
  let renewals = 0;
  await page.route(address, async (route) => {
    if (route.request().resourceType() !== 'fetch') return route.continue();
    if (++renewals === 1) return route.fulfill({ status: 503, body: 'not now' });
    const response = await route.fetch();
    const body = (await response.text()).replace('data-region="payment">', '$&<p>Changed meanwhile</p>');
    await route.fulfill({ response, body });
  });
  await page.goto(address);
  await page.getByText('Changed meanwhile').waitFor();
  assert.equal(renewals, 2);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
