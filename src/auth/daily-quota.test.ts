import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testDatabase } from '../../test/support/database.ts';
import { makePartner } from '../../test/support/fixtures.ts';
import { connect, type Database, type Scope } from '../db/connection.ts';
import { deletePastDays, takeDailyQuota, takeRecipientQuota } from './daily-quota.ts';

describe('what is limited to so many a day', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let nodes: Database[];
  let scope: Scope;
  let live: Scope;
  before(async () => {
    database = await testDatabase();
    nodes = [database.db, connect(database.access)];
    ({ test: scope, live } = await makePartner(database.db));
  });
  after(async () => {
    await nodes[1]?.close();
    await database.drop();
  });
  const tomorrow = () => database.db.sql`update day_counters set day = day - 1`;
  const granted = (taken: boolean[]) => taken.filter(Boolean).length;

  test('taken at once on two nodes, in both modes → exactly as many as there are, and again the next day', async () => {
    const take = (n: number) => {
      const of = n % 4 < 2 ? scope : live;
      const counted = { subject: 'a merchant', max: 10 };
      return (nodes[n % 2] as Database).scoped(of, (tx) => takeDailyQuota(tx, of, 'wallet_change', counted));
    };
    assert.equal(granted(await Promise.all(Array.from({ length: 24 }, (_, n) => take(n)))), 10);
    await tomorrow();
    assert.equal(await take(0), true);
  });

  const takeFor = (accountId: string, person = 'somebody', of = scope) =>
    database.db.scoped(of, (tx) => {
      const max = { ofPartner: 20, ofMerchant: 15 };
      return takeRecipientQuota(tx, of, 'receipt_mail', { accountId, person, max });
    });
  const takeMany = async (accountId: string, times: number, person?: string) => {
    const taken: boolean[] = [];
    for (let i = 0; i < times; i++) taken.push(await takeFor(accountId, person));
    return granted(taken);
  };

  test('what one merchant sends to a person › leaves the others of its partner as much, and all together the rest', async () => {
    assert.equal(await takeMany('hostile', 30), 10);
    assert.equal(await takeMany('second', 30), 5);
    assert.equal(await takeMany('third', 1), 1);
    assert.equal(await takeMany('hostile', 5), 0);
    assert.equal(await takeMany('hostile', 1, 'somebody else'), 1, 'another person');
    assert.equal(await takeFor('hostile', 'somebody', (await makePartner(database.db)).test), true, 'another partner');
    for (let n = 0; n < 30; n++) await takeFor(`crowd ${n}`);
    assert.equal(await takeMany('honest', 1), 0, 'all of a partner’s are used up');
  });

  test('many merchants at once on two nodes → a person is sent exactly as many as there are', async () => {
    const take = (n: number) =>
      (nodes[n % 2] as Database).scoped(scope, (tx) =>
        takeRecipientQuota(tx, scope, 'receipt_mail', {
          accountId: `merchant ${n}`,
          person: 'crowded',
          max: { ofPartner: 20, ofMerchant: 15 },
        }),
      );
    assert.equal(granted(await Promise.all(Array.from({ length: 40 }, (_, n) => take(n)))), 20);
  });

  test('what is refused or fails afterwards › uses up nothing', async () => {
    const counted = { subject: 'failing', max: 1 };
    const failing = database.db.scoped(scope, async (tx) => {
      assert.equal(await takeDailyQuota(tx, scope, 'wallet_change', counted), true);
      throw new Error('refused');
    });
    await assert.rejects(failing, /refused/);
    assert.equal(await database.db.scoped(scope, (tx) => takeDailyQuota(tx, scope, 'wallet_change', counted)), true);
  });

  test('counts of days past are deleted, all of them in one pass; those of yesterday and today stay', async () => {
    await database.db.sql`delete from day_counters`;
    await database.db.sql`
      insert into day_counters
      select ${scope.partnerId}, (now() at time zone 'UTC')::date - days, 'receipt_mail', n::text, 1
      from unnest('{0,1,2,40}'::int[]) days, generate_series(1, 700) n`;
    assert.equal(await deletePastDays(database, new AbortController().signal), 1400);
    const [left] = await database.db.sql`
      select count(*)::int as count, (now() at time zone 'UTC')::date - min(day) as oldest from day_counters`;
    assert.deepEqual(left, { count: 1400, oldest: 1 });
  });
});
