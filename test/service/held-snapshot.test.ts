import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainConfig } from '../../src/config/chains.ts';
import { type Due, QueuePoller, type Since } from '../../src/db/due.ts';
import { claimMail, mailsDue } from '../../src/mail/queue-store.ts';
import { matchingDue, unsettledDue } from '../../src/payments/due.ts';
import { selectPending, selectUnsettled } from '../../src/payments/queue-store.ts';
import { receiptsDue } from '../../src/receipts/due.ts';
import { claimReceipts } from '../../src/receipts/store.ts';
import { expiryDue } from '../../src/requests/due.ts';
import { updateExpired } from '../../src/requests/store.ts';
import { openOne, testDatabase, withoutLimits } from '../support/database.ts';
import { countingFor, makeMerchant, makePartner, makeRequest, makeTransfer } from '../support/fixtures.ts';
import { openExplainer, pagesRead, sentDuring } from '../support/query-plans.ts';

const doneEach = 10_000;
/** No look is quicker, so each begins where the one before found something. */
const alwaysSlow = -1;
const longMs = 3_600_000;
const waits = { firstMs: 60_000, maxAttempts: 3 };

let fixtures: Awaited<ReturnType<typeof testDatabase>>;
let holder: ReturnType<typeof openOne>;
let explainer: ReturnType<typeof openExplainer>;
let scope: Awaited<ReturnType<typeof makePartner>>['test'];
let merchant: Awaited<ReturnType<typeof makeMerchant>>;
let requestId: string;

before(async () => {
  fixtures = await testDatabase();
  explainer = openExplainer(fixtures.url);
  scope = (await makePartner(fixtures.db)).test;
  merchant = await makeMerchant(fixtures.db, scope);
  requestId = (await makeRequest(fixtures.db, scope, merchant)).id;
  const of = [scope.partnerId, scope.testMode] as const;
  await withoutLimits(fixtures.owner, async (tx) => {
    await tx`
      insert into mails (id, partner_id, test_mode, request_id, recipient, subject, body, urgent, next_attempt_at)
      select gen_random_uuid(), ${of[0]}, ${of[1]}, gen_random_uuid(), 'a@example.com', 's', 'b', false,
        now() - interval '1 hour' * random() - interval '1 minute'
      from generate_series(1, ${doneEach}::int)`;
    await tx`
      insert into receipts (partner_id, test_mode, request_id, channel, next_attempt_at)
      select ${of[0]}, ${of[1]}, gen_random_uuid(), 'mail', now() - interval '1 hour' * random() - interval '1 minute'
      from generate_series(1, ${doneEach}::int)`;
    await tx`
      insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address,
        from_address, to_address, value, partner_id, test_mode, account_id, look_at)
      select 31337, '0xf' || lpad(to_hex(n), 63, '0'), 0, 1, '0x', now(), '0x', '0x', '0x', 1, ${of[0]}, ${of[1]},
        ${merchant.id}, now() - interval '1 hour' * random() - interval '1 minute' from generate_series(1, ${doneEach}::int) n`;
  });
  await fixtures.owner`analyze`;
  // As `pg_dump` does: what it sees, nobody may remove.
  holder = openOne(fixtures.url);
  await holder.unsafe('begin isolation level repeatable read; select from mails limit 1');
  await withoutLimits(fixtures.owner, async (tx) => {
    await tx`update mails set sent_at = now()`;
    await tx`update receipts set done_at = now()`;
    await tx`update transfers set judged_at = now(), counts = true, rule = 'reference', request_id = ${requestId}`;
    await tx`update transfers set final_at = now()`;
  });
});

after(async () => {
  await explainer.end();
  await holder.end();
  await fixtures.drop();
});

const finality = [{ confirmations: 1, upToUsdcMicro: null }];
const chain = { chainId: 31337, finality } as unknown as ChainConfig;
const own = { ...chain, testMode: true };
const heads = { latest: 100, safe: 100, finalized: 100 };
const nobody = { bySender: new Map(), servers: [], senders: [] };

/** Each queue: when it is due, what takes from it, and something that waits in it. */
const queues: { name: string; due: Due; take(since: Since): Promise<unknown>; add(): Promise<unknown> }[] = [
  {
    name: 'mails',
    due: mailsDue,
    take: async (since) => (await claimMail(fixtures.db.sql, false, nobody, [], since))?.id,
    add: () => fixtures.db.sql`
      insert into mails (id, partner_id, test_mode, request_id, recipient, subject, body, urgent)
      values (gen_random_uuid(), ${scope.partnerId}, ${scope.testMode}, ${requestId}, 'b@example.com', 's', 'b', false)`,
  },
  {
    name: 'receipts',
    due: receiptsDue('mail'),
    take: async (since) => (await claimReceipts(fixtures.db, 'mail', waits, 20, since))[0],
    add: () => fixtures.db.sql`
      insert into receipts (partner_id, test_mode, request_id, channel)
      values (${scope.partnerId}, ${scope.testMode}, ${requestId}, 'mail')`,
  },
  {
    name: 'payments to match',
    due: matchingDue(chain),
    take: async (since) => (await selectPending(fixtures.db, own, 500, since))[0],
    add: () => makeTransfer(fixtures.db.sql, scope, merchant),
  },
  {
    name: 'payments to verify',
    due: unsettledDue(chain),
    take: async (since) => (await selectUnsettled(fixtures.db, own, heads, 500, since))[0],
    add: () => makeTransfer(fixtures.db.sql, scope, merchant, countingFor(requestId)),
  },
];

const pagesOf = async (work: () => Promise<unknown>) => {
  const sent = await sentDuring(fixtures.db, work);
  return Math.max(...(await explainer.explain(sent, 'auto')).map(pagesRead));
};

for (const { name, due, take, add } of queues)
  test(`while a snapshot is held elsewhere, looks at ${name} read nothing of what was done before`, async () => {
    const looks = new QueuePoller(fixtures.db.sql, [due], longMs, alwaysSlow);
    await looks.next();
    const everywhere = await pagesOf(() => looks.next());
    const takenEverywhere = await pagesOf(() => take(null));
    assert.ok(
      Math.min(everywhere, takenEverywhere) > 250,
      `the snapshot makes both dear: ${everywhere}, ${takenEverywhere}`,
    );
    const idle = await pagesOf(() => looks.next());
    assert.ok(idle < 30, `${idle} pages`);
    assert.ok((await pagesOf(() => take(looks.since(due)))) < 60);
    await add();
    assert.ok(Number((await looks.next())[0]) <= 0, 'it is due');
    assert.ok(await take(looks.since(due)), 'it is taken');
  });

test('requests expire that are due since the time from which on they are read', async () => {
  const looks = new QueuePoller(fixtures.db.sql, [expiryDue], longMs, alwaysSlow);
  await looks.next();
  await looks.next();
  const [old, young] = [
    await makeRequest(fixtures.db, scope, merchant),
    await makeRequest(fixtures.db, scope, merchant),
  ];
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 hour' where id = ${old.id}`;
  await fixtures.db.sql`update requests set expires_at = now() where id = ${young.id}`;
  assert.equal(await updateExpired(fixtures.db, 10, looks.since(expiryDue)), 1);
  assert.equal(await updateExpired(fixtures.db, 10, null), 1);
});

test('what became due in the past is found by the next look at everything, and quick looks are all such', async () => {
  const request = await makeRequest(fixtures.db, scope, merchant);
  const slow = new QueuePoller(fixtures.db.sql, [expiryDue], longMs, alwaysSlow);
  const often = new QueuePoller(fixtures.db.sql, [expiryDue], 0, alwaysSlow);
  const quick = new QueuePoller(fixtures.db.sql, [expiryDue], longMs, longMs);
  for (const looks of [slow, often, quick, slow, often, quick]) await looks.next();
  const once = new QueuePoller(fixtures.db.sql, [expiryDue], longMs, alwaysSlow);
  await once.next();
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 hour' where id = ${request.id}`;
  const isDue = async (looks: QueuePoller) => Number((await looks.next())[0] ?? Number.POSITIVE_INFINITY) <= 0;
  assert.deepEqual(
    [await isDue(slow), await isDue(once), await isDue(often), await isDue(quick)],
    [false, true, true, true],
  );
  assert.equal(quick.since(expiryDue), null);
});
