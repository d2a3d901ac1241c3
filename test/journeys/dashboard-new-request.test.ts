import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiClient } from '../support/api/client.ts';
import { setRate } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import type { Visit } from '../support/people/forms.ts';
import { visit } from '../support/people/forms.ts';
import { makeOnboarded } from '../support/people/merchants.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

const requests = () =>
  fixtures.db.sql`select * from requests where account_id = ${fixtures.merchant.id} order by created_at`;
const idIn = ({ html }: Visit) =>
  /<form|data-live="\/dashboard\/events\?request=([0-9a-f-]{36})"/.exec(html) &&
  html.match(/events\?request=([0-9a-f-]{36})/)?.[1];

test('A request made manually is that of the API: amount reserved, rate and its source kept, and it is audited', async () => {
  const form = await fixtures.visitor.open('/dashboard/ask');
  assert.match(form.html, /<p class="quiet" id="expiry-hint">Default: 15 minutes, or 7 days for an invoice\.<\/p>/);
  const page = await fixtures.visitor.send(form, '/ask', { amount: ' 12,50 €', memo: 'Table 4', expiry: '60' });
  assert.match(page.html, /The request is ready/);
  const [row] = await requests();
  assert.deepEqual(
    [
      row?.fiat_int,
      row?.fiat_code,
      row?.payment_mode,
      row?.memo,
      row?.rate,
      row?.rate_source,
      row?.reserved,
      row?.test_mode,
    ],
    ['1250', 'EUR', 'pos', 'Table 4', '0.92', 'override', true, true],
  );
  assert.equal(row?.expires_at.getTime() - row?.created_at.getTime(), 3_600_000);
  assert.equal(idIn(page), row?.id);
  const [act] = (await fixtures.audit()).filter(({ action }) => action === 'request.created');
  assert.deepEqual(
    [act?.actor_kind, act?.actor_name, act?.object_id, JSON.parse(act?.details ?? '')],
    ['merchant', fixtures.merchant.wallet, row?.id, { amount: 1250, currency: 'EUR', payment_mode: 'pos' }],
  );
});

test('the form sent twice → one request and one audit entry', async () => {
  const form = await fixtures.visitor.open('/dashboard/ask');
  const [before, acts] = [(await requests()).length, (await fixtures.audit()).length];
  const first = await fixtures.visitor.send(form, '/ask', { amount: '3' });
  const again = await fixtures.visitor.send(form, '/ask', { amount: '3' });
  assert.equal(idIn(first), idIn(again));
  assert.equal((await requests()).length, before + 1);
  assert.equal((await fixtures.audit()).length, acts + 1);
});

test('an API create with the idempotency key of a merchant’s form → a request of its own', async () => {
  const key = 'b3JkZXItQS0xMDQyLWF0dGVtcHQtMDAwMDAx';
  const form = await fixtures.visitor.open('/dashboard/ask');
  await fixtures.visitor.send(form, '/ask', { amount: '900', key });
  const planted = (await requests()).at(-1);
  assert.equal(planted?.fiat_int, '90000');
  const api = new ApiClient(fixtures.db, fixtures.url, fixtures.scope);
  const order = { account_id: fixtures.merchant.id, fiat_amount_int: 1250, idempotency_key: key };
  const { status, json } = await api.create(order);
  assert.deepEqual([status, json.amount.fiat_int], [201, 1250]);
  assert.notEqual(json.request_id, planted?.id);
});

test('an invoice needs the customer’s name, and stays open for seven days', async () => {
  const form = await fixtures.visitor.open('/dashboard/ask');
  const refused = await fixtures.visitor.send(form, '/ask', {
    amount: '99',
    payment_mode: 'invoice',
    memo: 'Catering',
  });
  assert.equal(refused.status, 400);
  assert.match(refused.html, /Enter the customer’s name for an invoice/);
  assert.match(refused.html, /Catering/, 'what was typed stays');
  const page = await fixtures.visitor.send(refused, '/ask', { payment_mode: 'invoice', customer_name: 'Grace' });
  const row = (await requests()).at(-1);
  assert.equal(idIn(page), row?.id);
  assert.deepEqual([row?.customer_name, row?.payment_mode, row?.memo], ['Grace', 'invoice', 'Catering']);
  assert.equal(row?.expires_at.getTime() - row?.created_at.getTime(), 7 * 24 * 3_600_000);
});

test('A value that breaks a rule is refused beside its field, and nothing is stored', async () => {
  const before = (await requests()).length;
  const form = await fixtures.visitor.open('/dashboard/ask');
  for (const [typed, said] of [
    [{ amount: '' }, /Enter an amount above zero, such as 12\.50/],
    [{ amount: '0' }, /Enter an amount/],
    [{ amount: '1,250' }, /Leave out thousands separators and extra decimals, as in 12\.50/],
    [{ amount: '12.505' }, /Leave out thousands separators and extra decimals, as in 12\.50/],
    [{ amount: '12.50 $' }, /Enter only the amount in EUR, such as 12\.50/],
    [{ amount: '99999999999' }, /more than a single request allows/],
    [{ amount: '5', memo: 'x'.repeat(501) }, /At most 500 characters/],
    [{ amount: '5', customer_name: 'x'.repeat(201) }, /At most 200 characters/],
    [{ amount: '5', expiry: '7' }, /Choose a time from the list/],
    [{ amount: '5', expiry: 'soon' }, /Choose a time from the list/],
  ] as const) {
    const page = await fixtures.visitor.send(form, '/ask', typed);
    assert.equal(page.status, 400, JSON.stringify(typed));
    assert.match(page.html, said);
  }
  assert.equal((await requests()).length, before);
});

/** Sets the euro rate that the sources gave this long ago. */
const setSources = (age: string) => fixtures.db.sql`
  insert into rates values ('EUR', '0.9', '[{"source":"two","rate":"0.9"},{"source":"one","rate":"0.9"}]',
    now() - ${age}::interval)
  on conflict (code) do update set fetched_at = excluded.fetched_at`;

test('The example of an amount has the decimal sign of the page’s language, and is read as an amount', async () => {
  const { visitor } = fixtures;
  try {
    const form = await visitor.open('/dashboard/ask?lang=de');
    assert.match(form.html, /Zum Beispiel 12,50\./);
    const refused = await visitor.send(form, '/ask', { amount: '12,50 $' });
    assert.match(refused.html, /nur den Betrag in EUR[^<]* 12,50/);
    assert.match((await visitor.open('/dashboard/plans/new')).html, /Zum Beispiel 12,50\./);
    assert.match((await visitor.open('/dashboard/ask?lang=ar')).html, /12\.50/);
  } finally {
    await visitor.open('/dashboard/ask?lang=en');
  }
});

test('a rate from sources → stored with the sources’ names', async () => {
  await fixtures.db.sql`delete from rate_overrides where code = 'EUR'`;
  await setSources('1 minute');
  await fixtures.visitor.send(await fixtures.visitor.open('/dashboard/ask'), '/ask', { amount: '5' });
  await setRate(fixtures.db, 'EUR', '0.92');
  const row = (await requests()).at(-1);
  assert.deepEqual([row?.rate, row?.rate_source], ['0.9', 'one, two']);
});

test('the currency changed after the amount was typed → no request, and the page asks to check the amount', async () => {
  const form = await fixtures.visitor.open('/dashboard/ask');
  await setRate(fixtures.db, 'JPY', '150');
  const change = (code: string) =>
    fixtures.db.sql`update merchants set display_currency = ${code} where id = ${fixtures.merchant.id}`;
  await change('JPY');
  const before = (await requests()).length;
  const refused = await fixtures.visitor.send(form, '/ask', { amount: '500' });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /Your currency has changed in the meantime/);
  assert.equal((await requests()).length, before);
  await fixtures.visitor.send(await fixtures.visitor.open('/dashboard/ask'), '/ask', { amount: '500' });
  const row = (await requests()).at(-1);
  assert.deepEqual([row?.fiat_int, row?.fiat_code], ['500', 'JPY']);
  await change('EUR');
});

test('Without a usable rate, or with a disabled partner, no request is created', async () => {
  const before = (await requests()).length;
  const form = await fixtures.visitor.open('/dashboard/ask');
  await fixtures.db.sql`delete from rate_overrides where code = 'EUR'`;
  await setSources('1 hour');
  const rateless = await fixtures.visitor.send(form, '/ask', { amount: '5' });
  assert.equal(rateless.status, 503);
  assert.match(rateless.html, /no current exchange rate/);
  await setRate(fixtures.db, 'EUR', '0.92');
  await fixtures.db.sql`update partners set disabled_at = now() where id = ${fixtures.scope.partnerId}`;
  const off = await fixtures.visitor.send(form, '/ask', { amount: '5' });
  await fixtures.db.sql`update partners set disabled_at = null where id = ${fixtures.scope.partnerId}`;
  assert.equal(off.status, 403);
  assert.match(off.html, /is disabled, so no request was created/);
  assert.equal((await requests()).length, before);
});

test('The cashier’s screen shows the amount and the code, then that it was paid', async () => {
  const keypad = await fixtures.visitor.open('/dashboard/cashier');
  const screen = await fixtures.visitor.send(keypad, '/cashier', { amount: '7.20' });
  const row = (await requests()).at(-1);
  assert.match(screen.html, /<p class="amount"[^>]*>(?:<[^>]*>)*€7\.20</);
  assert.match(screen.html, new RegExp(`aria-label="Scan to pay: http://localhost:3000/pay/${row?.id}"`));
  assert.match(screen.html, /Waiting for payment/);
  await fixtures.pay(row as Parameters<typeof fixtures.pay>[0]);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const paid = await fixtures.visitor.open(`/dashboard/cashier/${row?.id}`);
  assert.match(paid.html, /data-status="paid"/);
  assert.ok(!paid.html.includes('Scan to pay'));
  assert.match(paid.html, /Next customer/);
});

test('forms sent from another site → nothing is created', async () => {
  const before = (await requests()).length;
  const cookie = `dashboard-session=${fixtures.visitor.cookies.get('dashboard-session')}`;
  const other = await makeOnboarded(fixtures.ctx, fixtures.scope);
  for (const [place, fields] of [
    ['ask', { amount: '5' }],
    ['cashier', { amount: '5' }],
    ['profile', { business_name: 'Evil', display_currency: 'EUR' }],
    ['sessions/end', { session: other.id }],
  ] as const) {
    const answer = await visit(`${fixtures.url}/dashboard/${place}`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'cross-site' },
      body: new URLSearchParams(fields),
    });
    assert.equal(answer.status, 403, place);
  }
  assert.equal((await requests()).length, before);
});
