import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { CreateRequest } from '../../src/requests/contract.ts';
import { changes, changeWallet, type Situation } from '../support/api/changed-merchants.ts';
import { type Api, startApi, withinOneMinute } from '../support/api/client.ts';
import { atOnce, type Call, create, remembered, several, type Told } from '../support/api/concurrent-creates.ts';
import { makeKey, makeMerchant, randomAddress } from '../support/fixtures.ts';

/** Creates of one moment are stored by one statement. Each must be answered and stored as if it were alone. */
let api: Api;
let first: Situation;
let good: Situation[];
before(async () => {
  api = await startApi();
  [first, ...good] = (await several(api, 4)) as [Situation, ...Situation[]];
});
after(() => api?.stop());

const storedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from requests where account_id = ${merchant.id}`).length;
const reservedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from amount_reservations where wallet_address = ${merchant.wallet}`).length;
const callsOf = async ({ keyId }: Situation) =>
  (
    await api.db.sql<{ calls: number }[]>`
    select calls from rate_counters where subject = ${keyId} and action = 'requests.create'`
  )[0]?.calls;
const statusesOf = (answers: Told[]) => answers.map(({ status }) => status);
const idempotencyKey = () => randomUUID().replaceAll('-', '');

/** Sends a create of each in one moment; all of them are stored together. */
async function together(calls: Call[]) {
  const { answers, seen } = await atOnce(api, first, calls);
  assert.deepEqual(seen.sizes(), [calls.length]);
  return { answers, seen };
}

const rowOf = async (id: string) => {
  const [row] = await api.db.sql`
    select (to_jsonb(r) - '{id,partner_id,account_id,wallet_address,idempotency_key,reference,usdc_micro,created_at,made_at,
        expires_at}'::text[])::text as same,
      r.expires_at - r.made_at as lasts, r.created_at = r.made_at as at_once, r.wallet_chain_ids, length(r.reference),
      r.account_id, r.partner_id, r.wallet_address, r.idempotency_key, a.usdc_micro = r.usdc_micro as reserved,
      a.reserved_until between r.expires_at + interval '23 hours' and r.expires_at + interval '25 hours' as kept, w.watch_until >= r.expires_at + interval '59 days' as watched
    from requests r left join amount_reservations a on a.request_id = r.id
      left join watched_wallets w on w.wallet_address = r.wallet_address and w.account_id = r.account_id
    where r.id = ${id}`;
  return row;
};

test('eight creates of one moment and eight partners → one statement; each row and answer is as that of one alone', async () => {
  const fields: Record<string, unknown>[] = [
    { memo: 'Table 7', customer_name: 'Ada', metadata: { order: 'A-1', 7: 'b' } },
    { memo: '{"a",\\b}', metadata: { '": NULL': '"\\"', ключ: '☕' } },
    {
      payment_mode: 'invoice',
      customer_name: 'null',
      customer_email: 'ada@example.com',
      customer_phone: '+31612345678',
    },
    { expiry_minutes: 60, idempotency_key: idempotencyKey() },
    { expiry_minutes: 43_200, memo: 'NULL' },
    { fiat_amount_int: 99_999_999 },
    { fiat_amount_int: 1240 }, // an amount that is taken
    { fiat_currency_code: 'USD' },
  ];
  const sent = new Set(['account_id', ...fields.flatMap((one) => Object.keys(one))]);
  const missing = Object.keys(CreateRequest.properties).filter((name) => !sent.has(name));
  assert.deepEqual(missing, [], 'send this field of the contract here, too');
  const all = await several(api, 8);
  const chains = [null, [31337], [31337, 1]];
  for (const [at, { merchant }] of all.entries()) {
    await api.db.sql`update merchants set wallet_chain_ids = ${chains[at % 3] ?? null} where id = ${merchant.id}`;
    await create(api, [all[at] as Situation, { fiat_amount_int: 777 }]); // remembers it
  }
  const { answers, seen } = await together(all.map((one, at) => [one, fields[at]]));
  assert.deepEqual([seen.alone, seen.others], [1, 0], 'but for the first, nothing else was sent');
  for (const [at, { status, json }] of answers.entries()) {
    const one = all[at] as Situation;
    assert.equal(status, 201, JSON.stringify(json));
    assert.deepEqual((await one.one.test.api.read(json.request_id, { key: one.key })).json, json, 'as it is read');
    const alone = await create(api, [one, { ...fields[at], idempotency_key: idempotencyKey() }]);
    const [row, like] = [await rowOf(json.request_id), await rowOf(alone.json.request_id)];
    assert.deepEqual({ ...row, idempotency_key: null }, { ...like, idempotency_key: null });
    assert.deepEqual(
      [row?.partner_id, row?.account_id, row?.wallet_address, row?.reserved, row?.watched],
      [one.one.partner.id, one.merchant.id, one.merchant.wallet, true, true],
    );
    assert.equal(row?.idempotency_key, fields[at]?.idempotency_key ?? null);
  }
  assert.equal(answers[6]?.json.amount.usdc_micro, '12400001', 'the smallest free surcharge');
});

test('live and test creates of one moment → stored apart', async () => {
  const live = await Promise.all(
    good.slice(0, 2).map(async ({ one }) => {
      const scope = { ...one.test.scope, testMode: false };
      const merchant = await makeMerchant(api.db, scope, { currency: 'USD' });
      const { key, key_id: keyId } = await makeKey(api.db, scope);
      const situation = { one, merchant, key, keyId };
      await create(api, [situation]);
      return situation;
    }),
  );
  const others = await several(api, 2);
  const { answers, seen } = await atOnce(
    api,
    first,
    [...live, ...others].map((one): Call => [one]),
  );
  assert.deepEqual(
    [statusesOf(answers), seen.sizes()],
    [
      [201, 201, 201, 201],
      [2, 2],
    ],
  );
  const rows = await api.db.sql`
    select test_mode from requests where id = any(${answers.map(({ json }) => json.request_id)}) order by id`;
  assert.equal(rows.filter(({ test_mode }) => test_mode).length, 2);
});

test('one of a group is sent to another partner’s own host → 401, neither stored nor counted, and the others are stored', async () => {
  const [a, lost, b] = (await several(api, 3)) as [Situation, Situation, Situation];
  const before = [await storedBy(lost), await callsOf(lost)];
  const host = `${a.one.partner.slug}.localhost`;
  const { answers } = await together([[a], [lost, {}, host], [b, {}, `${b.one.partner.slug}.localhost`]]);
  assert.deepEqual([statusesOf(answers), answers[1]?.json.error], [[201, 401, 201], 'unauthorized']);
  assert.deepEqual([await storedBy(lost), await callsOf(lost)], before);
});

const moreChanges: typeof changes = {
  'its wallet changed': [(db, { merchant: { id } }) => changeWallet(db, id, randomAddress()), 201],
  'its rate overridden': [
    (db, { merchant: { id } }) =>
      db.sql`with given as (insert into rate_overrides (code, rate) values ('AUD', '1.5'))
        update merchants set display_currency = 'AUD' where id = ${id}`,
    201,
  ],
};

for (const [title, [change, status, error]] of Object.entries({ ...changes, ...moreChanges })) {
  test(`one of a group has ${title} → it is answered as a first create is, and the others are stored`, async () => {
    const changed = await remembered(api);
    await change(api.db, changed);
    const [a, b] = good as [Situation, Situation];
    const before = await Promise.all([a, changed, b].map(storedBy));
    const { answers, seen } = await together([[a], [changed, { fiat_amount_int: 1270 }], [b]]);
    assert.deepEqual([statusesOf(answers), answers[1]?.json.error], [[201, status, 201], error]);
    const more = [1, status === 201 ? 1 : 0, 1];
    const stored = await Promise.all([a, changed, b].map(storedBy));
    assert.deepEqual(
      stored,
      before.map((count, at) => count + (more[at] as number)),
    );
    const elsewhere = await api.db.sql`
      select from requests r join merchants m on m.id = r.account_id
      where r.id = ${answers[1]?.json.request_id ?? null}::uuid and r.wallet_address <> m.wallet_address`;
    assert.equal(elsewhere.length, 0, 'it asks for the money at the merchant’s present wallet');
    assert.equal(seen.alone, status === 401 ? 2 : 1, 'nobody else’s is sent again');
    const unused = await api.db.sql`
      select from amount_reservations a where partner_id = ${changed.one.partner.id}
        and not exists (select from requests r where r.id = a.request_id)`;
    assert.equal(unused.length, 0);
    if (status === 401 || status === 403) return;
    const { key } = await makeKey(api.db, changed.one.test.scope);
    const like = await create(api, [{ ...changed, key }, { fiat_amount_int: 1270 }]);
    const said = ({ json }: Pick<Told, 'json'>) => {
      const { error, amount, created_at, expires_at } = json;
      const lastsMs = expires_at && Date.parse(expires_at) - Date.parse(created_at);
      return { error, code: amount?.fiat_code, minutes: lastsMs && lastsMs / 60_000 };
    };
    assert.deepEqual([like.status, said(like)], [status, said(answers[1] as Told)]);
  });
}

test('one of a group whose wallet is about to be watched no longer, and whose partner’s clock is ahead → watched and expiring in real time', async () => {
  const one = await remembered(api);
  const { wallet } = one.merchant;
  await api.db.sql`update watched_wallets set watch_until = now() + interval '1 day' where wallet_address = ${wallet}`;
  await api.db
    .sql`update partner_clocks set last_at = now() + interval '30 days' where partner_id = ${one.one.partner.id}`;
  const [other] = good as [Situation];
  const { answers, seen } = await together([[other], [one, { fiat_amount_int: 1270, expiry_minutes: 5 }]]);
  assert.deepEqual([statusesOf(answers), seen.sizes()], [[201, 201], [2]]);
  const [row] = await api.db.sql`
    select r.created_at > now() + interval '29 days' as ordered, r.expires_at < now() + interval '1 hour' as expires,
      w.watch_until between now() + interval '59 days' and now() + interval '61 days' as watched
    from requests r join watched_wallets w using (wallet_address) where r.id = ${answers[1]?.json.request_id ?? null}`;
  assert.deepEqual(row, { ordered: true, expires: true, watched: true });
});

test('the rate of a currency is refreshed → the one create that assumed the old rate gets the new one', async () => {
  await api.db.sql`delete from rate_overrides where code = 'KWD'`;
  const fetch = (rate: string) => api.db.sql`
    insert into rates values ('KWD', ${rate}, '[{"source":"kraken"}]', now())
    on conflict (code) do update set rate = excluded.rate, fetched_at = excluded.fetched_at`;
  await fetch('0.31');
  const one = await remembered(api, 'KWD');
  const rateOf = async (answers: Told[]) =>
    (await api.db.sql`select rate from requests where id = ${answers[1]?.json.request_id ?? ''}`)[0]?.rate;
  const [other] = good as [Situation];
  assert.equal(await rateOf((await together([[other], [one]])).answers), '0.31');
  await fetch('0.31');
  const { answers, seen } = await together([[other], [one]]);
  assert.deepEqual([await rateOf(answers), statusesOf(answers), seen.others > 0], ['0.31', [201, 201], true]);
  await fetch('0.32');
  assert.equal(await rateOf((await together([[other], [one]])).answers), '0.32');
});

test('limits: each create of a group is counted once, whatever becomes of it, and one beyond its own limit is refused', async () => {
  await withinOneMinute(api.db, async () => {
    const all = await several(api, 5);
    const [last, over, fine, disabled, used] = all as [Situation, Situation, Situation, Situation, Situation];
    const count = ({ keyId }: Situation, calls: number) => api.db.sql`
      update rate_counters set calls = ${calls} where subject = ${keyId} and action = 'requests.create'`;
    await count(last, 59);
    await count(over, 60);
    await api.db.sql`update merchants set disabled_by_partner = true where id = ${disabled.merchant.id}`;
    const key = { idempotency_key: idempotencyKey() };
    await create(api, [used, key]);
    const { answers } = await together([[last], [over], [fine], [disabled], [used, key]]);
    assert.deepEqual(statusesOf(answers), [201, 429, 201, 400, 200]);
    assert.deepEqual(await Promise.all(all.map(callsOf)), [60, 61, 2, 2, 3]);
    assert.deepEqual(await Promise.all(all.map(storedBy)), [2, 1, 2, 1, 2]);
    assert.deepEqual(await Promise.all(all.map(reservedBy)), [2, 1, 2, 1, 2]);
  });
});

test('a key used before → the stored request whatever else is sent, nothing reserved, and the others are stored', async () => {
  const [one, other] = good as [Situation, Situation];
  const key = { idempotency_key: idempotencyKey() };
  const { json } = await create(api, [one, key]);
  const before = [await storedBy(one), await reservedBy(one), await storedBy(other)];
  for (const more of [{}, { fiat_amount_int: 99_999 }, { memo: 5 }]) {
    const { answers } = await atOnce(api, first, [[one, { ...key, ...more }], [other]]);
    assert.deepEqual(statusesOf(answers), [200, 201]);
    assert.deepEqual([answers[0]?.json.request_id, answers[0]?.json.idempotent_replay], [json.request_id, true]);
  }
  const [stored, reserved, more] = before as [number, number, number];
  assert.deepEqual([await storedBy(one), await reservedBy(one), await storedBy(other)], [stored, reserved, more + 3]);
});

test('simultaneous creates of one partner → each in its own statement', async () => {
  const one = await remembered(api);
  const { key, key_id: keyId } = await makeKey(api.db, one.one.test.scope);
  const again = { ...one, key, keyId };
  await create(api, [again]);
  const { answers, seen } = await atOnce(api, one, [[one], [again], [again]]);
  assert.deepEqual([statusesOf(answers), seen.sizes(), seen.alone], [[201, 201, 201], [], 4]);
});
