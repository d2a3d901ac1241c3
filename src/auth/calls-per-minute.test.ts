import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { testDatabase } from '../../test/support/database.ts';
import { countCall } from './calls-per-minute.ts';

describe('counting calls', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.drop());
  const counted = () => ({ partnerId: randomUUID(), subject: randomUUID(), action: 'webhook_update' });
  const setMinute = (subject: string, away: string) =>
    database.db.sql`update rate_counters set minute = date_trunc('minute', clock_timestamp()) + ${away}::interval
      where subject = ${subject}`;

  test('calls at the same moment are counted one by one, each subject and action for itself', async () => {
    const one = counted();
    const counts = await Promise.all(Array.from({ length: 50 }, () => countCall(database.db.sql, one)));
    const sorted = counts.toSorted((a, b) => a - b);
    // The minute may have changed in between; then two counters start at one.
    const turned = sorted.filter((count) => count === 1).length;
    assert.ok(turned <= 2);
    if (turned === 1)
      assert.deepEqual(
        sorted,
        Array.from({ length: 50 }, (_, index) => index + 1),
      );
    assert.equal(await countCall(database.db.sql, { ...one, action: 'other' }), 1);
    assert.equal(await countCall(database.db.sql, counted()), 1);
  });

  test('the first call of a new minute → counted as one', async () => {
    const one = counted();
    for (let call = 0; call < 3; call++) await countCall(database.db.sql, one);
    await setMinute(one.subject, '-1 minute');
    assert.equal(await countCall(database.db.sql, one), 1);
  });

  test('a call that waited while the minute turned counts in the newer minute', async () => {
    const one = counted();
    await countCall(database.db.sql, one);
    await setMinute(one.subject, '2 minutes');
    assert.equal(await countCall(database.db.sql, one), 2);
    assert.equal(await countCall(database.db.sql, one), 3);
  });
});
