import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { checksum62, randomBase62 } from '../../src/lib/text/base62.ts';
import { resetOnboarding } from '../../src/onboarding/reset.ts';
import { changes, changeWallet, type Situation } from '../support/api/changed-merchants.ts';
import { type Answer, type Api, startApi, withinOneMinute } from '../support/api/client.ts';
import { makeKey, makeMerchant, randomAddress } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

/**
 * A create is decided by what the last one of its key for its merchant read, and stored by one statement that compares
 * it. Whatever has changed since must count all the same, as it does for a key that creates for the first time.
 */
let api: Api;
before(async () => {
  api = await startApi();
});
after(() => api?.stop());

/** A merchant of its own partner with a key that has created for it twice: the second time in one statement. */
async function remembered(currency = 'USD'): Promise<Situation> {
  const one = await api.partner({ currency });
  const merchant = await makeMerchant(api.db, one.test.scope, { currency });
  const { key, key_id } = await makeKey(api.db, one.test.scope);
  const situation = { one, merchant, key, keyId: key_id };
  assert.equal((await create(situation)).status, 201);
  const sent = await statementsOf(() => create(situation, { fiat_amount_int: 1260 }));
  assert.deepEqual([sent.length, /store_as_assumed/.test(sent[0] ?? '')], [1, true], 'one statement for all');
  return situation;
}

async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  api.db.sql.observer = (_connection, { text }) => sent.push(text);
  await work().finally(() => {
    api.db.sql.observer = null;
  });
  return sent;
}

const create = ({ one, merchant, key }: Situation, more: Record<string, unknown> = {}) =>
  one.test.api.create({ account_id: merchant.id, fiat_amount_int: 1250, ...more }, { key });
const storedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from requests where account_id = ${merchant.id}`).length;

/** An answer without what differs between two creates of the same. */
function said({ status: code, json }: Answer) {
  const { request_id, pay_page_url, created_at, expires_at, amount, message, ...rest } = json;
  const minutes = expires_at && (Date.parse(expires_at) - Date.parse(created_at)) / 60_000;
  return { code, minutes, cents: amount && Math.floor(Number(amount.usdc_micro) / 10_000), ...rest };
}

for (const [title, [change, status, error]] of Object.entries(changes)) {
  test(`a merchant remembered, then ${title} → the next create says so, and stores what a first one would`, async () => {
    const situation = await remembered();
    await change(api.db, situation);
    const before = await storedBy(situation);
    const answer = await create(situation, { fiat_amount_int: 1270 });
    assert.deepEqual([answer.status, answer.json.error], [status, error], answer.text);
    assert.equal(await storedBy(situation), before + (status === 201 ? 1 : 0));
    if (status === 401 || status === 403) return;
    const { key } = await makeKey(api.db, situation.one.test.scope);
    assert.deepEqual(said(answer), said(await create({ ...situation, key }, { fiat_amount_int: 1270 })));
  });
}

for (const chains of [null, [31337], [31337, 1]]) {
  test(`a wallet paid on ${chains?.join(' and ') ?? 'any chain'} → the row is as that of a create that reads first`, async () => {
    const one = await api.partner({ currency: 'USD' });
    const merchant = await makeMerchant(api.db, one.test.scope, { currency: 'USD' });
    await api.db.sql`update merchants set wallet_chain_ids = ${chains} where id = ${merchant.id}`;
    const { key, key_id: keyId } = await makeKey(api.db, one.test.scope);
    const more = { memo: 'Table 7', customer_name: 'Ada', metadata: { order: 'A-1', 7: 'b' } };
    const situation = { one, merchant, key, keyId };
    const [first, second] = [await create(situation, more), await create(situation, more)];
    assert.deepEqual(said(second), said(first));
    const rows = await api.db.sql`
      select (to_jsonb(r) - '{id,reference,usdc_micro,created_at,made_at,expires_at}'::text[])::text as kept,
        r.expires_at - r.made_at as lasts, r.created_at = r.made_at as at_once, r.wallet_chain_ids
      from requests r where account_id = ${merchant.id} order by created_at`;
    assert.deepEqual(rows[1], rows[0]);
    assert.deepEqual([rows.length, rows[0]?.wallet_chain_ids], [2, chains]);
    const shown = (await one.test.api.call('GET', `/api/v1/requests/${second.json.request_id}`, { key })).json;
    assert.deepEqual(shown, second.json, 'shown as it is read');
  });
}

for (const isRemembered of [true, false]) {
  const who = isRemembered ? 'a merchant remembered' : 'a merchant';
  test(`${who}, and a reset while it is created for → the create waits for that, and asks for nothing at the wallet that was given up`, async () => {
    const situation = await remembered();
    const { one, merchant } = situation;
    const { scope } = one.test;
    const key = isRemembered ? situation.key : (await makeKey(api.db, scope)).key;
    const waiting = (count: number) =>
      until(async () => {
        const rows = await api.owner`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length === count;
      }, `${count} wait for a lock`);
    const { reset, created } = await api.db.transaction(async (tx) => {
      // The reset has locked wallet and merchant, and waits for this.
      await tx`select from requests where account_id = ${merchant.id} for update`;
      const reset = resetOnboarding(api.ctx, theService, scope, merchant.id);
      await waiting(1);
      const created = create({ ...situation, key });
      await waiting(2);
      return { reset, created };
    });
    assert.equal(await reset, true);
    const answer = await created;
    assert.deepEqual([answer.status, answer.json.error], [400, 'merchant_onboarding_incomplete'], answer.text);
    const open = await api.db.sql`select from requests where account_id = ${merchant.id} and status <> 'voided'`;
    assert.equal(open.length, 0);
  });
}

test('a reset that began while the wallet changed, and a create for the new wallet → the reset is done at the first attempt', async () => {
  const { one, merchant } = await remembered();
  const { scope } = one.test;
  const { key } = await makeKey(api.db, scope);
  const wallet = randomAddress();
  /** Waits until a session waits for a lock with such a statement. */
  const waits = (statement: string) =>
    until(async () => {
      const rows = await api.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ~ ${statement}`;
      return rows.length > 0;
    }, `${statement} waits for a lock`);
  let attempts = 0;
  const scoped: typeof api.db.scoped = (...args) => {
    attempts++;
    return api.db.scoped(...args);
  };
  const { reset, created } = await api.db.transaction(async (holder) => {
    await holder`select from requests where account_id = ${merchant.id} for update`;
    const { reset } = await api.db.transaction(async (tx) => {
      await tx`update merchants set wallet_address = ${wallet} where id = ${merchant.id}`;
      await tx`insert into wallets values (${wallet}, ${scope.partnerId}, true, ${merchant.id}, now(), now())`;
      const reset = resetOnboarding({ ...api.ctx, db: { ...api.db, scoped } }, theService, scope, merchant.id);
      await waits('from merchants');
      return { reset };
    });
    await waits('from requests');
    const created = one.test.api.create({ account_id: merchant.id, fiat_amount_int: 1250 }, { key });
    await waits('create_request');
    return { reset, created };
  });
  assert.deepEqual([await reset, attempts], [true, 1], 'neither waited for the other in a circle');
  const answer = await created;
  assert.deepEqual([answer.status, answer.json.error], [400, 'merchant_onboarding_incomplete'], answer.text);
});

test('the wallet changed, and the earlier one stays claimed → the next request is for the new one', async () => {
  const situation = await remembered();
  const { merchant } = situation;
  const wallet = randomAddress();
  await changeWallet(api.db, merchant.id, wallet);
  const { request_id } = (await create(situation, { fiat_amount_int: 1270 })).json;
  const [row] = await api.db.sql`
    select r.wallet_address, a.wallet_address as reserved_at from requests r
    join amount_reservations a on a.request_id = r.id where r.id = ${request_id}`;
  assert.deepEqual([row?.wallet_address, row?.reserved_at], [wallet, wallet]);
});

for (const isRemembered of [true, false]) {
  const who = isRemembered ? 'a merchant remembered' : 'a merchant';
  test(`${who}, and the wallet changed between the decision and the create → nothing is asked for at the earlier wallet`, async () => {
    const situation = await remembered();
    const { one, merchant } = situation;
    const key = isRemembered ? situation.key : (await makeKey(api.db, one.test.scope)).key;
    const askedFor = async () =>
      (await api.db.sql`select from requests where wallet_address = ${merchant.wallet}`).length;
    const before = await askedFor();
    const { created } = await api.db.transaction(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext('request wallet'), hashtext(${merchant.wallet}))`;
      const created = create({ ...situation, key });
      await until(async () => {
        const rows = await api.owner`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length === 1;
      }, 'the create waits');
      await changeWallet(api.db, merchant.id, randomAddress());
      return { created };
    });
    const answer = await created;
    assert.deepEqual([answer.status, await askedFor()], [isRemembered ? 201 : 400, before], answer.text);
  });
}

test('the wallet is about to be watched no longer → the next create has it watched for two months more', async () => {
  const situation = await remembered();
  const { one, merchant } = situation;
  for (const key of [situation.key, (await makeKey(api.db, one.test.scope)).key]) {
    await api.db.sql`
      update watched_wallets set watch_until = now() + interval '1 day' where wallet_address = ${merchant.wallet}`;
    await create({ ...situation, key }, { fiat_amount_int: 1270 });
    const [watched] = await api.db.sql`
      select watch_until > now() + interval '59 days' as long from watched_wallets
      where wallet_address = ${merchant.wallet}`;
    assert.equal(watched?.long, true);
  }
});

test('the rate is refreshed, overridden, and the override ended → each create uses the rate of its time', async () => {
  const situation = await remembered('KWD');
  const rateOf = async () => {
    const { request_id } = (await create(situation, { fiat_amount_int: 1000 })).json;
    const [row] = await api.db.sql`select rate, rate_source from requests where id = ${request_id}`;
    return [row?.rate, row?.rate_source === 'override'];
  };
  await api.db.sql`delete from rate_overrides where code = 'KWD'`;
  const fetch = (rate: string) => api.db.sql`
    insert into rates values ('KWD', ${rate}, '[{"source":"kraken"}]', now())
    on conflict (code) do update set rate = excluded.rate, fetched_at = excluded.fetched_at`;
  await fetch('0.31');
  assert.deepEqual(await rateOf(), ['0.31', false]);
  assert.deepEqual(await rateOf(), ['0.31', false]);
  await fetch('0.32');
  assert.deepEqual(await rateOf(), ['0.32', false]);
  await api.db.sql`insert into rate_overrides (code, rate) values ('KWD', '0.32')`;
  assert.deepEqual(await rateOf(), ['0.32', true], 'the same rate from elsewhere');
  await api.db.sql`update rate_overrides set until = now() where code = 'KWD'`;
  assert.deepEqual(await rateOf(), ['0.32', false]);
  await api.db.sql`update rates set fetched_at = now() - interval '11 minutes' where code = 'KWD'`;
  const answer = await create(situation);
  assert.deepEqual([answer.status, answer.json.error], [503, 'rate_unavailable']);
});

test('an amount that is taken → the smallest free surcharge, still in one statement', async () => {
  const situation = await remembered();
  const sent = await statementsOf(async () => {
    const made = await create(situation, { fiat_amount_int: 1260 });
    assert.equal(made.json.amount.usdc_micro, '12600001');
  });
  assert.equal(sent.length, 1);
});

test('a key used before, with the same values and with others → the stored request, and nothing is stored or reserved', async () => {
  const situation = await remembered();
  const idempotency_key = randomUUID().replaceAll('-', '');
  const first = await create(situation, { idempotency_key });
  const [before, reserved] = [await storedBy(situation), await reservedBy(situation)];
  for (const more of [{}, { fiat_amount_int: 99_999 }, { memo: 5 }]) {
    const again = await create(situation, { idempotency_key, ...more });
    assert.deepEqual(
      [again.status, again.json.request_id, again.json.idempotent_replay],
      [200, first.json.request_id, true],
      again.text,
    );
  }
  assert.deepEqual([await storedBy(situation), await reservedBy(situation)], [before, reserved]);
});

test('100 creates at once under 5 keys, all remembered → 5 requests', async () => {
  const situation = await remembered();
  const keys = Array.from({ length: 5 }, () => randomUUID().replaceAll('-', ''));
  const others = await Promise.all(
    Array.from({ length: 4 }, async () => ({
      ...situation,
      key: (await makeKey(api.db, situation.one.test.scope)).key,
    })),
  );
  for (const other of others) await create(other, { fiat_amount_int: 1300 });
  const before = await storedBy(situation);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => create(others[i % 4] ?? situation, { idempotency_key: keys[i % 5] })),
  );
  assert.equal(await storedBy(situation), before + 5);
  assert.equal(new Set(answers.map(({ json }) => json.request_id)).size, 5);
  assert.equal(answers.filter(({ status }) => status === 201).length, 5);
  assert.equal(await reservedBy(situation), await storedBy(situation), 'one amount for each');
});

test('a key used by a remembered create that is not stored yet, and by one that reads first → one request for both', async () => {
  const situation = await remembered();
  const { key } = await makeKey(api.db, situation.one.test.scope);
  const idempotency_key = randomUUID().replaceAll('-', '');
  const [before, reserved] = [await storedBy(situation), await reservedBy(situation)];
  const answers = await api.db.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('request wallet'), hashtext(${situation.merchant.wallet}))`;
    const assumed = create(situation, { idempotency_key });
    await waiting(1);
    const read = create({ ...situation, key }, { idempotency_key });
    await waiting(2);
    return [assumed, read];
  });
  const [first, second] = await Promise.all(answers);
  assert.deepEqual([first?.status, second?.status], [201, 200], second?.text);
  assert.equal(second?.json.request_id, first?.json.request_id);
  assert.deepEqual([await storedBy(situation), await reservedBy(situation)], [before + 1, reserved + 1]);
});

/** Waits until this many creates wait for a wallet. */
const waiting = (count: number) =>
  until(async () => {
    const rows = await api.db.sql`
      select from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
    return rows.length === count;
  }, `${count} wait for the wallet`);

test('fields of odd shapes, with a key that exists and with an invented one → refused in words, and nothing fails', async () => {
  const { one, key } = await remembered();
  const odd = { toString: 1, valueOf: 1 };
  const invented = `qt_test_${randomBase62(32)}`;
  const unknown = invented + checksum62(invented);
  for (const body of [{ account_id: odd }, { account_id: [odd] }, { account_id: randomUUID(), memo: odd }]) {
    const answer = await one.test.api.create({ fiat_amount_int: 1250, ...body }, { key });
    assert.deepEqual([answer.status, answer.json.error], [400, 'invalid_request'], answer.text);
    assert.equal((await one.test.api.create({ fiat_amount_int: 1250, ...body }, { key: unknown })).status, 401);
  }
});

const reservedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from amount_reservations where wallet_address = ${merchant.wallet}`).length;

test('the limit reached, a wrong host, faults in the fields → refused, and nothing is stored', async () => {
  const situation = await remembered();
  const before = await storedBy(situation);
  const other = await api.partner();
  const host = `${other.partner.slug}.${new URL(api.ctx.config.baseUrl).host}`;
  const { one, merchant, key } = situation;
  const body = { account_id: merchant.id, fiat_amount_int: 1250 };
  assert.equal((await one.test.api.create(body, { key, headers: { host } })).status, 401);
  assert.equal((await create(situation, { fiat_amount_int: '1250' })).status, 400);
  assert.equal((await create(situation, { fiat_currency_code: 'EUR' })).json.error, 'currency_mismatch');
  assert.equal((await create(situation, { fiat_currency_code: 'XXX' })).json.error, 'invalid_request');
  assert.equal(await storedBy(situation), before);
  await withinOneMinute(api.db, async () => {
    const fresh = { ...situation, key: (await makeKey(api.db, one.test.scope)).key };
    const from = await storedBy(situation);
    const statuses: number[] = [];
    for (let i = 0; i < 62; i++) statuses.push((await create(fresh)).status);
    assert.deepEqual([statuses.indexOf(429), await storedBy(situation)], [60, from + 60]);
  });
});
