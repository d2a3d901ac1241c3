import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { getAddress } from 'viem';
import { buildServer } from '../../src/http/server.ts';
import { formatMicro } from '../../src/lib/money.ts';
import { startApp, testConfig, testContext } from '../support/app.ts';
import {
  countingFor,
  makeMerchant,
  makePartner,
  makeRequest,
  makeTransfer,
  randomAddress,
  unmatched,
} from '../support/fixtures.ts';
import { submit, visit } from '../support/people/forms.ts';

let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };
/** A stopped clock, because limits count per minute, and a new minute during a test would reset them. */
const stopped = () => {
  const now = new Date();
  return { now: () => now };
};
let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let merchant: Awaited<ReturnType<typeof makeMerchant>>;

before(async () => {
  app = await startApp({ clock });
  fixtures = await makePartner(app.db);
  merchant = await makeMerchant(app.db, fixtures.test);
});
after(() => app.stop());

type Details = Parameters<typeof makeRequest>[3];
const newRequest = (details: Details = {}) => makeRequest(app.db, fixtures.test, merchant, details);
const pay = (id: string, init: Parameters<typeof visit>[1] = {}) => visit(`${app.url}/pay/${id}`, init);
const statusOf = async (id: string) => (await app.db.sql`select status from requests where id = ${id}`)[0]?.status;

/** A transfer that counts towards a request, as payments stores it. */
const countTransfer = (id: string, value: bigint, block = 10) =>
  makeTransfer(app.db.sql, fixtures.test, merchant, {
    ...countingFor(id),
    value: value.toString(),
    block_number: block,
    from_address: `0x${'ab'.repeat(20)}`,
  });

test('The page shows who is paid, both amounts, the memo, the expiry, the address, network, token and a QR code', async () => {
  const row = await newRequest({ memo: 'Two loaves\nand a cake' });
  const { status, html } = await pay(row.id);
  assert.equal(status, 200);
  for (const part of [
    'Ada’s Bakery',
    'Corner Shops Ltd',
    'Your payment goes directly to Ada’s Bakery.',
    '€12.50',
    `${formatMicro(BigInt(row.usdc_micro))}\u00a0USDC on Chain 31337`,
    '1 USDC = 0.92 EUR',
    'Two loaves\nand a cake',
    `<time datetime="${row.expires_at.toISOString()}">`,
    '14 minutes left',
    getAddress(merchant.wallet),
    'Chain 31337',
    getAddress(`0x${'5f'.repeat(20)}`),
    `<div role="img" aria-label="QR code: http://localhost:3000/pay/${row.id}">`,
    'Waiting for your payment',
    'Test mode.',
  ]) {
    assert.ok(html.includes(part), part);
  }
});

test('A live request has no test banner; on the sandbox’s own chain it says that no real money moves', async () => {
  const owner = await makeMerchant(app.db, fixtures.live);
  const row = await makeRequest(app.db, fixtures.live, owner);
  const { html } = await pay(row.id);
  assert.ok(!html.includes('Test mode'));
  assert.ok(html.includes('Chain 31338'));
  assert.match(html, /<strong id="money">Sandbox\.<\/strong> No real money moves on this page\./);
  for (const config of [testConfig({ chains: app.ctx.chains }), testConfig({ sandbox: false })]) {
    const real = await buildServer(testContext(app.db, { config }));
    const url = await real.listen({ host: '127.0.0.1', port: 0 });
    const page = await visit(`${url}/pay/${row.id}`);
    await real.close();
    assert.ok(page.html.includes('Chain 31338'));
    assert.ok(!page.html.includes('class="banner"'));
  }
});

test('The amount to be paid exactly is never rounded, and grouped only where it is read', async () => {
  const row = await newRequest({ fiatInt: 123_456_789, exactMicro: 1_342_000_000_001n });
  const { html } = await pay(row.id);
  assert.ok(html.includes('€1,234,567.89'));
  assert.ok(html.includes('Send exactly 1,342,000.000001\u00a0USDC'));
  assert.ok(html.includes('<span class="mono">1342000.000001</span>'));
});

test('A request whose amount another one holds → no amount to type, which would pay that one; wallets still can', async () => {
  const row = await newRequest();
  await app.db.sql`update requests set reserved = false where id = ${row.id}`;
  await app.db.sql`delete from amount_reservations where request_id = ${row.id}`;
  const { html } = await pay(row.id);
  assert.ok(!html.includes('Send exactly') && !html.includes('/qr/'));
  assert.match(html, /data-orders="[^"]*&quot;suffix&quot;/);
});

test('memo and names with markup → escaped', async () => {
  const evil = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>';
  const owner = await makeMerchant(app.db, fixtures.test);
  await app.db.sql`update merchants set business_name = ${evil} where id = ${owner.id}`;
  const row = await makeRequest(app.db, fixtures.test, owner, { memo: evil });
  const { html } = await pay(row.id);
  assert.ok(!html.includes('<script>'));
  assert.ok(!html.includes('<img src=x'));
  assert.ok(html.includes('&lt;script&gt;alert(1)'));
});

test('Pages are not cached, framed, sniffed, or revealed by referrers, and run no foreign script or style', async () => {
  const row = await newRequest();
  for (const page of [await pay(row.id), await pay(randomUUID()), await visit(`${app.url}/onboard/x`)]) {
    const { headers } = page;
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /style-src 'sha256-[A-Za-z0-9+/=]+'/);
    assert.ok(!policy.includes('unsafe'));
    assert.match(headers.get('content-type') ?? '', /^text\/html; charset=utf-8/);
    assert.ok(!/ style="/.test(page.html), 'no style attribute: the policy forbids it');
  }
});

test('Looking at the page opens the request once; HEAD, prefetch, previews and frames do not', async () => {
  const row = await newRequest();
  const unopened: Parameters<typeof visit>[1][] = [
    { method: 'HEAD' },
    { headers: { 'sec-purpose': 'prefetch' } },
    { headers: { 'user-agent': 'WhatsApp/2.23.20.0' } },
    { headers: { 'sec-fetch-mode': 'cors' } },
    { headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' } },
  ];
  for (const init of unopened) {
    assert.equal((await pay(row.id, init)).status, 200);
    assert.equal(await statusOf(row.id), 'requested', JSON.stringify(init));
  }
  const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'sec-fetch-site': 'cross-site' };
  assert.equal((await pay(row.id, { headers: navigation })).status, 200);
  assert.equal(await statusOf(row.id), 'opened');
  const [first] = await app.db.sql`select opened_at from requests where id = ${row.id}`;
  await pay(row.id.toUpperCase());
  const [second] = await app.db.sql`select opened_at from requests where id = ${row.id}`;
  assert.deepEqual(first, second);
});

test('HEAD of a pay page → no body', async () => {
  const row = await newRequest();
  const head = await pay(row.id, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.html, '');
});

test('An unknown or malformed id is a page that says so', async () => {
  for (const id of [randomUUID(), 'x', '..%2f', `${randomUUID()}0`, '%00']) {
    const page = await pay(id);
    assert.equal(page.status, 404, id);
    assert.match(page.html, /Page not found/);
  }
});

test('an address or amount in the pay page’s query string → ignored', async () => {
  const row = await newRequest();
  const { html } = await pay(`${row.id}?wallet_address=0x${'ee'.repeat(20)}&amount=1&memo=evil`);
  assert.ok(!html.includes('ee'.repeat(20)));
  assert.ok(!html.includes('evil'));
});

test('An expired request says so at once and asks for no money', async () => {
  const row = await newRequest();
  offsetMs = 16 * 60_000;
  const { html } = await pay(row.id).finally(() => {
    offsetMs = 0;
  });
  assert.match(html, /<strong>This request has expired/);
  assert.match(html, /<title>This request has expired · /);
  assert.ok(!html.includes('Your payment goes directly to'), 'nobody should pay it');
  assert.ok(!html.includes('Send exactly'));
  assert.ok(!html.includes('QR code'));
});

test('An expired request that got a part of its money says how much', async () => {
  const row = await newRequest({ exactMicro: 25_000_000n });
  await countTransfer(row.id, 5_000_000n);
  await app.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${row.id}`;
  assert.match((await pay(row.id)).html, /5\.00 of 25\.0\d* USDC arrived\. Ask Ada’s Bakery/);
});

test('opening an expired request’s page → its status stays expired', async () => {
  const row = await newRequest();
  await app.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${row.id}`;
  await pay(row.id);
  assert.equal(await statusOf(row.id), 'requested', 'the expiry itself is stored by its loop');
});

test('A voided request says so and asks for no money', async () => {
  const row = await newRequest();
  await app.db.sql`update requests set status = 'voided', voided_at = now() where id = ${row.id}`;
  const { html } = await pay(row.id);
  assert.match(html, /<strong>This request was cancelled/);
  assert.match(html, /<title>This request was cancelled · /);
  assert.ok(!html.includes('Your payment goes directly to'));
  assert.ok(!html.includes('Send exactly'));
  assert.equal(await statusOf(row.id), 'voided');
});

test('A payment after the end → the tab’s title says what happened, not that it is to be paid', async () => {
  const late = await newRequest();
  const voided = await newRequest();
  await app.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${late.id}`;
  await app.db.sql`update requests set status = 'voided', voided_at = now() where id = ${voided.id}`;
  for (const [{ id }, reason, title] of [
    [late, 'late', 'A payment arrived too late · Ada’s Bakery'],
    [voided, 'voided', 'A payment arrived after the request was cancelled · Ada’s Bakery'],
  ] as const) {
    await makeTransfer(app.db.sql, fixtures.test, merchant, {
      ...unmatched(reason),
      value: '5000000',
      candidate_request_id: id,
    });
    const { html } = await pay(id);
    assert.equal(/<title>(.*)<\/title>/.exec(html)?.[1], title);
  }
});

test('A memo stands under its label, so that it is not read as a word of the page; one that shows nothing has none', async () => {
  const { html } = await pay((await newRequest({ memo: 'PAID. Nothing left to do.' })).id);
  assert.match(html, />What it is for<\/p>\s*<p class="memo" dir="auto">PAID/);
  const blank = await pay((await newRequest({ memo: '\u200b' })).id);
  assert.ok(!blank.html.includes('What it is for'));
});

test('a partial payment → the page says how much is missing', async () => {
  const row = await newRequest({ exactMicro: 20_000_000n });
  const due = BigInt(row.usdc_micro);
  await countTransfer(row.id, due - 1_500_001n);
  const { html } = await pay(row.id);
  assert.match(html, /1\.500001 USDC is missing/);
  assert.match(html, /18\.49\d* of 20\.0\d* USDC arrived/);
  assert.ok(!html.includes('Send exactly'), 'the whole amount again would be far too much');
});

test('A payment being confirmed counts its confirmations', async () => {
  const row = await newRequest();
  const txHash = await countTransfer(row.id, BigInt(row.usdc_micro), 10);
  await app.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (31337, 1, 10, '0x', now(), 10, 9, now()) on conflict do nothing`;
  await app.db.sql`update requests set proof_status = 'attached', tx_hash = ${txHash} where id = ${row.id}`;
  const { html } = await pay(row.id);
  assert.match(html, /Confirming your payment/);
  assert.match(html, /1 of 2 confirmations on Chain 31337/);
  assert.ok(html.includes(txHash));
  assert.ok(!html.includes('it’s not showing'));
  assert.ok(!html.includes('Send exactly'));
});

test('A payment whose network was removed from the configuration is being confirmed, without a word about the network', async () => {
  const row = await newRequest();
  const txHash = await countTransfer(row.id, BigInt(row.usdc_micro));
  await app.db.sql`update transfers set chain_id = 41002 where tx_hash = ${txHash}`;
  await app.db.sql`update requests set proof_status = 'attached', tx_hash = ${txHash} where id = ${row.id}`;
  const { html } = await pay(row.id);
  assert.match(html, /Confirming your payment/);
  assert.match(html, /You can close this page\./);
  assert.ok(html.includes(txHash));
  assert.doesNotMatch(html, /41002|make it final/);
});

test('A transaction on a network that was removed from the configuration → the page calls the network as one without a name', async () => {
  const told = async (state: string) => {
    const row = await newRequest();
    await app.db.sql`
      insert into payment_hints (partner_id, test_mode, request_id, chain_id, tx_hash, from_address, nonce, seen_block,
        state)
      values (${row.partner_id}, ${row.test_mode}, ${row.id}, 41002, ${`0x${'4a'.repeat(32)}`}, ${randomAddress()}, 0, 1,
        ${state})`;
    return (await pay(row.id)).html;
  };
  assert.match(await told('seen'), /Payment seen on Chain 41002/);
  assert.match(await told('failed'), /It was recorded on Chain 41002 but moved no money/);
});

test('The page says that a chain could not be read for a minute while it waits for money, and no longer once the payment is over', async () => {
  const row = await newRequest();
  const told = /We cannot reach Chain 31337 right now/;
  await app.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (31337, 1, 10, '0x', now(), 10, 9, now()) on conflict (chain_id) do update set updated_at = now()`;
  assert.doesNotMatch((await pay(row.id)).html, told);
  await app.db.sql`update chain_cursors set updated_at = now() - interval '61 seconds' where chain_id = 31337`;
  try {
    assert.match((await pay(row.id)).html, told);
    await app.db.sql`update requests set status = 'voided', voided_at = now() where id = ${row.id}`;
    assert.doesNotMatch((await pay(row.id)).html, told);
  } finally {
    await app.db.sql`update chain_cursors set updated_at = now() where chain_id = 31337`;
  }
});

test('A payment that a reorganisation removed is shown as such, and can be paid again', async () => {
  const row = await newRequest();
  await app.db.sql`update requests set proof_note = 'reorged' where id = ${row.id}`;
  const { html } = await pay(row.id);
  assert.match(html, /The network reversed the payment/);
  assert.match(html, /Send exactly/);
});

test('a payment that a reorganisation removed › its request has expired, or was partly paid before → the page says so too', async () => {
  const part = await newRequest();
  await countTransfer(part.id, BigInt(part.usdc_micro) - 1_500_001n);
  const expired = await newRequest();
  await app.db
    .sql`update requests set status = 'expired', expires_at = now() - interval '1 second' where id = ${expired.id}`;
  for (const [row, state] of [
    [part, /1\.500001 USDC is missing/],
    [expired, /This request has expired/],
  ] as const) {
    const before = await pay(row.id);
    assert.match(before.html, state);
    assert.doesNotMatch(before.html, /The network reversed the payment/);
    await app.db.sql`update requests set proof_note = 'reorged' where id = ${row.id}`;
    const { html } = await pay(row.id);
    assert.match(html, state);
    assert.match(html, /The network reversed the payment[\s\S]*Check your wallet before you pay again/);
  }
});

test('A paid request shows its receipt with the transaction, and links to the explorer where there is one', async () => {
  const chain = { ...app.ctx.chains.test[0], explorerUrl: 'https://scan.example' } as (typeof app.ctx.chains.test)[0];
  const before = app.ctx.chains.test;
  const row = await newRequest();
  const txHash = await countTransfer(row.id, BigInt(row.usdc_micro));
  await app.db.sql`
    update requests set proof_status = 'verified', tx_hash = ${txHash}, payer_address = ${`0x${'ab'.repeat(20)}`},
      asset_id = ${`eip155:31337/erc20:0x${'5f'.repeat(20)}`}, proof_verified_at = now() where id = ${row.id}`;
  const plain = await pay(row.id);
  assert.match(plain.html, /<strong>Paid<\/strong>/);
  assert.ok(plain.html.includes(txHash));
  assert.ok(!plain.html.includes('Your payment goes directly to'));
  assert.ok(!plain.html.includes('Send exactly'));
  assert.equal(plain.forms.length, 0);
  await app.db.sql`update requests set memo = ${'\u200b'} where id = ${row.id}`;
  assert.ok(!(await pay(row.id)).html.includes('<dt>For</dt>'), 'a memo that shows nothing');
  app.ctx.chains.test = [chain];
  const linked = await pay(row.id);
  app.ctx.chains.test = before;
  assert.ok(linked.html.includes(`href="https://scan.example/tx/${txHash}"`));
});

test('The form for a transaction hash works without script and answers in words', async () => {
  const row = await newRequest();
  const page = await pay(row.id);
  const malformed = await submit(app.url, page, '/proof', { tx_hash: '<b>0x12' });
  assert.equal(malformed.status, 400);
  assert.match(malformed.html, /This is not a transaction hash/);
  assert.equal(malformed.forms[0]?.fields.tx_hash, '<b>0x12', 'what was typed is kept');
  assert.ok(!malformed.html.includes('<b>'));

  const txHash = await countTransfer(row.id, 1_000_000n);
  const counted = await submit(app.url, page, '/proof', { tx_hash: ` ${txHash.toUpperCase().replace('0X', '0x')} ` });
  assert.equal(counted.status, 200);
  assert.match(counted.html, /This payment counts, but .* is still missing/);
});

test('A hash sent from another site is refused, also by a page that will not say which; one from an old browser is not', async () => {
  const row = await newRequest();
  const page = await pay(row.id);
  const post = (headers: Record<string, string>) => submit(app.url, page, '/proof', { tx_hash: '0x12' }, headers);
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: app.url },
  ] as Record<string, string>[]) {
    assert.equal((await post(headers)).status, 403, JSON.stringify(headers));
  }
  for (const headers of [{}, { origin: app.url }, { 'sec-fetch-site': 'same-origin', origin: 'null' }] as Record<
    string,
    string
  >[]) {
    assert.equal((await post(headers)).status, 400, JSON.stringify(headers));
  }
});

test('More than ten hashes a minute for one request are refused', async () => {
  const still = await startApp({ clock: stopped() });
  try {
    const { test: scope } = await makePartner(still.db);
    const { id } = await makeRequest(still.db, scope, await makeMerchant(still.db, scope));
    const page = await visit(`${still.url}/pay/${id}`);
    for (let i = 0; i < 10; i++) assert.equal((await submit(still.url, page, '/proof', { tx_hash: 'x' })).status, 400);
    const refused = await submit(still.url, page, '/proof', { tx_hash: 'x' });
    assert.equal(refused.status, 429);
    assert.match(refused.html, /Too many attempts/);
  } finally {
    await still.stop();
  }
});

test('A stranger who knows a pay link keeps nobody else from submitting a hash; all clients together have a hundred a minute', async () => {
  const behind = await startApp({ clock: stopped(), config: testConfig({ trustProxy: ['127.0.0.0/8'] }) });
  try {
    const { test: scope } = await makePartner(behind.db);
    const { id } = await makeRequest(behind.db, scope, await makeMerchant(behind.db, scope));
    const from = async (client: string) => {
      const { status } = await fetch(`${behind.url}/pay/${id}/proof`, {
        method: 'POST',
        headers: { 'x-forwarded-for': client },
        body: new URLSearchParams({ tx_hash: 'x' }),
      });
      return status;
    };
    for (let sent = 0; sent < 30; sent++) await from('203.0.113.7');
    assert.equal(await from('203.0.113.7'), 429);
    assert.equal(await from('203.0.113.8'), 400);
    const fromMany = (many: number, at: (nth: number) => string) =>
      Promise.all(Array.from({ length: many }, (_, nth) => from(at(nth))));
    // A whole network is one stranger's: it has a quarter of the hundred that all clients have in a minute.
    const ofNetwork = await fromMany(40, (nth) => `2001:db8:7:${nth.toString(16)}::1`);
    assert.equal(ofNetwork.filter((status) => status === 400).length, 25);
    assert.equal(await from('2001:db8:8::1'), 400);
    // Eleven came of the first network, 25 and one of these.
    assert.deepEqual(new Set(await fromMany(63, (nth) => `198.51.${nth}.1`)), new Set([400]));
    assert.equal(await from('198.51.100.100'), 429);
  } finally {
    await behind.stop();
  }
});

test('A client that uses up its signed payments of a request does not keep others of its network from submitting one', async () => {
  const behind = await startApp({ clock: stopped(), config: testConfig({ trustProxy: ['127.0.0.0/8'] }) });
  try {
    const { test: scope } = await makePartner(behind.db);
    const { id } = await makeRequest(behind.db, scope, await makeMerchant(behind.db, scope));
    const from = async (client: string) => {
      const headers = { 'x-forwarded-for': client };
      const posted = { method: 'POST', headers, body: new URLSearchParams({ from: '0x' }) };
      return (await fetch(`${behind.url}/pay/${id}/authorized`, posted)).status;
    };
    for (let sent = 0; sent < 5; sent++) await from('192.0.2.1');
    assert.equal(await from('192.0.2.1'), 429);
    assert.notEqual(await from('192.0.2.99'), 429);
    assert.notEqual(await from('198.51.100.1'), 429);
  } finally {
    await behind.stop();
  }
});

test('Pay pages may have a host of their own: the address is then only the id', async () => {
  const config = testConfig({ payUrl: 'https://pay.example' });
  const own = await startApp({ config });
  try {
    const partner = await makePartner(own.db);
    const owner = await makeMerchant(own.db, partner.test);
    const row = await makeRequest(own.db, partner.test, owner);
    const page = await visit(`${own.url}/${row.id}`);
    assert.equal(page.status, 200);
    assert.equal(page.forms[0]?.action, `/${row.id}/proof`);
    assert.equal((await visit(`${own.url}/pay/${row.id}`)).status, 404);
    assert.equal((await visit(`${own.url}/healthz`)).status, 200);
    const proof = await submit(own.url, page, '/proof', { tx_hash: 'x' });
    assert.equal(proof.status, 400);
  } finally {
    await own.stop();
  }
});

test('A client that says nothing about its fetch opens the request', async () => {
  const row = await newRequest();
  await pay(row.id, { headers: { 'user-agent': 'curl/8.14.1' } });
  assert.equal(await statusOf(row.id), 'opened');
});
