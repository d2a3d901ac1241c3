import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { getAddress } from 'viem';
import { buildServer } from '../../src/http/server.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { makeKey, makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

let fixtures: PayFixtures;
let app: FastifyInstance;
let url: string;
let admin: Visitor;
let partner: { id: string; slug: string };
let merchant: { id: string; wallet: string };
let wanted: RequestRow;
let payment: { txHash: string; from: { address: string } };
let strayHash: string;
let key: { key: string };
before(async () => {
  fixtures = await payFixtures();
  app = await buildServer(fixtures.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  ({ visitor: admin } = await signInOperator({ ctx: fixtures.ctx, url }));
  const made = await makePartner(fixtures.db, { slug: 'searched' });
  partner = made.partner;
  merchant = await makeMerchant(fixtures.db, made.test);
  key = await makeKey(fixtures.db, made.test);
  wanted = await makeRequest(fixtures.db, made.test, merchant, {
    startBlocks: { [fixtures.node.chain.chainId]: 0 },
    memo: 'Table 7',
    customerEmail: 'ada@example.com',
    fiatInt: 120_050,
    exactMicro: 1_304_891_305n,
  });
  payment = await fixtures.pay(wanted);
  strayHash = await fixtures.node.pay({ from: fixtures.node.wallet(), to: merchant.wallet, usdcMicro: 7_654_321n });
  await fixtures.node.mine(5);
  await fixtures.turn();
  await fixtures.turn();
});
after(async () => {
  await app?.close();
  await fixtures?.stop();
});

/** Searches until all partners were looked through: a busy machine has no time for the second one. */
const search = (q: string, more: Record<string, string> = {}) =>
  until(async () => {
    const { html } = await admin.open(`/admin/search?${new URLSearchParams({ q, ...more })}`);
    return !/Searched (?:the newest )?\d/.test(html) && html;
  }, 'the search goes to its end');
const logged = () =>
  fixtures.db.sql<{ partner_id: string; action: string; object_id: string; actor_kind: string; details: string }[]>`
    select partner_id, action, object_id, actor_kind, details::text as details from audit_log
    where action like 'data.%' order by at desc, number desc`;

test('the administration’s search › finds any partner’s request, payment, merchant and partner, and is logged without its words', async () => {
  const link = `href="/admin/requests/${wanted.id}"`;
  for (const q of [wanted.id, wanted.id.slice(0, 8), payment.txHash, payment.from.address, 'ADA@example.com']) {
    assert.ok((await search(q)).includes(link), q);
  }
  for (const q of ['table 7', '1,200.50']) assert.ok((await search(q, { partner: 'searched' })).includes(link), q);
  assert.ok((await search('table 7')).includes(link), 'of all partners');
  assert.ok(!(await search('table 7', { partner: 'nobody' })).includes(link));
  assert.match(await search(strayHash), /Unmatched payments<\/h2>.*href="\/admin\/payments\/\d+_0x[0-9a-f]{64}_\d+"/s);
  assert.ok((await search(merchant.wallet)).includes(`href="/admin/merchants/${merchant.id}"`));
  assert.ok((await search('searched')).includes('href="/admin/partners/searched"'));
  assert.match(await search('nobody has this'), /You can search by request ID/);
  const [last, ...all] = await logged();
  assert.deepEqual([last?.action, last?.actor_kind], ['data.searched', 'operator']);
  assert.ok(all.some(({ details }) => details.includes('searched')));
  assert.ok(!JSON.stringify(await logged()).includes('nobody has this'));
});

test('more matches than the page shows › it says so, and shows the rest to a closer search', async () => {
  const crowded = await makePartner(fixtures.db, { slug: 'crowded' });
  for (let n = 0; n < 21; n++) {
    const { id } = await makeMerchant(fixtures.db, crowded.test);
    await fixtures.db.sql`update merchants set business_name = ${`Stall ${n}`} where id = ${id}`;
  }
  const more = /There are more matches/;
  const html = await search('Stall');
  assert.equal(html.match(/>Stall \d+</g)?.length, 20);
  assert.match(html, more);
  assert.doesNotMatch(await search('Stall 20'), more);

  const merchant = await makeMerchant(fixtures.db, crowded.test);
  for (let n = 0; n < 21; n++) await makeRequest(fixtures.db, crowded.test, merchant, { memo: `Lantern ${n}` });
  assert.match(await search('Lantern', { partner: 'crowded' }), more);
  assert.doesNotMatch(await search('Lantern 20', { partner: 'crowded' }), more);

  const customerEmail = 'ada@example.com';
  for (let n = 0; n < 20; n++) await makeRequest(fixtures.db, crowded.test, merchant, { customerEmail });
  const link = `href="/admin/requests/${wanted.id}"`;
  const everywhere = await search(customerEmail);
  assert.ok(!everywhere.includes(link), 'it is older than what another partner has made');
  assert.match(everywhere, more);
  const closer = await search(customerEmail, { partner: 'searched' });
  assert.ok(closer.includes(link));
  assert.doesNotMatch(closer, more);
});

test('a request, a payment, a merchant and a partner’s activity › shown to operators, and logged for the partner', async () => {
  const request = (await admin.open(`/admin/requests/${wanted.id}`)).html;
  for (const part of ['Table 7', 'ada@example.com', '€1,200.50', 'Paid', '/admin/partners/searched', payment.txHash]) {
    assert.ok(request.includes(part), part);
  }
  for (const copied of [wanted.id, payment.txHash, getAddress(merchant.wallet)])
    assert.ok(request.includes(`data-copy="${copied}"`), copied);
  const paymentPath = /href="(\/admin\/payments\/[^"]+)"/.exec(request)?.[1] ?? assert.fail('no payment');
  const shown = (await admin.open(paymentPath)).html;
  for (const part of [getAddress(payment.from.address), wanted.id, '1,304.891305'])
    assert.ok(shown.includes(part), part);
  for (const copied of [getAddress(payment.from.address), wanted.id, payment.txHash])
    assert.ok(shown.includes(`data-copy="${copied}"`), copied);
  const ofMerchant = (await admin.open(`/admin/merchants/${merchant.id}`)).html;
  for (const part of [wanted.id, '7.654321', getAddress(merchant.wallet)]) assert.ok(ofMerchant.includes(part), part);
  assert.ok(ofMerchant.includes(`data-copy="${getAddress(merchant.wallet)}"`));
  const activity = (await admin.open('/admin/partners/searched/activity?mode=test')).html;
  for (const part of ['€1,200.50', 'requests:write', 'Webhook endpoint']) assert.ok(activity.includes(part), part);
  assert.ok(!activity.includes(key.key));
  const ofPartner = (await admin.open('/admin/partners/searched')).html;
  assert.ok(ofPartner.includes('data-copy="searched"'));
  assert.match(ofPartner, /href="\/admin\/partners\/searched\/activity"/);

  const rows = (await logged()).filter(({ action }) => action === 'data.viewed');
  assert.ok(rows.every(({ partner_id, actor_kind }) => partner_id === partner.id && actor_kind === 'operator'));
  for (const id of [wanted.id, merchant.id, partner.id])
    assert.ok(
      rows.some(({ object_id }) => object_id === id),
      id,
    );
  const owner = await portalVisitor(fixtures.ctx, url, partner.id);
  assert.match((await owner.open('/portal/audit')).html, /Viewed by the operator/);
});

test('pages of one thing › unknown and malformed names are not found, and nobody else opens them', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000';
  const paths = ['requests', 'merchants', 'payments'].flatMap((place) => [
    `/admin/${place}/${unknown}`,
    `/admin/${place}/x`,
  ]);
  for (const path of [...paths, '/admin/partners/nobody/activity', `/admin/payments/31337_0x${'0'.repeat(64)}_0`]) {
    assert.equal((await admin.open(path)).status, 404, path);
  }
  const owner = await portalVisitor(fixtures.ctx, url, partner.id);
  for (const visitor of [owner, startVisitor(url)]) {
    for (const path of [`/admin/requests/${wanted.id}`, '/admin/search?q=a', '/admin/partners/searched/activity']) {
      assert.ok(!(await visitor.open(path)).html.includes('Table 7'), path);
    }
  }
});
