import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { connect, usualWaits } from '../../src/db/connection.ts';
import { type Watcher, watchScope } from '../../src/db/scope-changes.ts';
import { dueTogether } from '../../src/plans/charge.ts';
import { byLink } from '../../src/plans/collection-form.ts';
import { endPlan, pausePlan, resumePlan } from '../../src/plans/lifecycle.ts';
import { maxOpenPlans } from '../../src/plans/rules.ts';
import { selectDue } from '../../src/plans/store.ts';
import { changeTerms } from '../../src/plans/terms.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { ApiClient } from '../support/api/client.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, setRate } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { at, copyPlan, makePlan, planOf, turnAt } from '../support/plans.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
  await setRate(app.db, 'EUR', '0.92');
});
after(() => app?.stop());
/** Ends the plans of earlier tests. */
beforeEach(
  () => app.db.sql`
    update plans set state = 'ended', ended_at = now(), due_at = null, next_on = null, failure = null, failed_at = null
    where state <> 'ended'`,
);

async function shop() {
  const { partner, test: scope, live } = await makePartner(app.db);
  return { partner, scope, live, merchant: await makeMerchant(app.db, scope) };
}

const requestsOf = (account: { id: string }) =>
  app.db.sql`select * from requests where account_id = ${account.id} order by created_at`;
const day = '2030-01-01';

test('A merchant has as many open plans as one may have and not one more, also where two forms are sent at once', {
  timeout: patienceMs,
}, async () => {
  const { scope, merchant } = await shop();
  const { id } = await makePlan(app.ctx, scope, merchant, { firstOn: day });
  await copyPlan(app.ctx, { id }, maxOpenPlans - 2);
  let making: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await app.db.sql.begin(async (tx) => {
    await tx`lock table plans in share row exclusive mode`; // allows reads, blocks writes
    making = Promise.allSettled([1, 2].map(() => makePlan(app.ctx, scope, merchant, { firstOn: day })));
    await until(async () => {
      const [waiting] = await app.owner<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting?.count === 2;
    }, 'both are under way');
  });
  const made = await making;
  assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
  const [open] = await app.db.sql`select count(*)::int as count from plans where account_id = ${merchant.id}`;
  assert.equal(open?.count, maxOpenPlans);
});

test('Charges are made on their dates and not before, on the last day of short months, until the last one', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-01-31', maxCharges: 3 });
  assert.equal(await turnAt(app.ctx, '2027-01-30T23:59:59.999Z'), 0);
  assert.equal(await turnAt(app.ctx, '2027-01-31T00:00:00.000Z'), 1);
  assert.equal(await turnAt(app.ctx, '2027-02-27T23:59:59.999Z'), 0);
  assert.equal(await turnAt(app.ctx, '2027-02-28T00:00:05.000Z'), 1);
  assert.equal(await turnAt(app.ctx, '2027-03-30T12:00:00.000Z'), 0);
  assert.equal(await turnAt(app.ctx, '2027-03-31T00:00:00.000Z'), 1);
  const { plan: row, dates } = await planOf(app.ctx, plan);
  assert.deepEqual(dates, ['2027-01-31', '2027-02-28', '2027-03-31']);
  assert.deepEqual([row.state, row.charges, row.next_on, row.due_at], ['ended', 3, null, null]);
  assert.equal(await turnAt(app.ctx, '2028-03-31T00:00:00.000Z'), 0);
});

test('A charge is an ordinary invoice: its amount is reserved, it is open for seven days whatever the partner allows', async () => {
  const { scope, merchant, partner } = await shop();
  await app.db.sql`
    update partners set allowed_expiry_minutes = '{5}', default_expiry_minutes = 5 where id = ${partner.id}`;
  const metadata = '{"order":"A-1042","7":"seven"}';
  const customer = { customerEmail: 'grace@example.com', customerPhone: '+49 30 1' };
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-04-01', metadata, ...customer });
  assert.equal(await turnAt(app.ctx, '2027-04-01T00:00:00.000Z'), 1);
  const [request] = await requestsOf(merchant);
  const { charges } = await planOf(app.ctx, plan);
  assert.equal(charges[0]?.request_id, request?.id);
  const api = new ApiClient(app.db, app.url, scope);
  const { status, json, text } = await api.get(`/api/v1/requests/${request?.id}`);
  assert.equal(status, 200);
  assert.deepEqual(
    [json.status, json.memo, json.payment_mode, json.customer_name, json.customer_email, json.customer_phone],
    ['requested', 'Piano lessons', 'invoice', 'Grace Hopper', 'grace@example.com', '+49 30 1'],
  );
  assert.deepEqual(json.amount, { fiat_int: 8000, fiat_code: 'EUR', usdc_micro: '86956522' });
  assert.ok(text.includes(`"metadata":${metadata}`), 'metadata as it was typed, in its order');
  assert.equal(Date.parse(json.expires_at) - Date.parse(json.created_at), 7 * 24 * 3_600_000);
  assert.equal(request?.reserved, true);
});

test('A charge is a request of its own, whatever idempotency keys API calls used before', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-04-01', maxCharges: 1 });
  const api = new ApiClient(app.db, app.url, scope);
  const planted = await api.create({
    account_id: merchant.id,
    fiat_amount_int: 1,
    idempotency_key: `plan-${plan.id}-1`,
  });
  assert.equal(planted.status, 201);
  assert.equal(await turnAt(app.ctx, '2027-04-01T00:00:00.000Z'), 1);
  const { charges } = await planOf(app.ctx, plan);
  const requests = await requestsOf(merchant);
  assert.deepEqual(
    requests.map(({ id, fiat_int }) => [id, fiat_int]),
    [
      [planted.json.request_id, '1'],
      [charges[0]?.request_id, '8000'],
    ],
  );
});

test('After an outage every date that was missed is charged, one a turn, and then no more', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-05-03', period: 'week' });
  const late = '2027-05-26T09:00:00.000Z';
  const made = [];
  for (let turn = 0; turn < 6; turn++) made.push(await turnAt(app.ctx, late.replace('09', `1${turn}`)));
  assert.deepEqual(made, [1, 1, 1, 1, 0, 0]);
  const { plan: row, dates } = await planOf(app.ctx, plan);
  assert.deepEqual(dates, ['2027-05-03', '2027-05-10', '2027-05-17', '2027-05-24']);
  assert.deepEqual([row.next_on, row.due_at?.toISOString()], ['2027-05-31', '2027-05-31T00:00:00.000Z']);
  assert.equal(await endPlan(app.ctx, theService, { scope, accountId: merchant.id, id: plan.id }), true);
});

test('Loops of several nodes at once make exactly one request for each plan and date', async () => {
  const { scope, merchant } = await shop();
  const firstOn = day;
  const plans = [];
  for (let i = 0; i < 70; i++) plans.push(await makePlan(app.ctx, scope, merchant, { firstOn, maxCharges: 1 }));
  const other = connect(app.access);
  try {
    const contexts = [app.ctx, app.ctx, { ...app.ctx, db: other }, { ...app.ctx, db: other }];
    const made = await Promise.all(contexts.map((ctx) => turnAt(ctx, `${firstOn}T00:00:00.000Z`)));
    assert.equal(
      made.reduce((sum, one) => sum + one, 0),
      70,
      made.join(),
    );
    assert.ok(made.filter((one) => one > 0).length > 1, `more than one loop was at it: ${made.join()}`);
  } finally {
    await other.close();
  }
  assert.equal((await requestsOf(merchant)).length, 70);
  for (const plan of plans) assert.equal((await planOf(app.ctx, plan)).charges.length, 1);
});

test('A partner with many plans due delays no other: its plans take turns with theirs, even if they have waited longer', async () => {
  const [busy, quiet] = [await shop(), await shop()];
  for (let i = 0; i < 120; i++)
    await makePlan(app.ctx, busy.scope, busy.merchant, { firstOn: '2027-06-01', maxCharges: 1 });
  const theirs = await makePlan(app.ctx, quiet.scope, quiet.merchant, { firstOn: day, maxCharges: 1 });
  const due = await selectDue(app.db, new Date(`${day}T00:00:00.000Z`), dueTogether);
  assert.equal(due.length, dueTogether.ofOne + 1, 'of the busy one only some come with theirs');
  const turn = due.findIndex(({ id }) => id === theirs.id);
  assert.ok(turn === 0 || turn === 1, `theirs comes after ${turn} of the busy one`);
  assert.equal(await turnAt(app.ctx, `${day}T00:00:00.000Z`), 121, 'and all of them come within one turn');
});

/** Runs a statement whenever a charge is stored, after its request was created. */
async function whileChargesDo<T>(statement: string, work: () => Promise<T>): Promise<T> {
  await app.owner.unsafe(`create function spoil() returns trigger security definer language plpgsql as $$
    begin ${statement}; return null; end $$;
    create trigger spoil after insert on plan_charges for each row execute function spoil()`);
  try {
    return await work();
  } finally {
    await app.owner.unsafe('drop trigger spoil on plan_charges; drop function spoil()');
  }
}

test('A node that dies in the middle of a charge leaves nothing of it, and the next turn makes it once', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, {
    firstOn: day,
    maxCharges: 1,
    customerEmail: 'crash@example.com',
  });
  const mails = () => app.db.sql`select from mails where recipient = 'crash@example.com'`;
  await whileChargesDo('perform pg_terminate_backend(pg_backend_pid())', async () => {
    await assert.rejects(turnAt(app.ctx, `${day}T00:00:00.000Z`));
  });
  const { plan: row } = await planOf(app.ctx, plan);
  assert.deepEqual([row.charges, row.state, row.failure], [0, 'active', null]);
  assert.equal((await requestsOf(merchant)).length + (await mails()).length, 0);
  assert.equal(await turnAt(app.ctx, `${day}T00:00:05.000Z`), 1);
  assert.equal((await requestsOf(merchant)).length, 1);
  assert.equal((await mails()).length, 1);
});

test('A charge that fails on our side is recorded on the plan, rolled back as a whole, and made later under the same number', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: day, maxCharges: 2 });
  await whileChargesDo(`raise exception 'spoiled'`, async () => {
    assert.equal(await turnAt(app.ctx, `${day}T00:00:00.000Z`), 0);
    assert.equal(await turnAt(app.ctx, `${day}T00:00:59.000Z`), 0, 'not tried again before its time');
    assert.equal((await planOf(app.ctx, plan)).plan.failures, 1);
    assert.equal(await turnAt(app.ctx, `${day}T00:01:00.000Z`), 0);
  });
  const { plan: failing } = await planOf(app.ctx, plan);
  assert.deepEqual(
    [failing.failure, failing.failures, failing.failed_at?.toISOString(), failing.due_at?.toISOString()],
    ['other', 2, `${day}T00:00:00.000Z`, `${day}T00:03:00.000Z`],
  );
  assert.equal((await requestsOf(merchant)).length, 0);
  assert.equal(await turnAt(app.ctx, `${day}T00:03:00.000Z`), 1);
  const { plan: row, charges } = await planOf(app.ctx, plan);
  assert.deepEqual([row.failure, row.failures, row.failed_at], [null, 0, null]);
  assert.deepEqual(
    charges.map(({ number, due_on }) => [number, due_on]),
    [[1, day]],
  );
  await endPlan(app.ctx, theService, { scope, accountId: merchant.id, id: plan.id });
});

test('A table that a charge needs is locked → the plan does not fail, and is charged once the table is free', async (t) => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: day });
  const impatient = connect(app.access, undefined, { ...usualWaits, lock: 0.1 });
  t.after(() => impatient.close());
  const ctx = { ...app.ctx, db: impatient };
  await app.owner.begin(async (tx) => {
    await tx`lock table requests`;
    assert.equal(await turnAt(ctx, `${day}T00:00:00Z`), 0);
  });
  assert.equal((await planOf(app.ctx, plan)).plan.failure, null);
  assert.equal(await turnAt(ctx, `${day}T00:00:00Z`), 1);
});

test('each reason for a failed charge → recorded by name, delays no other plan, and clears once it no longer applies', async () => {
  const { sql } = app.db;
  type Shop = Awaited<ReturnType<typeof shop>>;
  /** Spoils what each reason is about, and mends it again. */
  const spoil: Record<string, (of: Shop, isSpoiled: boolean) => PromiseLike<unknown>> = {
    merchant_disabled: ({ merchant }, off) =>
      sql`update merchants set disabled_by_operator = ${off} where id = ${merchant.id}`,
    partner_disabled: ({ partner }, off) =>
      sql`update partners set disabled_at = ${off ? new Date() : null} where id = ${partner.id}`,
    currency_mismatch: ({ merchant }, off) =>
      sql`update merchants set display_currency = ${off ? 'GBP' : 'EUR'} where id = ${merchant.id}`,
    merchant_onboarding_incomplete: ({ merchant }, off) =>
      sql`update merchants set onboarded_at = ${off ? null : new Date()} where id = ${merchant.id}`,
    rate_unavailable: ({ merchant, scope }, off) =>
      off
        ? sql`
          with plan as (
            update plans set fiat_code = 'CHF' where account_id = ${merchant.id} and partner_id = ${scope.partnerId}),
            none as (delete from rate_overrides where code = 'CHF')
          update merchants set display_currency = 'CHF' where id = ${merchant.id}`
        : setRate(app.db, 'CHF', '0.8'),
  };
  await setRate(app.db, 'CHF', '0.8');
  const plans: { id: string; reason: string; mend: () => PromiseLike<unknown> }[] = [];
  for (const [reason, set] of Object.entries(spoil)) {
    const of = await shop();
    const { id } = await makePlan(app.ctx, of.scope, of.merchant, { firstOn: day, maxCharges: 1 });
    await set(of, true);
    plans.push({ id, reason, mend: () => set(of, false) });
  }
  const fine = await shop();
  const good = await makePlan(app.ctx, fine.scope, fine.merchant, { firstOn: day, maxCharges: 1 });
  assert.equal(await turnAt(app.ctx, `${day}T00:00:00.000Z`), 1);
  assert.equal((await planOf(app.ctx, good)).charges.length, 1);
  for (const { id, reason } of plans) assert.equal((await planOf(app.ctx, { id })).plan.failure, reason);
  for (const { mend } of plans) await mend();
  assert.equal(await turnAt(app.ctx, `${day}T00:01:00.000Z`), plans.length);
  for (const { id } of plans) assert.deepEqual((await planOf(app.ctx, { id })).dates, [day]);
});

test('A plan that fails for its currency, typed in the new one → charged at once; another failure waits, until a pause ends it', async () => {
  const { scope, merchant } = await shop();
  const make = () => makePlan(app.ctx, scope, merchant, { firstOn: day, maxCharges: 1 });
  const [foreign, other] = [await make(), await make()];
  await setRate(app.db, 'GBP', '0.8');
  await app.db.sql`update merchants set display_currency = 'GBP' where id = ${merchant.id}`;
  assert.equal(await turnAt(app.ctx, `${day}T00:00:00.000Z`), 0);
  await app.db.sql`update plans set failure = 'other' where id = ${other.id}`;
  const which = ({ id }: { id: string }) => ({ scope, accountId: merchant.id, id });
  const change = { fiatInt: 9000, ...byLink };
  for (const plan of [foreign, other])
    assert.ok(await changeTerms(at(app.ctx, `${day}T00:00:10.000Z`), theService, which(plan), change, 'GBP'));
  assert.equal(await turnAt(app.ctx, `${day}T00:00:10.000Z`), 1);
  assert.deepEqual((await planOf(app.ctx, foreign)).dates, [day]);
  const failureOf = async () => {
    const { failure, failures, failed_at } = (await planOf(app.ctx, other)).plan;
    return [failure, failures, failed_at === null];
  };
  assert.deepEqual(await failureOf(), ['other', 1, false]);
  assert.ok(await pausePlan(app.ctx, theService, which(other)));
  assert.deepEqual(await failureOf(), [null, 0, true]);
});

test('A paused plan never charges for the pause: it continues with the next future date; an ended plan stays ended', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2028-01-15', maxCharges: 3 });
  const which = { scope, accountId: merchant.id, id: plan.id };
  assert.equal(await turnAt(app.ctx, '2028-01-15T00:00:00.000Z'), 1);
  assert.equal(await resumePlan(app.ctx, theService, which), false, 'only a paused plan can be resumed');
  assert.equal(await pausePlan(app.ctx, theService, which), true);
  assert.equal(await pausePlan(app.ctx, theService, which), false);
  assert.equal(await turnAt(app.ctx, '2028-04-20T00:00:00.000Z'), 0);
  assert.equal(await resumePlan(at(app.ctx, '2028-04-20T08:00:00.000Z'), theService, which), true);
  assert.equal(await turnAt(app.ctx, '2028-05-14T23:59:00.000Z'), 0);
  assert.equal(await turnAt(app.ctx, '2028-05-15T00:00:00.000Z'), 1);
  assert.equal(await endPlan(app.ctx, theService, which), true);
  assert.equal(await endPlan(app.ctx, theService, which), false);
  assert.equal(await resumePlan(app.ctx, theService, which), false);
  assert.equal(await turnAt(app.ctx, '2028-12-15T00:00:00.000Z'), 0);
  assert.deepEqual((await planOf(app.ctx, plan)).dates, ['2028-01-15', '2028-05-15']);
});

test('A plan that is paused while its charge is in progress is charged before the pause or not at all', async () => {
  const { scope, merchant } = await shop();
  const plans = [];
  for (let i = 0; i < 20; i++) plans.push(await makePlan(app.ctx, scope, merchant, { firstOn: day }));
  await Promise.all([
    turnAt(app.ctx, `${day}T00:00:00.000Z`),
    ...plans.map(({ id }) => pausePlan(app.ctx, theService, { scope, accountId: merchant.id, id })),
  ]);
  for (const plan of plans) {
    const { plan: row, charges } = await planOf(app.ctx, plan);
    assert.deepEqual([row.state, row.charges], ['paused', charges.length]);
  }
  assert.equal(await turnAt(app.ctx, `${day}T01:00:00.000Z`), 0);
});

test('A plan is paused or ended just after its charge has failed → it stays so, and the failure makes it due no more', async () => {
  for (const [act, state] of [[pausePlan, 'paused'] as const, [endPlan, 'ended'] as const]) {
    const { scope, merchant } = await shop();
    const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2027-05-01' });
    await app.db.sql`update merchants set disabled_by_partner = true where id = ${merchant.id}`;
    const { db } = app.ctx;
    let transactions = 0;
    const scoped: typeof db.scoped = async (whose, work) => {
      // The first makes the charge, the second stores why it failed.
      if (++transactions === 2) await act(app.ctx, theService, { scope, accountId: merchant.id, id: plan.id });
      return db.scoped(whose, work);
    };
    assert.equal(await turnAt({ ...app.ctx, db: { ...db, scoped } }, '2027-05-01T00:00:00.000Z'), 0);
    const { plan: row } = await planOf(app.ctx, plan);
    assert.deepEqual([transactions, row.state, row.due_at, row.failure], [2, state, null, null]);
  }
});

test('The customer is mailed the pay link of each charge, once, in the plan’s language and the partner’s branding', async () => {
  const { scope, merchant, partner } = await shop();
  await app.db.sql`update partners set accent = '#aa0055' where id = ${partner.id}`;
  const details = { firstOn: day, maxCharges: 2, customerEmail: 'lerner@example.com', language: 'de' };
  await makePlan(app.ctx, scope, merchant, details);
  await turnAt(app.ctx, `${day}T00:00:00.000Z`);
  await turnAt(app.ctx, `${day}T00:00:05.000Z`);
  const mails = await app.db.sql`select * from mails where recipient = 'lerner@example.com'`;
  const [request] = await requestsOf(merchant);
  assert.equal(mails.length, 1);
  const { subject, body, body_html: html, request_id, purpose } = mails[0] as Record<string, string>;
  assert.deepEqual([request_id, purpose], [request?.id, 'ask']);
  assert.equal(subject, 'Test: Ada’s Bakery fordert 80,00\u00a0€ an');
  const link = `http://localhost:3000/pay/${request?.id}`;
  for (const text of [body, html]) {
    assert.ok(text?.includes(link));
    assert.match(text ?? '', /Piano lessons[\s\S]*80,00/);
  }
  assert.match(html ?? '', /<html lang="de"/);
  assert.ok(html?.includes('#aa0055') && !html.includes('#2769b7'), 'the partner’s accent, not the house’s');
  const page = await fetch(`${app.url}/pay/${request?.id}`, { headers: { 'accept-language': 'de' } });
  assert.equal(page.status, 200);
});

/** The unsubscribe link of a mail, on this node. */
async function stopLinkOf(recipient: string): Promise<string> {
  const [mail] = await app.db.sql<{ body: string; body_html: string; unsubscribe_url: string }[]>`
    select body, body_html, unsubscribe_url from mails where recipient = ${recipient}`;
  const url = mail?.unsubscribe_url ?? '';
  assert.ok(mail?.body.includes(url) && mail.body_html.includes(`href="${url}"`), 'text and HTML have it, too');
  return app.url + new URL(url).pathname;
}

const told = (account: { id: string }) =>
  app.db.sql`
    select l.action from audit_log l join plans p on p.id::text = l.object_id
    where p.account_id = ${account.id} and l.action = 'plan.mails_stopped'`;

test('The recipient of a plan’s mails stops them by a link: opening it changes nothing, its button does, and the plan continues', async () => {
  const { scope, merchant } = await shop();
  const customerEmail = 'stranger@example.com';
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: '2029-01-31', customerEmail });
  const other = await makePlan(app.ctx, scope, merchant, { firstOn: '2029-02-28', customerEmail });
  await turnAt(app.ctx, '2029-01-31T00:00:00.000Z');
  const link = await stopLinkOf(customerEmail);
  const page = await fetch(link);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Stop these e-mails\?[\s\S]*“Piano lessons”[\s\S]*<form method="post"/);
  assert.equal((await planOf(app.ctx, plan)).plan.mails_stopped_at, null);
  const form = await fetch(link, { method: 'POST', redirect: 'manual' });
  assert.deepEqual([form.status, /You are unsubscribed/.test(await form.text())], [200, true]);
  assert.ok((await planOf(app.ctx, plan)).plan.mails_stopped_at);
  assert.match(await (await fetch(link)).text(), /You are unsubscribed/);
  await fetch(link, { method: 'POST' });
  assert.equal((await told(merchant)).length, 1, 'a second time changes nothing');

  assert.equal(await turnAt(app.ctx, '2029-02-28T00:00:00.000Z'), 2);
  const { charges } = await planOf(app.ctx, plan);
  const own = await app.db.sql`
    select customer_name, customer_email from requests where id = ${charges[1]?.request_id ?? ''}`;
  assert.deepEqual([...own], [{ customer_name: 'Grace Hopper', customer_email: null }]);
  const mails = await app.db.sql`select request_id from mails where recipient = ${customerEmail} order by created_at`;
  const theirs = (await planOf(app.ctx, other)).charges;
  assert.deepEqual(
    mails.map(({ request_id }) => request_id),
    [theirs[0]?.request_id],
    'the mails of that plan only; what still waited of it is gone, too',
  );
});

test('Mail programs stop the mails with one POST of either kind; another plan’s token, and a made-up one, open nothing', async () => {
  const { scope, merchant } = await shop();
  const plans = [];
  for (const customerEmail of ['one-click@example.com', 'urlencoded@example.com'])
    plans.push(await makePlan(app.ctx, scope, merchant, { firstOn: day, customerEmail }));
  await turnAt(app.ctx, `${day}T00:00:00.000Z`);
  const [one, two] = [await stopLinkOf('one-click@example.com'), await stopLinkOf('urlencoded@example.com')];
  const mixed = [one.slice(0, one.lastIndexOf('/')), two.slice(two.lastIndexOf('/'))].join('');
  for (const url of [mixed, `${one.slice(0, -4)}AAAA`, `${one.slice(0, one.lastIndexOf('/'))}/x`]) {
    assert.equal((await fetch(url)).status, 404);
    assert.equal((await fetch(url, { method: 'POST' })).status, 404);
  }
  assert.equal((await told(merchant)).length, 0);
  const multipart = new FormData();
  multipart.set('List-Unsubscribe', 'One-Click');
  const bodies = [multipart, new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })];
  for (const [i, url] of [one, two].entries()) {
    const answer = await fetch(url, { method: 'POST', redirect: 'manual', body: bodies[i] ?? null });
    assert.equal(answer.status, 200, await answer.text());
  }
  for (const plan of plans) assert.ok((await planOf(app.ctx, plan)).plan.mails_stopped_at);
});

test('A charge that fails for a day and nobody knows why raises an alarm, which ends with it; a missing rate raises none', async () => {
  const { scope, merchant } = await shop();
  const plan = await makePlan(app.ctx, scope, merchant, { firstOn: day, maxCharges: 1 });
  const alarm = async () => (await raisedAlarms(app.db.sql)).get('plans_failing');
  await whileChargesDo(`raise exception 'spoiled'`, async () => {
    await turnAt(app.ctx, `${day}T00:00:00.000Z`);
    await turnAt(app.ctx, `${day}T23:59:59.000Z`);
    assert.equal(await alarm(), undefined);
    await turnAt(app.ctx, '2030-01-02T00:00:00.000Z');
    assert.match((await alarm()) ?? '', /^Charges have failed for more than a day.* Plans: 1$/);
  });
  await app.db.sql`update plans set failure = 'rate_unavailable' where id = ${plan.id}`;
  await turnAt(app.ctx, '2030-01-02T00:00:05.000Z');
  assert.equal((await planOf(app.ctx, plan)).plan.failure, 'rate_unavailable');
  assert.equal(await alarm(), undefined);
});

test('a plan of another merchant, partner or mode → cannot be seen or changed', async () => {
  const [one, two] = [await shop(), await shop()];
  const neighbour = await makeMerchant(app.db, one.scope);
  const plan = await makePlan(app.ctx, one.scope, one.merchant, { firstOn: day });
  const others = [
    { scope: one.scope, accountId: neighbour.id, id: plan.id },
    { scope: two.scope, accountId: two.merchant.id, id: plan.id },
    { scope: two.scope, accountId: one.merchant.id, id: plan.id },
    { scope: one.live, accountId: one.merchant.id, id: plan.id },
    { scope: one.scope, accountId: one.merchant.id, id: 'all' },
  ];
  for (const which of others) {
    for (const act of [pausePlan, resumePlan, endPlan]) {
      await assert.rejects(async () => act(app.ctx, theService, which), { code: 'not_found' });
    }
  }
  assert.equal((await planOf(app.ctx, plan)).plan.state, 'active');
  for (const scope of [two.scope, one.live]) {
    const seen = await app.db.scoped(scope, (tx) => tx`select id from plans where id = ${plan.id}`);
    assert.equal(seen.length, 0);
    const touched = await app.db.scoped(scope, (tx) => tx`update plans set fiat_int = 1 where id = ${plan.id}`);
    assert.equal(touched.count, 0);
    const insert = app.db.scoped(
      scope,
      (tx) => tx`
      insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
      values (${one.scope.partnerId}, true, ${plan.id}, 1, '2027-01-01', ${plan.id}, now())`,
    );
    await assert.rejects(insert, { code: '42501' });
  }
  const mixed = app.db.sql`
    insert into plan_charges (partner_id, test_mode, plan_id, number, due_on, request_id, made_at)
    select ${two.scope.partnerId}, true, ${plan.id}, 1, '2027-01-01', ${plan.id}, now()`;
  await assert.rejects(mixed, { code: '23503' });
});

test('A merchant’s open pages hear of what becomes of its plans; those of its neighbours do not, those of partners of the log alone', {
  timeout: patienceMs,
}, async () => {
  const { scope, merchant } = await shop();
  const neighbour = await makeMerchant(app.db, scope);
  const look = (accountId?: string) => {
    const seen = { woken: 0, wake: () => {} };
    const watcher: Watcher = {
      scope,
      chains: false,
      wake: () => {
        seen.woken++;
        seen.wake();
      },
      ...(accountId && { accountId }),
    };
    const end = watchScope(app.db, watcher, (error) => assert.fail(String(error)));
    const next = () =>
      new Promise<void>((resolve) => {
        seen.wake = resolve;
      });
    return { seen, end, next };
  };
  const [own, other, partner] = [look(merchant.id), look(neighbour.id), look()];
  try {
    // Each wakes once when the listener is ready, and once when its clock is known.
    for (const one of [own, other, partner]) while (one.seen.woken < 2) await one.next();
    const before = [other.seen.woken, partner.seen.woken];
    for (const act of [
      () => makePlan(app.ctx, scope, merchant, { firstOn: day }),
      async () => {
        const [plan] = await app.db.sql`select id from plans where account_id = ${merchant.id}`;
        return pausePlan(app.ctx, theService, { scope, accountId: merchant.id, id: plan?.id });
      },
    ]) {
      const told = own.next();
      await act();
      await told;
    }
    assert.equal(other.seen.woken, before[0]);
    const entries = partner.seen.woken - (before[1] ?? 0);
    assert.ok(entries <= 2, `a partner hears of the two entries of its log alone, not ${entries}`);
  } finally {
    for (const { end } of [own, other, partner]) end();
  }
});

test('Due plans and a customer’s plans are found by index, however many plans there are', async () => {
  await app.owner`analyze plans, plan_charges`;
  const looks = [
    app.db.sql`explain select id from plans p where p.partner_id = gen_random_uuid() and p.test_mode = true
      and p.due_at <= now() order by p.due_at limit 20`,
    app.db.sql`explain select id from plans where failure in ('rate_unavailable', 'other') and failed_at <= now()
      order by failed_at limit 100`,
    app.db.sql`explain select id from plans
      where lower(customer_email) = 'a@b.example' and customer_email is not null`,
    app.db.sql`explain select id from plans
      where regexp_replace(customer_phone, '\\D', '', 'g') = '4930' and customer_phone is not null`,
    app.db.sql`explain select id from plans where state = 'ended' and customer_name is not null and ended_at < now()
      order by ended_at limit 500`,
  ];
  for (const look of looks) {
    const plan = (await look).map((line) => line['QUERY PLAN']).join('\n');
    assert.match(plan, /Index (Only )?Scan|Bitmap Index Scan/);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
});
