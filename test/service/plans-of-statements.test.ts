import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect, type Database } from '../../src/db/connection.ts';
import type { Sendable } from '../../src/db/sql.ts';
import { analyzeGrown } from '../../src/db/statistics.ts';
import { startApi } from '../support/api/client.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

/** A database that was analysed while empty, and a single connection to it that keeps its plans. */
let fixtures: Awaited<ReturnType<typeof testDatabase>>;
let one: Database;
before(async () => {
  fixtures = await testDatabase();
  await fixtures.owner`analyze`;
  // The server's own analyze, once a minute, could come first.
  await fixtures.owner`alter table requests set (autovacuum_enabled = off)`;
  one = connect(fixtures.access, { service: 1, scoped: 1 });
});
after(async () => {
  await one?.close();
  await fixtures?.drop();
});

const rows = 100_000;
/** With more rows, a statement could exceed its time limit on a busy machine. */
const rowsAtOnce = 5_000;
const byKey = /"Index Name": "requests_(pkey|id_key)"/;

async function planOf(statement: string): Promise<string> {
  const [row] = await one.sql.unsafe(`explain (format json) execute ${statement}`);
  return String(row?.['QUERY PLAN']);
}

/** How often any connection has scanned a whole table. */
async function scansOf(table: string): Promise<number> {
  await one.sql`select pg_stat_force_next_flush()`;
  await one.sql`select 1`; // counts are reported between transactions
  const [row] = await fixtures.db.sql`select seq_scan from pg_stat_user_tables where relname = ${table}`;
  return Number(row?.seq_scan);
}

test('connections of the service → nothing is compiled, and no kind of plan is made to look dear', async () => {
  const show = async (name: string) => (await one.sql.unsafe(`show ${name}`))[0]?.[name];
  assert.deepEqual([await show('jit'), await show('enable_seqscan')], ['off', 'on']);
  const settings = await one.sql<{ name: string }[]>`
    select name from pg_settings where name like 'enable\_%' and setting <> boot_val and source = 'client'`;
  assert.deepEqual([...settings], []);
});

test('plans kept from when tables were empty → once the tables have grown, the next look makes them use their indexes', async () => {
  const { test: scope } = await makePartner(fixtures.db);
  const merchant = await makeMerchant(fixtures.db, scope);
  await one.sql.unsafe(
    'prepare look (uuid, boolean, uuid) as select * from requests where partner_id = $1 and test_mode = $2 and id = $3',
  );
  const look = `look('${scope.partnerId}', true, '${crypto.randomUUID()}')`;
  for (let i = 0; i < 6; i++) await one.sql.unsafe(`execute ${look}`);
  const [kept] = await one.sql`select generic_plans from pg_prepared_statements where name = 'look'`;
  assert.ok(Number(kept?.generic_plans) > 0, 'the plan is kept');
  for (let i = 0; i < 10; i++) await makeRequest(one, scope, merchant);
  assert.doesNotMatch(await planOf(look), byKey);

  const now = new Date();
  for (let first = 1; first <= rows; first += rowsAtOnce) {
    await fixtures.db.sql`
      insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
        payment_mode, metadata, wallet_address, reference, start_blocks, created_at, expires_at)
      select ${scope.partnerId}, true, gen_random_uuid(), ${merchant.id}, 1250, 'EUR', 1e6 + n, false, '0.92', 'pos', '{}',
        ${merchant.wallet}, uuid_send(gen_random_uuid()), '{}', ${now} - n * interval '1 s', now() + interval '1 day'
      from generate_series(${first}::int, ${first + rowsAtOnce - 1}::int) n`;
    await one.sql`select 1`; // an idle connection is closed after a minute, and its plans with it
  }
  assert.ok((await analyzeGrown(fixtures.db)).includes('requests'));
  assert.match(await planOf(look), byKey);

  const before = await scansOf('requests');
  for (let i = 0; i < 10; i++) await makeRequest(one, scope, merchant);
  assert.equal(
    await scansOf('requests'),
    before,
    'no create reads the table as a whole: not the function, not its keys',
  );
  assert.deepEqual(await analyzeGrown(fixtures.db), [], 'what has not grown since is left alone');
});

test('calls of the API → each statement with a parameter is prepared, so no call plans the gate’s statement again', async () => {
  const api = await startApi();
  try {
    const { test: shop } = await api.partner();
    const asked: Sendable[] = [];
    for (const pool of api.db.pools) {
      pool.observer = (_connection, statement) => {
        if (statement.values.length > 0) asked.push(statement);
      };
    }
    const made = await shop.api.create({ account_id: shop.merchant.id, fiat_amount_int: 1250 });
    const [read, listed] = [await shop.api.read(made.json.request_id), await shop.api.list()];
    assert.deepEqual([made.status, read.status, listed.status], [201, 200, 200]);
    assert.equal(asked.filter(({ text }) => text.includes('rate_counters')).length, 3, 'the gate');
    assert.deepEqual(
      asked.filter(({ name }) => name === undefined).map(({ text }) => text),
      [],
    );
  } finally {
    await api.stop();
  }
});
