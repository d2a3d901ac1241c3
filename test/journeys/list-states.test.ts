import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

/** The ids of all pages of a list, as its links lead from one to the next. */
async function listed(visitor: Visitor, address: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | undefined = address; next !== undefined && pages.length < 10; ) {
    const { html } = await visitor.open(next);
    pages.push(
      [...html.matchAll(/href="\/(?:portal\/requests|dashboard\/payments)\/([0-9a-f-]{36})"/g)].map(
        ([, id]) => `${id}`,
      ),
    );
    next = /<a href="([^"]+)" rel="next">/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  return pages;
}

/** A merchant's expired requests, newest first; for every fourth money came too late, and of every fifth a part came. */
async function makeExpired(count: number) {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.unshift((await makeRequest(app.db, scope, merchant)).id);
  const late = ids.filter((_, n) => n % 4 === 1);
  const part = ids.filter((_, n) => n % 5 === 1);
  await app.db.sql`update requests set status = 'expired' where id = any(${ids}::uuid[])`;
  await app.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, candidate_request_id, judged_at)
    select 31337, '0x' || encode(sha256(id::text::bytea), 'hex'), 0, 1, '0x', now(), '0x', '0x', wallet_address, 50000, partner_id,
      test_mode, account_id, 'late', id, now() from requests where id = any(${late}::uuid[])`;
  await app.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, request_id, counts, judged_at)
    select 31337, '0xa' || encode(sha256(id::text::bytea), 'hex'), 0, 1, '0x', now(), '0x', '0x', wallet_address, 5, partner_id,
      test_mode, account_id, id, true, now() from requests where id = any(${part}::uuid[])`;
  return { partner, scope, merchant, ids, late, part };
}

test('the portal’s list of a state that some of its requests only seem to have → full pages without them, each request once', async () => {
  const { partner, ids, late, part } = await makeExpired(130);
  const visitor = await portalVisitor(app.ctx, app.url, partner.id, 'viewer');
  const expired = ids.filter((id) => !late.includes(id) && !part.includes(id));
  const pages = await listed(visitor, '/portal/requests?status=expired');
  assert.deepEqual(pages.flat(), expired);
  assert.deepEqual(
    pages.map(({ length }) => length),
    [50, expired.length - 50],
  );
  assert.deepEqual((await listed(visitor, '/portal/requests?status=late')).flat(), late);
  const underpaid = part.filter((id) => !late.includes(id));
  assert.deepEqual((await listed(visitor, '/portal/requests?status=underpaid')).flat(), underpaid);
  assert.deepEqual((await listed(visitor, '/portal/requests?status=paid')).flat(), []);
});

test('money of less than a cent that came too late → does not make its request look paid late', async () => {
  const { partner, late, part } = await makeExpired(12);
  const whole = late.filter((id) => !part.includes(id));
  const [dust, cent] = whole;
  await app.db.sql`update transfers set value = 9999 where candidate_request_id = ${dust ?? ''}`;
  await app.db.sql`update transfers set value = 10000 where candidate_request_id = ${cent ?? ''}`;
  const visitor = await portalVisitor(app.ctx, app.url, partner.id, 'viewer');
  assert.deepEqual(
    (await listed(visitor, '/portal/requests?status=late')).flat(),
    late.filter((id) => id !== dust),
  );
  assert.ok((await listed(visitor, '/portal/requests?status=expired')).flat().includes(`${dust}`));
});

test('a request of less than a cent that was paid too late → looks paid late in both lists; with less money it does not', async () => {
  const { partner, test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope, { currency: 'JPY' });
  const yen = { fiatInt: 1, fiatCode: 'JPY', exactMicro: 6_700n };
  const [paid, less] = [
    await makeRequest(app.db, scope, merchant, yen),
    await makeRequest(app.db, scope, merchant, yen),
  ];
  await app.db.sql`update requests set status = 'expired' where id = any(${[paid.id, less.id]}::uuid[])`;
  await app.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, candidate_request_id, judged_at)
    select 31337, '0x' || encode(sha256(id::text::bytea), 'hex'), 0, 1, '0x', now(), '0x', '0x', wallet_address,
      usdc_micro - case when id = ${less.id} then 1 else 0 end, partner_id, test_mode, account_id, 'late', id, now()
    from requests where id = any(${[paid.id, less.id]}::uuid[])`;
  const visitor = await portalVisitor(app.ctx, app.url, partner.id, 'viewer');
  assert.deepEqual((await listed(visitor, '/portal/requests?status=late')).flat(), [paid.id]);
  assert.deepEqual((await listed(visitor, '/portal/requests?status=expired')).flat(), [less.id]);
  const dashboard = startVisitor(app.url);
  dashboard.cookies.set('dashboard-session', await sessionOf(app.ctx, scope, merchant));
  const { html } = await dashboard.open('/dashboard/payments');
  assert.deepEqual(html.match(/[\d.]+ USDC arrived but does not count/g), ['0.006700 USDC arrived but does not count']);
});

test('the dashboard’s list of such a state → full pages, and partially paid requests have a list of their own', async () => {
  const { scope, merchant, ids, part } = await makeExpired(80);
  const visitor = startVisitor(app.url);
  visitor.cookies.set('dashboard-session', await sessionOf(app.ctx, scope, merchant));
  const expired = ids.filter((id) => !part.includes(id));
  const pages = await listed(visitor, '/dashboard/payments?state=expired');
  assert.deepEqual(pages.flat(), expired);
  assert.deepEqual(
    pages.map(({ length }) => length),
    [50, expired.length - 50],
  );
  assert.deepEqual((await listed(visitor, '/dashboard/payments?state=part')).flat(), part);
});
