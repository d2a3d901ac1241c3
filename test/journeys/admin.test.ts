import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { verifyChains } from '../../src/audit/verify.ts';
import { noPartner, theService } from '../../src/audit/write.ts';
import type { Alarm, AlarmDetails, AlarmKind } from '../../src/db/alarm-kinds.ts';
import { raiseAlarm } from '../../src/db/alarms.ts';
import { queueMail } from '../../src/mail/outbox.ts';
import { portalTexts } from '../../src/texts/portal.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { enqueueProofVerified } from '../../src/webhooks/enqueue.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { isInside, newEmail, onHost, signInOperator, signInPartnerUser } from '../support/people/people.ts';
import { postForm } from '../support/people/portal-post.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { makePlan, turnAt } from '../support/plans.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let operator: Awaited<ReturnType<typeof signInOperator>>;
let admin: Visitor;
before(async () => {
  app = await startApp();
  for (const [code, rate] of Object.entries({ EUR: '0.92', USD: '1' })) await setRate(app.db, code, rate);
  operator = await signInOperator(app);
  admin = operator.visitor;
});
after(() => app?.stop());

const pages = [
  '',
  '/search',
  '/partners',
  '/new-partner',
  '/users',
  '/merchants',
  '/rates',
  '/chains',
  '/relayer',
  '/stuck',
  '/terms',
  '/audit',
];
const all = [...pages, '/erase', '/sessions'].map((page) => `/admin${page}`);

const rowsOf = (page: Visit) => [...page.html.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)].map(([row]) => row);
const said = (page: Visit) => /class="notice \w+" role="status">([^<]*)/.exec(page.html)?.[1] ?? null;
const csv = async (path: string) => (await admin.open(path)).html.trim().split('\r\n');

async function lastAct(partnerId: string = noPartner) {
  const [row] = await app.db.sql<{ action: string; actor_name: string; object_id: string; details: string }[]>`
    select action, actor_name, object_id, details from audit_log where partner_id = ${partnerId}
    order by number desc limit 1`;
  return row && { ...row, details: JSON.parse(row.details) };
}

test('Only operators see the administration, and only on the shared host', async () => {
  const fixtures = await makePartner(app.db);
  const { visitor: owner } = await signInPartnerUser(app, fixtures);
  for (const path of all) {
    const page = await admin.open(path);
    assert.ok(isInside(page), `${path}: ${page.status}`);
    assert.match((await owner.open(path)).html, /Sign in to administration/, path);
  }
  const elsewhere = startVisitor(app.url, onHost(fixtures.partner));
  for (const [name, value] of admin.cookies) elsewhere.cookies.set(name, value);
  for (const path of all) {
    const page = await elsewhere.open(path);
    assert.equal(isInside(page), false, path);
    assert.equal(page.status, 404, path); // operators cannot even sign in there
  }
});

test('Every form of the administration refuses somebody who is not signed in, and one that another site sends', async () => {
  const forms = ['/new-partner', '/partners/x/settings', '/partners/x/switch', '/users/invite', '/users/role'];
  const more = [
    '/users/switch',
    '/users/x/sign-out',
    '/users/x/passkeys',
    '/merchants/switch',
    '/rates/set',
    '/rates/clear',
    '/rates/refresh',
    '/stuck/replay',
  ];
  const last = [
    '/stuck/enable',
    '/stuck/mail',
    '/stuck/receipt',
    '/stuck/plan',
    '/audit/check',
    '/erase/look',
    '/erase/do',
  ];
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const post = (path: string, headers: Record<string, string>) =>
    fetch(`${app.url}/admin${path}`, { method: 'POST', redirect: 'manual', headers });
  for (const form of [...forms, ...more, ...last]) {
    const stranger = await post(form, {});
    const signIn = form === '/sign-out' ? '/admin/sign-in' : '/admin/sign-in?unsaved';
    assert.deepEqual([stranger.status, stranger.headers.get('location')], [303, signIn], form);
    const foreign = await fetch(`${app.url}/admin${form}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(foreign.status, 403, form);
  }
});

test('An operator creates a partner, invites its owner, changes its settings, and switches it off and on', async () => {
  const slug = `corner-${randomUUID().slice(0, 8)}`;
  const form = await admin.open('/admin/new-partner');
  assert.match(form.html, /value="10080" checked/);
  const typed = { slug, name: 'Corner <Shops>', currency: 'USD', default_expiry: '15', email: '' };
  const send = (path: string, over: Record<string, string>, expiry: string[]) =>
    postForm(app.url, admin, path, [
      ...Object.entries({ ...typed, ...over }),
      ...expiry.map((minutes): [string, string] => ['expiry', minutes]),
    ]);
  const wrong: [over: Record<string, string>, expiry: string[], fault: RegExp][] = [
    [{ slug: 'No Slug' }, ['15'], /id="slug-fault">1 to 40 lower-case letters/],
    [{ slug: 'portal' }, ['15'], /id="slug-fault">“portal” is reserved for a host of the service/],
    [{ slug: 'quittance' }, ['15'], /id="slug-fault">“quittance” is reserved for a host of the service/],
    [{ currency: 'CHF' }, ['15'], /no exchange rate for this currency/],
    [{}, ['7'], /Choose at least one/],
    [{}, ['60'], /Choose one that is selected above/],
    [{ email: 'a@b, c@d' }, ['15'], /does not look like an e-mail address/],
  ];
  for (const [over, expiry, fault] of wrong) {
    const page = await send('/admin/new-partner', over, expiry);
    assert.equal(page.status, 400, JSON.stringify(over));
    assert.match(page.html, fault);
    assert.match(page.html, new RegExp(`name="slug" value="${over.slug ?? slug}"`));
  }

  assert.equal((await send('/admin/new-partner', {}, ['15', '60'])).status, 303);
  const made = await admin.open(`/admin/partners/${slug}?done=created`);
  assert.match(said(made) ?? '', /The partner was created/);
  assert.match(made.html, /Corner &lt;Shops&gt;/);
  const [partner] = await app.db.sql`select * from partners where slug = ${slug}`;
  assert.deepEqual([partner?.currency, partner?.allowed_expiry_minutes], ['USD', [15, 60]]);
  assert.equal((await lastAct(partner?.id))?.action, 'partner.created');
  const twice = await send('/admin/new-partner', {}, ['15']);
  assert.equal(twice.status, 400);
  assert.match(twice.html, new RegExp(`A partner “${slug}” already exists`));

  const email = newEmail();
  const people = await admin.open(`/admin/users?partner=${slug}`);
  const invited = await admin.send(people, '/users/invite', { email, role: 'owner' });
  assert.match(said(invited) ?? '', /invitation is on its way/);
  const [user] = await app.db.sql`select * from users where email = ${email}`;
  assert.deepEqual([user?.partner_id, user?.role], [partner?.id, 'owner']);
  for (const place of [`/admin/users?partner=${slug}`, `/admin/users/${user?.id}`]) {
    assert.match((await admin.open(place)).html, /class="badge waiting">.*Invited/, 'nobody has signed in yet');
  }

  const settings = `/admin/partners/${slug}/settings`;
  const refused = await send(settings, { name: '' }, ['5', '15']);
  assert.equal(refused.status, 400);
  assert.match(refused.html, /Enter a name of 1 to 120 characters/);
  await send(settings, { name: 'Corner Ltd', email: 'ops@corner.example' }, ['5', '15']);
  const saved = await admin.open(`/admin/partners/${slug}?done=saved`);
  assert.equal(said(saved), 'Saved.');
  const [changed] = await app.db.sql`select * from partners where slug = ${slug}`;
  assert.deepEqual(
    [changed?.name, changed?.allowed_expiry_minutes, changed?.email],
    ['Corner Ltd', [5, 15], 'ops@corner.example'],
  );
  assert.deepEqual((await lastAct(partner?.id))?.details, {
    name: 'Corner Ltd',
    email: 'ops@corner.example',
    expiry_minutes: ['5', '15'],
  });

  const off = await admin.send(saved, '/switch');
  assert.match(said(off) ?? '', /is disabled/);
  const listed = await admin.open(`/admin/partners?state=off&q=${slug}`);
  assert.equal(rowsOf(listed).length, 1);
  assert.equal((await csv(`/admin/partners.csv?q=${slug}`)).length, 2);
  const on = await admin.send(off, '/switch');
  assert.match(said(on) ?? '', /is enabled/);
  assert.equal((await lastAct(partner?.id))?.action, 'partner.enabled');
  assert.equal((await admin.open('/admin/partners/nobody')).status, 404);
});

test('Users of all teams are listed, given roles, and disabled: never the last owner, and never oneself', async () => {
  const fixtures = await makePartner(app.db);
  const owner = await signInPartnerUser(app, fixtures, 'owner');
  const viewer = await signInPartnerUser(app, fixtures, 'viewer');
  const list = () => admin.open(`/admin/users?q=${viewer.user.email}`);
  const raised = await admin.send(await list(), '/users/role', { role: 'developer' });
  assert.match(said(raised) ?? '', /role was changed/);
  assert.equal((await lastAct(fixtures.partner.id))?.details.to, 'developer');

  const off = await admin.send(await list(), '/users/switch');
  assert.match(said(off) ?? '', /signed out everywhere/);
  assert.equal(isInside(await viewer.visitor.open('/portal')), false);
  const on = await admin.send(await list(), '/users/switch');
  assert.match(said(on) ?? '', /can sign in again/);

  const ownerRow = await admin.open(`/admin/users?q=${owner.user.email}`);
  assert.match(said(await admin.send(ownerRow, '/users/role', { role: 'viewer' })) ?? '', /only owner/);
  const myself = await admin.open(`/admin/users?q=${operator.user.email}&partner=operators`);
  assert.equal(rowsOf(myself).length, 1);
  assert.ok(!myself.forms.some(({ action }) => action === '/admin/users/switch'));
  const other = await signInOperator(app);
  const row = await admin.open(`/admin/users?q=${other.user.email}`);
  const forged = await admin.send(row, '/users/switch', { user: operator.user.id });
  assert.match(said(forged) ?? '', /cannot disable yourself/);
  await admin.send(row, '/users/switch');
  assert.equal(isInside(await other.visitor.open('/admin')), false);
  const lines = await csv(`/admin/users.csv?partner=${fixtures.partner.slug.toUpperCase()}`);
  assert.equal(lines.length, 3);
});

test('An operator signs a user out of a lost device and removes their passkeys: each is logged once, and never for oneself', async () => {
  const fixtures = await makePartner(app.db);
  const { visitor, user } = await signInPartnerUser(app, fixtures, 'developer', { 'user-agent': 'Lost Phone 1.0' });
  const list = await admin.open(`/admin/users?q=${user.email}`);
  assert.ok(list.html.includes(`href="/admin/users/${user.id}"`));
  const page = await admin.open(`/admin/users/${user.id}`);
  assert.match(page.html, /Developer/);
  assert.equal(rowsOf(page).length, 1);
  const out = await admin.send(page, `${user.id}/sign-out`);
  assert.match(said(out) ?? '', /other browser is signed out/);
  assert.match(out.html, /Nowhere/);
  assert.equal(isInside(await visitor.open('/portal')), false);
  assert.deepEqual(
    [await lastAct(fixtures.partner.id)].map((act) => [act?.action, act?.actor_name, act?.details]),
    [['session.revoked', operator.user.email, { email: user.email }]],
  );
  assert.match(said(await admin.send(page, `${user.id}/sign-out`)) ?? '', /already done/);

  await app.db.sql`
    insert into passkeys (id, partner_id, user_id, credential_id, public_key, counter, name, created_at)
    values (${randomUUID()}, ${fixtures.partner.id}, ${user.id}, sha256('a'), sha256('b'), 0, 'Phone', now())`;
  const held = await admin.open(`/admin/users/${user.id}`);
  assert.match(held.html, /Phone/);
  const removed = await admin.send(held, '/passkeys');
  assert.match(said(removed) ?? '', /passkeys were removed/);
  const act = await lastAct(fixtures.partner.id);
  assert.deepEqual([act?.action, act?.details], ['passkeys.removed', { email: user.email, passkeys: 1 }]);
  assert.match(said(await admin.send(held, '/passkeys')) ?? '', /already done/);
  const [mail] = await app.db.sql`select 1 from mails where recipient = ${user.email} and body ilike '%passkey%'`;
  assert.ok(mail, 'they are told');

  const mine = await admin.open(`/admin/users/${operator.user.id}`);
  assert.ok(!mine.forms.some(({ action }) => action.includes(operator.user.id)));
  for (const form of ['sign-out', 'passkeys']) {
    const forged = { ...page, forms: [{ action: `/admin/users/${operator.user.id}/${form}`, fields: {} }] };
    assert.equal((await admin.send(forged, form)).status, 404);
  }
  for (const nobody of [randomUUID(), 'x', "'"]) assert.equal((await admin.open(`/admin/users/${nobody}`)).status, 404);
});

test('merchants of all partners and modes are found by ID, wallet and name; the operator’s switch is separate from the partner’s', async () => {
  const [one, two] = [await makePartner(app.db), await makePartner(app.db)];
  const mine = await makeMerchant(app.db, one.test);
  const other = await makeMerchant(app.db, two.live);
  for (const search of [mine.id, mine.wallet, mine.wallet.toUpperCase().replace('0X', '0x')]) {
    const found = rowsOf(await admin.open(`/admin/merchants?q=${search}`));
    assert.equal(found.length, 1, search);
    assert.ok(found[0]?.includes(mine.id));
  }
  const both = await admin.open(`/admin/merchants?q=${encodeURIComponent('ada’s bak')}`);
  assert.ok(both.html.includes(mine.id) && both.html.includes(other.id));
  assert.equal(rowsOf(await admin.open(`/admin/merchants?partner=${two.partner.slug}&mode=live`)).length, 1);
  assert.equal(rowsOf(await admin.open(`/admin/merchants?partner=${two.partner.slug}&mode=test`)).length, 0);
  assert.equal(rowsOf(await admin.open(`/admin/merchants?partner=${two.partner.slug}&terms=1`)).length, 1);

  const off = await admin.send(await admin.open(`/admin/merchants?q=${mine.id}`), '/merchants/switch');
  assert.match(said(off) ?? '', /The merchant is disabled/);
  const [row] = await app.db.sql`select disabled_by_operator, disabled_by_partner from merchants where id = ${mine.id}`;
  assert.deepEqual({ ...row }, { disabled_by_operator: true, disabled_by_partner: false });
  const act = await lastAct(one.partner.id);
  assert.deepEqual(
    [act?.action, act?.actor_name, act?.details],
    ['merchant.disabled', operator.user.email, { by: 'operator' }],
  );
  const on = await admin.send(off, '/merchants/switch');
  assert.match(said(on) ?? '', /You have enabled this merchant again/);
});

test('Long lists continue by cursor without a gap, and export completely', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  for (let i = 0; i < 60; i++) await makeMerchant(app.db, scope);
  const seen: string[] = [];
  let path: string | null = `/admin/merchants?partner=${partner.slug}`;
  for (let pages = 0; path !== null && pages < 5; pages++) {
    const page: Visit = await admin.open(path);
    seen.push(...[...page.html.matchAll(/name="account" value="([^"]+)"/g)].map(([, id]) => id as string));
    path = /href="([^"]+)" rel="next"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? null;
  }
  assert.deepEqual([seen.length, new Set(seen).size], [60, 60]);
  assert.equal((await csv(`/admin/merchants.csv?partner=${partner.slug}`)).length, 61);
});

test('A merchant without a name is called the same in the administration as in the portal', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const { id } = await makeMerchant(app.db, scope);
  await app.db.sql`update merchants set business_name = null, display_name = null where id = ${id}`;
  const { unnamed } = portalTexts({ language: 'en' }).requests;
  for (const path of [`/admin/merchants?partner=${partner.slug}`, `/admin/merchants/${id}`]) {
    assert.ok((await admin.open(path)).html.includes(`>${unnamed}<`), path);
  }
});

test('A rate is set with an end and cleared; fetching at once is limited for each partner', async () => {
  const page = await admin.open('/admin/rates');
  const past = await admin.send(page, '/rates/set', { code: 'GBP', rate: '0.8', until: '2020-01-01T10:00' });
  assert.equal(past.status, 400);
  assert.match(said(past) ?? '', /Nothing was set\. The expiry must be in the future/);
  assert.match(said(await admin.send(page, '/rates/set', { code: 'GBP', rate: 'x' })) ?? '', /is not a rate/);
  await admin.open('/admin/rates?lang=de');
  const faults = { code: 'XXL', rate: '1', until: '' };
  assert.match(
    said(await admin.send(page, '/rates/set', faults)) ?? '',
    /Es wurde nichts gesetzt\. „XXL“ ist keine Währung/,
  );
  await admin.open('/admin/rates?lang=en');
  const set = await admin.send(page, '/rates/set', { code: 'gbp', rate: '0.8', until: '2099-01-01T10:00' });
  assert.equal(said(set), 'The rate was set.');
  assert.match(set.html, /Set by us<\/span><p class="quiet">until <time datetime="2099-01-01T10:00/);
  assert.deepEqual((await lastAct())?.details, { rate: '0.8', until: '2099-01-01T10:00:00.000Z' });

  await app.db.sql`insert into rates (code, rate, sources, fetched_at) values ('GBP', '0.76', '[]', now())`;
  const far = { code: 'GBP', rate: '76', until: '' };
  const asked = await admin.send(page, '/rates/set', far);
  assert.equal(asked.status, 400);
  assert.match(said(asked) ?? '', /“76” differs by \+9,900% from the market rate for GBP, 0\.76/);
  const kept = asked.forms.find(({ action }) => action === '/admin/rates/set')?.fields;
  assert.deepEqual([kept?.rate, kept?.shown], ['76', '9900']);
  assert.match(asked.html, />Set it anyway<\/button>/);
  assert.equal((await admin.send(asked, '/rates/set', { ...far, rate: '0.07', shown: '9900' })).status, 400);
  assert.equal(said(await admin.send(asked, '/rates/set', { ...far, shown: '9900' })), 'The rate was set.');
  for (const path of ['/admin/rates', '/admin']) {
    const { html } = await admin.open(path);
    assert.match(html, />76<p class="quiet">Sources: 0\.76 \(\+9,900%\)</, path);
    assert.match(html, />0\.92<p class="quiet">No source has a rate</, path);
  }
  assert.match((await admin.open('/admin')).html, /<h2>Exchange rates set manually<\/h2>/);
  const cleared = await admin.send(set, '/rates/clear', { code: 'GBP' });
  assert.equal(said(cleared), 'The rate was cleared.');
  assert.equal((await lastAct())?.action, 'rate.cleared');

  const { partner } = await makePartner(app.db);
  await app.db.sql`delete from rate_counters where action = 'rates.refresh'`;
  const fetched = await admin.send(page, '/rates/refresh', { partner: partner.slug });
  assert.equal(said(fetched), 'All rates were refreshed.');
  assert.deepEqual((await lastAct())?.details, { partner: partner.slug });
  await app.db
    .sql`update rate_counters set minute = date_trunc('minute', now() + interval '1 minute') where action = 'rates.refresh'`;
  assert.match(
    said(await admin.send(page, '/rates/refresh', { partner: partner.slug })) ?? '',
    /within the last minute\. Try again/,
  );
  assert.match(
    said(await admin.send(page, '/rates/refresh', { partner: 'nobody' })) ?? '',
    /This partner does not exist/,
  );
});

test('a plan that has failed for a day and not because somebody is disabled → listed as stuck; retry charges it at once', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const fail = async (failure: string, hours: number) => {
    const plan = await makePlan(app.ctx, scope, merchant, { firstOn: new Date().toISOString().slice(0, 10) });
    await app.db.sql`
      update plans set failure = ${failure}, failures = 9, failed_at = now() - ${hours} * interval '1 hour',
        due_at = now() + interval '1 hour' where id = ${plan.id}`;
    return plan.id;
  };
  const stuck = await fail('other', 25);
  const others = [await fail('other', 23), await fail('merchant_disabled', 100), await fail('partner_disabled', 100)];
  const page = await admin.open('/admin/stuck');
  const [row = '', ...more] = rowsOf(page).filter((one) => one.includes(partner.slug));
  assert.equal(more.length, 0);
  for (const text of [stuck, 'Ada’s Bakery', 'Something failed']) assert.ok(row.includes(text), text);
  for (const id of others) assert.ok(!page.html.includes(id));
  assert.match((await admin.open('/admin')).html, /Something needs your attention/);
  assert.equal(said(await admin.send(page, '/stuck/plan')), 'Retrying.');
  const act = await lastAct(partner.id);
  assert.deepEqual([act?.action, act?.object_id], ['plan.retried', stuck]);
  const [due] = await app.db.sql`select due_at <= now() as now from plans where id = ${stuck}`;
  assert.equal(due?.now, true);
  await turnAt(app.ctx, new Date().toISOString());
  assert.ok(!(await admin.open('/admin/stuck')).html.includes(stuck), 'what was charged is gone');
  assert.match(said(await admin.send(page, '/stuck/plan')) ?? '', /already fixed/);
  await app.db.sql`update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null, failure = null,
    failed_at = null where state <> 'ended'`;
});

test('Stuck events, endpoints, mails and receipts are listed, each with the button that helps', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const request = await makeRequest(app.db, scope, merchant, { customerPhone: '+49 30 1234567' });
  await setUrl(app.ctx, theService, scope, 'http://127.0.0.1:9/hook');
  await app.db.scoped(scope, (tx) =>
    enqueueProofVerified(tx, [
      {
        scope,
        requestId: request.id,
        accountId: merchant.id,
        txHash: '0x1',
        payerAddress: '0x2',
        metadata: '{}',
        verifiedAt: new Date(),
      },
    ]),
  );
  await app.db.sql`update webhook_deliveries set state = 'exhausted' where request_id = ${request.id}`;
  await app.db.sql`
    update webhook_endpoints set disabled_at = now(), disabled_reason = 'gone' where partner_id = ${partner.id}`;
  const secret = { subject: '482913 — your code for Lost mail', body: 'https://pay.example/a-secret-link' };
  await queueMail(app.ctx, app.db.sql, null, { recipient: 'lost@example.com', ...secret });
  await app.db.sql`update mails set next_attempt_at = 'infinity', attempts = 12 where recipient = 'lost@example.com'`;
  await app.db.sql`select queue_receipts(${scope.partnerId}, true, ${request.id}, ${['phone']})`;
  await app.db.sql`update receipts set next_attempt_at = 'infinity', error = 'it answered 422'`;

  const page = await admin.open('/admin/stuck');
  for (const text of [request.id, 'It answered 410 Gone', 'Lost mail', 'it answered 422', partner.slug]) {
    assert.ok(page.html.includes(text), text);
  }
  assert.match((await admin.open('/admin')).html, /Something needs your attention/);
  assert.doesNotMatch(page.html, /482913|a-secret-link/, 'what a mail lets in with is not for operators');
  assert.equal(said(await admin.send(page, '/stuck/replay')), 'Resending the event.');
  assert.equal((await lastAct(partner.id))?.action, 'webhook.replayed');
  assert.equal(said(await admin.send(page, '/stuck/enable')), 'The endpoint is enabled.');
  assert.equal((await lastAct(partner.id))?.action, 'webhook.enabled');
  assert.equal(said(await admin.send(page, '/stuck/mail')), 'Retrying.');
  assert.equal((await lastAct())?.action, 'mail.retried');
  const last = await admin.send(page, '/stuck/receipt');
  assert.equal(said(last), 'Retrying.');
  assert.deepEqual((await lastAct(partner.id))?.details, { channel: 'phone' });
  assert.match(last.html, /Nothing needs attention/);
  assert.doesNotMatch((await admin.open('/admin')).html, /Something needs your attention/);
  assert.match(said(await admin.send(page, '/stuck/mail')) ?? '', /already fixed/);

  const [delivery] = await app.db.sql`select state from webhook_deliveries where request_id = ${request.id}`;
  assert.equal(delivery?.state, 'waiting');
  const [mail] = await app.db
    .sql`select attempts, next_attempt_at <= now() as due from mails where recipient = 'lost@example.com'`;
  assert.deepEqual({ ...mail }, { attempts: 0, due: true });
});

test('The overview names alarms with what helps, and says how much waits', async () => {
  await raiseAlarm(app.db.sql, { kind: 'mail_failing', subject: '', details: { fault: 'no route' } });
  const page = await admin.open('/admin');
  assert.match(page.html, /An e-mail could not be sent <code[^>]*>no route<\/code>/);
  assert.match(page.html, /Check that the mail server in SMTP_URL responds/);
  for (const queue of ['Events for webhooks', 'E-mails', 'Receipts', 'Payments awaiting matching']) {
    assert.ok(page.html.includes(queue), queue);
  }
  const chains = await admin.open('/admin/chains');
  assert.match(chains.html, /no provider responds/);
  assert.match(chains.html, /None/);
});

test('The CSV of alarms has all of them, each once: raised ones first, then those that ended last', async () => {
  await app.db.sql`delete from alarms`;
  // Many have the same times, to the microsecond.
  await app.db.sql`
    insert into alarms (kind, subject, details, raised_at, cleared_at)
    select 'verified-reorged', g::text, '{"requestId": "r"}', now() - g / 700 * interval '1 microsecond',
      case when g > 5000 then now() + g / 700 * interval '1 microsecond' end
    from generate_series(1, 10500) g`;
  const lines = (await admin.open('/admin/alarms.csv')).html.trimEnd().split('\r\n').slice(1);
  const rows = await app.db.sql`
    select kind || ':' || subject as name from alarms
    order by cleared_at desc nulls first, raised_at desc, kind, subject`;
  await app.db.sql`delete from alarms`;
  assert.equal(rows.length, 10_500);
  assert.deepEqual(
    lines.map((line) => line.split(',')[0]),
    rows.map(({ name }) => name),
  );
});

test('Each alarm is shown in the reader’s language, with original messages of others kept apart', async () => {
  const { partner } = await makePartner(app.db);
  const request = randomUUID();
  const { name: network, chainId } = app.ctx.chains.test[0] ?? assert.fail('no network');
  const about: { [K in AlarmKind]: AlarmDetails[K][] } = {
    mail_transport: [{ waiting: 2 }],
    mail_failing: [{ fault: 'no route' }],
    secret_key_missing: [{ keyId: 'k2026', endpoints: 3, mails: 0 }],
    phone_gateway: [{ fault: 'it answered 500' }],
    receipts_missing: [{ fault: '23514: <broken>\0' }],
    recoveries_stuck: [{ accountIds: [request], count: 2 }],
    plans_failing: [{ count: 7 }],
    order_ahead: [{ scopes: [{ slug: 'shop', mode: 'test', until: '2030-01-01T00:00:00.000Z' }], more: false }],
    webhook_disabled: [
      { partnerId: partner.id, mode: 'test', why: 'gone' },
      { partnerId: partner.id, mode: 'live', why: 'dead' },
    ],
    'chain-silent': [{ chainId, chain: network, since: 'only for the log' }],
    'chain-missing': [
      { chainId, since: 'only for the log', waiting: ['payments', 'refunds'] },
      { chainId, mode: 'live', since: 'only for the log', waiting: ['payments'] },
      { chainId: 41_002, since: 'only for the log', waiting: ['refunds'] },
    ],
    'chain-unconfirmed': [{ chainId, chain: network, since: 'only for the log' }],
    'chain-unread': [{ chainId, chain: network, transactions: ['0xdef'] }],
    'chain-left-out': [
      { chainId, chain: network, host: 'rpc.example', other: 'rpc2.example', transactions: ['0xfee'] },
    ],
    'chain-final-reorged': [
      { chainId, transactions: ['0xabc'] },
      { chainId, transactions: ['0xfed'] },
    ],
    'chain-replaced': [{ chainId, transactions: ['0xdad'] }],
    'chain-deep-reorg': [{ chainId, blocks: 40 }],
    'verified-reorged': [{ requestId: request }],
    'returned-bound': [{ requestId: request }],
    'returned-twice': [{ payment: '1_0xabc_0' }],
    'relay-low-coin': [{ chainId, chain: network, address: '0xaaa', leftWei: '1', leastWei: '2' }],
    'relay-fees': [{ chainId, chain: network, address: '0xaaa', baseFeeWei: '2', limitWei: '1' }],
    'relay-stuck': [{ chainId, chain: network, address: '0xaaa', nonce: '41' }],
    other: [{ message: 'Something new: and unheard of' }],
  };
  await app.db.sql`delete from alarms`;
  for (const [kind, all] of Object.entries(about)) {
    for (const [i, details] of all.entries()) await raiseAlarm(app.db.sql, { kind, subject: `${i}`, details } as Alarm);
  }
  await app.db
    .sql`insert into alarms (kind, subject, details) values ('of_a_later_version', '7', '{"of": "tomorrow"}')`;
  const { html } = await admin.open('/admin?lang=de');
  await admin.open('/admin?lang=en');
  for (const sentence of [
    'E-Mails warten: Es ist kein Mailserver eingerichtet<',
    'geheimen Schlüssel <code>k2026</code>, der einem Knoten fehlt. Webhook-Endpunkte: 3, E-Mails: 0<',
    'Telefonnachrichten funktioniert nicht <code lang="en" dir="ltr">it answered 500</code>',
    'können nicht erstellt werden <code lang="en" dir="ltr">23514: &lt;broken&gt;</code>',
    `Händler: <code lang="en" dir="ltr">${request} …</code>`,
    'Pläne: <code lang="en" dir="ltr">7</code>',
    'Partner: <code lang="en" dir="ltr">shop (test) until 2030-01-01T00:00:00.000Z</code>',
    `Der Webhook von ${partner.name} (Test) wurde deaktiviert: Sein Endpunkt hat mit 410 Gone geantwortet<`,
    `Der Webhook von ${partner.name} (Live) wurde deaktiviert: Seit fünf Tagen ist keine Zustellung gelungen<`,
    `Zahlungen auf ${network} können nicht geprüft werden`,
    `können nicht gelesen werden; Zahlungen darin können fehlen: <code lang="en" dir="ltr">0xdef</code>`,
    `${network} (Live) fehlt in CHAINS_FILE, aber etwas wartet darauf`,
    'Chain 41002 fehlt in CHAINS_FILE, aber etwas wartet darauf',
    `${network} wurde tiefer umgeordnet`,
    `Dem Relayer fehlt auf ${network} Guthaben für Gebühren; er sendet nichts Neues. Adresse: <code lang="en" dir="ltr">0xaaa</code>`,
    `Gas auf ${network} kostet mehr als die Grenze erlaubt`,
    'Adresse und Nonce: <code lang="en" dir="ltr">0xaaa 41</code>',
    `${network} hat endgültige Überweisungen rückgängig gemacht <code lang="en" dir="ltr">0xabc</code>`,
    `${network} hat endgültige Überweisungen rückgängig gemacht <code lang="en" dir="ltr">0xfed</code>`,
    `Anforderung <code>${request}</code> hat ihre Zahlung`,
    `Die Zahlung der Anforderung <code>${request}</code> zählt und wurde außerdem erstattet`,
    'Die Zahlung <code>1_0xabc_0</code> wurde zweimal erstattet',
    '<code lang="en" dir="ltr">{&quot;of&quot;:&quot;tomorrow&quot;}</code>',
    '<code lang="en" dir="ltr">Something new: and unheard of</code>',
  ]) {
    assert.ok(html.includes(sentence), sentence);
  }
  assert.doesNotMatch(html, /only for the log|no mail transport|must be checked/);
});

test('The audit log is read by log and kind, exported, and checked; a changed row is found', async () => {
  const { partner } = await makePartner(app.db);
  await admin.send(await admin.open(`/admin/partners/${partner.slug}`), '/switch');
  const page = await admin.open(`/admin/audit?partner=${partner.slug}&action=partner.disabled`);
  assert.equal(rowsOf(page).length, 1);
  assert.ok(page.html.includes(operator.user.email));
  const title = `title="${partner.slug}"`;
  assert.ok(page.html.includes(`<a href="/admin/partners/${partner.slug}"><bdi ${title}>${partner.name}</bdi></a>`));
  const [header, line] = await csv(`/admin/audit.csv?partner=${partner.slug}`);
  assert.match(header ?? '', /^number,at,mode,actor_kind,actor,action/);
  assert.match(line ?? '', new RegExp(`,operator,${operator.user.email},partner.disabled,partner,${partner.slug},`));

  const whole = await admin.send(page, '/audit/check');
  assert.match(whole.html, /The log is complete: 1 row\./);
  const [check] = await verifyChains(app.ctx, partner.id);
  assert.ok(whole.html.includes(check?.hash ?? 'no hash'));
  const compare = (kept: string) => admin.send(page, '/audit/check', { kept });
  assert.match((await compare(check?.hash ?? '')).html, /matches row 1/);
  assert.match((await compare('f'.repeat(64))).html, /matches no row here/);
  const malformed = await compare('beef');
  assert.equal(malformed.status, 400);
  assert.match(malformed.html, /Nothing was compared/);
  await app.owner`alter table audit_log disable trigger user`;
  await app.owner`update audit_log set actor_name = 'nobody' where partner_id = ${partner.id}`;
  await app.owner`alter table audit_log enable trigger user`;
  assert.match((await admin.send(page, '/audit/check')).html, /The log is broken at row 1/);
  assert.equal((await admin.open('/admin/audit?partner=nobody')).status, 404);
});

test('A customer is looked for and erased without the data standing in an address, an answer’s log or the audit log', async () => {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const email = newEmail();
  const request = await makeRequest(app.db, scope, merchant, { customerEmail: email, customerName: 'Grace' });
  const page = await admin.open('/admin/erase');
  assert.equal((await admin.send(page, '/erase/look', { value: 'nonsense' })).status, 400);
  const found = await admin.send(page, '/erase/look', { by: 'email', value: email });
  assert.match(found.html, /1 request, 0 plans, and 1 partner\./);
  const done = await admin.send(found, '/erase/do');
  assert.equal(said(done), 'Erased: 1 request, 0 plans, 0 e-mails, and 0 waiting messages.');
  const [row] = await app.db.sql`select customer_email, customer_name from requests where id = ${request.id}`;
  assert.deepEqual({ ...row }, { customer_email: null, customer_name: null });
  assert.match(
    (await admin.send(page, '/erase/look', { by: 'email', value: email })).html,
    /No personal data is stored/,
  );
  assert.ok(
    !JSON.stringify(await app.db.sql`select * from audit_log where action = 'customer.erased'`).includes(email),
  );
});

test('Disabled endpoints of a partner in both modes → each is enabled by its own button', async () => {
  const { partner } = await makePartner(app.db);
  for (const isTest of [true, false])
    await app.db.sql`
      insert into webhook_endpoints (partner_id, test_mode, url, secret, disabled_at, disabled_reason)
      values (${partner.id}, ${isTest}, 'https://shop.example/', '', now(), 'gone')`;
  const page = await admin.open('/admin/stuck');
  const disabled = async () =>
    (
      await app.db
        .sql`select test_mode from webhook_endpoints where partner_id = ${partner.id} and disabled_at is not null`
    ).map(({ test_mode }) => test_mode);
  for (const [mode, left] of [
    ['live', [true]],
    ['test', []],
  ] as const) {
    const forms = page.forms.filter(({ fields }) => fields.partner === partner.slug && fields.mode === mode);
    assert.equal(said(await admin.send({ ...page, forms }, '/stuck/enable')), 'The endpoint is enabled.');
    assert.deepEqual(await disabled(), left);
  }
});

test('A form that is sent twice acts and logs once, and the page confirms only what was done', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const page = await admin.open(`/admin/partners/${partner.slug}`);
  await Promise.all([admin.send(page, '/switch'), admin.send(page, '/switch'), admin.send(page, '/switch')]);
  const list = await admin.open(`/admin/merchants?q=${merchant.id}`);
  await Promise.all([admin.send(list, '/merchants/switch'), admin.send(list, '/merchants/switch')]);
  const acts = await app.db.sql`
    select action from audit_log where partner_id = ${partner.id} order by number`;
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['partner.disabled', 'merchant.disabled'],
  );
  assert.equal((await admin.send(page, '/switch', { to: '' })).status, 404, 'neither off nor on');

  const before = await lastAct(partner.id);
  const forged = (action: string, fields: Record<string, string>) =>
    admin.send({ ...page, forms: [{ action, fields }] }, action);
  const nothing = await forged('/admin/stuck/enable', { partner: partner.slug, mode: 'live' });
  assert.match(said(nothing) ?? '', /already fixed/);
  assert.match(said(await forged('/admin/rates/clear', { code: 'chf' })) ?? '', /No rate was set manually/);
  assert.deepEqual(await lastAct(partner.id), before);
});

test('GET of a form’s address → its page; rates and failed events can be downloaded as CSV', async () => {
  for (const [form, page] of Object.entries({
    '/admin/audit/check?lang=de': '/admin/audit?lang=de',
    '/admin/erase/look': '/admin/erase',
    '/admin/users/invite': '/admin/users',
  })) {
    const answer = await fetch(`${app.url}${form}`, {
      redirect: 'manual',
      headers: { cookie: [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, page]);
  }
  const [head, ...rates] = await csv('/admin/rates.csv');
  assert.match(head ?? '', /^currency,rate,fetched_at/);
  assert.ok(rates.some((line) => line.startsWith('EUR,0.92')));
  assert.deepEqual((await csv('/admin/stuck.csv')).slice(0, 1), ['event,partner,mode,request,created_at']);
});
