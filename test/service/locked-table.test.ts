import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { connect, usualWaits } from '../../src/db/connection.ts';
import { QueuePoller } from '../../src/db/due.ts';
import type { Pool } from '../../src/db/pool.ts';
import { mailsDue } from '../../src/mail/queue-store.ts';
import { matchingDue } from '../../src/payments/due.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { idleChain, testContext } from '../support/app.ts';
import { openOne, type TestDatabase, testDatabase } from '../support/database.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makePartner, secretsText } from '../support/fixtures.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { startSmtp } from '../support/net/smtp.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

/** More than the loops have connections: each has a loop that matches and one that verifies. */
const chainIds = Array.from({ length: 10 }, (_, i) => 31337 + i);

let database: TestDatabase;
let receiver: Receiver;
before(async () => {
  database = await testDatabase();
  receiver = await startReceiver();
});
after(async () => {
  await endAll();
  await receiver?.close();
  await database?.drop();
});

async function startNode(smtpPort: number): Promise<Service> {
  const folder = dataFolder();
  const chains = chainIds.map((chain_id) => ({
    chain_id,
    rpc_urls: ['http://127.0.0.1:9'],
    tokens: [{ symbol: 'USDC', address: `0x${'5f'.repeat(20)}` }],
    finality: [{ confirmations: 2 }],
  }));
  const file = join(folder, 'chains-file.json');
  writeFileSync(file, JSON.stringify({ test: chains.slice(0, 5), live: chains.slice(5) }));
  return startService({
    DATABASE_URL: database.url,
    CHAINS_FILE: file,
    DATA_DIR: folder,
    SECRET_KEYS: secretsText,
    SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    MAIL_FROM: 'quittance@example.com',
  });
}

/** A session that keeps the transfers locked, as an operator's `vacuum full` does, until the test ends. */
async function lockTransfers(t: TestContext): Promise<Pool> {
  const session = openOne(database.url);
  t.after(() => session.end());
  await session`begin`;
  await session`lock table transfers in access exclusive mode`;
  return session;
}

/** The statements that wait for the transfers, each by its process and when it began to wait. */
const waitingForTransfers = () =>
  database.db.sql<{ wait: string }[]>`
    select concat(pid, ' ', waitstart) as wait from pg_locks where not granted and relation = 'transfers'::regclass
      and database = (select oid from pg_database where datname = current_database())`;

const queueMail = (dueInS: number) =>
  database.owner`
    insert into mails (id, recipient, subject, body, next_attempt_at)
    values (gen_random_uuid(), 'a@example.com', 's', 'b', now() + ${dueInS} * interval '1 s')`;

test('The loops of many chains wait for a locked table with all their connections → events and mails go out all the same', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const service = await startNode(smtp.port);
  const { test: scope } = await makePartner(database.db);
  await setUrl(testContext(database.db), theService, scope, receiver.url);
  await makeEvents(database.db, scope);
  await until(() => receiver.received.length === 1, 'the first event');
  const session = await lockTransfers(t);
  // The loops that match and verify all look for work once they listen again.
  await database.owner`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen %'`;
  await until(async () => (await waitingForTransfers()).length >= 4, 'the loops to wait for the table');
  await makeEvents(database.db, scope);
  await until(() => receiver.received.length === 2, 'the second event');
  await queueMail(0);
  await until(() => smtp.mails.length === 1, 'a mail that a notification announces');
  await queueMail(1);
  await until(() => smtp.mails.length === 2, 'a mail that only a poll of the queues finds');
  // Otherwise the server would have ended what held the connections, after half a minute.
  assert.doesNotMatch(service.stdout(), /statement timeout/);
  await session`rollback`;
  assert.equal((await service.stop()).code, 0);
});

test('a queue whose table is locked → the poll leaves it out and reports the others', async (t) => {
  await queueMail(-1);
  const impatient = connect(database.access, undefined, { ...usualWaits, lock: 0.1 });
  t.after(() => impatient.close());
  const poller = new QueuePoller(impatient.sql, [matchingDue(idleChain(31337)), mailsDue], 0);
  assert.deepEqual(
    (await poller.next()).map((ms) => ms !== null && ms < 0),
    [false, true],
  );
  const session = await lockTransfers(t);
  for (let polls = 0; polls < 2; polls++) {
    const [matching, mails] = await poller.next();
    assert.equal(matching, null);
    assert.ok(Number(mails) < 0);
  }
  await session`rollback`;
});
