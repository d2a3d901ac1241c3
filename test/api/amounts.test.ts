import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Api, type ApiPartner, startApi } from '../support/api/client.ts';
import { makeMerchant } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
});
after(() => api?.stop());

type Merchant = { id: string; wallet: string };
const usdMerchant = () => makeMerchant(api.db, one.test.scope, { currency: 'USD' });
async function micro(merchant: Merchant, fiat_amount_int = 1250): Promise<number> {
  const made = await one.test.api.create({ account_id: merchant.id, fiat_amount_int });
  assert.equal(made.status, 201, made.text);
  return Number(made.json.amount.usdc_micro);
}

test('Amounts › the first request with an amount gets it exactly, the next ones the smallest free surcharge', async () => {
  const merchant = await usdMerchant();
  const amounts = [await micro(merchant), await micro(merchant), await micro(merchant), await micro(merchant, 1251)];
  assert.deepEqual(amounts, [12_500_000, 12_500_001, 12_500_002, 12_510_000]);
});

test('Amounts › another wallet is not concerned', async () => {
  assert.equal(await micro(await usdMerchant()), 12_500_000);
  assert.equal(await micro(await usdMerchant()), 12_500_000);
});

test('Amounts › 60 parallel creates of one amount get 60 different ones without a gap', async () => {
  const merchant = await usdMerchant();
  const amounts = await Promise.all(Array.from({ length: 60 }, () => micro(merchant)));
  assert.deepEqual(
    amounts.toSorted((a, b) => a - b),
    Array.from({ length: 60 }, (_, i) => 12_500_000 + i),
  );
});

test('Amounts › a replay reserves nothing more', async () => {
  const merchant = await usdMerchant();
  const body = { account_id: merchant.id, fiat_amount_int: 1250, idempotency_key: 'r'.repeat(32) };
  await one.test.api.create(body);
  await one.test.api.create(body);
  assert.equal(await micro(merchant), 12_500_001);
});

test('Amounts › stay reserved while voided or expired, for 24 h', async () => {
  const merchant = await usdMerchant();
  const made = await one.test.api.create({ account_id: merchant.id, fiat_amount_int: 1250 });
  await one.test.api.cancel(made.json.request_id);
  assert.equal(await micro(merchant), 12_500_001);
  const [row] = await api.db.sql`
    select extract(epoch from reserved_until - now()) / 3600 as hours from amount_reservations
    where request_id = ${made.json.request_id}`;
  assert.ok(Math.abs(Number(row?.hours) - 24) < 0.1, `${row?.hours} hours`);
});

test('Amounts › held by another partner for the same wallet: the registry spans the platform', async () => {
  const [former, now] = [await api.partner({ currency: 'USD' }), await api.partner({ currency: 'USD' })];
  const merchant = await makeMerchant(api.db, former.test.scope, { currency: 'USD' });
  for (let i = 0; i < 8; i++) {
    const made = await former.test.api.create({ account_id: merchant.id, fiat_amount_int: 1250 });
    assert.equal(made.status, 201);
  }
  await api.db.sql`delete from wallets where address = ${merchant.wallet}`;
  const heir = await makeMerchant(api.db, now.test.scope, { currency: 'USD', wallet: merchant.wallet });
  const made = await now.test.api.create({ account_id: heir.id, fiat_amount_int: 1250 });
  assert.equal(made.json.amount.usdc_micro, '12500008');
});

test('Amounts › with all 10,000 taken the request is still made, exactly, without a reservation', async () => {
  const merchant = await usdMerchant();
  const first = await one.test.api.create({ account_id: merchant.id, fiat_amount_int: 1250 });
  await api.owner.begin(async (tx) => {
    await tx`
      create temp table copies on commit drop as
      select r.*, s.i from requests r, generate_series(1, 9999) as s (i) where r.id = ${first.json.request_id}`;
    await tx`
      update copies set id = gen_random_uuid(), usdc_micro = usdc_micro + i,
        created_at = created_at - interval '1 day' - i * interval '1 millisecond'`;
    await tx`alter table copies drop column i`;
    await tx`insert into requests select * from copies`;
    await tx`
      insert into amount_reservations
      select wallet_address, usdc_micro, partner_id, test_mode, id, now(), now() + interval '1 day' from copies`;
  });
  for (let i = 0; i < 2; i++) {
    const made = await one.test.api.create({ account_id: merchant.id, fiat_amount_int: 1250 });
    assert.equal(made.status, 201);
    assert.equal(made.json.amount.usdc_micro, '12500000');
    const reserved = await api.db.sql`
      select from amount_reservations where request_id = ${made.json.request_id}`;
    assert.equal(reserved.length, 0);
  }
  assert.equal(await micro(merchant, 1251), 12_510_000);
});
