import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { scopeOf } from '../../src/auth/scope.ts';
import { connect, type Database, isUnreachable, type Tx } from '../../src/db/connection.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Pool, Waits } from '../../src/db/pool.ts';
import { constant } from '../../src/db/sql.ts';
import { accessTo, openOne, testDatabase } from '../support/database.ts';
import { startProxy } from '../support/net/proxy.ts';
import { patienceMs } from '../support/patience.ts';

/** To run more rounds: `STRESS_ROUNDS=500 npm test -- test/service/connections.test.ts`. */
const rounds = Number(process.env.STRESS_ROUNDS ?? 25);
const tasksInRound = 20;
const connections = 2;
/** Longer than any wait of the driver, on a busy machine too. It ends only what would never settle. */
const settleLimitMs = patienceMs;

/** Not a connection of the pool: it terminates those. */
let other: Pool;
let database: Awaited<ReturnType<typeof testDatabase>>;
/** Errors that would have ended the process. */
const strays: unknown[] = [];
const keepStray = (error: unknown) => void strays.push(error);

before(async () => {
  process.on('unhandledRejection', keepStray).on('uncaughtException', keepStray);
  database = await testDatabase();
  other = openOne(database.url);
});
after(async () => {
  await other?.end();
  await database?.drop();
  process.off('unhandledRejection', keepStray).off('uncaughtException', keepStray);
});

type Shape = { url?: string; size?: number; waits?: Waits };

async function withPool(work: (db: Database) => Promise<void>, pool: Shape = {}): Promise<void> {
  const size = pool.size ?? connections;
  const db = connect(accessTo(pool.url ?? database.url), { service: size, scoped: size }, pool.waits);
  try {
    await work(db);
  } finally {
    await db.close();
  }
  assert.deepEqual(strays.splice(0), [], 'an error reached nobody');
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error(`${what} did not settle in ${limitMs} ms`)), limitMs);
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}

/**
 * Fails unless all of the pool's connections can be in a transaction at once. The loss of an idle connection may show
 * only in its next transaction, so there is one extra attempt per connection.
 */
async function assertNoneLost(db: Database, size = connections): Promise<void> {
  for (let ended = 0; ; ended++) {
    try {
      return await useAll(db, size);
    } catch (error) {
      if (!isUnreachable(error) || ended === size) throw error;
    }
  }
}

async function useAll(db: Database, size: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let began = 0;
  const hold = () =>
    db
      .transaction(async (tx) => {
        await tx`select 1`;
        if (++began === size) all.resolve();
        await all.promise;
      })
      .catch((error) => {
        all.resolve();
        throw error;
      });
  await within(
    settleLimitMs,
    `transactions on ${size} connections at once`,
    Promise.all(Array.from({ length: size }, hold)),
  );
}

/** Sets a mark in its transaction and reads it after something else has happened: no other query ran in it. */
async function markAndFind(tx: Tx, between: () => Promise<unknown>): Promise<void> {
  const mark = randomUUID();
  await tx`select set_config('stress.mark', ${mark}, true)`;
  await between();
  const [row] = await tx`select current_setting('stress.mark', true) as mark`;
  assert.equal(row?.mark, mark);
}

const markAround = (tx: Tx) => markAndFind(tx, turn);

async function echo(db: Database): Promise<void> {
  const value = randomUUID();
  const [row] = await db.sql`select ${value}::text as value`;
  assert.equal(row?.value, value);
}

/** A read sees only the scope that it entered, whatever ends its connection. */
async function readOwn(db: Database): Promise<void> {
  const scope = scopeOf(randomUUID(), true);
  const [row] = await db.read(scope, (sql) => sql`select scope_partner() as partner, pg_sleep(0.001)`);
  assert.equal(row?.partner, scope.partnerId);
}

const large = 'a'.repeat(300_000);

const tasks: Array<(db: Database) => Promise<unknown>> = [
  (db) => db.sql`select 1`,
  echo,
  (db) => db.scoped(scopeOf(randomUUID(), true), markAround),
  readOwn,
  readOwn,
  (db) => db.transaction((tx) => Promise.all([tx`select 1`, markAround(tx), tx`select pg_sleep(0.002)`])),
  (db) => db.transaction((tx) => markAndFind(tx, () => tx`select length(${large}::text)`)),
  (db) => db.transaction((tx) => markAround(tx).catch(() => turn().then(() => tx`select 2`))),
  (db) =>
    assert.rejects(
      db.transaction((tx) => tx`select ${1}::int / 0`),
      (e) => isUnreachable(e) || isDivision(e),
    ),
];

const isDivision = (error: unknown) => (error as { code?: string }).code === '22012';

test(`connections ended at random under ${tasksInRound} tasks, ${rounds} times → each task settles, none is lost`, async (t) => {
  await withPool(async (db) => {
    let lost = 0;
    for (let round = 0; round < rounds; round++) {
      const running = Array.from({ length: tasksInRound }, async () => {
        const task = tasks[randomInt(tasks.length)] as (typeof tasks)[number];
        await within(settleLimitMs, 'a task', task(db)).catch((error) => {
          if (!isUnreachable(error)) throw error;
          lost++;
        });
      });
      const settled = Promise.all(running);
      let going = true;
      const stop = () => {
        going = false;
      };
      settled.then(stop, stop);
      while (going) await endConnections(0.6);
      await settled;
    }
    t.diagnostic(`${lost} of ${rounds * tasksInRound} tasks failed as unreachable`);
    assert.ok(lost > 0 && lost < rounds * tasksInRound);
    await assertNoneLost(db);
  });
});

test('a statement that comes after its connection was lost reaches no other transaction', async () => {
  await withPool(
    async (db) => {
      const begun = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      const late = db.transaction(async (tx) => {
        await tx`select 1`;
        await assert.rejects(Promise.all([tx`select pg_sleep(10)`, endConnections(1)]), isUnreachable);
        await begun.promise;
        await assert.rejects(async () => tx`select set_config('stress.mark', 'of another', true)`, isUnreachable);
        ended.resolve();
      });
      await assert.rejects(late, isUnreachable);
      const next = db.transaction((tx) =>
        markAndFind(tx, () => {
          begun.resolve();
          return ended.promise;
        }),
      );
      await within(settleLimitMs, 'the next transaction', next);
    },
    { size: 1 },
  );
});

test('a statement that comes after its transaction ended is refused', async () => {
  await withPool(
    async (db) => {
      const ended = Promise.withResolvers<void>();
      const straggler = Promise.withResolvers<unknown>();
      const failing = db.transaction((tx) => {
        const work = async () => {
          await ended.promise;
          await tx`select 1`;
        };
        straggler.resolve(work().catch((error) => error.code));
        return tx`select ${1}::int / 0`;
      });
      await assert.rejects(failing, isDivision);
      ended.resolve();
      assert.equal(await straggler.promise, 'TRANSACTION_ENDED');
    },
    { size: 1 },
  );
});

test('a statement sent after its savepoint was released or rolled back → refused, and the transaction continues', async () => {
  await withPool(async (db) => {
    const codes = await db.transaction(async (tx) => {
      const late: Tx[] = [];
      const givenUp = tx.savepoint(async (inner) => {
        late.push(inner as Tx);
        await (inner as Tx).savepoint(async (innermost) => void late.push(innermost as Tx));
        throw new Error('given up');
      });
      await assert.rejects(givenUp, /given up/);
      await tx.savepoint(async (inner) => void late.push(inner as Tx));
      const refused = await Promise.all(
        late.map((one) => one`select 1`.catch((error) => (error as { code?: string }).code)),
      );
      const [row] = await tx<{ one: number }[]>`select 1 as one`;
      return [...refused, row?.one];
    });
    assert.deepEqual(codes, ['TRANSACTION_ENDED', 'TRANSACTION_ENDED', 'TRANSACTION_ENDED', 1]);
  });
});

test('a statement that nobody waits for fails → so does its transaction, and nothing of it is kept', async () => {
  await withPool(
    async (db) => {
      await other`create table kept (n int)`;
      await other`grant select, insert on kept to public`;
      const work = db.transaction(async (tx) => {
        await tx`insert into kept values (1)`;
        tx`select ${1}::int / 0`.execute();
      });
      await assert.rejects(work, isDivision);
      assert.equal((await other`select from kept`).length, 0);
      await other`drop table kept`;
    },
    { size: 1 },
  );
});

test('work that only reads → answered before its commit is; its connection serves nobody until then', async () => {
  const proxy = await startProxy(database.url);
  const waits = { queue: 60, connect: 60, answer: 3 };
  try {
    await withPool(
      async (db) => {
        const read = db.reading(scopeOf(randomUUID(), true), async (tx) => {
          const [row] = await tx`select 31337 as number`;
          proxy.behave('silent');
          return row;
        });
        assert.deepEqual(await within(settleLimitMs, 'what was read', read), { number: 31337 });
        const next = db.scoped(scopeOf(randomUUID(), true), markAround);
        proxy.behave('forward');
        await within(settleLimitMs, 'the next transaction', next);
      },
      { url: proxy.url, size: 1, waits },
    );
  } finally {
    proxy.close();
  }
});

test('more texts than stay prepared → each is answered, again and again, and the session keeps a hundred', async () => {
  await withPool(
    async (db) => {
      const inScope = <T>(work: (tx: Tx) => Promise<T>) => db.scoped(scopeOf(randomUUID(), true), work);
      const ask = async (n: number) => {
        const [row] = await inScope((tx) => tx`select ${constant(n)} as number, ${'text'}::text as text`);
        assert.deepEqual(row, { number: n, text: 'text' });
      };
      for (let round = 0; round < 2; round++) {
        for (let n = 1; n <= 150; n++) await ask(n);
        // One that is used all the time is not among the oldest.
        for (let n = 150; n > 0; n -= 1 + (n % 3)) await ask(n);
      }
      await inScope((tx) =>
        Promise.all(Array.from({ length: 120 }, (_, n) => tx`select ${constant(1000 + n)} as number`)),
      );
      const [kept] = await inScope((tx) => tx`select count(*)::int as statements from pg_prepared_statements`);
      assert.equal(kept?.statements, 100);
    },
    { size: 1 },
  );
});

test('a transaction that begins behind a hundred statements has its connection for itself', async () => {
  await withPool(
    async (db) => {
      await echo(db);
      const ahead = Array.from({ length: 100 }, () => db.sql`select 1`.execute());
      const transaction = db.transaction(markAround);
      const behind = Array.from({ length: 10 }, () => echo(db));
      await within(settleLimitMs, 'all of it', Promise.all([...ahead, transaction, ...behind]));
    },
    { size: 1 },
  );
});

test('a statement that cannot be written → its own fault; answers go to those who asked', async () => {
  await withPool(
    async (db) => {
      await db.sql`select 1`;
      const faulty = db.sql`select ${undefined as unknown as string}::text`;
      const all = Promise.allSettled([echo(db), faulty, echo(db)]);
      const [before, fault, behind] = await within(settleLimitMs, 'all three', all);
      assert.equal(before.status, 'fulfilled');
      assert.equal((fault as PromiseRejectedResult).reason?.code, 'UNDEFINED_VALUE');
      assert.equal(behind.status, 'fulfilled');
      await assertNoneLost(db, 1);
    },
    { size: 1 },
  );
});

test('all connections in use for long → a statement that waits for one fails in time, and does not run later', async () => {
  await withPool(
    async (db) => {
      const freed = Promise.withResolvers<void>();
      const began = Promise.withResolvers<void>();
      const holding = db.transaction((tx) =>
        markAndFind(tx, () => {
          began.resolve();
          return freed.promise;
        }),
      );
      await began.promise;
      const refused = assert.rejects(
        echo(db),
        /^Error: all connections .* were at work, and none became free in time$/,
      );
      await assertUnreachable([echo(db), db.transaction(markAround)]);
      await refused;
      freed.resolve();
      await holding;
      await assertNoneLost(db, 1);
    },
    { size: 1, waits: { queue: 2, connect: 60, answer: 60 } },
  );
});

test('a server that falls silent → statements and transactions fail in time, and all works again', async () => {
  const proxy = await startProxy(database.url);
  const waits = { queue: 4, connect: 3, answer: 3 };
  try {
    await withPool(
      async (db) => {
        await assertNoneLost(db);
        proxy.behave('silent');
        const work = Array.from({ length: 10 }, (_, at) => (at % 2 ? echo(db) : db.transaction(markAround)));
        await assertUnreachable(work);
        proxy.behave('forward');
        await assertNoneLost(db);
      },
      { url: proxy.url, waits },
    );
  } finally {
    proxy.close();
  }
});

test('a server that hangs up on who connects → unreachable, and all works again', async () => {
  const proxy = await startProxy(database.url);
  try {
    await withPool(
      async (db) => {
        proxy.behave('hang up');
        for (let attempt = 0; attempt < 5; attempt++) {
          await assertUnreachable([echo(db), db.transaction(markAround)]);
        }
        proxy.behave('forward');
        await assertNoneLost(db);
      },
      { url: proxy.url },
    );
  } finally {
    proxy.close();
  }
});

test('a server that cannot be reached when somebody listens → one complaint, and it hears once the server is there, and after each loss', async () => {
  const proxy = await startProxy(database.url);
  try {
    await withPool(
      async (db) => {
        proxy.behave('hang up');
        const complained = Promise.withResolvers<unknown>();
        let complaints = 0;
        let began = Promise.withResolvers<void>();
        let heard = Promise.withResolvers<string>();
        const end = db.sql.listen('news', {
          onMessage: (payload) => heard.resolve(payload),
          onListening: () => began.resolve(),
          onError: (error) => {
            complaints++;
            complained.resolve(error);
          },
        });
        await within(settleLimitMs, 'the complaint', complained.promise);
        proxy.behave('forward');
        for (const news of ['first', 'second']) {
          await within(settleLimitMs, 'listening', began.promise);
          heard = Promise.withResolvers();
          await other`select pg_notify('news', ${news})`;
          assert.equal(await within(settleLimitMs, 'news', heard.promise), news);
          began = Promise.withResolvers();
          if (news === 'first') await endConnections(1);
        }
        assert.equal(complaints, 1);
        end();
      },
      { url: proxy.url },
    );
  } finally {
    proxy.close();
  }
});

test('a server falls silent while somebody listens → one complaint in time, and it hears once the server answers again', async () => {
  const proxy = await startProxy(database.url);
  const waits = { queue: 4, connect: 3, answer: 3 };
  try {
    await withPool(
      async (db) => {
        let began = Promise.withResolvers<void>();
        const complained = Promise.withResolvers<unknown>();
        const heard = Promise.withResolvers<string>();
        const end = db.sql.listen('news', {
          onMessage: (payload) => heard.resolve(payload),
          onListening: () => began.resolve(),
          onError: (error) => complained.resolve(error),
        });
        await within(settleLimitMs, 'listening', began.promise);
        began = Promise.withResolvers();
        proxy.behave('silent');
        await within(settleLimitMs, 'the complaint', complained.promise);
        proxy.behave('forward');
        await within(settleLimitMs, 'listening again', began.promise);
        await other`select pg_notify('news', 'at last')`;
        assert.equal(await within(settleLimitMs, 'news', heard.promise), 'at last');
        end();
      },
      { url: proxy.url, waits },
    );
  } finally {
    proxy.close();
  }
});

test('a migration takes longer than a call may: here it waits for that of another node', async () => {
  const callMs = 500;
  const names = readdirSync(join(import.meta.dirname, '../../migrations')).filter((name) => /^\d{4}_/.test(name));
  const last = names.sort().at(-1) as string;
  const node = openOne(database.url, { statement_timeout: callMs });
  try {
    const elsewhere = other; // a single connection: the transaction is its own
    await elsewhere`begin`;
    // The row that another node is about to commit. The migration's first statement waits for it.
    await elsewhere`delete from schema_migrations where name = ${last}`;
    const migrated = migrate(node).then(
      (ran) => ({ ran }),
      (error: Error) => ({ error }),
    );
    const waiting = async () => {
      const [row] = await database.owner`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and clock_timestamp() - query_start > ${`${2 * callMs} ms`}::interval`;
      return row !== undefined;
    };
    const settled = migrated.then(() => true);
    while (!(await waiting())) if (await Promise.race([settled, turn().then(() => false)])) break;
    await elsewhere`rollback`;
    assert.deepEqual(await migrated, { ran: [] });
  } finally {
    await node.end();
  }
});

test('a migration makes a prepared plan stale → the statement is sent again as it was; a transaction says “try again” once', async () => {
  await withPool(
    async (db) => {
      const bytes = Buffer.from([0, 255, 92, 39]);
      const at = new Date('2026-03-29T01:30:00.123Z');
      await other`create table shelf (bytes bytea, at timestamptz, words text[], whole boolean)`;
      await other`grant select, insert on shelf to public`;
      const put = () =>
        db.sql`insert into shelf values (${bytes}, ${at}, ${['a "quoted" one', 'b\\c', '{}']}, ${true}) returning *`;
      const [before] = await put();
      assert.deepEqual({ ...before }, { bytes, at, words: ['a "quoted" one', 'b\\c', '{}'], whole: true });
      await other`alter table shelf add column price numeric default 12345678901234567890`;
      const [after] = await put();
      assert.deepEqual({ ...after }, { ...before, price: '12345678901234567890' });
      const read = () => db.transaction((tx) => tx`select * from shelf`);
      await read();
      await other`alter table shelf add column kind text`;
      await assert.rejects(
        read(),
        isUnreachable,
        'its transaction is undone, so it is for whoever began it to try again',
      );
      assert.equal((await read())[0]?.kind, null);
      const kinds = () => db.sql`select kind from shelf`;
      await kinds();
      await other`alter table shelf alter column kind type int using 7`;
      assert.deepEqual({ ...(await kinds())[0] }, { kind: 7 });
      await other`drop table shelf`;
    },
    { size: 1 },
  );
});

async function assertUnreachable(work: Promise<unknown>[]): Promise<void> {
  await Promise.all(work.map((one) => assert.rejects(within(settleLimitMs, 'work', one), isUnreachable)));
}

/** Terminates each of the pool's connections with the given probability, within 8 ms. */
async function endConnections(probability: number): Promise<void> {
  await other`select pg_sleep(random() * 0.008)`;
  await other`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'quittance' and random() < ${probability}`;
}

test('times of any year, with and without fractions → the millisecond that the database means', async () => {
  const texts = [
    '2026-11-23 06:01:11+00',
    '2026-03-29 01:30:00.123456+00',
    '2026-03-29 01:30:00.999999+02',
    '0001-01-01 00:00:00+00',
  ].concat(['10000-01-01 00:00:00.5+00', '0044-03-15 12:00:00+00 BC', '1969-12-31 23:59:59.9+00']);
  await withPool(async (db) => {
    for (const text of texts) {
      const [row] = await db.sql<{ at: Date; ms: string }[]>`
        select t.at, floor(extract(epoch from t.at) * 1000)::text as ms from (select ${text}::text::timestamptz as at) t`;
      assert.equal(row?.at.getTime(), Number(row?.ms), text);
    }
    const [never] = await db.sql`select 'infinity'::timestamptz as at`;
    assert.equal(never?.at, Number.POSITIVE_INFINITY);
  });
});

test('a statement that cannot even be sent, whichever of a transaction → its connection is given up, and the next one works', async () => {
  await withPool(
    async (db) => {
      const scope = scopeOf(randomUUID(), true);
      const [, scoped] = db.pools;
      assert.ok(scoped);
      const alone: Database['scoped'] = (of, ask) => db.read(of, ask as never);
      for (const begin of [db.scoped, db.reading, alone]) {
        for (let sent = 0; sent < 7; sent++) {
          let taken = 0;
          scoped.observer = () => {
            if (++taken > sent) throw new Error('not sent');
          };
          await begin(scope, (tx) => tx`select 1`).catch(() => {});
          scoped.observer = null;
          const next = begin(scope, (tx) => tx<{ one: number }[]>`select 1 as one`);
          assert.equal((await within(settleLimitMs, 'the next one', next))[0]?.one, 1);
        }
      }
    },
    { size: 1 },
  );
});
