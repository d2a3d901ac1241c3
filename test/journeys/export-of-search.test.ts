import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

// A search shows at most 500 results, so what it found must not be downloaded as if it were all.

/** More than a search reads before it has found enough. */
const many = 1_503;
const payer = `0x${'9a'.repeat(20)}`;
const start = '2026-01-05T00:00:00Z';

let fixtures: DashboardFixtures;
let visitors: [Visitor, string][];
before(async () => {
  fixtures = await dashboardFixtures();
  const { db, owner, scope, merchant } = fixtures;
  const { id } = await makeRequest(db, scope, merchant, { memo: 'a crate of apples' });
  await owner`
    insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
      payment_mode, memo, metadata, wallet_address, reference, start_blocks, created_at, made_at, expires_at, status,
      proof_status)
    select partner_id, test_mode, gen_random_uuid(), account_id, fiat_int, fiat_code, usdc_micro + n, reserved, rate,
      payment_mode, memo, metadata, wallet_address, uuid_send(gen_random_uuid()), start_blocks,
      ${start}::timestamptz + n * interval '1 hour', ${start}::timestamptz + n * interval '1 hour',
      ${start}::timestamptz + n * interval '2 hours', 'expired', 'none'
    from requests, generate_series(1, ${many - 1}::int) n where id = ${id}`;
  await owner`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, candidate_request_id, reason, judged_at)
    select ${fixtures.node.chain.chainId}, '0x' || lpad(to_hex(row_number() over ()), 64, '0'), 0, 1, '0x', created_at,
      ${fixtures.node.chain.tokens[0]?.address ?? ''}, ${payer}, wallet_address, usdc_micro, partner_id, test_mode,
      account_id, id, 'late', now() from requests`;
  visitors = [
    [fixtures.visitor, '/dashboard/payments'],
    [await portalVisitor(fixtures.ctx, fixtures.url, scope.partnerId), '/portal/requests'],
  ];
  await makeMerchant(db, scope);
});
after(() => fixtures?.stop());

for (const [what, word] of [
  ['a word', 'apples'],
  ['a payer', payer],
] as const) {
  test(`a search for ${what} finds more than it shows → the page says so and offers no file, and there is none`, async () => {
    for (const [visitor, path] of visitors) {
      const page = await visitor.open(`${path}?q=${word}`);
      assert.equal(page.status, 200);
      assert.ok(/Showing the newest 500 matches|Searched the newest/.test(page.html), path);
      assert.ok(!page.html.includes('.csv'));
      const file = await visitor.open(`${path}.csv?q=${word}`);
      assert.equal(file.status, 409, path);
      assert.doesNotMatch(file.headers.get('content-type') ?? '', /csv/);
    }
  });
}

test('the same with dates that leave few → the file has all of them', async () => {
  for (const [visitor, path] of visitors) {
    const query = 'q=apples&since=2026-01-05&until=2026-01-06';
    const link = new RegExp(`href="${path}\\.csv\\?${query.replaceAll('&', '&amp;')}"`);
    // On a busy machine a search may end early; then there is no file.
    let text = '';
    await until(async () => {
      const [page, file] = [await visitor.open(`${path}?${query}`), await visitor.open(`${path}.csv?${query}`)];
      text = file.html;
      return link.test(page.html) && file.status === 200;
    }, 'the file');
    const rows = text.trimEnd().split('\r\n').slice(1);
    assert.equal(rows.length, path.startsWith('/dashboard') ? 47 : 23, path);
  }
});

test('a search for a payer of more unmatched payments than it finds → no file either; with dates that leave few → all of them', async () => {
  const [, [visitor] = assert.fail()] = visitors;
  const page = await visitor.open(`/portal/unmatched?q=${payer}`);
  assert.ok(page.html.includes('Showing the newest 500 matches') && !page.html.includes('.csv'));
  assert.equal((await visitor.open(`/portal/unmatched.csv?q=${payer}`)).status, 409);
  const days = 'since=2026-01-05&until=2026-01-06';
  const file = await visitor.open(`/portal/unmatched.csv?q=${payer}&${days}`);
  assert.equal(file.status, 200);
  assert.equal(file.html.trimEnd().split('\r\n').length - 1, 23);
});

test('a search for a transaction of 800 tiny transfers and a payment → the payment is found', async () => {
  const [, [visitor] = assert.fail()] = visitors;
  const txHash = `0x${'7'.repeat(64)}`;
  await fixtures.owner`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, judged_at)
    select chain_id, ${txHash}, n, 1, '0x', block_time, token_address, ${`0x${'8b'.repeat(20)}`}, to_address,
      case when n = 700 then 98765432 else 1 end, partner_id, test_mode, account_id, 'no_match', now()
    from (select * from transfers limit 1) one, generate_series(0, 799) n`;
  let html = '';
  for (let path = `/portal/unmatched?q=${txHash}`; path && !html.includes('98.765432'); ) {
    html = (await visitor.open(path)).html;
    path = /href="([^"]+)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  }
  assert.ok(html.includes('98.765432'));
});
