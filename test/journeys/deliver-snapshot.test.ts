import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { Claims } from '../../src/webhooks/claim.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { maxPosts, maxWindow } from '../../src/webhooks/rules.ts';
import { Scheduler } from '../../src/webhooks/scheduler.ts';
import { openOne, testDatabase, withoutLimits } from '../support/database.ts';
import { deliveryContext, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';
import { openExplainer, pagesRead, sentDuring } from '../support/query-plans.ts';
import { until } from '../support/until.ts';

const deliveredEach = 10_000;
/** No claim is quicker, so each begins where the one before found something. */
const alwaysSlow = -1;
const longMs = 3_600_000;

let fixtures: Awaited<ReturnType<typeof testDatabase>>;
let made: ReturnType<typeof deliveryContext>;
let holder: ReturnType<typeof openOne>;
let busy: Scope;
let quiet: Scope;

async function partnerWithUrl(): Promise<Scope> {
  const { test: scope } = await makePartner(fixtures.db);
  await setUrl(made.ctx, theService, scope, 'https://receiver.example/hook');
  return scope;
}

before(async () => {
  fixtures = await testDatabase();
  made = deliveryContext(fixtures.db);
  [busy, quiet] = [await partnerWithUrl(), await partnerWithUrl()];
  for (const { partnerId, testMode } of [busy, quiet]) {
    await withoutLimits(
      fixtures.owner,
      (tx) => tx`
        insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
        select ${partnerId}, ${testMode}, gen_random_uuid(), gen_random_uuid(), 'payment.proof_verified', '{}',
          now() - interval '1 hour' + n * interval '1 ms'
        from generate_series(1, ${deliveredEach}::int) n`,
    );
  }
  // As `pg_dump` does: what it sees, nobody may remove.
  holder = openOne(fixtures.url);
  await holder.unsafe('begin isolation level repeatable read; select from webhook_deliveries limit 1');
  await fixtures.owner`update webhook_deliveries set state = 'delivered', delivered_at = now()`;
});

after(async () => {
  await holder.end();
  await fixtures.drop();
});

/** Claims over and over, as a process that has looked everywhere so far. */
async function claimsThatKnow(everywhereEveryMs = longMs): Promise<() => Promise<string[]>> {
  const claims = new Claims(made.ctx, everywhereEveryMs, alwaysSlow);
  const next = async () => (await claims.next(new Scheduler(maxWindow), maxPosts)).map(({ id }) => id);
  await next();
  await next();
  return next;
}

const dueSince = (id = '', ago: string) =>
  fixtures.db.sql`update webhook_deliveries set next_attempt_at = now() - ${ago}::interval where id = ${id}`;

test('while a snapshot is held elsewhere, a claim reads nothing of what was delivered before', async () => {
  const explainer = openExplainer(fixtures.url);
  const pagesOf = async (claim: () => Promise<string[]>) => {
    const sent = await sentDuring(fixtures.db, claim);
    const plans = await explainer.explain(sent, 'auto');
    return Math.max(...plans.map(pagesRead));
  };
  const next = await claimsThatKnow();
  const everywhere = await pagesOf(async () => {
    await claimsThatKnow();
    return [];
  });
  const idle = await pagesOf(next);
  assert.ok(everywhere > 10 * idle, `the snapshot makes looking everywhere dear: ${everywhere} pages`);
  assert.ok(idle < 50, `${idle} pages`);
  const events = await makeEvents(fixtures.db, quiet, 2);
  const pages = await pagesOf(async () => {
    const claimed = await next();
    assert.deepEqual(claimed.sort(), events.sort());
    return claimed;
  });
  assert.ok(pages < 100, `${pages} pages`);
  await explainer.end();
});

test('events in arrears and new ones are claimed, the oldest first, by claims that begin at a frontier', async () => {
  const old = await makeEvents(fixtures.db, busy, maxWindow + 3);
  for (const [n, id] of old.entries()) await dueSince(id, `${old.length - n} minutes`);
  const next = await claimsThatKnow();
  const [young] = await makeEvents(fixtures.db, quiet);
  const claimed = await next();
  // `claimsThatKnow` has claimed the oldest in its first claim, as many as one endpoint gets, and the rest in its second.
  assert.deepEqual(claimed, [young]);
  await fixtures.db.sql`update webhook_deliveries set lease = null, lease_until = null where id = any(${old}::uuid[])`;
  const again = [await next(), await next(), await next()].flat();
  assert.deepEqual(new Set(again), new Set(old), 'what was given back is claimed again');
});

test('an event that became due in the past is claimed as soon as claims look everywhere again', async () => {
  const [late] = await makeEvents(fixtures.db, quiet);
  await fixtures.db
    .sql`update webhook_deliveries set next_attempt_at = now() + interval '1 day' where id = ${String(late)}`;
  const next = await claimsThatKnow();
  const nextOfUsual = await claimsThatKnow(400);
  await dueSince(late, '1 day');
  assert.deepEqual(await next(), [], 'it lies before the frontier');
  await until(async () => (await nextOfUsual()).includes(late as string), 'it is claimed');
});

test('once an endpoint has changed, the next claim looks everywhere', async () => {
  const { test: scope } = await makePartner(fixtures.db);
  const [waiting] = await makeEvents(fixtures.db, scope);
  await dueSince(waiting, '1 hour');
  const claims = new Claims(made.ctx, longMs, alwaysSlow);
  const next = async () => (await claims.next(new Scheduler(maxWindow), maxPosts)).map(({ id }) => id);
  await next();
  await next();
  await setUrl(made.ctx, theService, scope, 'https://receiver.example/hook');
  assert.deepEqual(await next(), []);
  claims.lookEverywhere();
  assert.deepEqual(await next(), [waiting]);
});
