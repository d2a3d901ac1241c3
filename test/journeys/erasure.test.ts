import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Actor } from '../../src/audit/actions.ts';
import { noPartner } from '../../src/audit/write.ts';
import { customerKey, eraseCustomer, eraseForAWhile, findCustomer } from '../../src/customers/erase.ts';
import { eraseOld } from '../../src/customers/erase-old.ts';
import type { Database, Scope, Tx } from '../../src/db/connection.ts';
import { identifiers } from '../../src/db/sql.ts';
import { queueCustomerMail, queueMail } from '../../src/mail/outbox.ts';
import { stopMails } from '../../src/plans/stop-mails.ts';
import { mailReceipts } from '../../src/receipts/send-mails.ts';
import { claimReceipts } from '../../src/receipts/store.ts';
import type { CustomerKey } from '../../src/requests/customer.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { startApp, testConfig, testContext } from '../support/app.ts';
import { withoutLimits } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { copyPlan, makePlan, planOf, turnAt } from '../support/plans.ts';
import { openExplainer, rowsRead, sentDuring } from '../support/query-plans.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
const dayMs = 24 * 3_600_000;
let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

const operator: Actor = {
  kind: 'operator',
  userId: randomUUID(),
  email: 'op@example.com',
  role: null,
  ip: '192.0.2.1',
  userAgent: 'Browser',
};

async function shop() {
  const { partner, test: scope, live } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const liveMerchant = await makeMerchant(app.db, live);
  return { partner, scope, merchant, live, liveMerchant };
}

const grace = (email: string, phone: string) => ({
  customerName: 'Grace Hopper',
  customerEmail: email,
  customerPhone: phone,
  memo: 'For Grace, second floor',
  metadata: '{"order":"17"}',
});

async function rowOf({ id }: { id: string }): Promise<RequestRow> {
  const [row] = await app.db.sql<RequestRow[]>`select * from requests where id = ${id}`;
  assert.ok(row);
  return row;
}

const personal = (row: RequestRow) => [row.customer_name, row.customer_email, row.customer_phone, row.memo];
const nothing = [null, null, null, null];

const mailOf = (scope: Scope, request: { id: string }, recipient: string) =>
  app.db.scoped(scope, (tx) =>
    queueCustomerMail(app.ctx, tx, scope, {
      requestId: request.id,
      purpose: 'receipt',
      recipient,
      subject: 'Receipt',
      body: 'For Grace',
      html: '<p>Grace',
    }),
  );
const mailsTo = (recipient: string) => app.db.sql`select id from mails where recipient = ${recipient}`;

const logOf = (partnerId: string) =>
  app.db.sql`select action, object_kind, object_id, details, actor_name from audit_log
    where partner_id = ${partnerId} order by number`;

function keyOf(by: 'email' | 'phone' | 'request', typed: string) {
  const key = customerKey(by, typed);
  assert.ok(key);
  return key;
}

test('A customer’s data is erased from every request of every partner and from the mails; amounts and payments stay', async () => {
  const email = 'Grace.One@Example.com';
  const [one, two] = [await shop(), await shop()];
  const first = await makeRequest(app.db, one.scope, one.merchant, grace(email, '+49 30 1'));
  const live = await makeRequest(app.db, one.live, one.liveMerchant, grace(email.toLowerCase(), '+49 30 1'));
  const other = await makeRequest(app.db, two.scope, two.merchant, grace(email, '+49 30 1'));
  const stranger = await makeRequest(app.db, two.scope, two.merchant, grace('ada@example.com', '+49 30 2'));
  await mailOf(one.scope, first, email);
  await mailOf(two.scope, stranger, 'ada@example.com');
  await queueMail(app.ctx, app.db.sql, null, { recipient: email, subject: 'Your link', body: 'to sign in' });

  const key = keyOf('email', ` ${email.toUpperCase()} `);
  const found = await findCustomer(app.ctx, key);
  assert.deepEqual([found.requests, found.partners, found.more], [3, 2, false]);
  assert.deepEqual(found.since, first.created_at);
  const erased = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual(erased, { requests: 3, plans: 0, mails: 1, messages: 0, more: false });
  for (const request of [first, live, other]) {
    const row = await rowOf(request);
    assert.deepEqual(personal(row), nothing);
    const gone = { customer_name: null, customer_email: null, customer_phone: null, memo: null };
    assert.deepEqual({ ...row }, { ...row, ...request, ...gone });
  }
  assert.equal((await rowOf(stranger)).customer_email, 'ada@example.com');
  assert.equal((await mailsTo('ada@example.com')).length, 1);
  assert.equal((await mailsTo(email)).length, 1); // the mail that is not a customer's

  const logged = [...(await logOf(noPartner)), ...(await logOf(one.partner.id)), ...(await logOf(two.partner.id))];
  assert.deepEqual(
    logged.map(({ action, object_kind, object_id }) => [action, object_kind, object_id]),
    Array.from({ length: 4 }, () => ['customer.erased', 'customer', 'email']),
  );
  assert.deepEqual(JSON.parse(logged[0]?.details), { by: 'email', requests: 3, plans: 0, mails: 1, messages: 0 });
  assert.doesNotMatch(JSON.stringify(logged), /grace|hopper/i);
});

/** Columns with text: those that erasing empties, and those that say nothing of a customer. */
const columns = {
  requests: {
    erased: ['customer_name', 'customer_email', 'customer_phone', 'memo', 'customer_language'],
    kept: [
      ...[
        'idempotency_key',
        'fiat_code',
        'rate',
        'rate_source',
        'payment_mode',
        'metadata',
        'wallet_address',
        'status',
      ],
      ...['proof_status', 'proof_note', 'asset_id', 'tx_hash', 'payer_address', 'start_blocks'],
    ],
  },
  plans: {
    erased: ['name', 'customer_name', 'customer_email', 'customer_phone'],
    kept: ['form_key', 'fiat_code', 'language', 'metadata', 'period', 'state', 'failure', 'collect', 'after_past_due'],
  },
};

for (const [table, { erased, kept }] of Object.entries(columns)) {
  test(`each column of ${table} with text → erased, or known to say nothing of the customer`, async () => {
    const { sql } = app.db;
    const all = await sql<{ name: string }[]>`
      select attname as name from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
        and atttypid in ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text[]'::regtype)`;
    assert.deepEqual(
      all.map(({ name }) => name).sort(),
      [...erased, ...kept].sort(),
      'let a new column be erased, or name it here among those that say nothing of a customer',
    );
    const { scope, merchant } = await shop();
    const { id } = await makeRequest(app.db, scope, merchant, grace('columns@example.com', '+49 30 5'));
    await sql`update requests set customer_language = 'de' where id = ${id}`;
    const email = 'columns@example.com';
    const plan = await makePlan(app.ctx, scope, merchant, {
      name: 'Lessons',
      customerEmail: email,
      customerPhone: '5',
    });
    const read = async () => {
      const [row] = await sql`select * from ${identifiers(table)} where id = ${table === 'plans' ? plan.id : id}`;
      return erased.map((name) => row?.[name]);
    };
    assert.ok((await read()).every((value) => value !== null));
    await eraseCustomer(app.ctx, operator, keyOf('email', email));
    assert.ok((await read()).every((value) => value === null));
  });
}

test('An address with capitals that the database may not know as such → found as it was given, and in small letters', async () => {
  const [one, two] = [await shop(), await shop()];
  for (const typed of ['JÖRG@Example.com', 'jörg@example.com']) {
    const request = await makeRequest(app.db, one.scope, one.merchant, grace('JÖRG@Example.com', '+49 30 3'));
    const plan = await makePlan(app.ctx, two.scope, two.merchant, { customerEmail: 'JÖRG@Example.com' });
    const key = keyOf('email', typed);
    assert.equal((await findCustomer(app.ctx, key)).partners, 2, typed);
    const { requests, plans } = await eraseCustomer(app.ctx, operator, key);
    assert.deepEqual([requests, plans], [1, 1], typed);
    assert.deepEqual(personal(await rowOf(request)), nothing);
    assert.equal((await planOf(app.ctx, plan)).plan.customer_email, null);
  }
});

test('erasing the same customer again → nothing found or changed, and logged', async () => {
  const { scope, merchant, partner } = await shop();
  const request = await makeRequest(app.db, scope, merchant, grace('twice@example.com', '+49 30 77777'));
  const key = keyOf('request', request.id.toUpperCase());
  assert.equal((await eraseCustomer(app.ctx, operator, key)).requests, 1);
  const before = (await logOf(noPartner)).length;
  assert.deepEqual(await eraseCustomer(app.ctx, operator, key), {
    requests: 0,
    plans: 0,
    mails: 0,
    messages: 0,
    more: false,
  });
  assert.equal((await logOf(noPartner)).length, before + 1);
  assert.equal((await logOf(partner.id)).length, 1);
});

test('A phone number is found however it was written; a search for none of the three is refused', async () => {
  const { scope, merchant } = await shop();
  const request = await makeRequest(app.db, scope, merchant, grace('p@example.com', '+49 (30) 555-9999'));
  assert.equal((await eraseCustomer(app.ctx, operator, keyOf('phone', '49 30 5559999'))).requests, 1);
  assert.deepEqual(personal(await rowOf(request)), nothing);
  assert.equal(customerKey('email', 'Grace'), null);
  assert.equal(customerKey('phone', '12-34'), null);
  assert.deepEqual(customerKey('phone', '1 23-45'), { by: 'phone', value: '12345' });
  assert.equal(customerKey('request', 'all'), null);
});

test('A receipt that waits for somebody whose data was erased becomes no mail', async () => {
  const { scope, merchant } = await shop();
  const email = 'waiting@example.com';
  const request = await makeRequest(app.db, scope, merchant, grace(email, ''));
  await app.db.sql`
    update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = '0x1', payer_address = '0x2'
    where id = ${request.id}`;
  await app.db.sql`select queue_receipts(${scope.partnerId}, true, ${request.id}, ${['mail', 'phone']})`;
  const erased = await eraseCustomer(app.ctx, operator, keyOf('email', email));
  assert.deepEqual(erased, { requests: 1, plans: 0, mails: 0, messages: 2, more: false });
  assert.equal(await mailReceipts(app.ctx, running), 0);
  assert.equal((await mailsTo(email)).length, 0);
});

test('more data than one call erases → the answer says so, and the next call erases the rest', async () => {
  const { scope, merchant } = await shop();
  for (let i = 0; i < 10; i++) {
    await Promise.all(
      Array.from({ length: 51 }, () => makeRequest(app.db, scope, merchant, { customerEmail: 'many@example.com' })),
    );
  }
  const key = keyOf('email', 'many@example.com');
  const first = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([first.requests, first.more], [500, true]);
  const second = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([second.requests, second.more], [10, false]);

  await copyPlan(app.ctx, await makePlan(app.ctx, scope, merchant, { customerEmail: 'many@example.com' }), 500);
  const third = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([third.plans, third.more], [500, true]);
  const last = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([last.plans, last.more], [1, false]);
});

test('one click of an operator erases batch after batch, until its time has passed; the next click erases the rest', async () => {
  const { scope, merchant } = await shop();
  const email = 'crowd@example.com';
  const first = await makeRequest(app.db, scope, merchant, { customerEmail: email });
  await app.db.sql`
    insert into requests select r.partner_id, r.test_mode, gen_random_uuid(), r.account_id, null, r.fiat_int, r.fiat_code,
      r.usdc_micro, false, r.rate, r.memo, r.payment_mode, null, r.customer_email, null, r.metadata, r.wallet_address,
      r.reference, r.start_blocks, r.status, r.proof_status, null, r.asset_id, null, null,
      r.created_at + n * interval '1 ms', r.expires_at
    from requests r, generate_series(1, 1100) n where r.id = ${first.id}`;
  const key = keyOf('email', email);
  const atOnce = await eraseForAWhile(app.ctx, operator, key, 0);
  assert.deepEqual([atOnce.requests, atOnce.more], [500, true]);
  const rest = await eraseForAWhile(app.ctx, operator, key, patienceMs);
  assert.deepEqual([rest.requests, rest.more], [601, false]);
  const again = await eraseForAWhile(app.ctx, operator, key, patienceMs);
  assert.deepEqual([again.requests, again.more], [0, false]);
});

test('ERASE_CUSTOMER_DATA_AFTER_DAYS has passed → data is erased automatically, once per request; without the setting it stays', async () => {
  const { scope, merchant } = await shop();
  const unnamed = await shop();
  await makeRequest(app.db, unnamed.scope, unnamed.merchant);
  const old = await makeRequest(app.db, scope, merchant, grace('old@example.com', '+49 30 88888'));
  await mailOf(scope, old, 'old@example.com');
  const young = await makeRequest(app.db, scope, merchant, grace('young@example.com', '+49 30 99999'));
  const now = () => new Date((old.created_at.getTime() + young.created_at.getTime()) / 2 + 40 * dayMs);
  const withDays = (days: number | null) =>
    testContext(app.db, { config: testConfig({ eraseCustomersAfterDays: days }), clock: { ...app.ctx.clock, now } });
  assert.equal(await eraseOld(withDays(null), running), 0);
  assert.equal(await eraseOld(withDays(41), running), 0);
  assert.notDeepEqual(personal(await rowOf(old)), nothing);

  await eraseOld(withDays(40), running);
  assert.deepEqual(personal(await rowOf(old)), nothing);
  assert.equal((await mailsTo('old@example.com')).length, 0);
  assert.equal((await rowOf(young)).customer_email, 'young@example.com');
  assert.equal(await eraseOld(withDays(40), running), 0);
  const later = await Promise.all([eraseOld(withDays(39), running), eraseOld(withDays(39), running)]);
  assert.equal(later[0] + later[1] >= 1, true);
  assert.deepEqual(personal(await rowOf(young)), nothing);
  const acts = await app.db.sql<{ actor_kind: string; details: string }[]>`
    select actor_kind, details from audit_log where partner_id = ${old.partner_id} and action = 'customer.erased'
    order by number`;
  assert.deepEqual(
    acts.map(({ actor_kind, details }) => [actor_kind, JSON.parse(details)]),
    [
      ['service', { by: 'age', requests: 1, mails: 1, messages: 0 }],
      ['service', { by: 'age', requests: 1, mails: 0, messages: 0 }],
    ],
  );
  assert.equal((await logOf(unnamed.partner.id)).length, 0, 'nothing was removed, so nothing is logged');
});

const customerOf = ({ plan }: Awaited<ReturnType<typeof planOf>>) => [
  plan.name,
  plan.customer_name,
  plan.customer_email,
  plan.customer_phone,
];

test('an erased customer’s plans, with any partner → end, forget the customer, and ask nobody on their next date', async () => {
  const [one, two] = [await shop(), await shop()];
  await setRate(app.db, 'EUR', '0.92');
  const email = 'Planned@Example.com';
  const details = { customerEmail: email, customerPhone: '+49 30 4711', metadata: '{"lesson":"piano"}' };
  const active = await makePlan(app.ctx, one.scope, one.merchant, details);
  const live = await makePlan(app.ctx, two.live, two.liveMerchant, { ...details, firstOn: '2027-03-31' });
  const other = await makePlan(app.ctx, two.scope, two.merchant, { customerEmail: 'ada.plan@example.com' });
  assert.equal(await turnAt(app.ctx, '2027-01-31T00:00:00.000Z'), 2);
  assert.equal((await mailsTo(email)).length, 1);

  const key = keyOf('email', email);
  const found = await findCustomer(app.ctx, key);
  assert.deepEqual([found.requests, found.plans, found.partners, found.since], [1, 2, 2, active.created_at]);
  const erased = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual(erased, { requests: 1, plans: 2, mails: 1, messages: 0, more: false });
  for (const plan of [active, live]) {
    const now = await planOf(app.ctx, plan);
    assert.deepEqual(customerOf(now), nothing);
    assert.deepEqual([now.plan.state, now.plan.due_at, now.plan.metadata], ['ended', null, '{"lesson":"piano"}']);
  }
  const [charge] = (await planOf(app.ctx, active)).charges;
  assert.deepEqual(personal(await rowOf({ id: charge?.request_id ?? '' })), nothing);
  assert.equal(await turnAt(app.ctx, '2027-03-31T00:00:00.000Z'), 1);
  assert.equal((await planOf(app.ctx, other)).plan.customer_email, 'ada.plan@example.com');
  assert.deepEqual(await eraseCustomer(app.ctx, operator, key), { ...erased, requests: 0, plans: 0, mails: 0 });
  const logged = await logOf(two.partner.id);
  assert.deepEqual(JSON.parse(logged.at(-1)?.details), { by: 'email', requests: 0, plans: 1, mails: 0, messages: 0 });
  await app.db
    .sql`update plans set due_at = null, next_on = null, state = 'ended', ended_at = now() where id = ${other.id}`;
});

test('erasing by one request of a plan → the whole plan and all its requests are erased', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-06-01' });
  for (const day of ['2027-06-01', '2027-07-01', '2027-08-01']) await turnAt(app.ctx, `${day}T00:00:00.000Z`);
  const { charges } = await planOf(app.ctx, plan);
  const key = keyOf('request', charges[1]?.request_id ?? '');
  assert.deepEqual([(await findCustomer(app.ctx, key)).requests, (await findCustomer(app.ctx, key)).plans], [3, 1]);
  const erased = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([erased.requests, erased.plans], [3, 1]);
  for (const { request_id } of charges) assert.deepEqual(personal(await rowOf({ id: request_id })), nothing);
  assert.deepEqual(customerOf(await planOf(app.ctx, plan)), nothing);
});

test('A customer who stopped a plan’s mails → the charges made since, without the address, are erased by it too', async () => {
  const { scope, merchant } = await shop();
  await setRate(app.db, 'EUR', '0.92');
  const customer = { customerEmail: 'stopped@example.com', customerPhone: '+49 30 815815' };
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-10-01', ...customer });
  await turnAt(app.ctx, '2027-10-01T00:00:00.000Z');
  await stopMails(app.ctx, { scope, plan });
  for (const day of ['2027-11-01', '2027-12-01']) await turnAt(app.ctx, `${day}T00:00:00.000Z`);
  const { charges } = await planOf(app.ctx, plan);
  const rows = () => Promise.all(charges.map(async ({ request_id }) => personal(await rowOf({ id: request_id }))));
  const unnamed = ['Grace Hopper', null, '+49 30 815815', 'Piano lessons'];
  assert.deepEqual((await rows()).slice(1), [unnamed, unnamed]);
  const key = keyOf('email', 'stopped@example.com');
  assert.equal((await findCustomer(app.ctx, key)).requests, 3);
  const { requests, plans, more } = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([requests, plans, more], [3, 1, false]);
  assert.deepEqual(await rows(), [nothing, nothing, nothing]);
});

test('A plan with more charges than one call erases → it is forgotten with the last of them', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-10-01', customerEmail: 'long@example.com' });
  for (let number = 1; number <= 501; number++) {
    const { id } = await makeRequest(app.db, scope, merchant, { customerName: 'Grace Hopper' });
    await app.db.sql`
      insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
      values (${scope.partnerId}, ${scope.testMode}, ${plan.id}, ${number}, ${'2000-01-01'}::date + ${number}::int, ${id}, now())`;
  }
  const key = keyOf('email', 'long@example.com');
  const first = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([first.requests, first.plans, first.more], [500, 0, true]);
  const last = await eraseCustomer(app.ctx, operator, key);
  assert.deepEqual([last.requests, last.plans, last.more], [1, 1, false]);
  assert.deepEqual(customerOf(await planOf(app.ctx, plan)), nothing);
});

test('As many charges as one call erases, and one more that is being made → all are erased with the plan', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-10-01', customerEmail: 'edge@example.com' });
  const { id: first } = await makeRequest(app.db, scope, merchant, { customerName: 'Grace Hopper' });
  const charge = (tx: Tx, from: number, to: number) => tx`
    with made as (
      insert into requests
      select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'reference', '\\x' || md5('edge' || n),
        'created_at', r.created_at - n * interval '1 ms'))).*
      from requests r, generate_series(${from}::int, ${to}::int) n where r.id = ${first}
      returning id)
    insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
    select ${scope.partnerId}, ${scope.testMode}, ${plan.id}, n, ${'2000-01-01'}::date + n, id, now()
    from (select id, (row_number() over () + ${from - 1})::int as n from made) m`;
  await app.db.transaction((tx) => charge(tx, 1, 499));
  await app.db.sql`
    insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
    values (${scope.partnerId}, ${scope.testMode}, ${plan.id}, 500, ${'2000-01-01'}::date + 500, ${first}, now())`;
  const [erased] = await app.db.transaction(async (tx) => {
    await tx`select from plans where id = ${plan.id} for no key update`;
    await charge(tx, 501, 501);
    const erasing = eraseCustomer(app.ctx, operator, keyOf('email', 'edge@example.com'));
    await until(async () => {
      const waiting = await app.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ilike '%update plans%'`;
      return waiting.length === 1;
    }, 'the erasure to wait for the charge');
    return [erasing] as const;
  });
  const { requests, plans, more } = await erased;
  assert.deepEqual([requests, plans, more], [501, 1, false]);
  const left = await app.db.sql`
    select from requests where account_id = ${merchant.id} and customer_name is not null`;
  assert.equal(left.length, 0);
});

test('A charge that is being made while its customer is erased is erased too', async () => {
  const { scope, merchant } = await shop();
  for (let i = 0; i < 10; i++) {
    const customerEmail = `race-${i}@example.com`;
    const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-09-01', customerEmail });
    await Promise.all([
      turnAt(app.ctx, '2027-09-01T00:00:00.000Z'),
      eraseCustomer(app.ctx, operator, keyOf('email', customerEmail)),
    ]);
    const now = await planOf(app.ctx, plan);
    assert.deepEqual(customerOf(now), nothing);
    for (const { request_id } of now.charges) assert.deepEqual(personal(await rowOf({ id: request_id })), nothing);
    assert.equal((await mailsTo(customerEmail)).length, 0);
  }
});

test('Plans that ended longer ago than the configured days forget their customers by themselves', async () => {
  const { scope, merchant, partner } = await shop();
  const [old, young] = [await makePlan(app.ctx, scope, merchant), await makePlan(app.ctx, scope, merchant)];
  const active = await makePlan(app.ctx, scope, merchant);
  const end = (id: string, days: number) => app.db.sql`
    update plans set state = 'ended', due_at = null, next_on = null, ended_at = now() - ${days} * interval '1 day'
    where id = ${id}`;
  await end(old.id, 41);
  await end(young.id, 39);
  await eraseOld(testContext(app.db, { config: testConfig({ eraseCustomersAfterDays: 40 }) }), running);
  assert.deepEqual(customerOf(await planOf(app.ctx, old)), nothing);
  for (const plan of [young, active]) assert.equal((await planOf(app.ctx, plan)).plan.customer_name, 'Grace Hopper');
  const logged = await logOf(partner.id);
  assert.deepEqual(JSON.parse(logged.at(-1)?.details), { by: 'age', plans: 1 });
  await end(active.id, 0);
});

test('two nodes find the same plans that ended long ago → each plan’s customer is forgotten and logged once', {
  timeout: patienceMs,
}, async () => {
  const { scope, merchant, partner } = await shop();
  const { id } = await makePlan(app.ctx, scope, merchant);
  await app.db.sql`
    update plans set state = 'ended', due_at = null, next_on = null, ended_at = now() - interval '41 days'
    where id = ${id}`;
  const node = testContext(app.db, { config: testConfig({ eraseCustomersAfterDays: 40 }) });
  let both: Promise<unknown> = Promise.resolve();
  await app.db.sql.begin(async (tx) => {
    await tx`select from plans where id = ${id} for update`;
    both = Promise.all([eraseOld(node, running), eraseOld(node, running)]);
    await until(async () => {
      const [waiting] = await app.owner<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%update plans%'`;
      return waiting?.count === 2;
    }, 'both nodes wait for the plan');
  });
  await both;
  const erased = (await logOf(partner.id)).filter(({ action }) => action === 'customer.erased');
  assert.equal(erased.length, 1);
});

test('Old data of one partner cannot be erased → that of others is, requests and plans', async () => {
  const [first, other] = (await Promise.all([shop(), shop()])).sort((a, b) => (a.partner.id < b.partner.id ? -1 : 1));
  assert.ok(first && other);
  const node = testContext(app.db, { config: testConfig({ eraseCustomersAfterDays: 40 }) });
  const makeOld = async ({ scope, merchant }: typeof first, days: number) => {
    const request = await makeRequest(app.db, scope, merchant, grace('aged@example.com', '+49 30 1'));
    await app.db.sql`
      update requests set created_at = now() - ${days} * interval '1 day' where id = ${request.id}`;
    const plan = await makePlan(app.ctx, scope, merchant);
    await app.db.sql`
      update plans set state = 'ended', due_at = null, next_on = null, ended_at = now() - ${days} * interval '1 day'
      where id = ${plan.id}`;
    return { request, plan };
  };
  const [stuck, old] = [await makeOld(first, 43), await makeOld(other, 42)];
  await copyPlan(app.ctx, stuck.plan, 600); // more than are looked up together
  await app.owner`
    create function stand_in_the_way() returns trigger language plpgsql as
      'begin raise exception ''this one cannot be erased''; end'`;
  for (const [table, { id }] of Object.entries({ requests: stuck.request, plans: stuck.plan }))
    await app.owner.unsafe(`
      create trigger stand_in_the_way before update on ${table} for each row
        when (old.id = '${id}') execute function stand_in_the_way()`);
  try {
    await eraseOld(node, running);
  } finally {
    await app.owner`drop function stand_in_the_way() cascade`;
  }
  assert.deepEqual(personal(await rowOf(old.request)), nothing);
  assert.deepEqual(customerOf(await planOf(app.ctx, old.plan)), nothing);
  assert.notDeepEqual(personal(await rowOf(stuck.request)), nothing);
  await eraseOld(node, running);
  assert.deepEqual(personal(await rowOf(stuck.request)), nothing);
  assert.deepEqual(customerOf(await planOf(app.ctx, stuck.plan)), nothing);
});

test('Much is old of one partner and little of another → they take turns', async () => {
  const [first, other] = (await Promise.all([shop(), shop()])).sort((a, b) => (a.partner.id < b.partner.id ? -1 : 1));
  assert.ok(first && other);
  for (const { scope, merchant } of [first, other]) {
    const { id } = await makeRequest(app.db, scope, merchant, grace('turn@example.com', '+49 30 1'));
    await app.db.sql`
      update requests set created_at = date_trunc('milliseconds', now()) - interval '44 days' where id = ${id}`;
    const more = scope === first.scope ? 1001 : 0;
    await app.db.sql`
      insert into requests
      select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'reference', '\\x' || md5(n::text),
        'created_at', r.created_at + n * interval '1 ms'))).*
      from requests r, generate_series(1, ${more}::int) n where r.id = ${id}`;
  }
  const turns: string[] = [];
  const db: Database = {
    ...app.db,
    scoped: (scope, work) => {
      turns.push(scope.partnerId);
      return app.db.scoped(scope, work);
    },
  };
  const config = testConfig({ eraseCustomersAfterDays: 43 });
  assert.equal(await eraseOld(testContext(db, { config }), running), 1003);
  assert.deepEqual(
    turns.flatMap((id) => (id === first.partner.id ? 'first' : id === other.partner.id ? 'other' : [])),
    ['first', 'other', 'first', 'other', 'first', 'first'],
  );
});

test('More than a thousand partners have old requests → a pass visits those of all', async () => {
  const { partner, scope, merchant } = await shop();
  const { id } = await makeRequest(app.db, scope, merchant, { customerEmail: 'last@example.com' });
  await app.db.sql`
    update requests set created_at = date_trunc('milliseconds', now()) - interval '46 days' where id = ${id}`;
  const copies = (table: string, of: string, fields: string) => `
    insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${fields}))).*
    from ${table} t, generate_series(1, 1100) n, lateral (select lpad(to_hex(n), 32, '0')::uuid as id) own where t.${of}`;
  await withoutLimits(app.owner, async (tx) => {
    await tx.unsafe(copies('partners', `id = '${partner.id}'`, `'id', own.id, 'slug', 'early-' || n`));
    await tx.unsafe(copies('partner_clocks', `partner_id = '${partner.id}' and test_mode`, `'partner_id', own.id`));
    await tx.unsafe(
      copies('merchants', `id = '${merchant.id}'`, `'partner_id', own.id, 'id', own.id, 'wallet_address', null`),
    );
    const own = `'partner_id', own.id, 'id', own.id, 'account_id', own.id, 'reference', '\\x' || md5(n::text)`;
    await tx.unsafe(copies('requests', `id = '${id}'`, `${own}, 'customer_email', null`));
  });
  const node = testContext(app.db, { config: testConfig({ eraseCustomersAfterDays: 45 }) });
  await eraseOld(node, running);
  const left = await app.db.sql`select from requests where customer_email = 'last@example.com'`;
  assert.equal(left.length, 0);
});

test('More data is old than one pass removes → a warning names its kind, and none follows once the rest is removed', async () => {
  const { scope, merchant } = await shop();
  const { id } = await makeRequest(app.db, scope, merchant, grace('rest@example.com', '+49 30 1'));
  const plan = await makePlan(app.ctx, scope, merchant);
  await app.db.sql`
    update requests set created_at = date_trunc('milliseconds', now()) - interval '46 days' where id = ${id}`;
  await app.db.sql`
    insert into requests
    select (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'reference', '\\x' || md5('rest' || n),
      'created_at', r.created_at + n * interval '1 ms'))).*
    from requests r, generate_series(1, 600) n where r.id = ${id}`;
  await app.db.sql`
    update plans set state = 'ended', due_at = null, next_on = null, ended_at = now() - interval '46 days'
    where id = ${plan.id}`;
  await app.db.sql`
    insert into plans
    select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(), 'form_key', gen_random_uuid()))).*
    from plans p, generate_series(1, 600) where p.id = ${plan.id}`;
  const told: unknown[] = [];
  const warn = ({ of }: { of: unknown }) => told.push(of);
  const log: typeof app.ctx.log = Object.assign(Object.create(app.ctx.log), { warn });
  const node = testContext(app.db, { config: testConfig({ eraseCustomersAfterDays: 45 }), log });
  assert.equal(await eraseOld(node, running, 1), 500);
  assert.deepEqual(told, ['requests', 'plans']);
  assert.equal(await eraseOld(node, running, 3), 101);
  assert.deepEqual(told, ['requests', 'plans']);
});

test('Erasing a customer, and claiming the receipts that are due › every statement reads few of many rows', async () => {
  const { scope, merchant } = await shop();
  const { id } = await makeRequest(app.db, scope, merchant, grace('index@example.com', '+49 30 4930'));
  const plan = await makePlan(app.ctx, scope, merchant, { customerEmail: 'index@example.com' });
  await mailOf(scope, { id }, 'index@example.com');
  const others = 3_000;
  const copies = (table: string, of: string, fields: string) => `
    insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(), ${fields}))).*
    from ${table} t, generate_series(1, ${others}) n where t.${of}`;
  await withoutLimits(app.owner, async (tx) => {
    const customer = `'customer_email', n || '@example.com', 'customer_phone', '+1 ' || n`;
    const own = `'reference', '\\x' || md5('many' || n), 'created_at', t.created_at - n * interval '1 ms'`;
    await tx.unsafe(copies('requests', `id = '${id}'`, `${customer}, ${own}`));
    await tx.unsafe(copies('plans', `id = '${plan.id}'`, `${customer}, 'form_key', gen_random_uuid()`));
    await tx.unsafe(copies('mails', `request_id = '${id}'`, `'request_id', gen_random_uuid()`));
    await tx`
      insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
      select partner_id, test_mode, case when id = ${id} then ${plan.id}::uuid else gen_random_uuid() end, 1,
        '2000-01-01', id, now() from requests where account_id = ${merchant.id}`;
    await tx`
      insert into receipts (partner_id, test_mode, request_id, channel, next_attempt_at, done_at)
      select partner_id, test_mode, id, 'mail', now(), case when id <> ${id} then now() end from requests
      where account_id = ${merchant.id}`;
  });
  await app.owner`analyze requests, plans, plan_charges, receipts, mails`;
  const explainer = openExplainer(app.databaseUrl);
  const read = async (work: () => Promise<unknown>) => {
    const plans = await explainer.explain(await sentDuring(app.db, work), 'auto');
    return Math.max(...plans.map(rowsRead));
  };
  try {
    const claim = () => claimReceipts(app.db, 'mail', { firstMs: 60_000, maxAttempts: 3 }, 20, null);
    assert.ok((await read(claim)) < 100);
    const kinds = [keyOf('email', 'index@example.com'), keyOf('phone', '+49 30 4930'), keyOf('request', id)];
    for (const key of kinds) assert.ok((await read(() => findCustomer(app.ctx, key))) < 100, key.by);
    assert.ok((await read(() => eraseCustomer(app.ctx, operator, kinds[0] as CustomerKey))) < 100);
  } finally {
    await explainer.end();
  }
});
