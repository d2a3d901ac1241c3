import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startApp } from '../support/app.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
let merchant: Awaited<ReturnType<typeof makeMerchant>>;
let browser: Browser;

before(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
  for (const chain of app.ctx.chains.test) chain.name = 'Base Sandbox';
  fixtures = await makePartner(app.db);
  merchant = await makeMerchant(app.db, fixtures.test);
});
after(async () => {
  await browser.close();
  await app.stop();
});

/** A phone's browser without script: whatever works here works everywhere. */
async function open(url: string): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: sizes.phone });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('requestfailed', (request) => complaints.push(request.url()));
  await page.goto(url);
  return { page, complaints };
}

/** Asserts no sideways overflow at either size. */
async function assertFits(page: Page): Promise<void> {
  for (const size of Object.values(sizes)) {
    await page.setViewportSize(size);
    const box = await page.locator('html').boundingBox();
    const widths = await page
      .locator('main *')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
    assert.ok(box && Math.max(...widths) <= size.width + 1, `wider than ${size.width}`);
  }
}

const hash = (digit: string) => `0x${digit.repeat(64)}`;

async function countTransfer(id: string, value: bigint) {
  await app.db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, request_id, rule, counts, judged_at)
    select 31337, ${`0x${id.replaceAll('-', '').repeat(2)}`}, 0, 10, ${hash('b')}, now(), ${`0x${'5f'.repeat(20)}`},
      ${`0x${'ab'.repeat(20)}`}, ${merchant.wallet}, ${value.toString()}, ${fixtures.partner.id}, true, ${merchant.id}, ${id},
      'reference', true, now()`;
}

test('A customer opens the page in a browser without script: it opens the request, fits, and breaks no policy', async () => {
  const row = await makeRequest(app.db, fixtures.test, merchant, { memo: 'Two loaves of rye and a birthday cake' });
  const { page, complaints } = await open(`${app.url}/pay/${row.id}`);
  await page.getByRole('heading', { name: 'Ada’s Bakery' }).waitFor();
  await assertFits(page);
  await photograph(page, 'pay-waiting');
  assert.deepEqual(complaints, []);
  const [stored] = await app.db.sql`select status from requests where id = ${row.id}`;
  assert.equal(stored?.status, 'opened');

  await page.getByText('Sent it, but it’s not showing?').click();
  await page.getByLabel('Transaction hash').fill('0x1234');
  await page.getByRole('button', { name: 'Find this transaction' }).click();
  await page.getByText('This is not a transaction hash').waitFor();
  assert.equal(await page.getByLabel('Transaction hash').inputValue(), '0x1234');
  await photograph(page, 'pay-hash-refused');
});

test('Every state of a payment has a text that fits', async () => {
  const states: [string, string, (id: string, due: bigint) => Promise<unknown>][] = [
    ['underpaid', 'is missing', (id, due) => countTransfer(id, due - 2_500_001n)],
    [
      'confirming',
      'Confirming your payment',
      async (id, due) => {
        await countTransfer(id, due);
        await app.db.sql`update requests set proof_status = 'attached' where id = ${id}`;
      },
    ],
    [
      'paid',
      'Paid',
      async (id, due) => {
        await countTransfer(id, due);
        await app.db.sql`
          update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = ${hash('c')},
            payer_address = ${`0x${'ab'.repeat(20)}`}, asset_id = ${`eip155:31337/erc20:0x${'5f'.repeat(20)}`}
          where id = ${id}`;
      },
    ],
    ['expired', 'has expired', (id) => app.db.sql`update requests set expires_at = now() where id = ${id}`],
    [
      'voided',
      'was cancelled',
      (id) => app.db.sql`update requests set status = 'voided', voided_at = now() where id = ${id}`,
    ],
    [
      'reorged',
      'reversed the payment',
      (id) => app.db.sql`update requests set proof_note = 'reorged' where id = ${id}`,
    ],
  ];
  for (const [name, words, put] of states) {
    const row = await makeRequest(app.db, fixtures.test, merchant, {
      fiatInt: 123_456_789,
      exactMicro: 1_342_000_000_001n,
    });
    await put(row.id, BigInt(row.usdc_micro));
    const { page } = await open(`${app.url}/pay/${row.id}`);
    await page.getByRole('status').filter({ hasText: words }).first().waitFor();
    await assertFits(page);
    await photograph(page, `pay-${name}`);
    await page.context().close();
  }
  const { page } = await open(`${app.url}/pay/nothing`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  await photograph(page, 'pay-unknown');
});

test('The API reference without script → it says what it needs, and where the same content is', async () => {
  const { page } = await open(`${app.url}/docs/`);
  const said = page.locator('noscript p');
  assert.ok(await said.isVisible());
  assert.match((await said.textContent()) ?? '', /needs JavaScript.* in the OpenAPI document\.$/);
  assert.equal(await said.locator('a').getAttribute('href'), '/openapi.json');
  await page.context().close();
});
