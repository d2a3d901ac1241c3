import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { encrypt } from '../../src/lib/encrypt.ts';
import { type Busy, claimMail } from '../../src/mail/queue-store.ts';
import { type TestDatabase, testDatabase, withoutLimits } from '../support/database.ts';
import { testSecrets } from '../support/fixtures.ts';
import { openExplainer, pagesRead, sentDuring } from '../support/query-plans.ts';

/** What a claim may read for one sender: a few rows, each through the pages of an index. */
const mostPages = 300;
const [sender, other] = [randomUUID(), randomUUID()];
const missing = { id: 'missing', key: Buffer.alloc(32, 9) };
const busy: Busy = { bySender: new Map([[sender, 3]]), servers: ['busy.example'], senders: [] };

let database: TestDatabase;
let explainer: ReturnType<typeof openExplainer>;
before(async () => {
  database = await testDatabase();
  explainer = openExplainer(database.url);
});
after(async () => {
  await explainer?.end();
  await database?.drop();
});
beforeEach(() => database.owner`truncate mails`);

type Waiting = { server: string; dueInS: number; count?: number; of?: string; key?: typeof missing };

/** Queues mails of a partner, a millisecond apart; `#` in the server's name is replaced by a number for each. */
const queue = ({ server, dueInS, count = 1, of = sender, key = testSecrets[0] as typeof missing }: Waiting) =>
  withoutLimits(
    database.owner,
    (tx) => tx`
      insert into mails (id, partner_id, test_mode, request_id, recipient, subject, sealed, next_attempt_at)
      select gen_random_uuid(), ${of}, false, gen_random_uuid(), 'Ada@' || replace(${server}, '#', n::text), 's',
        ${encrypt([key], 'A receipt')}, now() + ${dueInS} * interval '1 s' + n * interval '1 ms'
      from generate_series(1, ${count}::int) n`,
  );

const keyIds = testSecrets.map(({ id }) => id);
const claim = async (without = busy) =>
  (await claimMail(database.db.sql, false, without, keyIds, null))?.recipient ?? null;

/** What a claim takes, and that it read few pages for it. */
async function cheapClaim(without = busy): Promise<string | null> {
  let claimed: string | null = null;
  const sent = await sentDuring(database.db, async () => {
    claimed = await claim(without);
  });
  const pages = Math.max(...(await explainer.explain(sent, 'auto')).map(pagesRead));
  assert.ok(pages < mostPages, `${pages} pages`);
  return claimed;
}

test('20,000 mails to a busy server are due first → a mail to another server is claimed without reading them', async () => {
  await queue({ server: 'BUSY.example', dueInS: -3600, count: 20_000 });
  assert.equal(await cheapClaim(), null);
  await queue({ server: 'a.example', dueInS: -1 });
  await queue({ server: 'later.example', dueInS: 3600 });
  await queue({ server: 'z.example', dueInS: -1 });
  const claimed = [await claim(), await claim(), await cheapClaim()];
  assert.deepEqual(claimed.toSorted(), ['Ada@a.example', 'Ada@z.example', null]);
});

test('20,000 mails of a key that this node lacks are due first → one of its own key is claimed, and those of a key that was given up', async () => {
  await queue({ server: 'fine.example', dueInS: -3600, count: 20_000, key: missing });
  assert.equal(await cheapClaim(), null);
  await queue({ server: 'fine.example', dueInS: -1 });
  assert.equal(await claim(), 'Ada@fine.example');
  assert.equal(await cheapClaim(), null);
  await database.owner`insert into secret_key_marks (key_id, forgotten_at) values (${missing.id}, now())`;
  assert.equal(await cheapClaim(), 'Ada@fine.example');
  await database.owner`delete from secret_key_marks where key_id = ${missing.id}`;
});

test('Many servers wait for a later attempt behind mails to a busy one → the one that is due is claimed, wherever its name stands', async () => {
  await queue({ server: 'busy.example', dueInS: -3600, count: 50 });
  await queue({ server: 's#.example', dueInS: 3600, count: 2_000 });
  for (const server of ['0.example', 'zz.example']) {
    await queue({ server, dueInS: -1 });
    const tries = Array.from({ length: 300 });
    const found = await tries.reduce<Promise<string | null>>(
      async (before) => (await before) ?? claim(),
      Promise.resolve(null),
    );
    assert.equal(found, `Ada@${server}`);
  }
});

test('Partners wait behind mails to a busy server → the one with fewest under way comes first, then the one whose mail waits longest', async () => {
  await queue({ server: 'busy.example', dueInS: -3600, count: 50 });
  await queue({ server: 'busy.example', dueInS: -3600, count: 50, of: other });
  await queue({ server: 'first.example', dueInS: -60 });
  await queue({ server: 'second.example', dueInS: -30, of: other });
  assert.equal(await claim(), 'Ada@second.example');
  await queue({ server: 'second.example', dueInS: -30, of: other });
  assert.equal(await claim({ ...busy, bySender: new Map() }), 'Ada@first.example');
  assert.equal(await claim({ ...busy, senders: [other] }), null);
});

test('Several nodes claim behind a busy server at once → no mail is claimed twice', async () => {
  await queue({ server: 'busy.example', dueInS: -3600, count: 50 });
  await queue({ server: 's#.example', dueInS: -1, count: 40 });
  const claimed = (await Promise.all(Array.from({ length: 8 }, () => claim()))).filter((one) => one !== null);
  assert.ok(claimed.length > 0);
  assert.equal(new Set(claimed).size, claimed.length);
});
