import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Reason } from '../../src/payments/rules.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest, makeTransfer, randomAddress, unmatched } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let one: Awaited<ReturnType<typeof makeMerchant>>;
let two: Awaited<ReturnType<typeof makeMerchant>>;
let owner: Visitor;

const usdc = `0x${'5f'.repeat(20)}`;
const start = Math.floor(Date.now() / 1000) - 10_000;
const hash = () => `0x${randomBytes(32).toString('hex')}`;

/** An unmatched transfer, as payments stores it. */
async function storeUnmatched(
  merchant: { id: string; wallet: string },
  details: { at: number; reason?: Reason; value?: string; token?: string; candidate?: string; txHash?: string },
): Promise<string> {
  const { at, reason = 'no_match', value = '1250000', token = usdc, candidate = null, txHash = hash() } = details;
  return makeTransfer(app.db.sql, fixtures.test, merchant, {
    ...unmatched(reason),
    tx_hash: txHash,
    block_time: new Date((start + at) * 1000),
    token_address: token,
    value,
    candidate_request_id: candidate,
  });
}

before(async () => {
  app = await startApp();
  fixtures = await makePartner(app.db);
  [one, two] = [await makeMerchant(app.db, fixtures.test), await makeMerchant(app.db, fixtures.test)];
  owner = await portalVisitor(app.ctx, app.url, fixtures.partner.id);
});
after(() => app.stop());

const listed = (html: string) =>
  [...html.matchAll(/<span class="mono" title="(0x[0-9a-f]{64})">/g)].map(([, tx]) => tx);

test('an unmatched payment whose network or token was removed from the configuration → its amount is still shown', async () => {
  await storeUnmatched(one, { at: 0, token: randomAddress(), value: '4440000' });
  const { html } = await owner.open('/portal/unmatched');
  assert.match(html, /<span class="figures">4\.44 USDC<\/span>/);
  await app.db.sql`delete from transfers where value = 4440000`;
});

test('unmatched payments › with the reason in words, by merchant and by reason', async () => {
  assert.match((await owner.open('/portal/unmatched')).html, /No unmatched payments/);
  const request = await makeRequest(app.db, fixtures.test, one);
  const late = await storeUnmatched(one, { at: 1, reason: 'late', candidate: request.id });
  const foreign = await storeUnmatched(two, {
    at: 2,
    reason: 'wrong_token',
    token: randomAddress(),
    value: `7${'0'.repeat(60)}`,
  });
  const none = await storeUnmatched(two, { at: 3 });
  const { html } = await owner.open('/portal/unmatched');
  assert.deepEqual(listed(html), [none, foreign, late]);
  for (const text of ['1.25 USDC', 'Arrived too late', 'Wrong token', 'No reference to a request'])
    assert.ok(html.includes(text), text);
  assert.ok(html.includes(`/portal/requests/${request.id}`));
  assert.ok(!html.includes('7000000'), 'what a stranger’s token counts in is not known');
  const find = async (query: string) => listed((await owner.open(`/portal/unmatched?${query}`)).html);
  assert.deepEqual(await find(`account_id=${two.id}`), [none, foreign]);
  assert.deepEqual(await find('account_id=x'), []);
  await app.db.sql`update merchants set business_name = 'Corner Shop' where id = ${two.id}`;
  assert.deepEqual(await find('account_id=corner'), [none, foreign], 'by a part of its name');
  assert.match((await owner.open('/portal/unmatched?account_id=x')).html, /No entries match/);
  assert.deepEqual(await find('reason=late'), [late]);
  assert.deepEqual(await find('reason=no_match'), [none]);
  assert.deepEqual(await find(`since=${new Date((start + 2) * 1000).toISOString()}`), [none, foreign]);
  assert.deepEqual(await find(`until=${new Date((start + 2) * 1000).toISOString()}`), [late]);

  const summed = async () => {
    const { html } = await owner.open('/portal');
    return /(\d+) unmatched payments[\s\S]*?([\d.]+) USDC reached your merchants/.exec(html)?.slice(1);
  };
  assert.deepEqual(await summed(), ['3', '2.50']);
  const nowS = Math.floor(Date.now() / 1000);
  for (const days of [29, 31]) await storeUnmatched(two, { at: nowS - days * 86_400 - start, value: '1000000' });
  assert.deepEqual(await summed(), ['4', '3.50'], 'of the last 30 days');
  await app.db.sql`delete from transfers where value = 1000000`;

  const stranger = await portalVisitor(app.ctx, app.url, (await makePartner(app.db)).partner.id);
  assert.deepEqual(listed((await stranger.open('/portal/unmatched')).html), []);
  assert.deepEqual(listed((await stranger.open(`/portal/unmatched?account_id=${one.id}`)).html), []);
  assert.deepEqual(await find('mode=live'), []);
  await owner.open('/portal?mode=test');
});

test('unmatched payments › pages and CSV hold each one once, also those of one second', async () => {
  const made: string[] = [];
  for (let i = 0; i < 120; i++) made.push(await storeUnmatched(one, { at: 100 + (i % 2), reason: 'conflict' }));
  const seen: string[] = [];
  let path: string | undefined = '/portal/unmatched?reason=conflict';
  for (let page = 0; path && page < 5; page++) {
    const { html } = await owner.open(path);
    seen.push(...listed(html).filter((tx) => tx !== undefined));
    path = /<a href="([^"]+)" rel="next">/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  }
  assert.deepEqual(seen.toSorted(), made.toSorted());
  const csv = (await owner.open('/portal/unmatched.csv?reason=conflict')).html.trimEnd().split('\r\n');
  assert.match(csv[0] ?? '', /^account_id,merchant,reason,/);
  assert.deepEqual(
    csv
      .slice(1)
      .map((row) => row.split(',')[9])
      .toSorted(),
    made.toSorted(),
  );
  assert.match(csv[1] ?? '', /,conflict,,1\.25,USDC,/);
});
