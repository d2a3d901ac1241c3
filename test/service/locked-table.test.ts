import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { testContext } from '../support/app.ts';
import { openOne, type TestDatabase, testDatabase } from '../support/database.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makePartner, secretsText } from '../support/fixtures.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** More than the loops have connections: each has a loop that matches and one that verifies. */
const chainIds = Array.from({ length: 10 }, (_, i) => 31337 + i);

let database: TestDatabase;
let receiver: Receiver;
let service: Service;
before(async () => {
  database = await testDatabase();
  receiver = await startReceiver();
  const folder = dataFolder();
  const chains = chainIds.map((chain_id) => ({
    chain_id,
    rpc_urls: ['http://127.0.0.1:9'],
    tokens: [{ symbol: 'USDC', address: `0x${'5f'.repeat(20)}` }],
    finality: [{ confirmations: 2 }],
  }));
  const file = join(folder, 'chains-file.json');
  writeFileSync(file, JSON.stringify({ test: chains.slice(0, 5), live: chains.slice(5) }));
  service = await startService({
    DATABASE_URL: database.url,
    CHAINS_FILE: file,
    DATA_DIR: folder,
    SECRET_KEYS: secretsText,
  });
});
after(async () => {
  await service?.stop();
  await endAll();
  await receiver?.close();
  await database?.drop();
});

/** The statements that wait for a lock on this table, each by its process and when it began to wait. */
const waitingFor = (table: string) =>
  database.db.sql<{ wait: string }[]>`
    select concat(pid, ' ', waitstart) as wait from pg_locks where not granted and relation = ${table}::regclass
      and database = (select oid from pg_database where datname = current_database())`;

test('The loops of many chains wait for a locked table with all their connections → an event is delivered all the same', async () => {
  const { test: scope } = await makePartner(database.db);
  await setUrl(testContext(database.db), theService, scope, receiver.url);
  await makeEvents(database.db, scope);
  await until(() => receiver.received.length === 1, 'the first event');
  const locked = openOne(database.url);
  try {
    await locked`begin`;
    await locked`lock table transfers in access exclusive mode`;
    // The loops that match and verify all look for work once they listen again.
    await database.owner`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query ilike 'listen %'`;
    await until(async () => (await waitingFor('transfers')).length >= 4, 'the loops to wait for the table');
    const before = await waitingFor('transfers');
    await makeEvents(database.db, scope);
    await until(() => receiver.received.length === 2, 'the second event');
    const after = await waitingFor('transfers');
    assert.deepEqual(
      before.map(({ wait }) => wait).filter((wait) => !after.some((still) => still.wait === wait)),
      [],
      'none has given up meanwhile',
    );
  } finally {
    await locked`rollback`;
    await locked.end();
  }
});
