import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopeOf } from '../../src/auth/scope.ts';
import { connect, type Database, isUnreachable, type Scope, usualWaits } from '../../src/db/connection.ts';
import { nestedIn, nestedInScope } from '../../src/db/nested.ts';
import { type Opening, openPool, type Pool, type Waits } from '../../src/db/pool.ts';
import { ownSessionSettings } from '../../src/db/session-settings.ts';
import { constant, type Row, type Rows, type Statement, type Tag, type Value } from '../../src/db/sql.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner } from '../support/fixtures.ts';
import { startProxy } from '../support/net/proxy.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let own: Scope;
let other: Scope;
let ownMerchant: string;
let otherMerchant: string;
before(async () => {
  database = await testDatabase();
  [own, other] = [(await makePartner(database.db)).test, (await makePartner(database.db)).test];
  ownMerchant = (await makeMerchant(database.db, own)).id;
  otherMerchant = (await makeMerchant(database.db, other)).id;
  await database.owner`create table shelf (n int)`;
  await database.owner`grant select, insert on shelf to public`;
});
after(() => database?.drop());

/** One connection, so that whatever is left on it meets the next work. */
async function withOne(work: (db: Database, pool: Pool) => Promise<void>, url?: string, waits?: Waits): Promise<void> {
  const access = { ...database.access, ...(url && { scoped: url }) };
  const db = connect(access, { service: 1, scoped: 1 }, waits);
  try {
    const [, pool] = db.pools as [Pool, Pool];
    await merchants(db, own); // what enters a scope is prepared from now on, and the session is clear
    await work(db, pool);
  } finally {
    await db.close();
  }
}

const merchants = async (db: Database, scope: Scope) =>
  (await db.read(scope, (sql) => sql<{ id: string }[]>`select id from merchants`)).map(({ id }) => id);

/** The texts that are sent for some work. */
async function textsOf(pool: Pool, work: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = [];
  pool.observer = (_session, { text }) => texts.push(text);
  await work().finally(() => {
    pool.observer = null;
  });
  return texts;
}

const session = async (pool: Pool) => (await pool<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;

/** Asserts that nothing of an earlier scope remains, neither in the session nor for the next work. */
async function assertClean(db: Database, pool: Pool): Promise<void> {
  const [left] = await pool`
    select current_user = session_user as itself, nullif(current_setting('quittance.partner_id', true), '') as partner,
      nullif(current_setting('quittance.proof', true), '') as proof, (select count(*)::int from merchants) as merchants`;
  assert.deepEqual({ ...left }, { itself: true, partner: null, proof: null, merchants: 0 });
  const now = async () => (await pool`select now()::text as at`)[0]?.at;
  assert.notEqual(await now(), await now(), 'one transaction');
  assert.deepEqual(await merchants(db, other), [otherMerchant]);
  assert.deepEqual(await merchants(db, own), [ownMerchant]);
}

/** A text as it is, with a name: as if somebody had changed the text of a statement of ours. */
const textOf = (sql: Tag, text: string): Statement<Rows<Row[]>> => sql(Object.assign([text], { raw: [text] }));

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error) => (isUnreachable(error) ? 'unreachable' : (error.code ?? error.message)),
  );

/** The text by which a read enters, so that it is prepared. */
const enterBy = (pool: Pool, { partnerId, testMode }: Scope, proof: string | null) =>
  pool`select enter_scope(${partnerId}, ${testMode}, ${proof}), set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** How the work of a scope opens, by hand. */
function openingOf({ prove }: Pick<Database, 'prove'>, pool: Pool, scope: Scope, more: Partial<Opening> = {}): Opening {
  const enter = enterBy(pool, scope, prove(scope));
  const clearOfSelect = 'reset all; set role none';
  return { clear: 'select public.begin_scoped()', clearOfSelect, enter, onlyReads: true, ...more };
}

test('a read › one statement after what enters its scope, without begin and commit, and then the session is cleared', async () => {
  await withOne(async (db, pool) => {
    for (const scope of [own, other, own]) {
      const texts = await textsOf(pool, () => merchants(db, scope));
      const names = ['select enter_scope(', 'select id from merchants', 'set role none; reset all; '];
      assert.deepEqual(
        texts.map((text, at) => text.slice(0, names[at]?.length)),
        names,
      );
      await assertClean(db, pool);
    }
    const [row] = await db.read(
      own,
      (sql) => sql`
      select current_setting('statement_timeout') as timeout, current_user as role, current_setting('datestyle') as style`,
    );
    assert.deepEqual({ ...row }, { timeout: '30s', role: 'quittance_app', style: 'ISO, MDY' });
  });
});

test('a read that is sent again › has one plan for all values, made once; a statement of a transaction has what the server chooses', async () => {
  await withOne(async (db) => {
    const plansOf = async (name: string) => {
      const [row] = await db.read(
        own,
        (sql) => sql`
        select custom_plans::int as custom, generic_plans::int as generic from pg_prepared_statements
        where statement like ${`%as ${name} %`}`,
      );
      return { ...row };
    };
    for (const id of [ownMerchant, otherMerchant])
      await db.read(own, (sql) => sql`select 1 as planned_once from merchants where id = ${id}`);
    await db.reading(own, async (tx) => tx`select 1 as planned_freely from merchants where id = ${ownMerchant}`);
    assert.deepEqual(await plansOf('planned_once'), { custom: 0, generic: 2 });
    assert.deepEqual(await plansOf('planned_freely'), { custom: 1, generic: 0 });
  });
});

const loop: Value[] = [];
loop.push(loop as Value);

/** Ends the session that sleeps, once one does. */
const endSleeper = () =>
  until(
    async () =>
      (
        await database.owner`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`
      ).length > 0,
    'a session to sleep',
  );

type Ending = { codes: string[]; run(db: Database, pool: Pool): Promise<unknown> };
/** The ways in which a read can end. */
const endings: Record<string, Ending> = {
  'an answer': { codes: ['none'], run: (db) => merchants(db, own) },
  'its error': { codes: ['22012'], run: (db) => db.read(own, (sql) => sql`select 1 / (count(*) - 1) from merchants`) },
  'a text that is no SQL': { codes: ['42601'], run: (db) => db.read(own, (sql) => sql`select from from`) },
  'two statements': { codes: ['42601'], run: (db) => db.read(own, (sql) => textOf(sql, 'select 1; reset role')) },
  'a value left out': {
    codes: ['UNDEFINED_VALUE'],
    run: (db) => db.read(own, (sql) => sql`select ${undefined as never}::text`),
  },
  'a value that cannot be written': { codes: ['unreachable'], run: (db) => db.read(own, (sql) => sql`select ${loop}`) },
  'a statement that ends its transaction': {
    codes: ['none'],
    run: (db) => db.read(own, (sql) => textOf(sql, 'commit')),
  },
  'a statement that begins one': { codes: ['none'], run: (db) => db.read(own, (sql) => textOf(sql, 'begin')) },
  'a block that commits': {
    codes: ['none', '2D000'], // from PostgreSQL 17 on it may not
    run: (db) => db.read(own, (sql) => textOf(sql, 'do $x$ begin commit; end $x$')),
  },
  'a role kept': {
    codes: ['none'],
    run: (db) => db.read(own, (sql) => sql`select set_config('role', 'quittance_app', false)`),
  },
  'settings kept': {
    codes: ['none'],
    run: (db) =>
      db.read(
        own,
        (sql) => sql`
        select set_config('quittance.partner_id', ${own.partnerId}, false), set_config('quittance.test_mode', 'true', false),
          set_config('quittance.proof', ${db.prove(own)}, false)`,
      ),
  },
  'its session ended': {
    codes: ['unreachable'],
    run: (db) => Promise.all([db.read(own, (sql) => sql`select pg_sleep(600), count(*) from merchants`), endSleeper()]),
  },
};

for (const [name, { codes, run }] of Object.entries(endings)) {
  test(`a read that ends with ${name} › its connection serves other scopes, and nothing of this one is left`, async () => {
    await withOne(async (db, pool) => {
      for (let time = 0; time < 2; time++) {
        const texts = await textsOf(pool, async () => {
          const code = String(await codeOf(run(db, pool)));
          assert.ok(codes.includes(code), code);
        });
        assert.deepEqual(
          texts.filter((text) => /^(begin|commit|rollback)/.test(text) && text.length > 6),
          [],
        );
        await assertClean(db, pool);
      }
    });
  });
}

test('a proof of another scope, or none › the statement does not run, and the session stays usable', async () => {
  await withOne(async (db, pool) => {
    const before = await session(pool);
    await merchants(db, own);
    const live = scopeOf(other.partnerId, false);
    for (const proof of [db.prove(own), db.prove(live), '', 'no hex', null]) {
      const enter = enterBy(pool, other, proof);
      const texts = await textsOf(pool, async () => {
        const read = pool.alone((sql) => sql`insert into shelf values (1)`, openingOf(db, pool, other, { enter }));
        assert.equal(await codeOf(read), proof === 'no hex' ? '22023' : '42501');
      });
      assert.equal(texts[1], 'insert into shelf values (1)');
      assert.ok(!texts.some((text) => text.startsWith('begin')));
      await merchants(db, other);
    }
    await assertClean(db, pool);
    assert.equal(await session(pool), before);
    assert.equal((await database.owner`select from shelf`).length, 0);
    await merchants(db, own);
    await pool.alone((sql) => sql`insert into shelf values (1)`, openingOf(db, pool, other));
    assert.equal((await database.owner`delete from shelf returning n`).length, 1, 'with its proof it does');
  });
});

test('a statement that is slower than the session allows › ended by the server, and the session serves other scopes', async () => {
  const settings = { ...ownSessionSettings, statement_timeout: 5_000 };
  const slow = { url: database.access.scoped, connections: 1, waits: usualWaits, settings, maxPrepared: 100 };
  const pool = openPool(slow);
  const read = <T>(scope: Scope, ask: (sql: Tag) => Statement<T>) =>
    pool.alone(ask, openingOf(database.db, pool, scope));
  await read(own, (sql) => sql`select 1`);
  const before = await session(pool);
  await read(own, (sql) => sql`select 1`).catch(() => {});
  const texts = await textsOf(pool, async () => {
    assert.equal(await codeOf(read(own, (sql) => sql`select pg_sleep(60), count(*) from merchants`)), '57014');
  });
  assert.deepEqual(
    texts.filter((text) => text.startsWith('begin')),
    [],
  );
  assert.equal(await session(pool), before);
  const [row] = await read(other, (sql) => sql`select array_agg(id) as ids from merchants`);
  assert.deepEqual(row?.ids, [otherMerchant]);
  await pool.end();
});

test('a session that is not cleared yet › serves nobody; one that cannot be cleared is closed', async () => {
  await withOne(async (db, pool) => {
    const lock = 7188255;
    const holder = await database.owner`select pg_advisory_lock(${lock})`;
    assert.equal(holder.length, 1);
    const clear = `select pg_advisory_lock_shared(${lock})`;
    const [row] = await pool.alone(
      (sql) => sql`select count(*)::int as n from merchants`,
      openingOf(db, pool, own, { clearOfSelect: clear }),
    );
    assert.equal(row?.n, 1, 'answered before the session is cleared');
    let served = false;
    const next = pool`select 1`.then(() => {
      served = true;
    });
    await until(
      async () =>
        (
          await database.owner`
          select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
        ).length > 0,
      'the session to be cleared',
    );
    assert.equal(served, false);
    await database.owner`select pg_advisory_unlock(${lock})`;
    await next;
    await merchants(db, own);
    const before = await session(pool);
    await merchants(db, own);
    await pool.alone((sql) => sql`select 1`, openingOf(db, pool, own, { clearOfSelect: 'select 1 / 0' }));
    await assertClean(db, pool);
    assert.notEqual(await session(pool), before);
  });
});

test('more texts than stay prepared › each is answered in its scope, and what enters scopes stays prepared', async () => {
  await withOne(async (db, pool) => {
    const ask = async (n: number) => {
      const [scope, id] = n % 2 ? [own, ownMerchant] : [other, otherMerchant];
      const rows = await db.read(
        scope,
        (sql) => sql`select ${constant(n)} as n, ${n}::int + 1 as next, id from merchants`,
      );
      assert.deepEqual(
        rows.map((row) => ({ ...row })),
        [{ n, next: n + 1, id }],
      );
    };
    const texts = await textsOf(pool, async () => {
      for (let n = 1; n <= 150; n++) await ask(n);
      for (let n = 150; n > 0; n -= 1 + (n % 3)) await ask(n);
    });
    assert.deepEqual(
      texts.filter((text) => text.startsWith('begin')),
      [],
    );
    // The statement that enters a scope is the oldest of a hundred. The next one must not replace it.
    await db.scoped(own, (tx) =>
      Promise.all(Array.from({ length: 99 }, (_, n) => tx`select ${constant(n)} as old, ${n}::int`)),
    );
    await ask(1001);
    const [kept] = await db.read(own, (sql) => sql`select count(*)::int as n from pg_prepared_statements`);
    assert.equal(kept?.n, 100);
  });
});

test('a plan that a migration made stale, and statements that the server has lost › prepared again, and answered', async () => {
  await withOne(async (db, pool) => {
    const columns = async () => Object.keys((await db.read(own, (sql) => sql`select * from shelf`))[0] ?? {});
    await database.owner`insert into shelf values (1)`;
    for (let time = 0; time < 2; time++) assert.deepEqual(await columns(), ['n']);
    await database.owner`alter table shelf add column kind text`;
    assert.deepEqual(await columns(), ['n', 'kind']);
    await database.owner`alter table shelf drop column kind`;
    assert.deepEqual(await columns(), ['n']);
    await database.owner`delete from shelf`;
    await db.scoped(own, (tx) => tx.unsafe('deallocate all'));
    assert.deepEqual(await merchants(db, other), [otherMerchant]);
    await assertClean(db, pool);
  });
});

test('a server that falls silent under a read › it fails in time, and the next one is answered', async () => {
  const proxy = await startProxy(database.access.scoped);
  const waits = { queue: 30, connect: 30, answer: 10 };
  try {
    await withOne(
      async (db, pool) => {
        pool.observer = (_session, { text }) => {
          if (text.includes('reset all')) proxy.behave('silent'); // the last of what goes out together
        };
        assert.equal(await codeOf(merchants(db, own)), 'unreachable');
        pool.observer = null;
        proxy.behave('forward');
        await assertClean(db, pool);
      },
      proxy.url,
      waits,
    );
  } finally {
    proxy.close();
  }
});

test('reads of two scopes at once over few connections › each sees its own, also while others fail', async () => {
  const patient = { queue: 300, connect: 300, answer: 300 };
  const db = connect(database.access, { service: 1, scoped: 3 }, patient);
  const sent: string[] = [];
  const [, pool] = db.pools as [Pool, Pool];
  pool.observer = (_session, { text }) => sent.push(text);
  await Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      const [scope, id] = n % 2 ? [own, ownMerchant] : [other, otherMerchant];
      if (n % 7 === 0)
        return assert.equal(await codeOf(db.read(scope, (sql) => sql`select 1 / (${n}::int * 0)`)), '22012');
      if (n % 5 === 0)
        return db.scoped(scope, async (tx) => assert.equal((await tx`select id from merchants`)[0]?.id, id));
      assert.deepEqual(await merchants(db, scope), [id]);
    }),
  );
  await db.close();
  const begun = sent.filter((text) => text.startsWith('begin')).length;
  assert.ok(begun < 200, `${begun} of 400 began a transaction`);
});

test('a read inside a transaction › one of its savepoints; and none of another scope inside a scope', async () => {
  const seen = await database.db.transaction(async (tx) => {
    const inside = nestedIn(tx, database.db);
    return [await merchants(inside, own), await merchants(inside, other)];
  });
  assert.deepEqual(seen, [[ownMerchant], [otherMerchant]]);
  await database.db.scoped(own, async (tx) => {
    const inside = nestedInScope(tx, own, database.db);
    assert.deepEqual(await merchants(inside, own), [ownMerchant]);
    await assert.rejects(merchants(inside, other), /a scope inside another scope/);
  });
});

test('a read that sends its statement by itself › refused: it would run outside its scope', async () => {
  await withOne(async (db, pool) => {
    const early = (sql: Tag) => {
      const statement = sql`select 1`;
      early.answers.push(statement.execute());
      return statement;
    };
    early.answers = [] as Promise<unknown>[];
    await db.read(own, early);
    assert.match(String(await codeOf(early.answers[0] as Promise<unknown>)), /only to be written/);
    await assertClean(db, pool);
  });
});
