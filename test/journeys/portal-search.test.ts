import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Scope } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { receiptNumber } from '../../src/lib/text/receipt-number.ts';
import { indexMetadata } from '../../src/requests/lists/index-metadata.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { shortId } from '../../src/ui/components.ts';
import { withoutLimits } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

let fixtures: PayFixtures;
let app: FastifyInstance;
let url: string;
before(async () => {
  fixtures = await payFixtures();
  app = await buildServer(fixtures.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await app?.close();
  await fixtures?.stop();
});

const pageOf = async (who: Visitor, query: Record<string, string>) =>
  (await who.open(`/portal/requests?${new URLSearchParams({ mode: 'test', ...query })}`)).html;
const idsOn = (html: string) =>
  [...html.matchAll(/<th scope="row"><a href="\/portal\/requests\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
/** The results of one search, however far it went. */
const findOnce = async (who: Visitor, q: string) => idsOn(await pageOf(who, { q }));
/** A page of what a search has found at its end: a busy machine has no time for the whole list. */
const searched = (who: Visitor, q: string, query: Record<string, string> = {}) =>
  until(async () => {
    const html = await pageOf(who, { ...query, q });
    return !/Searched the newest/.test(html) && html;
  }, 'the search goes to its end');
const find = async (who: Visitor, q: string, query: Record<string, string> = {}) =>
  idsOn(await searched(who, q, query));

/** Stores requests with the memos “Coffee 1”, “Coffee 2” and so on, the later ones newer. */
async function storeMany(
  scope: Scope,
  merchant: { id: string; wallet: string },
  count: number,
  { customerEmail = null }: { customerEmail?: string | null } = {},
): Promise<void> {
  await withoutLimits(fixtures.owner, async (tx) => {
    await tx`
      insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
        payment_mode, metadata, memo, customer_email, wallet_address, reference, start_blocks, created_at, expires_at)
      select ${scope.partnerId}, true, gen_random_uuid(), ${merchant.id}, g, 'EUR', g, false, '1', 'pos', '{}',
        'Coffee ' || g, ${customerEmail}, ${merchant.wallet}, decode(lpad(to_hex(g), 32, '0'), 'hex'), '{}', now() + g * interval '1 ms',
        now() + interval '1 day'
      from generate_series(1, ${count}::int) g`;
  });
}

test('requests of the same minute → their ids begin alike: the beginning finds all of them, an id as lists shorten it only one', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const [older, newer] = ['11', 'ee'].map((end) => `01a2063b-aa58-7c85-b97e-b16fba2bfc${end}`) as [string, string];
  for (const id of [older, newer]) await makeRequest(fixtures.db, scope, merchant, { id });
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  assert.deepEqual(await find(visitor, older.slice(0, 8)), [newer, older]);
  assert.deepEqual(await find(visitor, shortId(older)), [older]);
  assert.deepEqual(await find(visitor, `${older.slice(0, 13)}…${newer.slice(-12)}`), [newer]);
  assert.deepEqual(await find(visitor, `${older.slice(0, 8)}…0000`), []);
});

/** A partner with a paid request that has everything one can search by, and two others. */
async function makeSearched() {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const startBlocks = { [fixtures.node.chain.chainId]: 0 };
  const wanted = await makeRequest(fixtures.db, scope, merchant, {
    startBlocks,
    idempotencyKey: 'order:A-77/2',
    fiatInt: 120_050,
    exactMicro: 1_304_891_305n,
    memo: 'Table 7, 100 % Rye',
    customerName: 'Ada Lovelace',
    customerEmail: 'Ada.L@Example.com',
    metadata: '{"order":"Order A-1042"}',
  });
  const plain = await makeRequest(fixtures.db, scope, merchant, { memo: 'Table 8', customerName: 'Bo' });
  const yen = await makeRequest(fixtures.db, scope, merchant, {
    fiatCode: 'JPY',
    fiatInt: 1250,
    exactMicro: 8_000_000n,
  });
  const payment = await fixtures.pay(wanted);
  const strayFrom = fixtures.node.wallet();
  const strayHash = await fixtures.node.pay({
    from: strayFrom,
    to: merchant.wallet,
    usdcMicro: 7_654_321n,
  });
  const stray = { txHash: strayHash, from: strayFrom };
  await fixtures.node.mine(5);
  await fixtures.turn();
  await fixtures.turn();
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id, 'viewer');
  return { wanted, plain, yen, payment, stray, visitor, merchant };
}

const receiptOf = async (request: RequestRow) => {
  const { proof_verified_at: paidAt } = await fixtures.ctx.db.sql<{ proof_verified_at: Date }[]>`
    select proof_verified_at from requests where id = ${request.id}`.then(([row]) => row ?? assert.fail());
  return receiptNumber(request.id, paidAt);
};

test('the search field › finds a request by everything that customers quote, ignoring case; another partner finds nothing', async () => {
  const { wanted, payment, visitor } = await makeSearched();
  const receipt = await receiptOf(wanted);
  const stranger = await portalVisitor(fixtures.ctx, url, (await makePartner(fixtures.db)).partner.id);
  const words = [
    wanted.id,
    wanted.id.slice(0, 24).toUpperCase(),
    `${wanted.id.slice(0, 8)}…${wanted.id.slice(-4)}`,
    `https://pay.example/pay/${wanted.id}/receipt`,
    receipt,
    receipt.toLowerCase().replaceAll('-', '').replace('q', 'Q-'),
    ...['1,200.50', '1.200,50', '1200.5', '€1,200.50', '1 200,50 EUR', '1304.89', '1304.891305 USDC'],
    ...['table 7', '100 % rye', 'ada LOVELACE', 'lovelace', 'ADA.L@EXAMPLE.COM', 'ada.l@'],
    'order:A-77/2',
    ...['order a-1042', 'ORDER A-1042', 'oRDER a-1042'],
    payment.txHash,
    payment.txHash.toUpperCase().replace('0X', '0x'),
    payment.from.address,
    `https://basescan.org/tx/${payment.txHash}`,
  ];
  for (const q of words) {
    assert.deepEqual(await find(visitor, q), [wanted.id], q);
    assert.deepEqual(await find(stranger, q), [], `another partner finds nothing by ${q}`);
    assert.deepEqual(await find(visitor, q, { mode: 'live' }), [], `the other mode finds nothing by ${q}`);
  }
});

test('the search field › takes each reading of an amount, and finds nothing by wildcards or other words', async () => {
  const { wanted, plain, yen, visitor } = await makeSearched();
  assert.deepEqual(await find(visitor, '12.50'), [plain.id]);
  assert.deepEqual(await find(visitor, '1250'), [yen.id]);
  assert.deepEqual(await find(visitor, '1,250 JPY'), [yen.id]);
  assert.deepEqual(await find(visitor, '12.50 USD'), []);
  assert.deepEqual(await find(visitor, '8.00'), [yen.id]);
  assert.deepEqual(await find(visitor, 'table'), [plain.id, wanted.id]);
  assert.deepEqual(await find(visitor, 'table', { since: plain.created_at.toISOString() }), [plain.id], 'in the dates');
  assert.deepEqual(await find(visitor, 'table', { status: 'paid' }), [wanted.id], 'of a status');
  for (const q of ['_able 7', 'order a-10', 'ORDER:a-77/2', 'nobody']) {
    assert.deepEqual(await find(visitor, q), [], q);
  }
  assert.deepEqual(await find(visitor, '%'), [wanted.id]);
  assert.match(await pageOf(visitor, { q: 'nobody' }), /You can search by request ID or its first 8 characters/);
});

test('the search field › finds an unmatched payment by its transaction and payer; its own list does too', async () => {
  const { stray, visitor, wanted } = await makeSearched();
  for (const q of [stray.txHash, stray.from.address]) {
    const page = await pageOf(visitor, { q });
    assert.match(page, /<h2>Unmatched payments<\/h2>.*7\.654321 USDC/s, q);
    const list = await visitor.open(`/portal/unmatched?${new URLSearchParams({ q })}`);
    assert.match(list.html, /7\.654321 USDC/, q);
  }
  const stranger = await portalVisitor(fixtures.ctx, url, (await makePartner(fixtures.db)).partner.id);
  for (const who of [stranger, visitor]) {
    const q = who === visitor ? wanted.id : stray.txHash;
    assert.doesNotMatch(await pageOf(who, { q }), /7\.654321/);
    assert.doesNotMatch((await who.open(`/portal/unmatched?q=${q}`)).html, /7\.654321/);
  }
});

test('an e-mail address that thousands of others’ requests have, of another partner or merchant → a search finds the same', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const [merchant, neighbour] = [await makeMerchant(fixtures.db, scope), await makeMerchant(fixtures.db, scope)];
  const customerEmail = 'ada@shared.example';
  const wanted = await makeRequest(fixtures.db, scope, merchant, { customerEmail });
  await makeRequest(fixtures.db, scope, merchant, { memo: `For ${customerEmail}` });
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  const of = { account_id: merchant.id };
  const same = async (whose: string) => {
    assert.deepEqual(await find(visitor, customerEmail, of), [wanted.id], whose);
  };
  await same('nobody else');
  const other = (await makePartner(fixtures.db)).test;
  const shared = { customerEmail: customerEmail.toUpperCase() };
  await storeMany(other, await makeMerchant(fixtures.db, other), 5_001, shared);
  await same('another partner');
  assert.deepEqual(await find(visitor, customerEmail), [wanted.id]);
  await storeMany(scope, neighbour, 5_001, shared);
  await same('another merchant');
});

test('the search field › more matches than it collects → says how many it shows', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  await storeMany(scope, merchant, 10_001);
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  assert.equal((await find(visitor, 'coffee')).length, 50);
  assert.match(await searched(visitor, 'coffee'), /Showing the newest 500 matches/);
  assert.equal((await find(visitor, 'coffee 1')).length, 50);
  assert.equal((await find(visitor, 'coffee 77')).length, 50, 'a second part of the list is searched too');
  assert.doesNotMatch(await searched(visitor, 'coffee 10001'), /newest/);
});

test('a value of the metadata behind more requests than a search looks through → found once indexed, in any case, by its partner alone', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const old = await makeRequest(fixtures.db, scope, merchant, { metadata: '{"order":"Straße 9","note":"straße 9"}' });
  await storeMany(scope, merchant, 100_001);
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id);
  assert.deepEqual(await findOnce(visitor, 'STRASSE 9'), [], 'not a spelling of it');
  await indexMetadata(fixtures.ctx, new AbortController().signal);
  for (const q of ['Straße 9', 'STRAßE 9', 'straße 9']) assert.deepEqual(await findOnce(visitor, q), [old.id], q);
  const stranger = await portalVisitor(fixtures.ctx, url, (await makePartner(fixtures.db)).partner.id);
  assert.deepEqual(await findOnce(stranger, 'Straße 9'), []);
});

test('one scope whose metadata cannot be indexed → the others are, and it is when it can be; nothing is read twice', async () => {
  const { sql } = fixtures.db;
  const [bad, good] = await Promise.all([makePartner(fixtures.db), makePartner(fixtures.db)]);
  await indexMetadata(fixtures.ctx, new AbortController().signal);
  for (const { test: scope } of [bad, good]) {
    const merchant = await makeMerchant(fixtures.db, scope);
    await makeRequest(fixtures.db, scope, merchant, { metadata: '{"order":"A-1"}' });
  }
  const valuesOf = async (partnerId: string) =>
    (await sql`select from metadata_values where partner_id = ${partnerId}`).length;
  const { owner } = fixtures;
  await owner.unsafe(`alter table metadata_values add constraint bad check (partner_id <> '${bad.partner.id}')`);
  assert.equal(await indexMetadata(fixtures.ctx, new AbortController().signal), 1);
  assert.deepEqual([await valuesOf(bad.partner.id), await valuesOf(good.partner.id)], [0, 1]);
  await owner.unsafe('alter table metadata_values drop constraint bad');
  assert.equal(await indexMetadata(fixtures.ctx, new AbortController().signal), 1);
  assert.equal(await valuesOf(bad.partner.id), 1);
  assert.equal(await indexMetadata(fixtures.ctx, new AbortController().signal), 0);
});

test('a text made to be slow to compare → each search ends soon and says that it did, and other pages are answered meanwhile', async () => {
  const { partner, test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  const value = 'a'.repeat(500);
  const metadata = JSON.stringify(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, value])));
  const { id } = await makeRequest(fixtures.db, scope, merchant, { metadata });
  await fixtures.db.sql`
    insert into requests select r.* from requests old, generate_series(1, 2000) n, lateral jsonb_populate_record(old,
      jsonb_build_object('id', gen_random_uuid(), 'reserved', false, 'created_at', old.created_at - n * interval '1 second')) r
    where old.id = ${id}`;
  const visitor = await portalVisitor(fixtures.ctx, url, partner.id, 'viewer');
  const searches = Array.from({ length: 6 }, () => pageOf(visitor, { q: `${'a'.repeat(400)}b` }));
  const stranger = await fetch(`${url}/pay/${id}`);
  assert.equal(stranger.status, 200);
  for (const html of await Promise.all(searches)) assert.match(html, /Searched the newest 0 requests/);
  assert.deepEqual(await find(visitor, id), [id]);
});
