import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FairShares } from '../../src/auth/fair-shares.ts';
import { refuse } from '../../src/errors.ts';
import { type Answer, send } from '../support/api/client.ts';
import { startWithPools } from '../support/app.ts';
import { openOne } from '../support/database.ts';
import { makeKey, makeMerchant, makePartner, setRate } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startWithPools>>;
before(async () => {
  app = await startWithPools();
  await setRate(app.database.db, 'EUR', '0.92');
});
after(() => app?.stop());

type Till = { key: string; account: string; wallet: string; partnerId: string };

/** A partner with this many keys, each with its own merchant, which this node has seen before or not. */
async function tills(count: number, isSeen = true): Promise<Till[]> {
  const { test: scope } = await makePartner(app.database.db);
  const all: Till[] = [];
  for (let i = 0; i < count; i++) {
    const [{ key }, { id, wallet }] = [
      await makeKey(app.database.db, scope),
      await makeMerchant(app.database.db, scope),
    ];
    const till = { key, account: id, wallet, partnerId: scope.partnerId };
    if (isSeen) assert.equal((await create(till)).status, 201);
    all.push(till);
  }
  return all;
}

function create({ key, account }: Till): Promise<Answer> {
  const body = { account_id: account, fiat_amount_int: 1250 };
  return send(app.url, 'POST', '/api/v1/requests/create', { key, body });
}

const stuck = async () => {
  const [row] = await app.database.db.sql<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return row?.n ?? 0;
};

/** While creates for these tills' wallets wait in the database, as they do for another one that is slow. */
async function whileSlow(slow: Till[], each: number, work: () => Promise<void>): Promise<void> {
  const lock = openOne(app.database.url);
  await lock`begin`;
  for (const { wallet } of slow)
    await lock`select pg_advisory_xact_lock(hashtext('request wallet'), hashtext(${wallet}))`;
  const creates = slow.flatMap((till) => Array.from({ length: each }, () => create(till)));
  try {
    await until(async () => (await stuck()) > 0, 'creates to wait');
    await work();
  } finally {
    await lock`rollback`;
    await lock.end();
  }
  const answers = await Promise.all(creates);
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201]);
}

test('twenty creates of one key that wait → its other calls, other keys of its partner and other partners do not', async () => {
  const [[slow, own], [other]] = [await tills(2), await tills(1)] as [[Till, Till], [Till]];
  await whileSlow([slow], 20, async () => {
    for (const till of [own, other]) assert.equal((await create(till)).status, 201);
    for (const { key } of [slow, own, other]) {
      const listed = await send(app.url, 'GET', '/api/v1/requests', { key });
      assert.equal(listed.status, 200);
    }
  });
});

test('creates of all keys of a partner that wait → other partners’ do not', async () => {
  const [slow, [other]] = [await tills(10), await tills(1)] as [Till[], [Till]];
  await whileSlow(slow, 2, async () => {
    assert.equal((await create(other)).status, 201);
    assert.equal((await send(app.url, 'GET', '/api/v1/requests', { key: other.key })).status, 200);
  });
});

test('creates of many keys of a partner that this node sees for the first time, and that wait → other partners’ do not', async () => {
  const [slow, [other]] = [await tills(12, false), await tills(1)] as [Till[], [Till]];
  await whileSlow(slow, 1, async () => {
    await until(async () => (await stuck()) >= 3, 'several of them to wait');
    assert.equal((await create(other)).status, 201);
    assert.equal((await send(app.url, 'GET', '/api/v1/requests', { key: other.key })).status, 200);
  });
});

test('a key that nobody has → refused without its call; whose key it is, is looked up once', async () => {
  const shares = new FairShares();
  const call = { keyHash: 'key', endpoint: 'create', deadline: Number.POSITIVE_INFINITY };
  const unknown = async () => Promise.reject(refuse('unauthorized'));
  const mustNot = async () => assert.fail('it was called');
  await assert.rejects(shares.run({ ...call, findPartner: unknown }, mustNot), { code: 'unauthorized' });
  assert.equal(await shares.run({ ...call, findPartner: async () => 'partner' }, async () => 1), 1);
  assert.equal(await shares.run({ ...call, findPartner: mustNot }, async () => 2), 2);
});

test('a call whose client was answered while it waited → is not begun', async () => {
  const shares = new FairShares();
  let begun = 0;
  const work = async () => ++begun;
  const call = { keyHash: 'key', endpoint: 'create', findPartner: async () => 'partner' };
  await assert.rejects(shares.run({ ...call, deadline: performance.now() }, work), { code: 'unavailable' });
  assert.equal(begun, 0);
  assert.equal(await shares.run({ ...call, deadline: Number.POSITIVE_INFINITY }, work), 1);
});

test('a call whose client was answered while other calls of its partner ran → is not begun', async () => {
  const shares = new FairShares();
  const call = (keyHash: string, deadline = Number.POSITIVE_INFINITY) => {
    return { keyHash, endpoint: 'create', deadline, findPartner: async () => 'partner' };
  };
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const running = ['a', 'b', 'c'].map((key) => shares.run(call(key), () => ended));
  const deadline = performance.now() + 100;
  const late = shares.run(call('d', deadline), async () => assert.fail('it was begun'));
  late.catch(() => {});
  await until(() => performance.now() > deadline, 'its client to be answered');
  end();
  await Promise.all(running);
  await assert.rejects(late, { code: 'unavailable' });
});
