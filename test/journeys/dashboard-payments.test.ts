import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { formatMicro } from '../../src/lib/money.ts';
import { setMerchantDisabled } from '../../src/merchants/disable.ts';
import { makePartner, makeRequest } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { startVisitor } from '../support/people/visitor.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

/** The lines of a CSV, split into cells. No cell may hold a comma. */
const lines = (csv: string) =>
  csv
    .replace('\uFEFF', '')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));

test('A paid request is in the list, in the totals, and in the CSV with its rate, source, block time and transaction', async () => {
  const row = await fixtures.request({ memo: '=HYPERLINK("x")', customerName: 'Grace' });
  const { txHash, from } = await fixtures.pay(row);
  await fixtures.node.mine(3);
  await fixtures.turn();

  const list = await fixtures.visitor.open('/dashboard/payments');
  assert.equal(list.status, 200);
  assert.match(list.html, new RegExp(`href="/dashboard/payments/${row.id}">Grace</a>`));
  assert.match(list.html, /Paid<\/span>/);

  const home = await fixtures.visitor.open('/dashboard');
  assert.match(home.html, /<p class="value">€12\.50<\/p>/);
  assert.match(home.html, /1 payment · <bdi>13\.586957 USDC<\/bdi> requested/);
  assert.match(home.html, /<figure class="chart"/);

  const csv = await fixtures.visitor.open('/dashboard/payments.csv');
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  const [header = [], first = []] = lines(csv.html);
  const cell = (name: string) => first[header.indexOf(name)];
  const [transfer] = await fixtures.db.sql`select block_time from transfers where tx_hash = ${txHash}`;
  assert.deepEqual(
    ['request_id', 'state', 'fiat_amount', 'fiat_currency', 'rate', 'rate_source', 'tx_hash', 'payer_address'].map(
      cell,
    ),
    [row.id, 'paid', '12.50', 'EUR', '0.92', 'override', txHash, from.address],
  );
  assert.equal(cell('block_time'), transfer?.block_time.toISOString());
  assert.equal(cell('usdc'), '13.586957');
  assert.match(csv.html, /"'=HYPERLINK\(""x""\)"/, 'no formula reaches a spreadsheet');
});

test('The payments of a month › have their sums, and a CSV in the order of payment with the receipts’ numbers', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const made: string[] = [];
  for (let i = 0; i < 503; i++) made.push((await makeRequest(fixtures.db, fixtures.scope, merchant)).id);
  // The newest was paid first. The first two in the list are of October, the others of September: more than a batch.
  await fixtures.db.sql`
    update requests r set proof_status = 'verified', tx_hash = ${`0x${'a'.repeat(64)}`}, payer_address = wallet_address,
      proof_verified_at = '2026-10-01T00:00:01.000456Z'::timestamptz - (place.at - 1) * interval '1 second'
    from unnest(${made}::uuid[]) with ordinality as place (id, at) where r.id = place.id`;

  const october = await visitor.open('/dashboard?month=2026-10');
  assert.match(october.html, /<p class="value">€25\.00<\/p>/);
  assert.match(october.html, /: Paid €25\.00/, 'a bar read aloud');
  assert.match(
    october.html,
    /href="\/dashboard\/paid\.csv\?month=2026-10" download>Download the payments of October 2026 \(UTC\)/,
  );
  assert.match(october.html, /<strong>Paid per day, EUR \(UTC\)<\/strong>/);
  const august = await visitor.open('/dashboard?month=2026-08');
  assert.match(august.html, /No payments in this period/);

  const [header = [], ...paid] = lines((await visitor.open('/dashboard/paid.csv?month=2026-09')).html);
  assert.deepEqual(
    paid.map(([id]) => id),
    made.slice(2).toReversed(),
  );
  const number = paid[0]?.[header.indexOf('receipt_number')] ?? '';
  assert.match(number, /^Q-20260930-/);
  assert.ok((await visitor.open(`/dashboard/payments/${paid[0]?.[0]}`)).html.includes(`data-copy="${number}"`));
  for (const wrong of ['2026-13', '2099-01', 'x']) {
    assert.equal((await visitor.open(`/dashboard/paid.csv?month=${wrong}`)).status, 404);
    assert.equal((await visitor.open(`/dashboard?month=${wrong}`)).status, 200);
  }
  // What is paid is money, not the request, whose status is “Pagada”.
  assert.match((await visitor.open('/dashboard?month=2026-10&lang=es')).html, /: Pagado 25,00/);
});

test('The months of the figures › this one and the last, and none that ended before the merchant was created', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  await makeRequest(fixtures.db, fixtures.scope, merchant);
  const now = fixtures.ctx.clock.now();
  const monthAt = (step: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + step, 1)).toISOString().slice(0, 7);
  const offered = async () => [
    ...new Set([...(await visitor.open('/dashboard')).html.matchAll(/[?&]month=([\d-]+)/g)].map(([, month]) => month)),
  ];
  assert.deepEqual(await offered(), [monthAt(0)]);
  const lastMonthEnd = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) - 1);
  await fixtures.db.sql`update merchants set created_at = ${lastMonthEnd} where id = ${merchant.id}`;
  assert.deepEqual(await offered(), [monthAt(0), monthAt(-1)]);
});

test('The list is filtered by state and day, in the address, and paged by cursor without gap or repetition', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const made: string[] = [];
  const began = new Date();
  for (let i = 0; i < 120; i++) made.push((await makeRequest(fixtures.db, fixtures.scope, merchant)).id);
  await fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${made[7] ?? ''}`;

  const voided = await visitor.open('/dashboard/payments?state=voided');
  assert.deepEqual(idsOn(voided.html), [made[7]]);
  assert.deepEqual(idsOn((await visitor.open('/dashboard/payments?state=paid')).html), []);
  const dayOf = (at: Date) => at.toISOString().slice(0, 10);
  const days = `since=${dayOf(began)}&until=${dayOf(new Date())}`; // one, except at midnight
  const ofToday = (await visitor.open(`/dashboard/payments?${days}`)).html;
  assert.equal(idsOn(ofToday).length, 50);
  assert.match(
    ofToday,
    /<label for="filter-since">From \(UTC\)<\/label>/,
    'the times beside it are in the reader’s zone',
  );
  assert.deepEqual(idsOn((await visitor.open('/dashboard/payments?until=2020-01-01')).html), []);

  const seen: string[] = [];
  let next: string | undefined = '/dashboard/payments';
  for (let page = 0; next !== undefined && page < 5; page++) {
    const { html } = await visitor.open(next);
    seen.push(...idsOn(html));
    next = html.match(/<a href="([^"]+)" rel="next">/)?.[1]?.replaceAll('&amp;', '&');
  }
  assert.deepEqual(seen, made.toReversed());
  assert.equal(lines((await visitor.open('/dashboard/payments.csv')).html).length, 121);
});

const idsOn = (html: string) =>
  [...html.matchAll(/href="\/dashboard\/payments\/([0-9a-f-]{36})"/g)].map(([, id]) => id ?? '');

test('the page of a request → what happened, in order, with the missing amount, the link and its QR code', async () => {
  const row = await fixtures.request({ memo: 'Two loaves' });
  const open = await fixtures.visitor.open(`/dashboard/payments/${row.id}`);
  assert.match(open.html, /<h1[^>]*>Payment request\u00a0· <bdi class="short">€12\.50<\/bdi><\/h1>/);
  assert.match(open.html, new RegExp(`data-copy="http://localhost:3000/pay/${row.id}"`));
  assert.match(open.html, new RegExp(`aria-label="QR code of the pay page: http://localhost:3000/pay/${row.id}"`));
  assert.match(open.html, /1 USDC = 0\.92 EUR<\/bdi><p class="quiet">Set by the service’s operator · <time/);

  await fixtures.pay(row, { usdcMicro: 1_000_000n });
  await fixtures.turn();
  const part = await fixtures.visitor.open(`/dashboard/payments/${row.id}`);
  const rest = BigInt(row.usdc_micro) - 1_000_000n;
  assert.ok(part.html.includes(`${formatMicro(rest)} USDC is missing`));
  assert.match(part.html, /1\.00 USDC arrived on /);

  const { txHash } = await fixtures.pay(row, { usdcMicro: rest });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const paid = await fixtures.visitor.open(`/dashboard/payments/${row.id}`);
  assert.ok(paid.html.includes(`data-copy="${txHash}"`));
  const order = [
    'Request created',
    '1.00 USDC arrived',
    `${formatMicro(rest)} USDC arrived`,
    'Fully paid and confirmed',
  ];
  const at = order.map((text) => paid.html.indexOf(text));
  assert.deepEqual(
    at,
    at.toSorted((a, b) => a - b),
  );
  assert.ok(!at.includes(-1), String(at));
  assert.match(paid.html, new RegExp(`href="/pay/${row.id}/receipt"`));
  assert.ok(paid.html.includes(`<bdi>${formatMicro(BigInt(row.usdc_micro))} USDC</bdi>`), 'what was received');
  assert.match(paid.html, /Receipt number<\/dt>/);
  assert.ok(!paid.html.includes('Copy link'), 'nothing is to be shared any more');
});

test('Requests of another merchant, partner or mode are not there: the same 404 as for an id that nobody has', async () => {
  const neighbour = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const foreign = await makePartner(fixtures.db);
  const stranger = await makeOnboarded(fixtures.ctx, foreign.test);
  const rows = [
    await makeRequest(fixtures.db, fixtures.scope, neighbour),
    await makeRequest(fixtures.db, foreign.test, stranger),
  ];
  const nobody = await fixtures.visitor.open('/dashboard/payments/00000000-0000-4000-8000-000000000000');
  for (const id of [...rows.map((row) => row.id), 'nonsense']) {
    for (const place of ['payments', 'cashier']) {
      const page = await fixtures.visitor.open(`/dashboard/${place}/${id}`);
      assert.equal(page.status, 404);
      assert.equal(page.html, nobody.html);
    }
  }
  const csv = (await fixtures.visitor.open('/dashboard/payments.csv')).html;
  for (const row of rows) assert.ok(!csv.includes(row.id));
});

test('No page reveals our RPC addresses of a network, only what wallets may know of it', async () => {
  const secret = 'http://127.0.0.1:9/key-of-ours';
  fixtures.node.chain.rpcUrls.push(secret);
  const row = await fixtures.request();
  const places = ['', '/wallet', '/payments', `/payments/${row.id}`, `/cashier/${row.id}`, '/unmatched', '/profile'];
  for (const place of places) {
    const page = await fixtures.visitor.open(`/dashboard${place}`);
    assert.equal(page.status, 200, place);
    assert.ok(!page.html.includes(secret), place);
  }
  assert.ok(!(await startVisitor(fixtures.url).open('/dashboard/sign-in')).html.includes(secret));
  fixtures.node.chain.rpcUrls.pop();
});

test('A disabled merchant keeps all pages of its dashboard, which say what is disabled', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  await setMerchantDisabled(fixtures.ctx, theService, fixtures.scope, {
    accountId: merchant.id,
    by: 'partner',
    disabled: true,
  });
  for (const place of ['', '/payments', '/ask', '/cashier', '/unmatched', '/profile', '/sessions']) {
    assert.equal((await visitor.open(`/dashboard${place}`)).status, 200, place);
  }
  assert.match((await visitor.open('/dashboard')).html, /New requests are disabled/);
  for (const place of ['/ask', '/cashier']) {
    const form = (await visitor.open(`/dashboard${place}`)).html;
    assert.match(form, /role="alert".*Your account is disabled\. The home page says by whom/s, place);
  }
  const refused = await visitor.send(await visitor.open('/dashboard/ask'), '/ask', { amount: '5' });
  assert.equal(refused.status, 403);
  assert.match(refused.html, /Your account is disabled, so no request was created/);
});

test('While the partner is disabled, the merchant’s home, forms and plans say so, and not that requests can be made', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeOnboarded(fixtures.ctx, scope);
  const visitor = await fixtures.signedIn(scope, merchant);
  const pageOf = async (place: string) => (await visitor.open(`/dashboard${place}`)).html;
  assert.match(await pageOf(''), /You are ready to receive payments/);
  await fixtures.db.sql`update partners set disabled_at = now() where id = ${partner.id}`;
  const home = await pageOf('');
  assert.match(home, /New requests are disabled/);
  assert.match(home, /Corner Shops Ltd is disabled, so no new requests can be created for you/);
  assert.doesNotMatch(home, /You are ready to receive payments/);
  for (const place of ['/ask', '/cashier', '/plans/new']) {
    assert.match(await pageOf(place), /role="alert".*Corner Shops Ltd is disabled\. Ask them why/s, place);
  }
  assert.match(await pageOf('/plans'), /Corner Shops Ltd is disabled, so nothing can be charged/);
});

test('“Partially paid” is a state in list, filter, detail and CSV, with the missing amount, until the request is paid', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const startBlocks = { [fixtures.node.chain.chainId]: 0 };
  const made = (memo: string) =>
    makeRequest(fixtures.db, fixtures.scope, merchant, { exactMicro: 9_000_000n, memo, startBlocks });
  const [open, ended, untouched] = [await made('Open'), await made('Ended'), await made('Untouched')];
  for (const row of [open, ended]) await fixtures.pay(row, { usdcMicro: 2_000_000n });
  await fixtures.turn();
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 hour' where id = ${ended.id}`;

  const list = await visitor.open('/dashboard/payments?state=part');
  assert.deepEqual(idsOn(list.html), [ended.id, open.id]);
  assert.match(list.html, /Partly paid<\/span><p class="quiet">7\.0\d* USDC is missing<\/p>/);
  assert.deepEqual(idsOn((await visitor.open('/dashboard/payments?state=open')).html), [untouched.id]);
  assert.deepEqual(idsOn((await visitor.open('/dashboard/payments?state=expired')).html), []);
  const [header = [], ...rows] = lines((await visitor.open('/dashboard/payments.csv?state=part')).html);
  assert.deepEqual(
    rows.map((row) => [row[header.indexOf('state')], row[header.indexOf('received_usdc')]]),
    [
      ['part', '2.00'],
      ['part', '2.00'],
    ],
  );
  const running = await visitor.open(`/dashboard/payments/${open.id}`);
  assert.match(running.html, /Partly paid<\/span>/);
  assert.match(running.html, /Your customer can pay the rest on the same page while it is open/);
  const over = await visitor.open(`/dashboard/payments/${ended.id}`);
  assert.match(over.html, /Partly paid<\/span>/);
  assert.match(over.html, /2\.00 of 9\.0\d* USDC arrived before the request ended and is in your wallet/);
  const cashier = await visitor.open(`/dashboard/cashier/${ended.id}`);
  assert.match(cashier.html, /USDC is still missing/);
  assert.ok(!cashier.html.includes('Nobody paid'));

  await fixtures.pay(open, { usdcMicro: BigInt(open.usdc_micro) - 2_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.deepEqual(idsOn((await visitor.open('/dashboard/payments?state=part')).html), [ended.id]);
});

test('A cursor or a day at the end of time is answered like any other', async () => {
  const row = await fixtures.request();
  for (const query of ['until=9999-12-31', `after=999999999999999-${row.id}`, `after=253402300800000-${row.id}`]) {
    const page = await fixtures.visitor.open(`/dashboard/payments?${query}`);
    assert.equal(page.status, 200, query);
    assert.equal(idsOn(page.html)[0], row.id, query);
  }
});

test('One field finds a request by its numbers, its transactions, its payer, its customer or its note; and nothing of others', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const make = (details: Parameters<typeof makeRequest>[3]) =>
    makeRequest(fixtures.db, fixtures.scope, merchant, details);
  const invoice = await make({
    customerName: 'Ada Lovelace',
    customerEmail: 'ada@example.com',
    startBlocks: {},
    fiatInt: 120_050,
    idempotencyKey: 'till-1/77',
    metadata: '{"order":"Order A-1042"}',
  });
  const [noted, other] = [await make({ memo: 'Order 50%_A\\7' }), await make({ memo: 'Order 50 apples' })];
  const { txHash, from } = await fixtures.pay(invoice);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const neighbour = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const foreign = await makeRequest(fixtures.db, fixtures.scope, neighbour, { customerName: 'Ada Byron' });

  const find = async (q: string, more = '') =>
    idsOn((await visitor.open(`/dashboard/payments?q=${encodeURIComponent(q)}${more}`)).html);
  const paid = await visitor.open(`/dashboard/payments/${invoice.id}`);
  const number = /data-copy="(Q-[^"]+)"/.exec(paid.html)?.[1] ?? '';
  for (const q of [number, number.toLowerCase().replaceAll('-', ''), invoice.id.toUpperCase()]) {
    assert.deepEqual(await find(q), [invoice.id], q);
  }
  const page = `http://localhost:3000/pay/${invoice.id}`;
  for (const q of [page, txHash, txHash.toUpperCase().replace('0X', '0x'), from.address, 'lovelace', 'ADA@example']) {
    assert.deepEqual(await find(q), [invoice.id], q);
  }
  const told = ['1,200.50', '1.200,50 EUR', invoice.id.slice(0, 24), 'till-1/77', 'order a-1042', 'ada@example.com'];
  for (const q of told) assert.deepEqual(await find(q), [invoice.id], q);
  assert.deepEqual(await find('order 50'), [other.id, noted.id]);
  assert.deepEqual(await find('0%_a\\7'), [noted.id], 'signs of patterns mean themselves');
  assert.deepEqual(await find('order 50', '&state=paid'), []);
  for (const q of [foreign.id, 'Byron', `0x${'9'.repeat(64)}`, 'Q-20261331-0000000000', 'Q-20261101-0000000000']) {
    assert.deepEqual(await find(q), [], q);
  }
  const stray = { from: fixtures.node.wallet(), usdcMicro: 7_654_321n };
  const strayHash = await fixtures.node.pay({ ...stray, to: merchant.wallet });
  const foreignHash = await fixtures.node.pay({ ...stray, to: neighbour.wallet });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const search = async (q: string) => (await visitor.open(`/dashboard/payments?q=${q}`)).html;
  assert.match(await search(strayHash), /<h2>Unmatched payments<\/h2>.*7\.654321/s);
  assert.doesNotMatch(await search(foreignHash), /7\.654321/);
  const none = await visitor.open('/dashboard/payments?q=%3Cb%3Enobody');
  assert.match(none.html, /No requests match/);
  assert.match(none.html, /name="q"[^>]*value="&lt;b&gt;nobody"/);

  const unnamed = await make({});
  const open = await visitor.open(`/dashboard/payments/${unnamed.id}`);
  const called = /data-copy="(Q-[^"]+)"/.exec(open.html)?.[1] ?? '';
  assert.ok((await visitor.open('/dashboard/payments')).html.includes(`>${called}</a>`), 'as the list calls it');
  assert.deepEqual(await find(called), [unnamed.id], 'also before it is paid');
  const csv = lines((await visitor.open('/dashboard/payments.csv?q=apples')).html);
  assert.deepEqual(
    csv.map(([id]) => id),
    ['request_id', other.id],
  );
});

test('Search results are paged by cursor, and the hash of a refund finds the refunded payment too', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const made: string[] = [];
  for (let i = 0; i < 60; i++) {
    const { id } = await makeRequest(fixtures.db, fixtures.scope, merchant, {
      memo: i % 6 === 0 ? 'tea' : `coffee ${i}`,
    });
    if (i % 6 !== 0) made.push(id);
  }
  for (let i = 0; i < 10; i++)
    made.push((await makeRequest(fixtures.db, fixtures.scope, merchant, { memo: 'coffee' })).id);
  const first = await visitor.open('/dashboard/payments?q=coffee');
  const next = first.html.match(/<a href="([^"]+)" rel="next">/)?.[1]?.replaceAll('&amp;', '&') ?? '';
  assert.match(next, /q=coffee/);
  assert.deepEqual([...idsOn(first.html), ...idsOn((await visitor.open(next)).html)], made.toReversed());

  const ended = await makeRequest(fixtures.db, fixtures.scope, merchant, { memo: 'late' });
  await fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${ended.id}`;
  const { txHash } = await fixtures.pay(ended);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const hash = `0x${'8'.repeat(64)}`;
  const key = `31337_${txHash}_0`;
  await visitor.send(await openRefund(visitor, key), key, { return_tx_hash: hash });
  const found = await visitor.open(`/dashboard/payments?q=${hash}`);
  assert.deepEqual(idsOn(found.html), [ended.id]);
});
