import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { buildServer } from '../../src/http/server.ts';
import { readPortalStatus } from '../../src/requests/lists/browse.ts';
import { openRequest } from '../../src/requests/open.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';

let fixtures: PayFixtures;
let app: FastifyInstance;
let url: string;
let owner: Visitor;

before(async () => {
  fixtures = await payFixtures();
  app = await buildServer(fixtures.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  owner = await portalVisitor(fixtures.ctx, url, fixtures.scope.partnerId);
});
after(async () => {
  await app?.close();
  await fixtures?.stop();
});

/** The ids of the requests that a page lists, in its order. */
const listed = (html: string) =>
  [...html.matchAll(/<th scope="row"><a href="\/portal\/requests\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
const search = async (query: Record<string, string>, who = owner) =>
  listed((await who.open(`/portal/requests?${new URLSearchParams(query)}`)).html);

test('the list › newest first, by pages that lose and repeat nothing while requests are made', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const made: string[] = [];
  for (let i = 0; i < 60; i++) made.unshift((await makeRequest(fixtures.db, scope, merchant)).id);
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id, 'viewer');
  const first = await visitor.open('/portal/requests');
  assert.deepEqual(listed(first.html), made.slice(0, 50));
  const newer = await makeRequest(fixtures.db, scope, merchant);
  const next =
    /<a href="([^"]+)" rel="next">/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail('no next page');
  const second = await visitor.open(next);
  assert.deepEqual(listed(second.html), made.slice(50));
  assert.doesNotMatch(second.html, /rel="next"/);
  assert.equal(listed((await visitor.open('/portal/requests')).html)[0], newer.id);
});

test('the list › the chosen merchant is shown above it by name, and can be removed', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const request = await makeRequest(fixtures.db, scope, merchant);
  await makeRequest(fixtures.db, scope, await makeMerchant(fixtures.db, scope));
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id, 'viewer');
  const query = `account_id=${merchant.id}&status=requested`;
  const { html } = await visitor.open(`/portal/requests?${query}`);
  assert.deepEqual(listed(html), [request.id]);
  assert.ok(html.includes(`<bdi title="${merchant.id}">Ada’s Bakery</bdi>`));
  assert.ok(html.includes(`<input type="hidden" name="account_id" value="${merchant.id}">`));
  assert.match(html, /<a href="\/portal\/requests\?status=requested" aria-label="Clear filters: Merchant">/);
  for (const path of ['/portal/unmatched', '/portal/plans']) {
    const { html } = await visitor.open(`${path}?account_id=${merchant.id}`);
    assert.ok(html.includes(`<bdi title="${merchant.id}">Ada’s Bakery</bdi>`), path);
  }
});

test('the list › filters by status, merchant and time, and searches by id, metadata, transaction and payer', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const [one, two] = [await makeMerchant(fixtures.db, scope), await makeMerchant(fixtures.db, scope)];
  const startBlocks = { [fixtures.node.chain.chainId]: 0 };
  const open = await makeRequest(fixtures.db, scope, one, { metadata: '{"order":"A-1042","=x":"a b"}', memo: '<b>&' });
  const opened = await makeRequest(fixtures.db, scope, two, { metadata: '{"order":"A-10422"}' });
  await openRequest(fixtures.ctx, scope, opened.id);
  const due = await makeRequest(fixtures.db, scope, two, { expiryMinutes: 0 });
  const paid = await makeRequest(fixtures.db, scope, one, { startBlocks });
  const payment = await fixtures.pay(paid);
  await fixtures.node.mine(5);
  await fixtures.turn();
  await fixtures.turn();
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  const find = (query: Record<string, string>) => search(query, visitor);
  assert.deepEqual(await find({ status: 'requested' }), [open.id], 'what is paid no longer waits');
  assert.deepEqual(await find({ status: 'opened' }), [opened.id]);
  assert.deepEqual(await find({ status: 'expired' }), [due.id]);
  assert.deepEqual(await find({ status: 'paid' }), [paid.id]);
  assert.deepEqual(await find({ account_id: two.id }), [due.id, opened.id]);
  assert.deepEqual(await find({ account_id: 'nobody' }), []);
  await fixtures.db.sql`update merchants set business_name = 'Corner Shop' where id = ${two.id}`;
  assert.deepEqual(await find({ account_id: 'corner' }), [due.id, opened.id], 'by a part of its name');
  assert.equal((await find({ account_id: 'e' })).length, 4, 'of several that are named so');
  assert.deepEqual(await find({ since: due.created_at.toISOString() }), [paid.id, due.id]);
  assert.deepEqual(await find({ until: due.created_at.toISOString(), status: 'opened' }), [opened.id]);
  assert.deepEqual(await find({ q: opened.id.toUpperCase() }), [opened.id]);
  assert.deepEqual(await find({ q: ' A-1042 ' }), [open.id]);
  assert.deepEqual(await find({ q: 'a b' }), [open.id]);
  assert.deepEqual(await find({ q: 'A-10' }), []);
  assert.deepEqual(await find({ q: payment.txHash.toUpperCase().replace('0X', '0x') }), [paid.id]);
  assert.deepEqual(await find({ q: payment.from.address }), [paid.id]);
  assert.deepEqual(await find({ q: payment.from.address, status: 'opened' }), []);
  assert.deepEqual(await find({ status: 'nonsense', since: 'tomorrow', after: 'x' }), [
    paid.id,
    due.id,
    opened.id,
    open.id,
  ]);

  const csv = (await visitor.open('/portal/requests.csv?status=paid')).html;
  const [header = '', ...rows] = csv
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split('\r\n');
  const names = header.split(',');
  assert.deepEqual(
    rows.map((row) => row.split(',')[0]),
    [paid.id],
  );
  const cells = rows[0]?.split(',') ?? [];
  assert.equal(cells[names.indexOf('fiat_amount')], '12.50');
  assert.equal(cells[names.indexOf('standing')], 'paid');
  assert.equal(cells[names.indexOf('tx_hash')], payment.txHash);
  assert.equal(cells[names.indexOf('payer_address')], payment.from.address);

  const stranger = await portalVisitor(fixtures.ctx, url, (await makePartner(fixtures.db)).partner.id);
  for (const q of [open.id, 'A-1042', payment.txHash, payment.from.address]) {
    assert.deepEqual(await search({ q }, stranger), [], `another partner finds nothing by ${q}`);
    assert.deepEqual(await search({ q, mode: 'live' }, visitor), [], `the other mode finds nothing by ${q}`);
  }
});

test('CSV › more than a batch, each request once, newest first', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  await fixtures.db.sql`
    insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate, payment_mode,
      metadata, memo, wallet_address, reference, start_blocks, created_at, expires_at)
    select ${partner.id}, true, gen_random_uuid(), ${merchant.id}, g, 'EUR', g, false, '1', 'pos', '{}', '=1+' || g,
      ${merchant.wallet}, decode(lpad(to_hex(g), 32, '0'), 'hex'), '{}', now() + g * interval '1 ms', now() + interval '1 day'
    from generate_series(1, 1001) g`;
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  const lines = (await visitor.open('/portal/requests.csv')).html.trimEnd().split('\r\n').slice(1);
  const amounts = lines.map((line) => line.split(',')[8]);
  assert.deepEqual(
    amounts,
    Array.from({ length: 1001 }, (_, i) => ((1001 - i) / 100).toFixed(2)),
  );
  assert.ok(lines[0]?.includes(",'=1+1001,"), 'what a spreadsheet would take for a formula is none');
});

test('the list › requests that need attention stand out: paid in part, too much, too late, though cancelled, twice', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  const startBlocks = { [fixtures.node.chain.chainId]: 0 };
  const make = () => makeRequest(fixtures.db, scope, merchant, { startBlocks });
  const [part, voided, twice, late, fine] = [await make(), await make(), await make(), await make(), await make()];
  const over = await make();
  await visitor.send(await visitor.open(`/portal/requests/${voided.id}`), '/cancel?mode=test');
  await fixtures.db.sql`update requests set status = 'expired', created_at = created_at - interval '2 hours',
    expires_at = created_at - interval '1 hour' where id = ${late.id}`;
  await fixtures.pay(part, { usdcMicro: 5_000_000n });
  await fixtures.pay(over, { usdcMicro: BigInt(over.usdc_micro) + 1_000_000n });
  for (const request of [voided, twice, late, fine]) await fixtures.pay(request);
  await fixtures.node.mine(5);
  await fixtures.turn();
  await fixtures.turn();
  await fixtures.pay(twice);
  await fixtures.node.mine(5);
  await fixtures.turn();
  const find = (concern: string) => search({ concern }, visitor);
  assert.deepEqual(await find('underpaid'), [part.id]);
  assert.deepEqual(await find('overpaid'), [over.id]);
  assert.deepEqual(await find('voided'), [voided.id]);
  assert.deepEqual(await find('twice'), [twice.id]);
  assert.deepEqual(await find('late'), [late.id]);
  const all = (await visitor.open('/portal/requests')).html;
  const fresh = await make();
  const shown = {
    ...{ underpaid: part, overpaid: over, paidVoided: voided, paidTwice: twice, late, paid: fine, requested: fresh },
    ...{ opened: null, confirming: null, expired: null, voided: null },
  };
  for (const [status, request] of Object.entries(shown)) {
    assert.deepEqual(await search({ status }, visitor), request ? [request.id] : [], status);
  }
  for (const word of ['Partly paid', 'Paid · Overpaid', 'Paid after cancellation', 'Paid twice', 'Paid too late']) {
    assert.match(all, new RegExp(`</svg>${word}</span>`), word);
  }
  assert.match((await visitor.open('/portal')).html, /1 request was overpaid</);
  assert.match((await visitor.open(`/portal/requests/${over.id}`)).html, /<\/svg>Paid · Overpaid<\/span>/);
  // Once topped up, it is no longer underpaid.
  await fixtures.pay(part, { usdcMicro: BigInt(part.usdc_micro) - 5_000_000n });
  await fixtures.node.mine(5);
  await fixtures.turn();
  assert.deepEqual(await find('underpaid'), []);
  const texts: [RequestRow, RegExp][] = [
    [voided, /Paid after cancellation/],
    [twice, /A second payment arrived/],
    [late, /A payment arrived too late/],
  ];
  for (const [request, text] of texts) assert.match((await visitor.open(`/portal/requests/${request.id}`)).html, text);
});

test('the status of a request › the larger amount decides, so nobody hides a surplus by sending a little', async () => {
  const statusOf = async (request: RequestRow) => readPortalStatus(fixtures.ctx, fixtures.scope, request.id);
  const settle = async () => {
    await fixtures.node.mine(5);
    await fixtures.turn();
    await fixtures.turn();
  };
  const [over, late] = [await fixtures.request(), await fixtures.request()];
  await fixtures.pay(over, { usdcMicro: BigInt(over.usdc_micro) + 1_000_000n });
  await fixtures.pay(late);
  await settle();
  assert.deepEqual([await statusOf(over), await statusOf(late)], ['overpaid', 'paid']);
  await fixtures.pay(over, { usdcMicro: 1n });
  const second = await fixtures.pay(late);
  await settle();
  assert.deepEqual([await statusOf(over), await statusOf(late)], ['overpaid', 'paidTwice']);
  await fixtures.pay(over, { usdcMicro: 2_000_000n });
  await fixtures.db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, to_address, usdc_micro,
      return_tx_hash, noted_at, state)
    select partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, from_address, value,
      ${`0x${'ab'.repeat(32)}`}, now(), 'confirmed' from transfers where tx_hash = ${second.txHash}`;
  await settle();
  assert.deepEqual([await statusOf(over), await statusOf(late)], ['paidTwice', 'paid'], 'the second was refunded');
});

test('underpaid requests are recorded at commit, and no longer after a reorganisation removes the payment', async () => {
  const part = await fixtures.request();
  await fixtures.pay(part, { usdcMicro: 1_000_000n });
  await fixtures.turn();
  assert.deepEqual(await search({ concern: 'underpaid' }), [part.id]);
  await fixtures.node.reorg(1);
  await fixtures.turn();
  assert.deepEqual(await search({ concern: 'underpaid' }), []);
});

test('a detail › everything about the request, and all that happened to it', async () => {
  const request = await fixtures.request({
    metadata: '{"order":"<i>7","b":"2"}',
    memo: 'Table <4>',
    customerName: 'Bo',
  });
  const page = async () => (await owner.open(`/portal/requests/${request.id}`)).html;
  const fresh = await page();
  assert.match(fresh, /Table &lt;4&gt;/);
  assert.match(fresh, /<dt>order<\/dt><dd><span dir="auto">&lt;i&gt;7<\/span>/);
  assert.match(fresh, /role="img" aria-label="Pay page: http:\/\/localhost:3000\/pay\//);
  await openRequest(fixtures.ctx, fixtures.scope, request.id);
  const { txHash } = await fixtures.pay(request);
  await fixtures.turn();
  assert.match(await page(), /1 of 2 confirmations/);
  await fixtures.node.mine(3);
  await fixtures.turn();
  // Another clock than that of the event says when a payment was verified.
  await fixtures.db.sql`
    update requests set proof_verified_at = proof_verified_at + interval '1 second' where id = ${request.id}`;
  const paid = await page();
  const told = ['Created', 'Opened by the customer', 'USDC arrived on', 'Verified', 'Event created'];
  const places = told.map((text) => paid.indexOf(text, paid.indexOf('class="timeline"')));
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? 0)),
    JSON.stringify(places),
  );
  assert.equal(paid.split(`data-copy="${txHash}"`).length, 3, 'among the facts, and where it arrived');
  assert.match(paid, /\/receipt"/);
  assert.doesNotMatch(paid, /Cancel request/);
});

test('a detail › another partner’s, unknown and malformed ids are the same page; the other mode’s says so', async () => {
  const request = await fixtures.request();
  const stranger = await portalVisitor(fixtures.ctx, url, (await makePartner(fixtures.db)).partner.id);
  const unknown = await owner.open('/portal/requests/00000000-0000-4000-8000-000000000000');
  assert.equal(unknown.status, 404);
  const text = (html: string) => html.replace(/nonce="[^"]*"/g, '');
  for (const page of [await stranger.open(`/portal/requests/${request.id}`), await owner.open('/portal/requests/x')]) {
    assert.equal(page.status, 404);
    assert.equal(text(page.html), text(unknown.html));
  }
  const elsewhere = await owner.open(`/portal/requests/${request.id}?mode=live`);
  assert.equal(elsewhere.status, 404);
  assert.match(elsewhere.html, /<h1>This is in test mode</);
  await owner.open('/portal?mode=test');
});

test('cancel › a developer cancels a request, which is logged; an opened one stays; a viewer cannot', async () => {
  const { partnerId } = fixtures.scope;
  const developer = await portalVisitor(fixtures.ctx, url, partnerId, 'developer');
  const viewer = await portalVisitor(fixtures.ctx, url, partnerId, 'viewer');
  const request = await fixtures.request();
  const path = `/portal/requests/${request.id}`;
  const asked = await developer.open(path);
  assert.match(asked.html, /Cancel the €12\.50 request\?/);
  assert.doesNotMatch((await viewer.open(path)).html, /Cancel request/);
  assert.equal((await viewer.send(asked, '/cancel?mode=test')).status, 403);
  assert.equal((await fixtures.read(request)).status, 'requested');

  const done = await developer.send(asked, '/cancel?mode=test');
  assert.match(done.html, /The request is cancelled\./);
  assert.equal((await fixtures.read(request)).status, 'voided');
  const [row] = await fixtures.db
    .sql`select * from audit_log where action = 'request.cancelled' and object_id = ${request.id}`;
  assert.equal(row?.actor_kind, 'partner_user');
  assert.equal(row?.test_mode, true);

  const other = await fixtures.request();
  const before = await developer.open(`/portal/requests/${other.id}`);
  await openRequest(fixtures.ctx, fixtures.scope, other.id);
  assert.match((await developer.send(before, '/cancel?mode=test')).html, /It was not cancelled/);
  assert.equal((await fixtures.read(other)).status, 'opened');
  const kept = await fixtures.db
    .sql`select from audit_log where action = 'request.cancelled' and object_id = ${other.id}`;
  assert.equal(kept.length, 0);

  const paid = await fixtures.request();
  await fixtures.db.sql`update requests set proof_status = 'attached' where id = ${paid.id}`;
  const { html } = await developer.open(`/portal/requests/${paid.id}`);
  assert.doesNotMatch(html, /Cancel request/, 'not offered once a payment was seen');
});

test('cancel › a form of another site, or of another partner, changes nothing', async () => {
  const request = await fixtures.request();
  const page = await owner.open(`/portal/requests/${request.id}`);
  const foreign = await portalVisitor(fixtures.ctx, url, fixtures.scope.partnerId);
  const crossSite = await fetch(new URL(`/portal/requests/${request.id}/cancel`, url), {
    method: 'POST',
    headers: { 'sec-fetch-site': 'cross-site', cookie: [...foreign.cookies].map((pair) => pair.join('=')).join('; ') },
  });
  assert.equal(crossSite.status, 403);
  const stranger = await portalVisitor(fixtures.ctx, url, (await makePartner(fixtures.db)).partner.id);
  assert.equal((await stranger.send(page, '/cancel?mode=test')).status, 404);
  assert.equal((await fixtures.read(request)).status, 'requested');
});

test('a visitor who is not signed in sees no page of the portal', async () => {
  for (const path of [
    '/portal',
    '/portal/requests',
    '/portal/requests.csv',
    '/portal/unmatched',
    '/portal/unmatched.csv',
    '/portal/events',
  ]) {
    const answer = await fetch(new URL(path, url), { redirect: 'manual' });
    assert.equal(answer.status, 303, path);
    assert.equal(answer.headers.get('location'), '/portal/sign-in', path);
  }
});

test('the list › a malformed cursor, or one beyond the year 9999, starts at the newest request', async () => {
  const newest = await fixtures.request();
  const hash = `0x${'a'.repeat(64)}`;
  for (const after of ['x', '-1', '253402300800000', '999999999999999', '9'.repeat(30)]) {
    assert.equal((await search({ after }))[0], newest.id, after);
    const unmatched = await owner.open(`/portal/unmatched?after=${after}_31337_${hash}_0`);
    assert.equal(unmatched.status, 200, after);
  }
  assert.deepEqual(await search({ after: '0' }), []);
});

test('the detail › the payment mode in the reader’s words, with the name that the API has for it', async () => {
  const merchant = await makeMerchant(fixtures.db, fixtures.scope);
  for (const [paymentMode, english, german, french] of [
    ['pos', 'In person', 'Vor Ort', 'Sur place'],
    ['invoice', 'Invoice', 'Rechnung', 'Facture'],
  ] as const) {
    const { id } = await makeRequest(fixtures.db, fixtures.scope, merchant, { paymentMode, customerName: 'Ada' });
    for (const [language, words] of [
      ['en', english],
      ['de', german],
      ['fr', french],
    ]) {
      const { html } = await owner.open(`/portal/requests/${id}?lang=${language}`);
      assert.ok(html.includes(`<dd>${words} (<code>${paymentMode}</code>)</dd>`), words);
    }
  }
  await owner.open('/portal/requests?lang=en');
});

test('the language is switched on a filtered list → the filters stay; what a form did is not said again', async () => {
  const { html } = await owner.open('/portal/requests?status=paid&q=A%26B&done=x');
  assert.match(html, /<a href="\/portal\/requests\?status=paid&amp;q=A%26B&amp;lang=de" lang="de"/);
  const { html: plain } = await owner.open('/portal/requests?lang=en');
  assert.match(plain, /<a href="\/portal\/requests\?lang=de" lang="de"/);
});
