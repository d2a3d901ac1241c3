import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { scopeOfDelivery } from '../../src/auth/scope.ts';
import { pageSize } from '../../src/lib/paging.ts';
import { replayDelivery } from '../../src/webhooks/replay.ts';
import { browseExhausted, exportExhausted } from '../../src/webhooks/stuck.ts';
import { testDatabase } from '../support/database.ts';
import { deliveryContext, makeEvents } from '../support/deliveries.ts';
import { makePartner } from '../support/fixtures.ts';

let fixtures: Awaited<ReturnType<typeof testDatabase>>;
let ctx: ReturnType<typeof deliveryContext>['ctx'];
before(async () => {
  fixtures = await testDatabase();
  ctx = deliveryContext(fixtures.db).ctx;
});
after(() => fixtures.drop());

test('more events are used up than a page shows → the next page continues after the last one, even once that was resent', async () => {
  const partners = await Promise.all([makePartner(fixtures.db), makePartner(fixtures.db)]);
  const made: string[] = [];
  for (const { test: scope, live } of partners) {
    made.push(...(await makeEvents(fixtures.db, scope, pageSize / 2)));
    made.push(...(await makeEvents(fixtures.db, live, 2)));
  }
  await fixtures.db.sql`update webhook_deliveries set state = 'exhausted', attempts = 8`;

  const first = await browseExhausted(ctx, null);
  assert.equal(first.rows.length, pageSize);
  const last = first.rows.at(-1)?.id as string;
  const scope = await scopeOfDelivery(fixtures.db, last);
  assert.ok(scope);
  await replayDelivery(ctx, theService, scope, last);
  const second = await browseExhausted(ctx, first.next);
  assert.equal(second.next, null);
  const shown = [...first.rows, ...second.rows].map(({ id }) => id);
  assert.deepEqual(shown.toSorted(), made.toSorted(), 'each is on one page');

  const exported: string[] = [];
  for await (const rows of exportExhausted(ctx)) exported.push(...rows.map(({ id }) => id));
  assert.deepEqual(exported.toSorted(), made.filter((id) => id !== last).toSorted());
  assert.deepEqual((await browseExhausted(ctx, randomUUID())).rows, [], 'nothing is after an event that there is not');
});

test('the result of an attempt → is written to three indexes, however the event may be looked for', async () => {
  const rows = await fixtures.db.sql<{ name: string }[]>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = 'webhook_deliveries'::regclass and i.indpred is null order by 1`;
  const names = ['webhook_deliveries_newest', 'webhook_deliveries_pkey', 'webhook_deliveries_request'];
  assert.deepEqual(
    rows.map(({ name }) => name),
    names,
    'all others are only of what is not delivered',
  );
});
