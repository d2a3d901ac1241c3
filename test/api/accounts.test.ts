import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { verifyChains } from '../../src/audit/verify.ts';
import { type Api, type ApiPartner, assertInvalid, assertRefused, startApi } from '../support/api/client.ts';
import { makeMerchant, randomAddress } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;
let two: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
  two = await api.partner();
});
after(() => api?.stop());

const texts = ['email', 'display_name', 'business_name', 'country', 'phone', 'website', 'instagram', 'industry'];

test('POST accounts › every field is optional: the whole merchant object, with every field of the table', async () => {
  const made = await one.test.api.createAccount({});
  assert.equal(made.status, 201, made.text);
  const { account_id, created_at, onboarding_url, ...rest } = made.json;
  assert.match(account_id, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  assert.match(created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  assert.ok(onboarding_url?.startsWith(`${api.ctx.config.baseUrl}/`), String(onboarding_url));
  assert.deepEqual(rest, {
    ok: true,
    ...Object.fromEntries(texts.map((name) => [name, null])),
    app_mode: 'personal',
    onboarding_status: 'incomplete',
    wallet_address: null,
    display_currency: 'EUR',
    home_portal: one.partner.slug,
    disabled: false,
    test_mode: true,
  });
});

test('POST accounts › every field comes back as it was sent; the wallet in lower case', async () => {
  const wallet = randomAddress();
  const fields = {
    email: 'ada@example.com',
    display_name: 'Ada 😀',
    business_name: 'Ada’s „Bäckerei“ <b>',
    country: 'DE',
    phone: '+49 (30) 1 ext. 2',
    website: 'ada.example',
    instagram: '@ada',
    industry: 'Food & drink',
    display_currency: 'JPY',
    app_mode: 'business',
  };
  const made = await one.test.api.createAccount({ ...fields, wallet_address: `0x${wallet.slice(2).toUpperCase()}` });
  assert.equal(made.status, 201, made.text);
  for (const [name, value] of Object.entries(fields)) assert.equal(made.json[name], value, name);
  assert.equal(made.json.wallet_address, wallet);
});

test('POST accounts › live key → test_mode false', async () => {
  assert.equal((await one.live.api.createAccount({})).json.test_mode, false);
});

test('POST accounts › display_currency defaults to the partner’s and is stored', async () => {
  const yen = await api.partner({ currency: 'JPY' });
  const made = await yen.test.api.createAccount({});
  assert.equal(made.json.display_currency, 'JPY');
  await api.db.sql`update partners set currency = 'USD' where id = ${yen.partner.id}`;
  assert.equal((await yen.test.api.readAccount(made.json.account_id)).json.display_currency, 'JPY');
});

const invalid: Record<string, unknown[]> = {
  email: ['x', 'x@', '@x.de', 'a b@x.de', `${'x'.repeat(250)}@x.de`, 7, {}, '<a@x.de>', 'a,b@x.de', 'a@x.de;'],
  display_name: ['x'.repeat(121), '😀'.repeat(121), 7],
  business_name: ['x'.repeat(121), '😀'.repeat(121), true],
  country: ['de', 'DEU', 'D', 'D1', '', 'D ', 49, 'XX', 'UK', 'EU'],
  phone: ['1'.repeat(33), 49],
  website: ['x'.repeat(201), {}],
  instagram: ['x'.repeat(201), []],
  industry: ['x'.repeat(81), 7],
  display_currency: ['eur', 'EURO', '', 'XXX', 'KPW', 978],
  app_mode: ['Personal', '', 'pos', 7],
  wallet_address: [
    '',
    '0x',
    `0x${'a'.repeat(39)}`,
    `0x${'a'.repeat(41)}`,
    `0x${'g'.repeat(40)}`,
    `0x${'0'.repeat(40)}`,
    'a'.repeat(42),
    7,
    {},
  ],
};
for (const [field, values] of Object.entries(invalid)) {
  for (const value of values) {
    const shown = JSON.stringify(value);
    test(`POST accounts › ${field} ${shown.slice(0, 30)} (${shown.length}) → 400 invalid_request`, async () => {
      assertInvalid(await one.test.api.createAccount({ [field]: value }), field);
    });
  }
}

test('POST accounts › a currency without a rate → 400 that lists those with one, in alphabetical order', async () => {
  const codes = await api.db.sql<{ code: string }[]>`select code from rates union select code from rate_overrides`;
  for (const display_currency of ['KPW', 'XXX']) {
    const answer = await one.test.api.createAccount({ display_currency });
    assertInvalid(answer, 'display_currency');
    const list = codes.map(({ code }) => code).sort();
    assert.ok(list.includes('EUR'));
    assert.ok(answer.json.message.endsWith(`; use one of ${list.join(', ')}.`), answer.json.message);
  }
});

test('POST accounts › the contract of a token in place of a wallet → 400 invalid_request, in either mode and any casing', async () => {
  for (const mode of ['test', 'live'] as const) {
    const token = api.ctx.chains[mode][0]?.tokens[0]?.address ?? assert.fail('no token');
    const wallet_address = `0x${token.slice(2).toUpperCase()}`;
    for (const { api: client } of [one.test, one.live]) {
      const answer = await client.createAccount({ wallet_address });
      assertInvalid(answer, 'wallet_address');
      assert.match(answer.json.message, /contract of a token/);
    }
  }
});

test('POST accounts › all faults at once', async () => {
  const answer = await one.test.api.createAccount({ email: 'x', country: 'de', app_mode: 7, wallet_address: 'x' });
  assertInvalid(answer, 'email', 'country', 'app_mode', 'wallet_address');
});

test('POST accounts › fields at their limits are taken; lengths count code points; null counts as absent', async () => {
  const fields = {
    email: `${'x'.repeat(249)}@x.de`,
    display_name: '😀'.repeat(120),
    business_name: '😀'.repeat(120),
    phone: '😀'.repeat(32),
    website: '😀'.repeat(200),
    instagram: '😀'.repeat(200),
    industry: '😀'.repeat(80),
  };
  const made = await one.test.api.createAccount(fields);
  assert.equal(made.status, 201, made.text);
  for (const [name, value] of Object.entries(fields)) assert.equal(made.json[name], value);
  const all = [...texts, 'display_currency', 'app_mode', 'wallet_address'];
  const nulls = await one.test.api.createAccount(Object.fromEntries(all.map((name) => [name, null])));
  assert.equal(nulls.status, 201, nulls.text);
  assert.deepEqual([nulls.json.app_mode, nulls.json.display_currency], ['personal', 'EUR']);
});

test('POST accounts › unknown fields are ignored: nobody onboards or enables through them', async () => {
  const made = await one.test.api.createAccount({
    onboarding_status: 'complete',
    onboarded_at: '2026-01-01T00:00:00Z',
    wallet_signed_at: '2026-01-01T00:00:00Z',
    disabled_by_operator: true,
    test_mode: false,
    partner_id: two.partner.id,
    id: randomUUID(),
    surprise: 'xyzzy',
  });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(
    [made.json.onboarding_status, made.json.test_mode, made.json.disabled, made.json.home_portal],
    ['incomplete', true, false, one.partner.slug],
  );
  assert.ok(!made.text.includes('xyzzy'));
});

test('POST accounts › same wallet in any casing → 200, the same merchant, idempotent_replay true', async () => {
  const wallet = randomAddress();
  const made = await one.test.api.createAccount({ wallet_address: wallet, business_name: 'First' });
  const again = await one.test.api.createAccount({
    wallet_address: `0x${wallet.slice(2).toUpperCase()}`,
    business_name: 'Second',
  });
  assert.equal(again.status, 200);
  const { onboarding_url: _, ...before } = made.json;
  const { onboarding_url: __, ...after } = again.json;
  assert.deepEqual(after, { ...before, idempotent_replay: true });
});

test('POST accounts › the wallet is looked up before the other fields are validated', async () => {
  const wallet_address = randomAddress();
  await one.test.api.createAccount({ wallet_address });
  const bad = { email: 'x', country: 7, app_mode: 'x', display_currency: 'nope', phone: '1'.repeat(99) };
  const again = await one.test.api.createAccount({ wallet_address, ...bad });
  assert.equal(again.status, 200, again.text);
  assert.equal(again.json.idempotent_replay, true);
});

test('POST accounts › wallet of another partner or the other mode → 409 wallet_address_conflict, the same bytes', async () => {
  const wallet_address = randomAddress();
  await one.test.api.createAccount({ wallet_address });
  const others = [two.test, two.live, one.live];
  const answers = await Promise.all(others.map(({ api: client }) => client.createAccount({ wallet_address })));
  for (const answer of answers) assertRefused(answer, 409, 'wallet_address_conflict');
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
});

test('POST accounts › without a wallet there is no replay protection', async () => {
  const [first, second] = [
    await one.test.api.createAccount({ email: 'a@x.de' }),
    await one.test.api.createAccount({ email: 'a@x.de' }),
  ];
  assert.deepEqual([first.status, second.status], [201, 201]);
  assert.notEqual(first.json.account_id, second.json.account_id);
});

test('GET account › what create returned, with a fresh onboarding_url; null when complete', async () => {
  const made = await one.test.api.createAccount({ business_name: 'Shell' });
  const got = await one.test.api.readAccount(made.json.account_id);
  assert.equal(got.status, 200);
  assert.deepEqual({ ...got.json, onboarding_url: null }, { ...made.json, onboarding_url: null });
  assert.equal(typeof got.json.onboarding_url, 'string');
  const complete = (await one.test.api.readAccount(one.test.merchant.id)).json;
  assert.deepEqual([complete.onboarding_status, complete.onboarding_url], ['complete', null]);
  assert.equal(complete.wallet_address, one.test.merchant.wallet);
});

test('GET account › the id is taken in upper case too; unknown and malformed ids → 404 not_found', async () => {
  const upper = await one.test.api.readAccount(one.test.merchant.id.toUpperCase());
  assert.equal(upper.json.account_id, one.test.merchant.id);
  for (const id of [randomUUID(), 'x', '%00', randomUUID().replaceAll('-', '')]) {
    assertRefused(await one.test.api.readAccount(id), 404, 'not_found');
  }
});

test('GET account › disabled is true if either switch is on', async () => {
  const merchant = await makeMerchant(api.db, one.test.scope);
  const disabled = async () => (await one.test.api.readAccount(merchant.id)).json.disabled;
  const { sql } = api.db;
  assert.equal(await disabled(), false);
  await sql`update merchants set disabled_by_partner = true where id = ${merchant.id}`;
  assert.equal(await disabled(), true);
  await sql`update merchants set disabled_by_operator = true where id = ${merchant.id}`;
  await sql`update merchants set disabled_by_partner = false where id = ${merchant.id}`;
  assert.equal(await disabled(), true);
});

test('GET accounts › filters, alone and together; order; paging; limits and faults', async () => {
  const own = await api.partner();
  const { sql } = api.db;
  const ids = [own.test.merchant.id];
  for (let i = 0; i < 3; i++) ids.push((await makeMerchant(api.db, own.test.scope)).id);
  for (let i = 0; i < 3; i++) ids.push((await own.test.api.createAccount({})).json.account_id);
  await sql`update merchants set disabled_by_partner = true where id = ${ids[1] as string}`;
  await sql`update merchants set disabled_by_operator = true where id in (${ids[2] as string}, ${ids[5] as string})`;
  await own.live.api.createAccount({});
  const listed = async (query: string) => {
    const answer = await own.test.api.listAccounts(query);
    assert.equal(answer.status, 200, answer.text);
    return answer.json.merchants.map(({ account_id }) => ids.indexOf(account_id));
  };
  assert.deepEqual(await listed(''), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(await listed('?onboarding_status=complete'), [0, 1, 2, 3]);
  assert.deepEqual(await listed('?onboarding_status=incomplete'), [4, 5, 6]);
  assert.deepEqual(await listed('?disabled=true'), [1, 2, 5]);
  assert.deepEqual(await listed('?disabled=false'), [0, 3, 4, 6]);
  assert.deepEqual(await listed('?disabled=true&onboarding_status=complete'), [1, 2]);
  assert.deepEqual(await listed('?disabled=false&onboarding_status=incomplete'), [4, 6]);
  assert.deepEqual(await listed('?limit=3&offset=2'), [2, 3, 4]);
  const page = (await own.test.api.listAccounts('?limit=6')).json;
  assert.deepEqual(Object.keys(page).sort(), ['has_more', 'limit', 'merchants', 'offset', 'ok']);
  assert.deepEqual([page.has_more, page.limit, page.offset], [true, 6, 0]);
  assert.equal((await own.test.api.listAccounts('?limit=7')).json.has_more, false);
  const usual = (await own.test.api.listAccounts()).json;
  assert.deepEqual([usual.limit, usual.offset], [50, 0]);
  for (const item of usual.merchants) {
    const { ok: _, onboarding_url, ...shown } = item;
    const { ok: __, onboarding_url: again, ...got } = (await own.test.api.readAccount(item.account_id)).json;
    assert.deepEqual(shown, got);
    assert.equal(typeof onboarding_url, typeof again);
  }
});

for (const query of [
  'onboarding_status=',
  'onboarding_status=done',
  'disabled=',
  'disabled=1',
  'disabled=TRUE',
  'disabled=yes',
  'limit=0',
  'limit=101',
  'limit=x',
  'offset=-1',
  'offset=1000001',
  'disabled=true&disabled=false',
  'limit=5&limit=5',
]) {
  test(`GET accounts › ?${query} → 400 invalid_request`, async () => {
    assertInvalid(await one.test.api.listAccounts(`?${query}`), query.split('=')[0] as string);
  });
}

test('POST accounts › 50 parallel creates with one wallet make one merchant', async () => {
  const wallet_address = randomAddress();
  const answers = await Promise.all(Array.from({ length: 50 }, () => one.test.api.createAccount({ wallet_address })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 49);
  assert.equal(new Set(answers.map(({ json }) => json.account_id)).size, 1);
});

test('POST accounts › parallel creates with one wallet by four sides: one wins, its own replay, the others conflict', async () => {
  const wallet_address = randomAddress();
  const sides = [one.test, one.live, two.test, two.live];
  const answers = await Promise.all(
    Array.from({ length: 48 }, (_, i) => (sides[i % 4] as typeof one.test).api.createAccount({ wallet_address })),
  );
  const winner = answers.findIndex(({ status }) => status === 201) % 4;
  answers.forEach(({ status }, i) => {
    assert.ok(i % 4 === winner ? status === 201 || status === 200 : status === 409, `${i}: ${status}`);
  });
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  const rows = await api.db.sql`select from merchants where wallet_address = ${wallet_address}`;
  assert.equal(rows.length, 1);
});

test('POST accounts › a merchant is in its partner’s log once, created by the key; a call that created none adds nothing', async () => {
  const { partner, test: side } = await api.partner();
  const wallet = randomAddress();
  const made = await side.api.createAccount({ wallet_address: wallet });
  const again = await side.api.createAccount({ wallet_address: wallet });
  assert.deepEqual([made.status, again.status], [201, 200]);
  assertInvalid(await side.api.createAccount({ email: 7 }), 'email');
  const rows = await api.db.sql`
    select action, object_kind, object_id, test_mode, actor_kind, actor_name, ip, details from audit_log
    where partner_id = ${partner.id}`;
  const [key] = await api.db.sql`select hint from api_keys where partner_id = ${partner.id} and test_mode`;
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [
      {
        ...{ action: 'merchant.created', object_kind: 'merchant', object_id: made.json.account_id, test_mode: true },
        ...{ actor_kind: 'api_key', actor_name: `API key ${key?.hint}`, ip: '127.0.0.1', details: '{}' },
      },
    ],
  );
});

test('POST accounts › many at once → each is in the log, and the log’s chain is intact', async () => {
  const { partner, test: side } = await api.partner();
  const made = await Promise.all(Array.from({ length: 20 }, () => side.api.createAccount({})));
  assert.deepEqual([...new Set(made.map(({ status }) => status))], [201]);
  const [check] = await verifyChains(api.ctx, partner.id);
  assert.deepEqual([check?.rows, check?.broken], [20, null]);
});
