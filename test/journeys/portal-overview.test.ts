import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { watchSilentChains } from '../../src/chain/silence.ts';
import type { Scope } from '../../src/db/connection.ts';
import { assignment, insertion } from '../../src/db/sql.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { enqueueProofVerified } from '../../src/webhooks/enqueue.ts';
import { startApp } from '../support/app.ts';
import { makeEvents } from '../support/deliveries.ts';
import {
  makeKey,
  makeMerchant,
  makePartner,
  makeRequest,
  makeTransfer,
  randomAddress,
  setRate,
  unmatched,
} from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import { until } from '../support/until.ts';

let aheadMs = 0;
const clock = { now: () => new Date(Date.now() + aheadMs) };
let app: Awaited<ReturnType<typeof startApp>>;

before(async () => {
  app = await startApp({ clock });
  await setRate(app.db, 'EUR', '0.92');
  // Makes both idle chains look as if they had just been read.
  for (const chainId of [31337, 31338]) await chainRead(chainId, 0);
});
after(() => app.stop());

async function chainRead(chainId: number, secondsAgo: number) {
  await app.db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (${chainId}, 1, 1, '0x', now(), 1, 1, now() - ${secondsAgo} * interval '1 second')
    on conflict (chain_id) do update set updated_at = excluded.updated_at`;
}

async function partnerWithMerchant() {
  const { partner, test: scope, live } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const overview = async (query = '') => (await owner.open(`/portal${query}`)).html;
  const webhooks = async () => (await owner.open('/portal/webhooks')).html;
  return { partner, scope, live, merchant, overview, webhooks };
}

/** Marks a request as created some days ago and verified this many seconds later. */
async function verified(scope: Scope, row: RequestRow, daysAgo: number, seconds: number) {
  const created = Date.now() - daysAgo * 86_400_000;
  await app.db.sql`
    update requests set created_at = ${new Date(created)}, expires_at = ${new Date(created + 900_000)},
      proof_status = 'verified', proof_verified_at = ${new Date(created + seconds * 1000)}, tx_hash = ${`0x${'ab'.repeat(32)}`},
      payer_address = ${randomAddress()} where id = ${row.id} and partner_id = ${scope.partnerId}`;
}

test('a new partner › a call that works once the key is filled in', async () => {
  const { overview, merchant, scope } = await partnerWithMerchant();
  const html = await overview();
  const curl = /<pre[^>]*>(.*?)<\/pre>/s.exec(html)?.[1]?.replaceAll('&#39;', "'").replaceAll('&quot;', '"') ?? '';
  assert.match(curl, /^curl http:\/\/localhost:3000\/api\/v1\/requests\/create/);
  const body = /-d '(.*)'/.exec(curl)?.[1] ?? '';
  assert.equal(JSON.parse(body).account_id, merchant.id);
  const { key } = await makeKey(app.db, scope);
  const answer = await fetch(new URL('/api/v1/requests/create', app.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  assert.equal(answer.status, 201, await answer.text());
  assert.doesNotMatch(await overview(), /<pre/);
});

test('a new partner › each empty list says what will be there; if a filter empties it, that nothing matches', async () => {
  const { partner } = await makePartner(app.db);
  const visitor = await portalVisitor(app.ctx, app.url, partner.id);
  for (const [path, empty, unlike] of [
    ['/portal/requests', 'Your requests will appear here', 'No requests match'],
    ['/portal/webhooks/deliveries', 'No events yet', 'No events match'],
    ['/portal/unmatched', 'No unmatched payments', 'No entries match'],
  ] as const) {
    assert.ok((await visitor.open(path)).html.includes(empty), path);
    const { html } = await visitor.open(`${path}?since=2026-01-01`);
    assert.ok(html.includes(unlike) && !html.includes(empty), path);
  }
  const resend = 'Resend all failed events';
  assert.ok(!(await visitor.open('/portal/webhooks/deliveries')).html.includes(resend), 'there are none');
  assert.ok((await visitor.open('/portal/webhooks/deliveries?state=failed')).html.includes(resend));
});

test('a new partner without a merchant › the call that makes one', async () => {
  const { partner } = await makePartner(app.db);
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  assert.match((await owner.open('/portal')).html, /<pre[^>]*>curl http:\/\/localhost:3000\/api\/v1\/accounts/);
});

test('a new partner › a viewer, who may not create keys, sees who can, and no link to a page that they may not open', async () => {
  const { partner } = await makePartner(app.db);
  const { html } = await (await portalVisitor(app.ctx, app.url, partner.id, 'viewer')).open('/portal');
  assert.match(html, /an owner or a developer of [^<]*: ask one of them/);
  assert.doesNotMatch(html, /<pre|existing keys cannot be shown|href="\/portal\/keys"/);
});

test('is everything fine › one line when it is, and one for each thing that is not', async () => {
  const { overview, webhooks, scope, merchant } = await partnerWithMerchant();
  await makeRequest(app.db, scope, merchant);
  assert.doesNotMatch(await overview(), /0 events/);
  assert.match(await overview(), /No webhook URL is set[\s\S]*<a href="\/portal\/webhooks">Set a webhook URL</);
  await setUrl(app.ctx, theService, scope, 'http://127.0.0.1:9/hook');
  const fine = await overview();
  assert.match(fine, /Everything is fine/);
  assert.doesNotMatch(fine, /state attention|state failed/);

  await makeEvents(app.db, scope, 2);
  assert.match(await overview(), /Everything is fine/, 'what has just been written is no trouble');
  aheadMs = 6 * 60_000;
  assert.match(await overview(), /2 events are waiting, the oldest for 6 minutes\./);
  aheadMs = 0;
  const endpoint = (set: Record<string, unknown>) =>
    app.db.sql`update webhook_endpoints set ${assignment(set)} where partner_id = ${scope.partnerId}`;
  await endpoint({ failures: 3 });
  assert.match(await overview(), /3 failures in a row\. 2 events are waiting\./);
  await endpoint({ disabled_at: new Date(), disabled_reason: 'gone' });
  assert.match(await overview(), /Your endpoint answered 410 Gone/);
  await endpoint({ failures: 0, disabled_at: null, disabled_reason: null });
  await app.db.sql`update webhook_deliveries set state = 'exhausted' where partner_id = ${scope.partnerId}`;
  assert.match(await overview(), /2 events failed permanently<.*All delivery attempts failed\./s);
  await endpoint({ failures: 3 });
  const usedUp = [await overview(), await webhooks()];
  for (const html of usedUp) {
    assert.match(html, /3 failures in a row\..*2 events failed permanently</s, 'one trouble hides another');
    assert.doesNotMatch(html, /We retry automatically/, 'nothing waits to be retried');
  }
  await endpoint({ disabled_at: new Date(), disabled_reason: 'no_success_for_120_hours' });
  for (const html of [await overview(), await webhooks()])
    assert.match(html, /Your webhook is disabled<.*2 events failed permanently</s, 'enabling it does not send them');
  await endpoint({ failures: 0, disabled_at: null, disabled_reason: null });
  await app.db.sql`update webhook_deliveries set state = 'delivered' where partner_id = ${scope.partnerId}`;

  await chainRead(31337, 90);
  const dark = await overview();
  assert.match(dark, /Chain 31337 cannot be reached/);
  assert.doesNotMatch(dark, /Chain 31338/, 'live chains concern the live mode');
  await chainRead(31337, 0);
  assert.match(await overview(), /Everything is fine/);
});

test('a chain that falls silent, and one that is read again › wake every open page, by one look for all', async () => {
  const pages = [{ woken: 0 }, { woken: 0 }];
  const ends = pages.map((page) => watchSilentChains(app.ctx, 'test', () => void page.woken++, 20));
  await chainRead(31337, 90);
  await until(async () => pages.every(({ woken }) => woken >= 1), 'all are told of the silence');
  const told = pages.map(({ woken }) => woken);
  await chainRead(31337, 0);
  await until(async () => pages.every(({ woken }, i) => woken > (told[i] ?? 0)), 'all are told that it is over');
  for (const end of ends) end();
});

test('“send me an event” › a chain that does not answer → a sentence that says so', async () => {
  const { partner } = await makePartner(app.db);
  await setRate(app.db, partner.currency, '0.92');
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const sent = await postForm(app.url, owner, '/portal/webhooks/test?mode=test', [['key', 'k'.repeat(32)]]);
  assert.equal(sent.location, '/portal/webhooks?done=chain_down');
  assert.match((await owner.open('/portal/webhooks?done=chain_down')).html, /the local chain does not respond/);
});

test('figures › paid by day and currency, paid share and the median time to pay', async () => {
  const { overview, scope, merchant } = await partnerWithMerchant();
  await setUrl(app.ctx, theService, scope, 'http://127.0.0.1:9/hook');
  const make = (details = {}) => makeRequest(app.db, scope, merchant, details);
  await verified(scope, await make({ fiatInt: 1000 }), 0.001, 20);
  await verified(scope, await make({ fiatInt: 250 }), 2, 40);
  await verified(scope, await make({ fiatInt: 9_999 }), 20, 60);
  await verified(scope, await make({ fiatInt: 700, fiatCode: 'JPY' }), 2.001, 50);
  await make(); // still open, so it does not affect the share
  await make({ expiryMinutes: 0 });
  const html = await overview();
  assert.match(html, /<p class="value">€12\.50<\/p><p class="quiet">2 payments<\/p>/);
  assert.match(html, /<p class="value">¥700<\/p><p class="quiet">1 payment<\/p>/);
  assert.match(html, /<p class="value">75%<\/p>/);
  assert.match(html, /<p class="value">40 seconds<\/p>/);
  assert.match(html, /<strong>Paid, in EUR \(UTC\)<\/strong>/);
  assert.match(await overview('?currency=JPY'), /Paid, in JPY/);
  const month = await overview('?days=30');
  assert.match(month, /<p class="value">€112\.49<\/p><p class="quiet">3 payments<\/p>/);
  // Read again, from the stored days and the fresh ones.
  await verified(scope, await make({ fiatInt: 1 }), 0.0005, 20);
  assert.match(await overview('?days=30'), /<p class="value">€112\.50<\/p><p class="quiet">4 payments<\/p>/);
  assert.match(await overview('?days=14'), /<p class="value">€12\.51<\/p>/);
  assert.match(await overview('?days=90'), /<p class="value">€112\.50<\/p>/);
  assert.doesNotMatch(await overview('?mode=live'), /€12/, 'live figures are live figures');
});

test('replays › those with other values are counted and shown; a faithful one leaves no trace; the answer is the same', async () => {
  const { overview, scope, merchant, partner } = await partnerWithMerchant();
  const { key } = await makeKey(app.db, scope);
  const body = {
    account_id: merchant.id,
    fiat_amount_int: 1250,
    memo: 'Table 4',
    idempotency_key: 'k'.repeat(40),
    metadata: { b: '1', a: '2' },
    expiry_minutes: 30,
  };
  const create = async (changes: object, left: string[] = []) => {
    const sent = Object.fromEntries(Object.entries({ ...body, ...changes }).filter(([name]) => !left.includes(name)));
    const answer = await fetch(new URL('/api/v1/requests/create', app.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    });
    return { status: answer.status, json: (await answer.json()) as { request_id: string } & Record<string, unknown> };
  };
  const first = await create({});
  assert.equal(first.status, 201);
  const kept = () => app.db.sql`select times, last_fields from differing_replays where partner_id = ${partner.id}`;
  await create({});
  await create({ metadata: { a: '2', b: '1' }, memo: 'Table 4', customer_name: null, payment_mode: 'pos' });
  await create({ fiat_currency_code: 'EUR' }, ['expiry_minutes']);
  assert.deepEqual([...(await kept())], []);
  const changed: [object, string[], string[]?][] = [
    [{ fiat_amount_int: 1251 }, ['fiat_amount_int']],
    [{ fiat_amount_int: '1250' }, ['fiat_amount_int']],
    [{ metadata: { a: '2' }, customer_email: 'a@b.example' }, ['metadata', 'customer_email']],
    [
      { metadata: 7, expiry_minutes: 15, fiat_currency_code: 'USD' },
      ['fiat_currency_code', 'metadata', 'expiry_minutes'],
    ],
    [{}, ['memo'], ['memo']],
  ];
  for (const [i, [changes, fields, left]] of changed.entries()) {
    const again = await create(changes, left);
    assert.equal(again.status, 200);
    assert.deepEqual(again.json, { ...first.json, idempotent_replay: true });
    assert.deepEqual([...(await kept())], [{ times: i + 1, last_fields: fields }]);
  }
  assert.match(await overview(), /1 idempotency key was reused with different values/);
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const found = (await owner.open('/portal/requests?concern=replayed')).html;
  assert.ok(found.includes(`/portal/requests/${first.json.request_id}`));
  const page = (await owner.open(`/portal/requests/${first.json.request_id}`)).html;
  assert.match(page, /reused 5 times with different values/);
  assert.match(page, /these fields differed: <code>memo<\/code>\./);
});

test('a detail › each attempt of the event, as it went', async () => {
  const { scope, merchant, partner } = await partnerWithMerchant();
  const request = await makeRequest(app.db, scope, merchant);
  await app.db.scoped(scope, (tx) =>
    enqueueProofVerified(tx, [
      {
        scope,
        requestId: request.id,
        accountId: merchant.id,
        txHash: `0x${'ab'.repeat(32)}`,
        payerAddress: randomAddress(),
        metadata: '{}',
        verifiedAt: new Date(),
      },
    ]),
  );
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const page = async () => (await owner.open(`/portal/requests/${request.id}`)).html;
  const [row] = await app.db.sql`select id from webhook_deliveries where request_id = ${request.id}`;
  const both = async () => [await page(), (await owner.open(`/portal/webhooks/deliveries/${row?.id}`)).html];
  const bothSay = async (text: RegExp) => (await both()).forEach((html) => void assert.match(html, text));
  await bothSay(/No webhook URL is set\. The event is sent as soon as there is one\./);
  await setUrl(app.ctx, theService, scope, 'https://shop.example/hook');
  await bothSay(/Waiting for its first delivery attempt\.</);
  for (const html of await both()) assert.doesNotMatch(html, /webhook URL is set/);
  await app.db.sql`
    update webhook_endpoints set disabled_at = now(), disabled_reason = 'gone' where partner_id = ${partner.id}`;
  await bothSay(/Your webhook is disabled\. The event is sent as soon as it is enabled again\./);
  const tried = (fields: Record<string, unknown>) => app.db.sql`
    insert into webhook_attempts ${insertion([
      {
        partner_id: partner.id,
        test_mode: true,
        id: crypto.randomUUID(),
        url: 'https://shop.example/hook?secret=1',
        duration_ms: 42,
        request_headers: '{}',
        status_code: null,
        error: null,
        response_body: null,
        ...fields,
      },
    ])}`;
  const base = { delivery_id: row?.id };
  await tried({ ...base, started_at: new Date(Date.now() + 1000), error: 'timeout' });
  await tried({
    ...base,
    started_at: new Date(Date.now() + 2000),
    error: 'status',
    status_code: 500,
    response_body: '<b>',
  });
  await tried({ ...base, started_at: new Date(Date.now() + 3000), status_code: 204 });
  const html = await page();
  assert.match(html, /Event sent to shop\.example/);
  assert.match(html, /Failed after 42 ms: no answer within 8 seconds\./);
  assert.match(html, /Failed after 42 ms: it answered 500\..*&lt;b&gt;/s);
  assert.match(html, /Event delivered to shop\.example.*Answered 204 after 42 ms\./s);
  assert.ok(!html.includes('secret=1'), 'only the host of the address is shown');
  assert.match(html, /Next attempt<[\s\S]*Your webhook is disabled/, 'no time at which nothing is sent');
});

test('unmatched payments › their sum, and where not all are summed, that it is at least that', async () => {
  const { overview, merchant, scope } = await partnerWithMerchant();
  await makeRequest(app.db, scope, merchant); // without one, the page shows how to begin
  const hash = await makeTransfer(app.db.sql, scope, merchant, { ...unmatched('no_match'), value: '1000000' });
  assert.match(await overview(), />1\.00 USDC reached your merchants/);
  await app.db.sql`
    insert into transfers select made.* from transfers t, generate_series(1, 1000) n,
      jsonb_populate_record(t, jsonb_build_object('tx_hash', '0x' || lpad(to_hex(n), 64, '0'))) made
    where t.tx_hash = ${hash}`;
  const html = await overview();
  assert.match(html, /1,000\+ unmatched payments/);
  assert.match(html, /At least 1,000\.00 USDC reached your merchants/);
});
