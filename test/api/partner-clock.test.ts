import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService, withAudit } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { identifiers } from '../../src/db/sql.ts';
import { createMerchantManually } from '../../src/merchants/manual.ts';
import { watchPartnerClocks } from '../../src/requests/clock-alarm.ts';
import { createInScope } from '../../src/requests/create-in-scope.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { type Api, type ApiPartner, startApi } from '../support/api/client.ts';
import { makeMerchant } from '../support/fixtures.ts';

let api: Api;

before(async () => {
  api = await startApi();
});
after(() => api?.stop());

const day = 24 * 3_600_000;
const minute = 60_000;

/** Sets a scope's last time as if the database's clock had been this far ahead for one of its requests. */
async function jump({ partnerId, testMode }: Scope, ms: number): Promise<number> {
  const [row] = await api.db.sql<{ last_at: Date }[]>`
    update partner_clocks set last_at = clock_timestamp() + ${ms} * interval '1 ms'
    where partner_id = ${partnerId} and test_mode = ${testMode} returning last_at`;
  return row?.last_at.getTime() ?? 0;
}

/** For times that are days or minutes apart. */
const isNear = (at: string | Date, ms: number) => Math.abs(new Date(at).getTime() - Date.now() - ms) < minute;

test('POST requests › the partner’s clock is 30 days ahead → the order continues from there, times count from now', async () => {
  const { test: side } = await api.partner();
  const body = {
    account_id: side.merchant.id,
    fiat_amount_int: 1250,
    expiry_minutes: 5,
    idempotency_key: 'o'.repeat(32),
  };
  const ahead = await jump(side.scope, 30 * day);
  const { json } = await side.api.create(body);
  assert.ok(Date.parse(json.created_at) > ahead, 'the order never goes back');
  assert.ok(isNear(json.expires_at, 5 * minute), json.expires_at);
  const [row] = await api.db.sql`
    select a.reserved_at, a.reserved_until, w.watch_until, w.changed_at from amount_reservations a, watched_wallets w
    where a.request_id = ${json.request_id} and w.account_id = ${side.merchant.id}`;
  assert.ok(
    isNear(row?.reserved_at, 0) && isNear(row?.reserved_until, day + 5 * minute),
    'a payment must be later than real time',
  );
  assert.ok(isNear(row?.changed_at, 0) && isNear(row?.watch_until, 60 * day + 5 * minute), 'watched in real time');

  const { idempotency_key: _, ...again } = body;
  const decidedBefore = (await side.api.create(again)).json;
  assert.ok(Date.parse(decidedBefore.created_at) > Date.parse(json.created_at));
  const [reserved] = await api.db.sql`
    select reserved_until from amount_reservations where request_id = ${decidedBefore.request_id}`;
  assert.ok(
    isNear(decidedBefore.expires_at, 5 * minute) && isNear(reserved?.reserved_until, day + 5 * minute),
    'the same by the statement for a create decided before',
  );

  assert.equal((await side.api.create(body)).json.idempotent_replay, true);
  const differing = await api.db.sql`select from differing_replays where request_id = ${json.request_id}`;
  assert.equal(differing.length, 0, 'the same time to live is the same');
});

test('POST accounts › the clock is 30 days ahead → the 30 days of its unsigned wallet begin now', async () => {
  const { test: side } = await api.partner();
  await jump(side.scope, 30 * day);
  const wallet = `0x${'ab'.repeat(20)}`;
  assert.equal((await side.api.createAccount({ wallet_address: wallet })).status, 201);
  const [claimed] = await api.db.sql`select claimed_at from wallets where address = ${wallet}`;
  assert.ok(isNear(claimed?.claimed_at, 0), claimed?.claimed_at);
});

/** Creates something manually in a transaction that stays open until the test ends it. */
async function held(partner: ApiPartner, make: (inner: Context) => Promise<unknown>) {
  const [made, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const work = async (inner: Context) => {
    await make(inner);
    made.resolve();
    await end.promise;
  };
  const object = { kind: 'partner', id: partner.partner.slug } as const;
  const told = () => ({
    partnerId: partner.partner.id,
    testMode: null,
    object,
    action: 'partner.enabled' as const,
    details: {},
  });
  const done = withAudit(api.ctx, theService, work, told);
  await made.promise;
  return { done, end: end.resolve };
}

const byHand = ({ test: side }: ApiPartner) => ({
  account_id: side.merchant.id,
  fiat_amount_int: 100,
  idempotency_key: 'h'.repeat(40),
});

test('Manual creates that wait before they commit → creates by API go first, and a reader misses none', async () => {
  const partner = await api.partner();
  const { test: side } = partner;
  const waiting = await held(partner, (inner) => createInScope(inner, side.scope, byHand(partner)));
  const fields = { display_currency: 'EUR', business_name: 'Corner Books' };
  const shell = await held(partner, (inner) => createMerchantManually(inner, theService, side.scope, fields, null));
  const merchant = await makeMerchant(api.db, side.scope);
  const called = await side.api.create({ account_id: merchant.id, fiat_amount_int: 100 });
  assert.equal(called.status, 201, 'nobody holds the clock');
  const seen = (await side.api.list()).json.requests.map(({ request_id }) => request_id);
  assert.deepEqual(seen, [called.json.request_id]);
  waiting.end();
  shell.end();
  await Promise.all([waiting.done, shell.done]);

  const [first, hand] = (await side.api.list()).json.requests;
  assert.equal(first?.request_id, called.json.request_id);
  assert.ok(
    hand && hand.created_at > called.json.created_at && isNear(hand.created_at, 0),
    'its place is its commit’s',
  );
  const books = (await side.api.listAccounts()).json.merchants.at(-1);
  assert.ok(books?.business_name === 'Corner Books' && isNear(books.created_at, 0));
  const next = await side.api.create({ account_id: merchant.id, fiat_amount_int: 100 });
  assert.ok(next.json.created_at > hand.created_at);
});

test('POST requests › the wallet was freed after the gate had read the merchant → 400, and nothing is left', async () => {
  const partner = await api.partner();
  const { test: side } = partner;
  const { id, wallet } = side.merchant;
  let freed = false;
  // The gate's statement is the last read of the merchant before the write.
  const racing: Context['db'] = {
    ...api.db,
    sql: new Proxy(api.db.sql, {
      apply: (sql, self, args: [{ raw?: readonly string[] }, ...unknown[]]) => {
        if (freed || !args[0]?.raw?.join('').includes('create_request(')) return Reflect.apply(sql, self, args);
        freed = true;
        const release = api.db.scoped(side.scope, async (tx) => {
          await tx`update merchants set wallet_address = null, onboarded_at = null where id = ${id}`;
          await tx`delete from wallets where address = ${wallet}`;
        });
        return release.then(() => Reflect.apply(sql, self, args));
      },
    }),
  };
  await assert.rejects(createInScope({ ...api.ctx, db: racing }, side.scope, byHand(partner)), {
    code: 'merchant_onboarding_incomplete',
  });
  assert.equal(freed, true);
  for (const table of ['requests', 'amount_reservations', 'watched_wallets']) {
    const rows = await api.db.sql`select from ${identifiers(table)} where partner_id = ${partner.partner.id}`;
    assert.equal(rows.length, 0, table);
  }
});

test('An order more than a second ahead of the time → an alarm that names the partner, until time has caught up', async () => {
  const { partner, test: side } = await api.partner();
  const alarm = async () => {
    await watchPartnerClocks(api.ctx);
    return (await raisedAlarms(api.db.sql)).get('order_ahead');
  };
  await api.db.sql`update partner_clocks set last_at = clock_timestamp() + interval '900 ms'`;
  assert.equal(await alarm(), undefined, 'many creates at once bring it ahead by a little');
  await jump(side.scope, 30 * day);
  assert.match((await alarm()) ?? '', new RegExp(`: ${partner.slug} \\(test\\) until 20`));
  await jump(side.scope, -minute);
  assert.equal(await alarm(), undefined);
});

test('A manual create and one by API under the same key, at the same time → one request', async () => {
  const partner = await api.partner();
  const { test: side } = partner;
  const waiting = await held(partner, (inner) => createInScope(inner, side.scope, byHand(partner)));
  const replay = side.api.create(byHand(partner));
  waiting.end();
  await waiting.done;
  const [row] = await api.db.sql`select id from requests where account_id = ${side.merchant.id}`;
  assert.equal((await replay).json.request_id, row?.id);
});

test('60 creates of one amount at the same time → each has its own amount', async () => {
  const { test: side } = await api.partner();
  const keys = await Promise.all([side.api.newKey(), side.api.newKey()]);
  const made = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      side.api.create({ account_id: side.merchant.id, fiat_amount_int: 100 }, { key: keys[i % 2] as string }),
    ),
  );
  assert.equal(new Set(made.map(({ json }) => json.amount.usdc_micro)).size, 60);
  const [reserved] = await api.db.sql`
    select count(*)::int as amounts from amount_reservations where wallet_address = ${side.merchant.wallet}`;
  assert.equal(reserved?.amounts, 60);
});
