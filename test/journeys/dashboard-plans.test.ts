import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { mailReceipts } from '../../src/receipts/send-mails.ts';
import { ApiClient } from '../support/api/client.ts';
import { makeMerchant, makePartner } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { visit } from '../support/people/forms.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { copyPlan, makePlan, planOf, turnAt } from '../support/plans.ts';

const running = new AbortController().signal;
let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures?.stop());
/** Each test begins with no plan under way. */
beforeEach(
  () => fixtures.db.sql`
    update plans set state = 'ended', ended_at = now(), due_at = null, next_on = null, failure = null, failed_at = null
    where state <> 'ended'`,
);

const today = () => new Date().toISOString().slice(0, 10);
const plans = () =>
  fixtures.db.sql`select id from plans where account_id = ${fixtures.merchant.id} order by created_at`;
const newest = async () => planOf(fixtures.ctx, { id: (await plans()).at(-1)?.id });
const typed = {
  name: 'Piano lessons',
  amount: '80',
  customer_name: 'Grace Hopper',
  customer_email: 'grace@example.com',
  language: 'de',
  metadata: 'order = A-1042\n7 = seven',
};

test('A plan is typed, looked over with its first dates, started once however often it is sent, and audited', async () => {
  const form = await fixtures.visitor.open('/dashboard/plans/new');
  const year = Number(today().slice(0, 4));
  assert.match(form.html, new RegExp(`max="${year + 1}-`));
  // The next 31 January: in January that of this year, since a plan begins within a year.
  const january = today() > `${year}-01-31` ? year + 1 : year;
  const fields = { ...typed, first_on: `${january}-01-31`, step: 'review' };
  const review = await fixtures.visitor.send(form, '/plans/new', fields);
  assert.equal(review.status, 200);
  assert.match(review.html, /€80\.00<[\s\S]*every month/);
  for (const day of ['01-31', '03-31', '05-31']) assert.match(review.html, new RegExp(`datetime="${january}-${day}"`));
  assert.match(review.html, new RegExp(`datetime="${january}-02-2[89]"`));
  assert.equal((await plans()).length, 0, 'nothing is stored before it is started');
  const changed = await fixtures.visitor.send(review, '/plans/new', { step: 'change' });
  assert.match(changed.html, /Piano lessons[\s\S]*order = A-1042/, 'what was typed stays');
  const acts = (await fixtures.audit()).length;
  const page = await fixtures.visitor.send(review, '/plans/new', { step: 'start' });
  assert.match(page.html, /The plan has started/);
  await fixtures.visitor.send(review, '/plans/new', { step: 'start' });
  assert.equal((await plans()).length, 1);
  const { plan } = await newest();
  assert.deepEqual(
    [plan.fiat_int, plan.fiat_code, plan.period, plan.every, plan.metadata, plan.language, plan.customer_email],
    ['8000', 'EUR', 'month', 1, '{"order":"A-1042","7":"seven"}', 'de', 'grace@example.com'],
  );
  const log = await fixtures.audit();
  assert.equal(log.length, acts + 1);
  const act = log.at(-1);
  assert.deepEqual(
    [act?.action, act?.actor_kind, act?.object_id, JSON.parse(act?.details ?? '')],
    ['plan.created', 'merchant', plan.id, { amount: 8000, currency: 'EUR', every: 1, period: 'month', charges: null }],
  );
});

test('A value that breaks a rule is refused beside its field, typed values stay, and nothing is stored', async () => {
  const before = (await plans()).length;
  const form = await fixtures.visitor.open('/dashboard/plans/new');
  assert.match(form.html, /Up to every 365 days, 52 weeks, 24 months or 5 years/, 'the rule is said before');
  for (const [fault, said] of [
    [{ name: '' }, /Say what it is for/],
    [{ amount: '0' }, /Enter an amount above zero, such as 12\.50/],
    [{ amount: '12.505' }, /Leave out thousands separators and extra decimals, as in 12\.50/],
    [{ every: '25' }, /Enter a whole number within these limits/],
    [{ first_on: '2020-01-01' }, /Choose a day from/],
    [{ ends: 'after', charges: '0' }, /Enter a number from 1 to 999/],
    [{ customer_name: ' ' }, /Enter your customer’s name/],
    [{ customer_email: 'grace' }, /does not look like an e-mail address/],
    [{ metadata: 'order' }, /Write one entry per line as name = value/],
  ] as const) {
    for (const step of ['review', 'start']) {
      const page = await fixtures.visitor.send(form, '/plans/new', { ...typed, ...fault, step });
      assert.equal(page.status, 400, JSON.stringify(fault));
      assert.match(page.html, said);
      assert.match(page.html, /aria-invalid="true" autofocus/);
    }
  }
  assert.equal((await plans()).length, before);
});

test('A merchant that is off, or an amount that was typed in another currency, starts no plan', async () => {
  const before = (await plans()).length;
  const { sql } = fixtures.db;
  const { id } = fixtures.merchant;
  const { partnerId } = fixtures.scope;
  const form = await fixtures.visitor.open('/dashboard/plans/new');
  const start = () => fixtures.visitor.send(form, '/plans/new', { ...typed, step: 'start' });
  await sql`update merchants set display_currency = 'JPY' where id = ${id}`;
  const foreign = await start();
  await sql`update merchants set display_currency = 'EUR', disabled_by_partner = true where id = ${id}`;
  const off = await start();
  const list = await fixtures.visitor.open('/dashboard/plans');
  await sql`update merchants set disabled_by_partner = false, disabled_by_operator = true where id = ${id}`;
  const offByOperator = await start();
  await sql`update merchants set disabled_by_operator = false where id = ${id}`;
  await sql`update partners set disabled_at = now() where id = ${partnerId}`;
  const partnerOff = await start();
  await sql`update partners set disabled_at = null where id = ${partnerId}`;
  assert.deepEqual(
    [foreign, off, offByOperator, partnerOff].map(({ status }) => status),
    [409, 403, 403, 403],
  );
  assert.match(foreign.html, /Your currency has changed in the meantime/);
  for (const { html } of [off, offByOperator, partnerOff]) assert.match(html, /You cannot start a plan right now/);
  assert.match(list.html, /Your plans are on hold/);
  assert.equal((await plans()).length, before);
});

test('A merchant has a thousand open plans and no more; those that have ended count for a day from their start', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const { id } = await makePlan(fixtures.ctx, fixtures.scope, merchant);
  await copyPlan(fixtures.ctx, { id }, 999);
  const form = await visitor.open('/dashboard/plans/new');
  const refused = await visitor.send(form, '/plans/new', { ...typed, step: 'start' });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /You have 1000 plans that have not ended[\s\S]*Piano lessons/);
  await fixtures.db.sql`
    update plans set state = 'ended', ended_at = now(), due_at = null, next_on = null where id = ${id}`;
  assert.equal((await visitor.send(form, '/plans/new', { ...typed, step: 'start' })).status, 409);
  await fixtures.db.sql`update plans set created_at = created_at - interval '1 day' where id = ${id}`;
  assert.match((await visitor.send(form, '/plans/new', { ...typed, step: 'start' })).html, /The plan has started/);
});

test('A charge is paid like any request: state on the plan’s page, metadata in the answer and in the webhook', async () => {
  const metadata = '{"order":"A-1042","7":"seven"}';
  const details = { firstOn: today(), maxCharges: 2, metadata, customerEmail: 'payer@example.com' };
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, details);
  assert.equal(await turnAt(fixtures.ctx, new Date().toISOString()), 1);
  const { charges } = await planOf(fixtures.ctx, plan);
  const request = await fixtures.read({ id: charges[0]?.request_id ?? '' });
  const page = await fixtures.visitor.open(`/dashboard/plans/${plan.id}`);
  assert.match(page.html, new RegExp(`href="/dashboard/payments/${request.id}"[\\s\\S]*Waiting`));
  const payment = await fixtures.visitor.open(`/dashboard/payments/${request.id}`);
  assert.match(payment.html, new RegExp(`href="/dashboard/plans/${plan.id}">Piano lessons</a>`));
  await fixtures.node.mine(1);
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const [event] = await fixtures.events(request);
  assert.equal((await fixtures.events(request)).length, 1);
  assert.ok(event?.body.includes(`"metadata":${metadata}`), event?.body);
  assert.equal(JSON.parse(event?.body).event, 'payment.proof_verified');
  const api = new ApiClient(fixtures.db, fixtures.url, fixtures.scope);
  const { json, text } = await api.get(`/api/v1/requests/${request.id}`);
  assert.equal(json.proof_status, 'verified');
  assert.ok(text.includes(`"metadata":${metadata}`));
  assert.match((await fixtures.visitor.open(`/dashboard/plans/${plan.id}`)).html, /Charges[\s\S]*Paid/);
  await mailReceipts(fixtures.ctx, running);
  const mails = await fixtures.db.sql`select purpose from mails where recipient = 'payer@example.com' order by purpose`;
  assert.deepEqual(
    mails.map(({ purpose }) => purpose),
    ['ask', 'receipt'],
    'the link and the receipt, each once',
  );
});

test('A plan is paused, resumed and ended in the dashboard after a question, each audited once', async () => {
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, { firstOn: today() });
  const here = `/dashboard/plans/${plan.id}`;
  const acts = (await fixtures.audit()).length;
  const open = await fixtures.visitor.open(here);
  assert.match(open.html, /Pause “Piano lessons”\?/);
  const paused = await fixtures.visitor.send(open, '/pause');
  assert.match(paused.html, /role="status">The plan is paused/);
  assert.equal((await planOf(fixtures.ctx, plan)).plan.state, 'paused');
  const again = await fixtures.visitor.send(open, '/pause');
  assert.doesNotMatch(
    again.html,
    /role="status">The plan is paused/,
    'a form of yesterday does nothing and says nothing',
  );
  const resumed = await fixtures.visitor.send(paused, '/resume');
  assert.match(resumed.html, /The plan is active again/);
  const ended = await fixtures.visitor.send(resumed, '/end');
  assert.match(ended.html, /The plan has ended/);
  assert.ok(!ended.html.includes(`action="${here}`), 'nothing can be done with it any more');
  assert.deepEqual(
    (await fixtures.audit()).slice(acts).map(({ action, object_id }) => [action, object_id]),
    ['plan.paused', 'plan.resumed', 'plan.ended'].map((action) => [action, plan.id]),
  );
});

test('A charge that cannot be made is shown with its reason and the way out, in list, filter and detail', async () => {
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, { firstOn: today(), name: 'Choir' });
  await fixtures.db.sql`update merchants set display_currency = 'JPY' where id = ${fixtures.merchant.id}`;
  assert.equal(await turnAt(fixtures.ctx, new Date().toISOString()), 0);
  await fixtures.db.sql`update merchants set display_currency = 'EUR' where id = ${fixtures.merchant.id}`;
  const page = await fixtures.visitor.open(`/dashboard/plans/${plan.id}`);
  assert.match(page.html, /could not be made[\s\S]*Set EUR in your profile again[\s\S]*at least every hour/);
  const failing = await fixtures.visitor.open('/dashboard/plans?state=failing');
  assert.match(failing.html, /Choir[\s\S]*Charge failed/);
  assert.ok(!(await fixtures.visitor.open('/dashboard/plans?state=active')).html.includes('Choir'));
  const soon = new Date(Date.now() + 70_000).toISOString();
  assert.equal(await turnAt(fixtures.ctx, soon), 1);
  assert.ok(!(await fixtures.visitor.open('/dashboard/plans?state=failing')).html.includes('Choir'));
});

test('The list is paged by cursor, and the CSV has all of it; text that a spreadsheet would run is not run', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  assert.match((await visitor.open('/dashboard/plans')).html, /No plans yet/);
  for (let i = 0; i < 55; i++) {
    await makePlan(fixtures.ctx, fixtures.scope, merchant, { name: i === 7 ? '=1+1' : `Lesson ${i}`, maxCharges: 1 });
  }
  const first = await visitor.open('/dashboard/plans');
  const names = (html: string) =>
    [...html.matchAll(/href="\/dashboard\/plans\/[0-9a-f-]{36}">([^<]*)</g)].map(([, n]) => n);
  const next = /href="([^"]*)" rel="next"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await visitor.open(next);
  assert.deepEqual([names(first.html).length, names(second.html).length], [50, 5]);
  assert.equal(new Set([...names(first.html), ...names(second.html)]).size, 55);
  const csv = await visitor.open('/dashboard/plans.csv?state=active');
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  assert.equal(csv.html.trim().split('\r\n').length, 56);
  assert.match(csv.html, /,active,'=1\+1,Grace Hopper,/);
  assert.equal((await visitor.open('/dashboard/plans.csv?state=ended')).html.trim().split('\r\n').length, 1);
});

test('Charges of a plan are paged, the newest first', async () => {
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, {
    firstOn: '2027-01-01',
    period: 'day',
  });
  for (let i = 0; i < 52; i++) await turnAt(fixtures.ctx, `2027-03-01T00:00:${String(i).padStart(2, '0')}.000Z`);
  const first = await fixtures.visitor.open(`/dashboard/plans/${plan.id}`);
  const days = (html: string) =>
    [...html.matchAll(/payments\/[0-9a-f-]{36}"><time datetime="([\d-]+)"/g)].map(([, d]) => d);
  const next = /href="([^"]*)" rel="next"/.exec(first.html)?.[1] ?? '';
  assert.deepEqual([days(first.html)[0], days(first.html).length], ['2027-02-21', 50]);
  assert.deepEqual(days((await fixtures.visitor.open(next)).html), ['2027-01-02', '2027-01-01']);
});

test('The CSV of charges says the amount of each, as files of requests do, and on which day it was due', async () => {
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant, { firstOn: '2026-01-31' });
  await turnAt(fixtures.ctx, '2026-02-01T12:00:00Z');
  const { charges } = await planOf(fixtures.ctx, plan);
  const { usdc_micro } = await fixtures.read({ id: charges[0]?.request_id ?? '' });
  const { html } = await fixtures.visitor.open(`/dashboard/plans/${plan.id}/charges.csv`);
  const [header = '', line = ''] = html.replace(/^\uFEFF/, '').split('\r\n');
  const names = header.split(',');
  const cells = line.split(',');
  const cell = (name: string) => cells[names.indexOf(name)];
  assert.deepEqual(names.slice(-3), ['fiat_amount', 'fiat_currency', 'usdc'], 'after the columns that there were');
  assert.deepEqual([cell('due_on'), cell('fiat_amount'), cell('fiat_currency')], ['2026-01-31', '80.00', 'EUR']);
  assert.equal(Number(cell('usdc')), Number(usdc_micro) / 1e6);
});

test('plans of other merchants, partners and modes → 404; forms of other sites → refused', async () => {
  const plan = await makePlan(fixtures.ctx, fixtures.scope, fixtures.merchant);
  const { test: foreign, live } = await makePartner(fixtures.db);
  for (const scope of [fixtures.scope, foreign, live]) {
    const visitor = await fixtures.signedIn(scope, await makeMerchant(fixtures.db, scope));
    assert.equal((await visitor.open(`/dashboard/plans/${plan.id}`)).status, 404);
    const cookie = `dashboard-session=${visitor.cookies.get('dashboard-session')}`;
    for (const act of ['pause', 'resume', 'end']) {
      const answer = await visit(`${fixtures.url}/dashboard/plans/${plan.id}/${act}`, {
        method: 'POST',
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams(),
      });
      assert.equal(answer.status, 404);
    }
    assert.ok(!(await visitor.open('/dashboard/plans.csv')).html.includes(plan.id));
  }
  const cookie = `dashboard-session=${fixtures.visitor.cookies.get('dashboard-session')}`;
  for (const place of ['new', `${plan.id}/end`]) {
    const answer = await visit(`${fixtures.url}/dashboard/plans/${place}`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams({ ...typed, step: 'start' }),
    });
    assert.equal(answer.status, 403);
  }
  assert.equal((await planOf(fixtures.ctx, plan)).plan.state, 'active');
  assert.equal((await fixtures.visitor.open('/dashboard/plans/all')).status, 404);
});
