import assert from 'node:assert/strict';
import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto';
import { after, before, test } from 'node:test';
import { keyHashes } from '../../src/auth/api-keys.ts';
import { passGateAsGroup } from '../../src/auth/gate-group.ts';
import { connect, type Sql, type Tx } from '../../src/db/connection.ts';
import type { Pool } from '../../src/db/pool.ts';
import { buildServer } from '../../src/http/server.ts';
import { storedAsGroup } from '../../src/requests/grouped-creates-store.ts';
import { reserveRestAmount, selectRests } from '../../src/requests/reserved-rests.ts';
import type { Assumed } from '../../src/requests/store.ts';
import type { Situation } from '../support/api/changed-merchants.ts';
import { type Api, startApi } from '../support/api/client.ts';
import {
  type Call,
  create,
  remembered,
  sendAll,
  several,
  type Told,
  watchCreates,
} from '../support/api/concurrent-creates.ts';
import { openOne } from '../support/database.ts';
import { makeRequest, testSecrets } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

/** Creates that are stored together hold what each of them locks. Nobody may wait for another one's locks for long. */
let api: Api;
/** A session beside the server's. */
let holder: Pool;
before(async () => {
  api = await startApi();
  holder = openOne(api.databaseUrl);
});
after(async () => {
  await holder?.end();
  await api?.stop();
});

const statusesOf = (answers: Told[]) => answers.map(({ status }) => status);
const idempotencyKey = () => randomUUID().replaceAll('-', '');
const storedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from requests where account_id = ${merchant.id}`).length;
const reservedBy = async ({ merchant }: Situation) =>
  (await api.db.sql`select from amount_reservations where wallet_address = ${merchant.wallet}`).length;
/** Waits until this many sessions wait for a lock. */
const waiting = (count: number) =>
  until(async () => {
    const rows = await api.owner`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length === count;
  }, `${count} wait for a lock`);

const used = { idempotency_key: idempotencyKey() };
const locks: Record<string, (tx: Tx, one: Situation) => PromiseLike<unknown>> = {
  'its count': (tx, { keyId }) => tx`select from rate_counters where subject = ${keyId} for update`,
  'its idempotency key': (tx, { one: { partner }, merchant }) => tx`
    select pg_advisory_xact_lock(hashtext('request key'),
      hashtext(concat(${partner.id}::uuid, true, ${merchant.id}::uuid, ${used.idempotency_key}::text)))`,
  'its wallet': (tx, { merchant }) =>
    tx`select pg_advisory_xact_lock(hashtext('request wallet'), hashtext(${merchant.wallet}))`,
  'its wallet’s owner': (tx, { merchant }) => tx`select from wallets where address = ${merchant.wallet} for update`,
  'its clock': (tx, { one: { partner } }) =>
    tx`select from partner_clocks where partner_id = ${partner.id} and test_mode for update`,
};

for (const [what, lock] of Object.entries(locks)) {
  test(`one of a group waits for ${what} → it waits alone, and neither its group nor the next one does`, async () => {
    const [first, stuck, ...others] = (await several(api, 5)) as [Situation, Situation, ...Situation[]];
    const seen = watchCreates(api);
    const all: Promise<Told>[] = [];
    await holder.begin(async (tx) => {
      await lock(tx, stuck);
      const calls = [first, ...others].map((one): Call => [one]);
      const [, ...group] = sendAll(api, [...calls, [stuck, used]]);
      all.push(...group);
      assert.deepEqual(statusesOf(await Promise.all(group.slice(0, -1))), [201, 201, 201], 'before the lock is free');
      await waiting(1);
      const next = sendAll(api, [...calls, [stuck]]);
      all.push(...next);
      assert.deepEqual(statusesOf(await Promise.all(next.slice(0, -1))), [201, 201, 201, 201]);
      assert.deepEqual(seen.sizes(), [4, 3], 'whose create waits for a lock is in no group');
    });
    assert.deepEqual(statusesOf(await Promise.all(all)), Array(9).fill(201));
    seen.end();
    const counts = await Promise.all([stuck, ...others].map(storedBy));
    assert.deepEqual([counts, await reservedBy(stuck)], [[3, 3, 3, 3], 3]);
  });
}

const request = ({ merchant }: Situation, more: Partial<Assumed['request']> = {}): Assumed['request'] => ({
  ...{ id: randomUUIDv7(), accountId: merchant.id, idempotencyKey: null, fiatInt: 1250, fiatCode: 'USD' },
  ...{ exactMicro: 12_500_000n, rate: '1', rateSource: 'override', memo: null, paymentMode: 'pos' },
  ...{ customerName: null, customerEmail: null, customerPhone: null, metadata: '{}' },
  ...{ walletAddress: merchant.wallet, reference: randomBytes(16), expiryMinutes: 15 },
  ...more,
});
const assumedOf = (one: Situation, more?: Partial<Assumed['request']>): Assumed => {
  const { allowed_expiry_minutes: allowedExpiryMinutes, default_expiry_minutes: defaultExpiryMinutes } =
    one.one.partner;
  const caller = { scope: one.one.test.scope, currency: 'USD', allowedExpiryMinutes, defaultExpiryMinutes };
  return { request: request(one, more), caller, rateAt: null, paidOn: null, chainIds: [31337] };
};
const rule = { endpoint: 'requests.create', perMinute: 1_000_000, scope: 'requests:write' } as const;
/** The statement that stores a group, without a server. */
const store = (sql: Sql | Tx, all: { key: string; assumed: Assumed }[]) =>
  passGateAsGroup(
    sql as Sql,
    rule,
    all.map(({ key }) => ({ hashes: keyHashes(testSecrets, key), owner: null })),
    storedAsGroup(
      sql as Sql,
      all.map(({ assumed }) => assumed),
    ),
  );

test('a group that is not committed yet, and a create of the same key and amount by the earlier statement → one request', async () => {
  const one = await remembered(api);
  const [key, other] = [idempotencyKey(), idempotencyKey()];
  // The count of the group's key is locked too, so other keys of the partner ask.
  const [same, next] = [await keyOf(one), await keyOf(one)];
  const answers = await holder.begin(async (tx) => {
    const [row] = await store(tx, [{ key: one.key, assumed: assumedOf(one, { idempotencyKey: key }) }]);
    assert.ok(row?.id, 'stored');
    const asked = [same, next].map((own, at) => create(api, [own, { idempotency_key: at === 0 ? key : other }]));
    await waiting(2);
    return asked;
  });
  const [replay, made] = await Promise.all(answers);
  assert.deepEqual([replay?.status, replay?.json.idempotent_replay, made?.status], [200, true, 201]);
  assert.equal(made?.json.amount.usdc_micro, '12500001', 'the amount is taken');
  assert.deepEqual([await storedBy(one), await reservedBy(one)], [5, 5]);
});

/** Another key of a partner, whose creates go by the statement for one. */
async function keyOf(one: Situation): Promise<Situation> {
  const key = await one.one.test.api.newKey();
  assert.equal((await create(api, [{ ...one, key }, { fiat_amount_int: 300 }])).status, 201);
  return { ...one, key };
}

test('a create by the earlier statement that is not committed yet, and a group with the same key → one request', async () => {
  const [first, one, other] = (await several(api, 3)) as [Situation, Situation, Situation];
  const key = idempotencyKey();
  const { request: r } = assumedOf(one, { idempotencyKey: key });
  const seen = watchCreates(api);
  const [, fine, replay] = await holder.begin(async (tx) => {
    const [row] = await tx`
      select id from store_as_assumed(true, ${one.one.partner.id}, true, ${r.id}, ${r.accountId}, ${key}, ${r.fiatInt},
        ${r.fiatCode}, ${String(r.exactMicro)}, ${r.rate}, null, ${r.rateSource}, null, 'pos', null, null, null, '{}',
        ${r.walletAddress}, null, ${Buffer.from(r.reference)}, ${[31337]}, '15 minutes')`;
    assert.equal(row?.id, r.id);
    const asked = sendAll(api, [[first], [other], [one, { idempotency_key: key }]]);
    assert.equal((await asked[1])?.status, 201, 'the other one of the group');
    await waiting(1);
    return asked;
  });
  seen.end();
  assert.deepEqual([(await fine)?.status, (await replay)?.status, (await replay)?.json.request_id], [201, 200, r.id]);
  assert.deepEqual([seen.sizes(), await storedBy(one), await reservedBy(one)], [[2], 2, 2]);
});

test('a group whose amount is reserved meanwhile for what is left of another request → that stays reserved, and the create gets the next', async () => {
  const one = await remembered(api);
  const { scope } = one.one.test;
  const owed = await makeRequest(api.db, scope, one.merchant, { exactMicro: 30_000_000n });
  const alone = connect(api.access, { service: 1, scoped: 1 });
  const { storing } = await api.db.scoped(scope, async (tx) => {
    await reserveRestAmount(tx, scope, owed.id, 12_500_000n);
    const storing = store(alone.sql, [{ key: one.key, assumed: assumedOf(one) }]);
    await waiting(1);
    return { storing };
  });
  const [row] = await storing;
  assert.equal(row?.id ?? null, null, 'it is stored by itself then');
  const rests = await api.db.scoped(scope, (tx) => selectRests(tx, scope, owed.id));
  assert.deepEqual([...rests], [{ rest_micro: '12500000', usdc_micro: '12500000' }]);
  const made = await create(api, [one]);
  assert.deepEqual([made.status, made.json.amount.usdc_micro], [201, '12500001']);
  await alone.close();
});

test('two nodes whose groups have the same partners, keys and amounts in any order → no deadlock, and one request for each key', async () => {
  const own = connect(api.access, { service: 4, scoped: 2 });
  const app = await buildServer({ ...api.ctx, db: own });
  const node = { db: own, url: await app.listen({ host: '127.0.0.1', port: 0 }) };
  const all = await several(api, 9);
  for (const one of all) assert.equal((await create(node, [one])).status, 201);
  const [first, ...eight] = all as [Situation, ...Situation[]];
  const [here, there] = [watchCreates(api), watchCreates(node)];
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    const calls = eight.map((one): Call => [one, { idempotency_key: idempotencyKey() }]);
    const turned = [...calls.slice(round % 8), ...calls.slice(0, round % 8)].reverse();
    const [ours, theirs] = await Promise.all([
      Promise.all(sendAll(api, [[first], ...calls])),
      Promise.all(sendAll(node, [[first], ...turned])),
    ]);
    const by = (answers: Told[], sent: Call[]) =>
      new Map(answers.slice(1).map(({ status, json }, at) => [sent[at]?.[0].key, [status, json.request_id] as const]));
    const [a, b] = [by(ours, calls), by(theirs, turned)];
    for (const { key } of eight) {
      assert.deepEqual([a.get(key)?.[0], b.get(key)?.[0]].sort(), [200, 201]);
      assert.equal(a.get(key)?.[1], b.get(key)?.[1]);
    }
  }
  for (const one of eight) {
    const stored = await storedBy(one);
    assert.deepEqual([stored, await reservedBy(one)], [2 + rounds, 2 + rounds]);
  }
  assert.ok(here.groups.length > 0 && there.groups.length > 0, 'of both');
  here.end();
  await app.close();
  await own.close();
});

test('groups of the same partners in opposite orders, by the statement itself → none waits for another in a circle', async () => {
  // Before a group gives up waiting, so that a deadlock is distinguished from any other wait.
  await api.owner.unsafe(`do $$ begin
    execute format('alter database %I set deadlock_timeout = ''5ms''', current_database()); end $$`);
  const eight = await several(api, 8);
  const sessions = Array.from({ length: 4 }, () => connect(api.access, { service: 1, scoped: 1 }));
  // Each session has its own keys, so that they do not already wait for each other's counts.
  const keys = await Promise.all(
    sessions.map(() => Promise.all(eight.map(async (one) => ({ one, key: await one.one.test.api.newKey() })))),
  );
  const deadlocks: unknown[] = [];
  let stored = 0;
  await Promise.all(
    sessions.map(async ({ sql }, at) => {
      for (let round = 0; round < 15; round++) {
        const own = keys[at] ?? [];
        const turned = [...own.slice((round + at) % 8), ...own.slice(0, (round + at) % 8)];
        const group = at % 2 ? turned.reverse() : turned;
        const idempotencyKey = `round-${round}`;
        const calls = group.map(({ one, key }) => ({ key, assumed: assumedOf(one, { idempotencyKey }) }));
        try {
          const rows = await store(sql, calls);
          stored += rows.filter((row) => row?.id).length;
        } catch (error) {
          if ((error as { code?: string }).code !== '55P03') deadlocks.push(error);
        }
      }
    }),
  );
  await Promise.all(sessions.map((db) => db.close()));
  assert.deepEqual(deadlocks, []);
  assert.ok(stored > 0);
});
