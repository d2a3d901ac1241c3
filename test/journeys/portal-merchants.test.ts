import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getAddress } from 'viem';
import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { startApi } from '../support/api/client.ts';
import { countingFor, makeMerchant, makeRequest, makeTransfer } from '../support/fixtures.ts';
import { makeOnboarded, newAccount } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let api: Awaited<ReturnType<typeof startApi>>;
let ctx: Context;
let partner: Awaited<ReturnType<typeof api.partner>>;
let owner: Visitor;
let developer: Visitor;
let viewer: Visitor;
const path = '/portal/merchants';

before(async () => {
  api = await startApi();
  ctx = api.ctx;
  partner = await api.partner();
  const { id } = partner.partner;
  owner = await portalVisitor(ctx, api.url, id);
  developer = await portalVisitor(ctx, api.url, id, 'developer');
  viewer = await portalVisitor(ctx, api.url, id, 'viewer');
});
after(() => api?.stop());

const listed = (html: string) =>
  [...html.matchAll(/<th scope="row"><a href="\/portal\/merchants\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
const search = async (query: Record<string, string>, who = owner) =>
  listed((await who.open(`${path}?${new URLSearchParams(query)}`)).html);
const acts = async (id: string) => [
  ...(await api.db.sql`
    select action, details from audit_log where partner_id = ${partner.partner.id} and object_id = ${id} order by number`),
];

test('A merchant whose e-mail address the partner gave wrong › its page says the way out, and that works', async () => {
  const { address } = newAccount();
  const wanted = { email: 'right@example.com', wallet_address: address };
  const { json: wrong } = await partner.test.api.createAccount({ ...wanted, email: 'wrong@example.com' });
  const again = await partner.test.api.createAccount(wanted);
  assert.equal(again.json.email, 'wrong@example.com', 'its wallet leads to it');
  const page = await owner.open(`${path}/${wrong.account_id}?mode=test`);
  assert.match(page.html, /Create another merchant with the right address/);
  assert.match(page.html, /until you choose “Restart onboarding”/);
  await owner.send(page, '/reset?mode=test');
  const { status, json } = await partner.test.api.createAccount(wanted);
  assert.deepEqual([status, json.email], [201, wanted.email]);
  const rest = await owner.open(`${path}/${wrong.account_id}?mode=test`);
  assert.doesNotMatch(rest.html, /until you choose/, 'it has no wallet any more');
});

test('making a merchant › by form, under the rules of the API; its invitation opens, and is fresh each time', async () => {
  const form = await developer.open(path);
  const typed = { business_name: 'Bread & Co', email: 'bo@example.com', country: 'de', app_mode: 'personal' };
  const page = await developer.send(form, `${path}?mode=test`, { ...typed, display_currency: 'JPY' });
  assert.match(page.html, /The merchant was created/);
  const id = /<h1>Bread &amp; Co<\/h1>/.test(page.html) ? (await search({ q: 'bread' }))[0] : undefined;
  assert.ok(id, page.html);
  const { json } = await partner.test.api.readAccount(id);
  const told = { business_name: json.business_name, email: json.email, country: json.country, app_mode: json.app_mode };
  assert.deepEqual(told, { ...typed, country: 'DE' });
  assert.equal(json.display_currency, 'JPY');
  assert.equal((await acts(id))[0]?.action, 'merchant.created');

  const link = /data-copy="(http[^"]+)"/.exec(page.html)?.[1] ?? assert.fail('no link to copy');
  assert.match((await startVisitor(api.url).open(link)).html, /Send me a code/);
  // A link holds its time in whole seconds, so a new epoch makes the next link differ.
  await api.db.sql`update merchants set onboarding_epoch = onboarding_epoch + 1 where id = ${id}`;
  assert.notEqual(/data-copy="([^"]+)"/.exec((await developer.open(`${path}/${id}`)).html)?.[1], link);
});

test('creating a merchant › a form that is sent twice, even at once, creates one, and says so; a new form another', async () => {
  const typed = { business_name: 'Twice & Sons', country: 'de', app_mode: 'business', display_currency: 'EUR' };
  const form = await owner.open(path);
  const twice = () => owner.send(form, `${path}?mode=test`, typed);
  const pages = await Promise.all([twice(), twice()]);
  const said = /No second merchant was created/;
  assert.equal(pages.filter(({ html }) => said.test(html)).length, 1);
  assert.match((await twice()).html, said);
  const [id = '', ...others] = await search({ q: 'twice' });
  assert.deepEqual(others, []);
  assert.equal((await acts(id)).length, 1);
  await owner.send(await owner.open(path), `${path}?mode=test`, typed);
  assert.equal((await search({ q: 'twice' })).length, 2);
});

test('creating a merchant › faults are shown beside their fields, typed values stay, and nothing is created', async () => {
  const before = await search({});
  const typed = { business_name: 'x'.repeat(121), email: 'nobody', country: 'Germany', display_currency: 'EUR' };
  const page = await owner.send(await owner.open(path), `${path}?mode=test`, typed);
  assert.equal(page.status, 400);
  for (const fault of ['At most 120 characters\\.', 'does not look like an e-mail', 'Choose a country from the list']) {
    assert.match(page.html, new RegExp(`class="fault"[^>]*>[^<]*${fault}`));
  }
  assert.match(page.html, /value="nobody"/);
  assert.match(page.html, /<option value="DE">Germany<\/option>/);
  assert.match(page.html, /<option value="EUR" selected>EUR – Euro<\/option>/);
  for (const [name, value] of [
    ['email', 'ada@example.com,bo@example.com'],
    ['email', '<ada@example.com>'],
    ['country', 'XX'],
  ] as const) {
    const typed = { [name]: value, display_currency: 'EUR' };
    const refused = await owner.send(await owner.open(path), `${path}?mode=test`, typed);
    assert.equal(refused.status, 400, value);
    assert.match(refused.html, /class="fault"[^>]*>[^<]*(does not look like an e-mail|Choose a country from the list)/);
  }
  const unknown = await postForm(api.url, owner, `${path}?mode=test`, [['display_currency', 'XXX']]);
  assert.equal(unknown.status, 400);
  assert.deepEqual(await search({}), before);
});

test('a merchant’s page › shows all that is stored of it', async () => {
  const { scope } = partner.test;
  const given = {
    ...{ business_name: 'Café Ōmi', display_name: 'Ōmi', email: 'omi@example.com', country: 'JP', phone: '+81 1' },
    ...{ website: 'https://omi.example', instagram: '@omi', industry: 'Coffee', display_currency: 'JPY' },
  };
  const { id } = await createShell(ctx, theService, scope, given);
  const { wallet_address: wallet } = await onboardWithKey(ctx, id);
  const { html } = await owner.open(`${path}/${id}`);
  for (const value of [...Object.values(given), getAddress(wallet ?? '')]) {
    assert.ok(html.includes(`${value}`), `${value}`);
  }
  assert.match(html, /<dt>Country<\/dt><dd><span dir="auto">Japan</);
  assert.match(html, /Terms accepted<\/dt><dd>Version \S+, <time/);
});

test('a merchant’s page › what it was paid in 30 days and in all, by currency; the other mode and others count for nothing', async () => {
  const { scope } = partner.test;
  const [merchant, other] = [await makeMerchant(api.db, scope), await makeMerchant(api.db, scope)];
  const open = async () => (await owner.open(`${path}/${merchant.id}`)).html;
  // Past days are summed once, so this is another merchant's page.
  const unpaid = await makeMerchant(api.db, scope);
  assert.match((await owner.open(`${path}/${unpaid.id}`)).html, /No payments yet/);
  const pay = async (of: typeof merchant, fiatInt: number, fiatCode: string, days: number) => {
    const { id } = await makeRequest(api.db, scope, of, { fiatInt, fiatCode });
    await api.db.sql`
      update requests set proof_status = 'verified', proof_verified_at = now() - ${days} * interval '1 day',
        created_at = created_at - interval '99 days', tx_hash = ${`0x${'ab'.repeat(32)}`}, payer_address = '0x' where id = ${id}`;
  };
  await pay(merchant, 1_000, 'EUR', 0);
  await pay(merchant, 250, 'EUR', 2);
  await pay(merchant, 5_000, 'EUR', 40);
  await pay(merchant, 700, 'JPY', 41);
  await pay(other, 99_900, 'EUR', 1);
  const cells = [...(await volumeOf(open)).matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) =>
    cell
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
  assert.deepEqual(cells.slice(3), [
    ...['EUR', '€12.50 2 payments', '€62.50 3 payments'],
    ...['JPY', '¥0 0 payments', '¥700 1 payment'],
  ]);
});

/** The table of what a merchant was paid. */
async function volumeOf(open: () => Promise<string>): Promise<string> {
  return /<h2>Paid requests<\/h2>(.*?)<\/table>/s.exec(await open())?.[1] ?? assert.fail('no table');
}

test('the list › searches, states, switches, pages and CSV, of one partner and mode', async () => {
  const other = await api.partner();
  const visitor = await portalVisitor(ctx, api.url, other.partner.id);
  const find = (query: Record<string, string>) => search(query, visitor);
  const { scope, merchant: first } = other.test;
  const shell = await createShell(ctx, theService, scope, {
    display_currency: 'EUR',
    business_name: '=100% Café_',
    email: 'Cafe@example.com',
  });
  const off = await makeMerchant(api.db, scope);
  await postForm(api.url, visitor, `${path}/${off.id}/disable?mode=test`);
  await api.db.sql`update merchants set disabled_by_operator = true where id = ${first.id}`;
  assert.deepEqual(await find({}), [off.id, shell.id, first.id]);
  assert.deepEqual(await find({ q: '100% CAFÉ_' }), [shell.id]);
  assert.deepEqual(await find({ q: '100_' }), []);
  assert.deepEqual(await find({ q: 'cafe@' }), [shell.id]);
  assert.deepEqual(await find({ q: off.id.toUpperCase() }), [off.id]);
  assert.deepEqual(await find({ q: off.wallet }), [off.id]);
  assert.deepEqual(await find({ onboarding: 'incomplete' }), [shell.id]);
  assert.deepEqual(await find({ onboarding: 'complete' }), [off.id, first.id]);
  assert.deepEqual(await find({ disabled: 'partner' }), [off.id]);
  assert.deepEqual(await find({ disabled: 'operator' }), [first.id]);
  assert.deepEqual(await find({ disabled: 'none', after: 'nonsense' }), [shell.id]);
  assert.deepEqual(await find({ mode: 'live' }), [other.live.merchant.id]);
  await visitor.open(`${path}?mode=test`);
  assert.deepEqual(await search({ q: off.id }), [], 'another partner finds nothing');

  const csv = (await visitor.open('/portal/merchants.csv?onboarding=incomplete')).html.trim().split('\r\n');
  assert.equal(csv.length, 2);
  assert.match(csv[0] ?? '', /^account_id,business_name/);
  assert.match(csv[1] ?? '', new RegExp(`^${shell.id},'=100% Café_,`));

  for (let i = 0; i < 50; i++) await createShell(ctx, theService, scope, { display_currency: 'EUR' });
  const page = await visitor.open(path);
  const next = /href="([^"]+)" rel="next"/.exec(page.html)?.[1] ?? assert.fail('no next page');
  assert.deepEqual(listed((await visitor.open(next)).html), [off.id, shell.id, first.id]);
});

test('disabling › new requests are refused until the partner’s switch is back on; the operator’s is not the partner’s', async () => {
  const { merchant, api: calls } = partner.test;
  const create = async () => (await calls.create({ account_id: merchant.id, fiat_amount_int: 1250 })).json.error;
  const asked = await owner.open(`${path}/${merchant.id}`);
  assert.match(asked.html, /Disable Ada’s Bakery\?/);
  const off = await owner.send(asked, '/disable?mode=test');
  assert.match(off.html, /no new requests can be created/);
  assert.equal(await create(), 'merchant_disabled');
  await api.db.sql`update merchants set disabled_by_operator = true where id = ${merchant.id}`;
  const on = await owner.send(await owner.open(`${path}/${merchant.id}`), '/enable?mode=test');
  assert.match(on.html, /Disabled by the operator/);
  const told = /role="status">The operator of this service has disabled this merchant.*Ask the operator why;/;
  assert.match(on.html, told, 'whether or not the partner did too');
  const viewer = await portalVisitor(api.ctx, api.url, partner.partner.id, 'viewer');
  assert.match((await viewer.open(`${path}/${merchant.id}`)).html, told, 'to whoever a merchant may ask');
  assert.equal(await create(), 'merchant_disabled');
  await api.db.sql`update merchants set disabled_by_operator = false where id = ${merchant.id}`;
  assert.equal(await create(), undefined);
  const rows = (await acts(merchant.id)).map(({ action, details }) => [action, details]);
  assert.deepEqual(rows, [
    ['merchant.disabled', '{"by":"partner"}'],
    ['merchant.enabled', '{"by":"partner"}'],
  ]);
});

test('resetting › a merchant that has taken no money starts again with a new link; one that has taken money is refused', async () => {
  const { scope } = partner.test;
  const shell = await createShell(ctx, theService, scope, { display_currency: 'EUR' });
  const { wallet_address: wallet } = await onboardWithKey(ctx, shell.id);
  const open = await makeRequest(api.db, scope, { id: shell.id, wallet });
  const page = await owner.send(await owner.open(`${path}/${shell.id}`), '/reset?mode=test');
  assert.match(page.html, /Onboarding was restarted/);
  assert.match(page.html, /Invitation link/);
  assert.equal((await acts(shell.id)).at(-1)?.action, 'merchant.reset');
  const { json } = await partner.test.api.readAccount(shell.id);
  assert.deepEqual([json.onboarding_status, json.wallet_address], ['incomplete', null]);
  assert.equal((await partner.test.api.read(open.id)).json.status, 'voided');

  const rich = await makeOnboarded(ctx, scope);
  const paid = await makeRequest(api.db, scope, rich);
  const before = await owner.open(`${path}/${rich.id}`);
  await api.db.sql`update requests set proof_status = 'attached' where id = ${paid.id}`;
  const refused = await owner.send(before, '/reset?mode=test');
  assert.match(refused.html, /Nothing was changed: this merchant has received payments/);
  assert.equal((await partner.test.api.readAccount(rich.id)).json.wallet_address, rich.wallet);
  assert.deepEqual(
    (await acts(rich.id)).map(({ action }) => action),
    ['merchant.created', 'merchant.onboarded'],
  );
});

test('resetting › is not offered once money has come, also a part or what matches no request; the page says why', async () => {
  const { scope } = partner.test;
  const [partly, unmatched, fresh] = [
    await makeOnboarded(ctx, scope),
    await makeOnboarded(ctx, scope),
    await makeOnboarded(ctx, scope),
  ];
  const request = await makeRequest(api.db, scope, partly);
  await makeTransfer(api.db.sql, scope, partly, countingFor(request.id));
  await makeTransfer(api.db.sql, scope, unmatched, { judged_at: new Date() });
  for (const { id } of [partly, unmatched]) {
    const { html } = await owner.open(`${path}/${id}`);
    assert.doesNotMatch(html, /\/reset\?mode=test/);
    assert.match(html, /Onboarding cannot be restarted: this merchant has received payments/);
    assert.doesNotMatch((await viewer.open(`${path}/${id}`)).html, /Onboarding cannot be restarted/);
  }
  const { html } = await owner.open(`${path}/${fresh.id}`);
  assert.match(html, /\/reset\?mode=test/);
  assert.doesNotMatch(html, /Onboarding cannot be restarted/);
});

test('recovery › its link is shown once and opens; after a cancel, the link is invalid', async () => {
  const merchant = await makeOnboarded(ctx, partner.test.scope);
  const page = await owner.send(await owner.open(`${path}/${merchant.id}`), '/recover?mode=test');
  const link = /data-copy="([^"]+\/recover\/[^"]+)"/.exec(page.html)?.[1] ?? assert.fail('no link of the recovery');
  assert.match(page.html, /<div role="status">[\s\S]*?Recovery started/, 'a screen reader says that it is there');
  assert.equal((await startVisitor(api.url).open(link)).status, 200);
  const again = await owner.open(`${path}/${merchant.id}`);
  assert.doesNotMatch(again.html, /\/recover\/[\w-]{20}/);
  assert.match(again.html, /A recovery is waiting for the new wallet/);
  const back = await owner.send(again, '/recover/cancel?mode=test');
  assert.match(back.html, /The recovery was cancelled/);
  assert.doesNotMatch((await startVisitor(api.url).open(link)).html, /wallet_address/);
  assert.deepEqual(
    (await acts(merchant.id)).map(({ action }) => action),
    ['merchant.created', 'merchant.onboarded', 'recovery.started', 'recovery.cancelled'],
  );
  const shell = await createShell(ctx, theService, partner.test.scope, { display_currency: 'EUR' });
  const refused = await postForm(api.url, owner, `${path}/${shell.id}/recover?mode=test`);
  assert.equal(refused.location, `${path}/${shell.id}?done=no_recovery`);
});

test('merchants › actions that a role does not allow are neither shown nor done', async () => {
  const shell = await createShell(ctx, theService, partner.test.scope, { display_currency: 'EUR' });
  const seen = await viewer.open(`${path}/${shell.id}`);
  assert.doesNotMatch(seen.html, /\/onboard\//, 'a link with which anybody could connect a wallet');
  assert.doesNotMatch(seen.html, /What you can do/);
  assert.doesNotMatch((await viewer.open(path)).html, /New merchant/);
  for (const act of ['disable', 'enable', 'reset', 'recover', 'recover/cancel']) {
    for (const person of [viewer, developer]) {
      assert.equal((await postForm(api.url, person, `${path}/${shell.id}/${act}?mode=test`)).status, 403, act);
    }
  }
  assert.equal((await postForm(api.url, viewer, `${path}?mode=test`, [['display_currency', 'EUR']])).status, 403);
  assert.deepEqual(
    (await acts(shell.id)).map(({ action }) => action),
    ['merchant.created'],
  );
});

test('a merchant › another partner’s and unknown ids are the same page, the other mode’s says so; no act is there', async () => {
  const { merchant } = partner.test;
  const stranger = await portalVisitor(ctx, api.url, (await api.partner()).partner.id);
  const unknown = await stranger.open(`${path}/00000000-0000-4000-8000-000000000000`);
  const text = (html: string) => html.replace(/nonce="[^"]*"/g, '');
  for (const [visitor, id, mode] of [
    [stranger, merchant.id, 'test'],
    [owner, merchant.id, 'live'],
    [owner, 'x', 'test'],
  ] as const) {
    const page = await visitor.open(`${path}/${id}?mode=${mode}`);
    assert.equal(page.status, 404);
    if (mode === 'live') assert.match(page.html, /<h1>This is in test mode</);
    else assert.equal(text(page.html), text(unknown.html));
    for (const act of ['disable', 'enable', 'reset', 'recover', 'recover/cancel']) {
      assert.equal((await postForm(api.url, visitor, `${path}/${id}/${act}?mode=${mode}`)).status, 404, act);
    }
  }
  const [row] = await api.db.sql`select disabled_by_partner, onboarded_at from merchants where id = ${merchant.id}`;
  assert.deepEqual([row?.disabled_by_partner, row?.onboarded_at !== null], [false, true]);
});
