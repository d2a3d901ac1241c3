import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import { raiseAlarm } from '../../src/db/alarms.ts';
import { buildServer } from '../../src/http/server.ts';
import { latestMail, queueMail } from '../../src/mail/outbox.ts';
import { setMerchantDisabled } from '../../src/merchants/disable.ts';
import { readMailBranding, setBranding } from '../../src/partners/branding.ts';
import { rateSources } from '../../src/rates/providers.ts';
import { manualRefresh } from '../../src/rates/refresh.ts';
import { mailReceipts } from '../../src/receipts/send-mails.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { testRelayer } from '../support/chain/relayer.ts';
import { makeMerchant, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { inviteOperator, invitePartnerUser, newEmail } from '../support/people/people.ts';
import { png } from '../support/pictures.ts';

let fixtures: PayFixtures;
let app: FastifyInstance;
let browser: Browser;
let page: Page;
let url: string;
/** Policy violations and script errors on the pages. */
const complaints: string[] = [];

async function openPage(): Promise<Page> {
  const opened = await (await browser.newContext({ viewport: sizes.desktop, reducedMotion: 'reduce' })).newPage();
  opened.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  opened.on('pageerror', (error) => complaints.push(String(error)));
  return opened;
}

/** Opens the link in a mail and presses its button. */
async function accept(on: Page, link: string): Promise<void> {
  await on.goto(url + new URL(link).pathname);
  await on.getByRole('button').first().click();
}

before(async () => {
  [fixtures, browser] = await Promise.all([payFixtures(), openBrowser()]);
  app = await buildServer(fixtures.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  page = await openPage();
  await accept(page, (await inviteOperator(fixtures.ctx)).link);
  await page.waitForURL(`${url}/admin`);
  await manualRefresh(fixtures.ctx, theService, rateSources(['fixed']), { id: fixtures.scope.partnerId, slug: 'any' });
});
after(async () => {
  await browser?.close();
  await app?.close();
  await fixtures?.stop();
});

/** Takes pictures. Asserts no sideways overflow on a phone, and no serious axe finding in light or dark. */
async function look(name: string): Promise<void> {
  await photograph(page, `admin-${name}`);
  await page.setViewportSize(sizes.phone);
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), sizes.phone.width, name);
  await page.setViewportSize(sizes.desktop);
  await assertAccessible(page);
  assert.deepEqual(complaints, []);
}

test('An operator adds a partner and invites its owner, who signs in to the portal: all in the browser', async () => {
  const slug = `bakers-${randomBytes(3).toString('hex')}`;
  const email = newEmail();
  await page.goto(`${url}/admin/partners`);
  await page.getByRole('link', { name: 'Add a partner' }).click();
  await look('partner-new');
  await page.getByLabel('Slug').fill(slug);
  await page.getByLabel('Name', { exact: true }).fill('United Bakers');
  await page.getByRole('button', { name: 'Create partner' }).click();
  await page.getByText('The partner was created').waitFor();
  await look('partner');
  await page.getByRole('link', { name: 'Its users' }).click();
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByText('The invitation is on its way').waitFor();

  const mail = await latestMail(fixtures.db.sql, email);
  const [link = ''] = /http\S+\/link\/\S+/.exec(mail?.body ?? '') ?? [];
  const owner = await openPage();
  await accept(owner, link);
  await owner.waitForURL(`${url}/portal`);
  assert.match((await owner.textContent('body')) ?? '', /United Bakers/);

  await fixtures.db.sql`
    insert into passkeys (id, partner_id, user_id, credential_id, public_key, counter, name, created_at)
    select gen_random_uuid(), partner_id, id, sha256('a'), sha256('b'), 0, 'Lost phone', now() from users
    where email = ${email}`;
  await page.goto(`${url}/admin/users?q=${email}`);
  await page.getByRole('link', { name: email }).click();
  await page.getByText('Remove passkeys').first().click();
  await look('user');
  await page.getByRole('button', { name: 'Remove passkeys' }).click();
  await page.getByText('The passkeys were removed').waitFor();
  await page.getByRole('button', { name: 'Sign out there' }).click();
  await page.getByText('Nowhere').waitFor();
  // The page that was open there moves to the sign-in page automatically.
  await owner.waitForURL(`${url}/portal/sign-in`);
  await owner.context().close();
});

test('the pages Overview, Partners, Users and Merchants work in the browser', async () => {
  await page.goto(`${url}/admin`);
  await look('overview-fine');
  for (const name of ['Corner Shops', 'Kiosk Union']) {
    const one = await makePartner(fixtures.db);
    await setBranding(fixtures.ctx, theService, one.partner.slug, { name });
    await invitePartnerUser(fixtures.ctx, one, 'owner');
    await invitePartnerUser(fixtures.ctx, one, 'viewer');
    await makeMerchant(fixtures.db, one.live);
    const off = await makeMerchant(fixtures.db, one.test);
    await setMerchantDisabled(fixtures.ctx, theService, one.test, {
      accountId: off.id,
      by: 'operator',
      disabled: true,
    });
  }
  const fault = 'connect ECONNREFUSED 10.0.0.7:587';
  await raiseAlarm(fixtures.db.sql, { kind: 'mail_failing', subject: '', details: { fault } });
  await page.goto(`${url}/admin`);
  await look('overview');
  await page.goto(`${url}/admin/partners`);
  await look('partners');
  await page.goto(`${url}/admin/users`);
  await look('users');
  await page.goto(`${url}/admin/merchants`);
  await page.locator('details.confirm summary').first().click();
  await look('merchants');
});

test('The overview renews itself when something happens', async () => {
  const renewed = page.waitForResponse((answer) => answer.request().resourceType() === 'fetch');
  await page.goto(`${url}/admin`);
  await renewed; // once when the stream opens; after that only when something happens
  const message = 'The two providers of Local chain do not agree.';
  await raiseAlarm(fixtures.db.sql, { kind: 'other', subject: 'chain_31337', details: { message } });
  await fixtures.node.mine(1); // the watcher reads it and notifies
  await page.getByText('do not agree').waitFor();
  await fixtures.db.sql`delete from alarms`;
});

async function setRateBy(on: Page, code: string, rate: string): Promise<void> {
  await on.goto(`${url}/admin/rates`);
  await on.getByText('Set a rate').click();
  await on.getByLabel('Currency').fill(code);
  await on.getByLabel('Rate', { exact: true }).fill(rate);
  await on.getByLabel('Expires (UTC)').fill('2099-12-31T12:00');
  await on.getByRole('button', { name: 'Set rate' }).click();
}

test('the pages Rates, Networks, Terms and Audit log work in the browser', async () => {
  await setRate(fixtures.db, 'EUR', '0.5');
  await setRateBy(page, 'CHF', '0.82');
  await page.getByText('The rate was set.').waitFor();
  await look('rates');
  await page.goto(`${url}/admin/chains`);
  await look('chains');
  await fixtures.db.sql`
    insert into relay_accounts (chain_id, address, next_nonce, chain_nonce, balance_wei, base_fee_wei, priority_fee_wei,
      head_number, counted_at, checked_at) values (31337, ${testRelayer.address}, 7, 7, 12345678900000000, 1, 1, 1, now(), now())`;
  await page.goto(`${url}/admin/relayer`);
  await page.getByText('too little coin').waitFor();
  await page.getByText(testRelayer.address).waitFor();
  await look('relayer');
  await page.goto(`${url}/admin/relayer?lang=de`);
  await page.getByText('0,012345 ETH').waitFor();
  await page.goto(`${url}/admin/relayer?lang=en`);
  await page.goto(`${url}/admin/terms`);
  await look('terms');
  await page.goto(`${url}/admin/audit`);
  await page.getByRole('button', { name: 'Check this log' }).click();
  await page.getByText('The log is complete').waitFor();
  await look('audit');
});

test('Lists of partners, people, rates and the log renew themselves when something is done elsewhere', async () => {
  const elsewhere = await page.context().newPage();
  const shown = async (path: string, act: () => Promise<unknown>, text: string) => {
    await page.goto(url + path);
    await act();
    await page.locator('main').getByText(text).first().waitFor();
  };
  const slug = `late-${randomBytes(3).toString('hex')}`;
  await shown(
    `/admin/partners?q=${slug}`,
    async () => {
      await elsewhere.goto(`${url}/admin/new-partner`);
      await elsewhere.getByLabel('Slug').fill(slug);
      await elsewhere.getByLabel('Name', { exact: true }).fill('Late Bakers');
      await elsewhere.getByRole('button', { name: 'Create partner' }).click();
    },
    'Late Bakers',
  );
  const email = newEmail();
  await shown(
    `/admin/users?q=${email}`,
    async () => {
      await elsewhere.goto(`${url}/admin/users?partner=${slug}`);
      await elsewhere.getByLabel('E-mail', { exact: true }).fill(email);
      await elsewhere.getByRole('button', { name: 'Send invitation' }).click();
    },
    email,
  );
  await shown(
    '/admin/rates',
    async () => {
      await setRateBy(elsewhere, 'NOK', '10.123');
    },
    '10.123',
  );
  await shown('/admin/audit', () => setRateBy(elsewhere, 'SEK', '9.876'), '9.876');
  await elsewhere.close();
  assert.deepEqual(complaints, []);
});

test('the pages Needs attention and Erase customer data work in the browser', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const request = await makeRequest(fixtures.db, scope, merchant, {
    customerEmail: 'grace@example.com',
    memo: 'Cakes',
  });
  await setUrl(fixtures.ctx, theService, scope, 'https://shop.example/hooks/quittance');
  await fixtures.db.sql`
    insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, state, next_attempt_at)
    values (${scope.partnerId}, true, gen_random_uuid(), ${request.id}, 'payment.proof_verified', '{}', 'exhausted', now())`;
  await fixtures.db.sql`
    update webhook_endpoints set disabled_at = now(), disabled_reason = 'no_success_for_120_hours'
    where partner_id = ${partner.id}`;
  await queueMail(fixtures.ctx, fixtures.db.sql, null, {
    recipient: 'lost@example.com',
    subject: 'You are invited',
    body: 'x',
  });
  await fixtures.db
    .sql`update mails set next_attempt_at = 'infinity', attempts = 12 where recipient = 'lost@example.com'`;
  await fixtures.db.sql`select queue_receipts(${scope.partnerId}, true, ${request.id}, ${['phone']})`;
  await fixtures.db.sql`update receipts set next_attempt_at = 'infinity', error = 'it answered 422'`;
  await page.goto(`${url}/admin/stuck`);
  await look('stuck');
  await page.locator('details.confirm summary').click();
  await page.getByRole('button', { name: 'Enable' }).last().click();
  await page.getByText('The endpoint is enabled.').waitFor();

  await page.goto(`${url}/admin/erase`);
  await page.getByLabel('E-mail address, phone number or ID').fill('Grace@example.com');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('details.confirm summary').click();
  await look('erase');
  await page.locator('details.confirm button').click();
  await page.getByText('Erased: 1 request,').waitFor();
});

test('The mail of a receipt reads well at both sizes', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  await setBranding(fixtures.ctx, theService, partner.slug, {
    name: 'Höker & Söhne',
    accent: '#0a7',
    logo: png(120, 40, [0, 120, 90]),
  });
  assert.equal((await readMailBranding(fixtures.ctx, partner.id)).name, 'Höker & Söhne');
  const merchant = await makeMerchant(fixtures.db, scope);
  const request = await makeRequest(fixtures.db, scope, merchant, {
    customerEmail: 'grace@example.com',
    memo: '2 cakes',
  });
  await fixtures.db.sql`
    update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = ${`0x${'ab'.repeat(32)}`},
      payer_address = ${`0x${'cd'.repeat(20)}`} where id = ${request.id}`;
  await fixtures.db.sql`select queue_receipts(${scope.partnerId}, true, ${request.id}, ${['mail']})`;
  await mailReceipts(fixtures.ctx, new AbortController().signal);
  const mail = await latestMail(fixtures.db.sql, 'grace@example.com');
  const reader = await openPage();
  const loaded: string[] = [];
  reader.on('request', (asked) => loaded.push(asked.url()));
  const shown = mail?.html?.replace('http://localhost:3000/logo', `${url}/logo`) ?? '';
  await reader.setContent(shown, { waitUntil: 'load' });
  await photograph(reader, 'receipt-mail');
  assert.deepEqual(
    loaded.map((address) => new URL(address).pathname),
    [`/logo/${partner.slug}`],
  );
  await reader.setViewportSize(sizes.phone);
  assert.equal(await reader.evaluate(() => document.documentElement.scrollWidth), sizes.phone.width);
  await reader.context().close();
});
