import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { latestMail } from '../../src/mail/outbox.ts';
import { startApp } from '../support/app.ts';
import { makePartner, setRate } from '../support/fixtures.ts';
import { makeOnboarded, signInMerchant } from '../support/people/merchants.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
before(async () => {
  app = await startApp();
  fixtures = await makePartner(app.db);
  await setRate(app.db, 'EUR', '0.92');
  await setRate(app.db, 'JPY', '150');
});
after(() => app.stop());

const read = async (id: string) => (await app.db.sql`select * from merchants where id = ${id}`)[0];
const acts = async (id: string) =>
  (
    await app.db.sql<{ details: string }[]>`
      select details from audit_log where action = 'merchant.changed' and object_id = ${id} order by number`
  ).map(({ details }) => JSON.parse(details));

test('A merchant changes its profile and its currency; the log names the fields, not their values', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test, { email: 'ada@example.com' });
  const { visitor } = await signInMerchant(app.url, account);
  const form = await visitor.open('/dashboard/profile');
  assert.match(form.html, /value="ada@example.com"/);
  assert.match(form.html, /If Corner Shops Ltd expects another currency, its requests for you will fail/);
  const page = await visitor.send(form, '/profile', {
    business_name: '  Ada <b>Café</b> ',
    country: 'DE',
    instagram: '@ada',
    industry: 'Bakery',
    display_currency: 'JPY',
  });
  assert.match(page.html, /Your profile was saved/);
  assert.match(page.html, /Ada &lt;b&gt;Café&lt;\/b&gt;/);
  const row = await read(id);
  assert.deepEqual(
    [row?.business_name, row?.country, row?.instagram, row?.industry, row?.display_currency, row?.email],
    ['Ada <b>Café</b>', 'DE', '@ada', 'Bakery', 'JPY', 'ada@example.com'],
  );
  const fields = ['business_name', 'country', 'instagram', 'industry', 'display_currency'];
  assert.deepEqual(await acts(id), [{ fields, currency: 'JPY' }]);
  await visitor.send(page, '/profile');
  assert.equal((await acts(id)).length, 1, 'what changes nothing is no act');
});

test('A profile that was opened before somebody else saved it › changes only what is typed, also after a fault', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test, { email: 'lin@example.com', phone: '1' });
  const { visitor } = await signInMerchant(app.url, account);
  const [open, other] = [await visitor.open('/dashboard/profile'), await visitor.open('/dashboard/profile')];
  await visitor.send(other, '/profile', { display_currency: 'JPY', email: 'new@example.com', phone: '' });
  const refused = await visitor.send(open, '/profile', { business_name: 'Ada’s', email: 'nobody' });
  assert.equal(refused.status, 400);
  await visitor.send(refused, '/profile', { email: 'lin@example.com' });
  const row = await read(id);
  assert.deepEqual(
    [row?.business_name, row?.display_currency, row?.email, row?.phone],
    ['Ada’s', 'JPY', 'new@example.com', null],
  );
  assert.deepEqual((await acts(id)).at(-1), { fields: ['business_name'], currency: 'JPY' });
});

test('Two changes of a profile at the same moment › neither takes the other’s back', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test, { email: 'both@example.com' });
  const { visitor } = await signInMerchant(app.url, account);
  const form = await visitor.open('/dashboard/profile');
  let sent: Promise<unknown> | undefined;
  await app.db.transaction(async (tx) => {
    await tx`update merchants set phone = '123' where id = ${id}`;
    sent = visitor.send(form, '/profile', { industry: 'Bakery' });
    await until(async () => {
      const { count } = await app.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return count > 0;
    }, 'the form waits');
  });
  await sent;
  const row = await read(id);
  assert.deepEqual([row?.phone, row?.industry], ['123', 'Bakery']);
});

test('A merchant whose country no list names saves its profile → it keeps the country that it had', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test, { country: 'UK' });
  const { visitor } = await signInMerchant(app.url, account);
  const form = await visitor.open('/dashboard/profile');
  assert.match(form.html, /<option value="UK" selected>UK<\/option>/);
  await visitor.send(form, '/profile', { business_name: 'Corner Books' });
  const row = await read(id);
  assert.deepEqual([row?.business_name, row?.country], ['Corner Books', 'UK']);
});

test('A change of the e-mail address is mailed to the earlier one, and the new one counts as unverified', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test, { email: 'old@example.com' });
  await app.db.sql`update merchants set email_checked_at = now() where id = ${id}`;
  const { visitor } = await signInMerchant(app.url, account);
  const form = await visitor.open('/dashboard/profile');
  await visitor.send(form, '/profile', { business_name: 'Another name' });
  assert.notEqual((await read(id))?.email_checked_at, null);
  await visitor.send(form, '/profile', { email: 'new@example.com' });
  const row = await read(id);
  assert.deepEqual([row?.email, row?.email_checked_at], ['new@example.com', null]);
  const mail = await latestMail(app.db.sql, 'old@example.com');
  assert.equal(mail?.subject, 'Your e-mail address was changed');
  assert.equal(await latestMail(app.db.sql, 'new@example.com'), null);
});

test('A value that breaks a rule is refused beside its field, typed values stay, and nothing is changed', async () => {
  const { id, account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  const before = await read(id);
  for (const [typed, said] of [
    [{ email: 'nobody' }, /This does not look like an e-mail address/],
    [{ instagram: 'x'.repeat(201) }, /At most 200 characters/],
    [{ industry: 'x'.repeat(81) }, /At most 80 characters/],
    [{ business_name: 'x'.repeat(121) }, /At most 120 characters/],
    [{ country: 'Germany' }, /Choose a country from the list/],
    [{ display_currency: 'USD' }, /There is no exchange rate for this currency/],
    [{ display_currency: 'XXX' }, /There is no exchange rate for this currency/],
  ] as const) {
    const page = await visitor.send(await visitor.open('/dashboard/profile'), '/profile', { phone: '12345', ...typed });
    assert.equal(page.status, 400, JSON.stringify(typed));
    assert.match(page.html, said);
    assert.match(page.html, /value="12345"/);
    const [name = ''] = Object.keys(typed);
    const [field = ''] = new RegExp(`<(input|select) id="${name}"[^>]*>`).exec(page.html) ?? [];
    assert.match(field, new RegExp(`aria-describedby="[^"]*\\b${name}-fault"`), 'read out with its field');
    assert.match(field, /aria-invalid="true"/);
  }
  assert.deepEqual(await read(id), before);
});

test('Every page of the dashboard has the navigation, which marks it, and so have the wallet’s steps', async () => {
  const marked = (html: string) => /<a href="([^"]+)" aria-current="page">/.exec(html)?.[1];
  const { account } = await makeOnboarded(app.ctx, fixtures.test);
  const { visitor } = await signInMerchant(app.url, account);
  const { html } = await visitor.open('/dashboard');
  const places = [...(/<nav class="bar".*?<\/nav>/s.exec(html)?.[0] ?? '').matchAll(/href="([^"]+)"/g)].map(
    ([, at]) => at ?? '',
  );
  assert.ok(places.includes('/dashboard/wallet'));
  for (const place of places) assert.equal(marked((await visitor.open(place)).html), place);
  const step = await visitor.send(await visitor.open('/dashboard/wallet'), '/hand-over', {
    wallet_address: `0x${'3'.repeat(40)}`,
  });
  assert.match(step.html, /<h1>1 of 2: sign with your current wallet<\/h1>/);
  assert.equal(marked(step.html), '/dashboard/wallet');
  const wrong = await visitor.send(await visitor.open('/dashboard/wallet'), '/hand-over', {
    wallet_address: 'x',
  });
  assert.equal(wrong.status, 400);
  assert.equal(marked(wrong.html), '/dashboard/wallet');
});
